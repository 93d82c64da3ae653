"""Sign checkpoints with this user's secret (HMAC), and verify the signature.

One evaluation verifies what a checkpoint says of its own weights. Its lower bound on the objective of all weights has
no such cheap check: the run trusts it if the signature is valid, and otherwise computes it again.

The secret lies in the folder of the kernel cache. That folder is trusted already, because its code is executed.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from fastcrf.system import cache_folder

NAME, SIZE = "checkpoint-secret", 32


def signature_of(text: str) -> str:
    """Return the signature of a text, or "" where no secret can be stored."""
    key = secret()
    return "" if key is None else hmac.new(key, text.encode(), "sha256").hexdigest()


def is_ours(text: str, signature: str) -> bool:
    """Return whether `signature` is the one that this user would make."""
    ours = signature_of(text)
    return bool(ours) and hmac.compare_digest(ours.encode(), signature.encode())


def secret() -> bytes | None:
    """Return this user's secret, creating it on first use, or None where it cannot be stored."""
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
    """Create a new secret atomically; a secret that another process has just created stays."""
    part = path.with_name(f".{NAME}.{secrets.token_hex(8)}.part")
    file = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(file, secrets.token_bytes(SIZE))
        os.close(file)
        if not path.exists():
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
