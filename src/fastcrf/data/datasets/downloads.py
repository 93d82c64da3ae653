"""Files from the web, taken only if their content is the expected one."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path

from fastcrf.data.files.text_lines import GZIP_MAGIC
from fastcrf.exceptions import DataError
from fastcrf.system.atomic_write import replace_file

TIMEOUT = 60.0  # seconds without an answer


def fetch_text(url: str, path: Path, sha256: str, convert: Callable[[bytes], bytes] = bytes) -> None:
    """Download `url`, convert its decompressed content, compare the outcome with `sha256` and gzip it into `path`.

    The checksum is that of the text, not of a compressed file, so that compressing it again does not change it.
    """
    text = convert(decompressed(download(url), url))
    check_text(text, sha256, url)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, gzip.compress(text, mtime=0))


def download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            content: bytes = answer.read()
            return content
    except urllib.error.HTTPError as error:
        raise DataError(f"Cannot download {url}: the server answered {error.code} {error.reason}.") from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DataError(f"Cannot download {url}: {getattr(error, 'reason', None) or error}.") from None


def read_text(path: Path) -> bytes:
    """Return the decompressed content of a file."""
    try:
        return decompressed(path.read_bytes(), os.fspath(path))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.") from None


def decompressed(content: bytes, name: str) -> bytes:
    if not content.startswith(GZIP_MAGIC):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: the gzip data are damaged or incomplete ({error}); get the file again.") from None


def check_text(text: bytes, sha256: str, name: str) -> None:
    """Raise DataError if the text is not the expected one."""
    found = hashlib.sha256(text).hexdigest()
    if found != sha256:
        raise DataError(
            f"{name} is not the text that this loader expects: its SHA-256 is {found[:16]}..., not "
            f"{sha256[:16]}...; get the original, or read the file with fastcrf.data.files.conll."
        )
