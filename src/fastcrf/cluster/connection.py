"""Connect a client to an engine: "dask" (the current one), an address, or "local:4" for four processes here.

Only `fastcrf.cluster` knows Dask, and it is imported when an engine is asked for.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CURRENT = "dask"
ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://.+")
LOCAL = re.compile(r"local:([1-9]\d{0,3})")
TIMEOUT = 20.0  # seconds to find a scheduler, or its first worker
ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
# Dask has its workers hand memory back to the system as soon as it is free. But the vectors of a step are as large as
# those of the last, and pages that have to be had again cost more than adding them up: keep it, and use it to 32 MB.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": 1 << 30, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
UNWATCHED = {"distributed.worker.profile.enabled": False}  # it takes one per cent of each core, for a dashboard


class ClusterError(ConnectionError):
    """Raise for a cluster that cannot be reached or was lost."""


def check_engine(engine: Any) -> str:
    """Return the name of an engine; raise ValueError if it is not one."""
    if isinstance(engine, str) and (engine == CURRENT or ADDRESS.fullmatch(engine) or LOCAL.fullmatch(engine)):
        return engine
    raise ValueError(
        f"engine={engine!r} is not an engine; use None (this process), 'dask' (the current client), the address of a "
        "scheduler such as 'tcp://host:8786', or 'local:4' for four processes of this machine."
    )


@contextmanager
def connected(engine: str) -> Iterator[Any]:
    """Connect a client to the engine, with at least one worker; close at the end what was opened here."""
    check_engine(engine)
    distributed = import_distributed()
    local = LOCAL.fullmatch(engine)
    if local:
        with shielded(), at_full_speed():
            cluster = distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                dashboard_address=":0",  # any free port: two clusters on one machine do not collide
                silence_logs="CRITICAL",  # what fails in a task is raised here, as one sentence
            )
        with cluster, distributed.Client(cluster, direct_to_workers=True) as client:  # they are here: no detour
            yield client
        return
    if engine == CURRENT:
        yield with_workers(current_client(distributed))
        return
    try:
        client = distributed.Client(engine, timeout=TIMEOUT)
    except (OSError, TimeoutError) as error:
        raise ClusterError(f"There is no scheduler at {engine} ({error}); start one, or correct the address.") from None
    with client:
        yield with_workers(client)


def import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError(
            "Engines need dask.distributed, which is not installed; run: pip install 'fastcrf[dask]'."
        ) from None
    return distributed


def current_client(distributed: Any) -> Any:
    try:
        return distributed.get_client()
    except ValueError:
        raise ClusterError(
            "engine='dask' means the current client, and there is none; make a distributed.Client first, or give the "
            "address of a scheduler."
        ) from None


def with_workers(client: Any) -> Any:
    try:
        client.wait_for_workers(1, timeout=TIMEOUT)
    except TimeoutError:
        raise ClusterError("The cluster has no workers; start some, or wait until they have started.") from None
    return client


def at_full_speed() -> Any:
    """Let workers that are started within use all cores, and keep memory from step to step."""
    from dask import config

    return config.set({ENVIRONMENT: {**config.get(ENVIRONMENT), **KEEP_MEMORY}, **UNWATCHED})


@contextmanager
def shielded() -> Iterator[None]:
    """Shield processes that are started within from Ctrl-C: this process ends the run, and then them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
