"""What the first sentence costs: start a process, load a model, tag one sentence, and how much memory that took.

    python benchmarks/first_tag.py [--repeat 11]

Each program runs in a process of its own, warmed up once, with its modules compiled to byte code as an installed
package has them, whatever the environment says of that. The programs take turns. Shown are the median seconds on the
clock and of the processor, and the peak of the resident memory. The model is trained here, on made-up addresses, by
CRFsuite and by fastcrf; `numpy` is Python with NumPy imported and nothing else, the floor of all that uses it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

CRFSUITE = "import pycrfsuite; t = pycrfsuite.Tagger(); t.open({0!r}); print(t.tag({1!r}))"
FASTCRF = "import fastcrf; print(fastcrf.load({0!r}).predict_single({1!r}))"
MARGINALS = "import fastcrf; print(fastcrf.load({0!r}).predict_marginals_single({1!r})[0])"
THEIRS, OURS, COLUMNS, SENTENCE, ITEMS = "theirs.crfsuite", "ours.crf", "columns.crf", "one.txt", "one.json"
RAW = "raw.crf"
TEMPLATE = "U00:%x[-1,0]\nU01:%x[0,0]\nU02:%x[1,0]\nU03:%x[-1,0]/%x[0,0]\nU04:%x[0,0]/%x[1,0]\nB\n"


class Cost(NamedTuple):
    seconds: float
    processor: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=11, help="runs of each program")
    parser.add_argument("--make", metavar="FOLDER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make_models(Path(arguments.make))
        return
    with tempfile.TemporaryDirectory() as folder:
        # in another process: this one stays small, because the peak of a child begins with that of its parent
        subprocess.run([sys.executable, __file__, "--make", folder], check=True)
        environment = with_byte_code(folder)
        commands = programs(Path(folder))
        rounds = [[cost(each, environment) for each in commands.values()] for _ in range(arguments.repeat + 1)][1:]
        for name, costs in zip(commands, zip(*rounds, strict=True), strict=True):
            seconds, processor, megabytes = (statistics.median(each) for each in zip(*costs, strict=True))
            print(f"{name:44}{seconds:8.3f} s{processor:8.3f} s{megabytes:8.1f} MB", flush=True)


def make_models(folder: Path) -> None:
    """Train the models, and write one sentence to tag."""
    import pycrfsuite

    from fastcrf import CRF
    from fastcrf.data.datasets.addresses import make_addresses
    from fastcrf.data.encoding.column_attributes import column_items

    addresses, y = make_addresses(1000)
    X = [column_items([[word] for word in address]) for address in addresses]
    trainer = pycrfsuite.Trainer(verbose=False)
    for items, gold in zip(X, y, strict=True):
        trainer.append(items, gold)
    trainer.train(str(folder / THEIRS))
    crf = CRF().fit(X, y)
    crf.save(folder / OURS)
    crf.model_.input = {"kind": "columns", "n_columns": 1}
    crf.save(folder / COLUMNS)
    words = [zip(address, labels, strict=True) for address, labels in zip(addresses, y, strict=True)]
    (folder / "train.txt").write_text(
        "\n".join("".join(f"{w} {k}\n" for w, k in each) for each in words), encoding="utf-8"
    )
    (folder / "template.txt").write_text(TEMPLATE, encoding="utf-8")
    train = [sys.executable, "-m", "fastcrf", "train", "train.txt", "-m", RAW, "-t", "template.txt", "-q"]
    subprocess.run(train, check=True, cwd=folder)
    (folder / SENTENCE).write_text("".join(f"{word}\n" for word in addresses[0]), encoding="utf-8")
    (folder / ITEMS).write_text(json.dumps(X[0]), encoding="utf-8")


def programs(folder: Path) -> dict[str, list[str]]:
    """Commands by name; the models that they read are in `folder`."""
    theirs, ours, columns, sentence = (str(folder / name) for name in (THEIRS, OURS, COLUMNS, SENTENCE))
    items = json.loads((folder / ITEMS).read_text(encoding="utf-8"))
    python = [sys.executable, "-c"]
    tag = [*python, "from fastcrf.cli.start import main; main()", "tag", sentence, "-m"]  # as the script `fastcrf` does
    return {
        "numpy": [*python, "import numpy"],
        "CRFsuite, python-crfsuite": [*python, CRFSUITE.format(theirs, items)],
        "fastcrf.load(...).predict_single, .crf": [*python, FASTCRF.format(ours, items)],
        "fastcrf.load(...).predict_single, .crfsuite": [*python, FASTCRF.format(theirs, items)],
        "fastcrf.load(...).predict_marginals_single, .crf": [*python, MARGINALS.format(ours, items)],
        "fastcrf tag": [*tag, columns],
        "fastcrf tag --scores": [*tag, columns, "--scores"],
        "fastcrf tag, with a template": [*tag, str(folder / RAW)],
    }


def with_byte_code(folder: str) -> dict[str, str]:
    """An environment in which byte code is kept, in `folder`."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(Path(folder) / "byte_code")}


def cost(command: list[str], environment: dict[str, str]) -> Cost:
    """What a process costs from its start to its end."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = status
    if status:
        raise subprocess.CalledProcessError(status, command)
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
