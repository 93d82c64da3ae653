"""Whether an input was handled: accepted, or refused by one sentence of ours."""

from __future__ import annotations

from collections.abc import Callable

from fastcrf.data.corpus_file.container import CorpusFileError
from fastcrf.data.encoding.items import ItemError
from fastcrf.data.files.destinations import DestinationError
from fastcrf.decoding.input_checks import ScoreOverflow
from fastcrf.exceptions import CheckpointError, DataError, ModelFileError, OptionError, PenaltyError
from fastcrf.system.memory_budget import TooLarge

REFUSALS = (
    ValueError,
    DataError,
    ModelFileError,
    CorpusFileError,
    CheckpointError,
    OptionError,
    PenaltyError,
    DestinationError,
    TooLarge,
    ScoreOverflow,
)

ACCEPTED, REFUSED = "accepted", "refused"


def verdict(work: Callable[[], object]) -> str:
    """`ACCEPTED`, `REFUSED`, or what went wrong."""
    try:
        work()
    except REFUSALS as error:
        if type(error) not in REFUSALS or isinstance(error, ItemError):
            return f"{type(error).__name__}: {error}"
        return REFUSED if is_sentence(str(error)) else f"no sentence: {error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ACCEPTED


def is_sentence(text: str) -> bool:
    """Something that a user can read: words, and an end."""
    return len(text.split()) > 3 and text.rstrip().endswith((".", "?", ")"))
