"""Whether a file was written by this user: a seal that only they can make, with a secret of theirs.

What a checkpoint says of its weights is checked by one evaluation. What it says of all weights, that no objective is
below a bound, cannot be checked so cheaply: it is believed where the seal is ours, and proved again where it is not.

The secret is in the folder of the kernel cache, which is trusted with more than that: its code is executed.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from fastcrf.system import cache_folder

NAME, SIZE = "checkpoint-secret", 32


def seal_of(text: str) -> str:
    """The seal of a text; empty where no secret can be kept."""
    key = secret()
    return "" if key is None else hmac.new(key, text.encode(), "sha256").hexdigest()


def is_ours(text: str, seal: str) -> bool:
    """Whether `seal` is the one that we would make."""
    ours = seal_of(text)
    return bool(ours) and hmac.compare_digest(ours.encode(), seal.encode())


def secret() -> bytes | None:
    """This user's secret, made when first needed; None where it cannot be kept."""
    if cache_folder.CACHE_FOLDER is None:
        return None
    path = cache_folder.CACHE_FOLDER / NAME
    try:
        if not path.exists():
            make_secret(path)
        key = path.read_bytes()
    except OSError:
        return None
    return key if len(key) == SIZE else None


def make_secret(path: Path) -> None:
    """A new secret, which appears whole; that of somebody who was quicker stays."""
    part = path.with_name(f".{NAME}.{secrets.token_hex(8)}.part")
    file = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(file, secrets.token_bytes(SIZE))
        os.close(file)
        if not path.exists():
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
