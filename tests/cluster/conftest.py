"""A cluster of two workers within this process: what workers do is the same, and nothing has to be started."""

from __future__ import annotations

import pytest

distributed = pytest.importorskip(
    "distributed", reason="dask.distributed is not installed: pip install 'fastcrf[dask]'"
)


@pytest.fixture(scope="package")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
