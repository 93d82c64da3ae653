"""Tag many files, one result per file, by several processes or the workers of a cluster, resumable.

Each result is written atomically, so an existing result is finished: an interrupted run continues with the files
that have none.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from fastcrf.cli.data_files import files_of
from fastcrf.cli.output_file import whole_output
from fastcrf.cli.tagging.result_lines import result_lines
from fastcrf.cli.tagging.tagged_lines import TagFormat
from fastcrf.exceptions import DataError
from fastcrf.model.model import Model


class Task(NamedTuple):
    """A file to tag. Everything is a path or a plain value: tasks travel to other processes."""

    source: str
    target: str
    model: str
    tag_format: TagFormat


def tasks_of(paths: Sequence[str], model: str, folder: str, tag_format: TagFormat, resume: bool) -> list[Task]:
    """Return the tasks: a result in `folder` for each file, under its name, without finished ones."""
    targets = [target_of(path, folder) for path in paths]
    times, reads = Counter(targets), {os.path.realpath(path) for path in (*paths, model)}
    for path, target in zip(paths, targets, strict=True):
        if times[target] > 1:
            raise DataError(f"Several files would be written to {target}; tag {path} into another folder.")
        if os.path.realpath(target) in reads:
            raise DataError(f"{target} is an input of this command and would be overwritten; choose another folder.")
        if os.path.exists(target) and not resume:
            raise DataError(
                f"{target} already exists; add --resume to keep finished results, or choose another folder."
            )
    os.makedirs(folder, exist_ok=True)
    whole = os.path.abspath  # workers may be elsewhere
    places = [
        Task(whole(path), whole(target), whole(model), tag_format) for path, target in zip(paths, targets, strict=True)
    ]
    return [task for task in places if not is_finished(task)]


def target_of(path: str, folder: str) -> str:
    if path == "-":
        raise DataError("Standard input has no name for a result in a folder; use --output, or give files.")
    return str(Path(folder, Path(path).name.removesuffix(".gz")))


def is_finished(task: Task) -> bool:
    """Return whether the result is newer than its file and its model."""
    try:
        made = os.stat(task.target).st_mtime_ns
        return made >= max(os.stat(task.source).st_mtime_ns, os.stat(task.model).st_mtime_ns)
    except FileNotFoundError:
        return False


def tag_file(task: Task) -> str:
    """Tag one file, wherever this is called."""
    model = loaded(task.model, os.stat(task.model).st_mtime_ns)
    with whole_output(task.target) as text:
        files = files_of(model, task.tag_format.items, task.tag_format.separator)
        text.writelines(f"{line}\n" for line in result_lines(model, files, task.source, task.tag_format))
    return task.target


@lru_cache(maxsize=1)
def loaded(path: str, version: int) -> Model:
    """Load a model once per process."""
    return Model.load(path)


def tag_all(tasks: Sequence[Task], jobs: int, cluster: str | None) -> Iterator[str]:
    """Yield the results in the order of the tasks, each as soon as it and all before it are finished."""
    if jobs == 1 and not cluster:
        yield from map(tag_file, tasks)
        return
    with on_cluster(cluster) if cluster else in_processes(jobs) as spread:
        yield from spread(tasks)


Spread = Callable[[Iterable[Task]], Iterator[str]]


@contextmanager
def in_processes(jobs: int) -> Iterator[Spread]:
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        try:
            yield lambda tasks: pool.map(tag_file, tasks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def on_cluster(engine: str) -> Iterator[Spread]:
    from fastcrf.cluster.connection import connected

    with connected(engine) as client:

        def spread(tasks: Iterable[Task]) -> Iterator[str]:
            futures: list[Any] = [client.submit(tag_file, task, pure=False) for task in tasks]
            for k in count():
                if k == len(futures):
                    return
                yield futures[k].result()
                futures[k] = None

        yield spread
