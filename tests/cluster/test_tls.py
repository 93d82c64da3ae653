"""An address that begins with tls:// needs Dask's own configuration only (docs/how-to/large-data.md)."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from fastcrf import CRF
from fastcrf.cluster.connection import ClusterError, connected, import_distributed

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl, which is not here"),
]

X, y = [[["a"], ["b"]], [["b"]], [["a"]]], [["A", "B"], ["B"], ["A"]]


@pytest.fixture
def certificate(tmp_path):
    """One that signs itself, as its own authority."""
    pem, key = tmp_path / "host.pem", tmp_path / "host-key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", pem]
    subprocess.run([*made, *subject], check=True, capture_output=True)
    return str(pem), str(key)


def configuration(pem, key):
    return {
        "distributed.comm.require-encryption": True,
        "distributed.comm.tls.ca-file": pem,
        **{
            f"distributed.comm.tls.{role}.{what}": path
            for role in ("scheduler", "worker", "client")
            for what, path in (("cert", pem), ("key", key))
        },
    }


def test_training_goes_through_tls_and_without_a_certificate_nobody_comes_in(certificate, monkeypatch):
    import dask

    distributed = import_distributed()
    with dask.config.set(configuration(*certificate)):
        cluster = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            protocol="tls://",
            security=distributed.Security(),
        )
        with cluster:
            address = cluster.scheduler_address
            assert address.startswith("tls://")
            assert CRF(engine=address, max_iterations=3).fit(X, y).predict(X) == y
            monkeypatch.setattr("fastcrf.cluster.connection.TIMEOUT", 0.5)
            with (
                dask.config.set(dict.fromkeys(configuration(*certificate), None)),
                pytest.raises((ClusterError, RuntimeError, TypeError)),
                connected(address),
            ):
                pass
