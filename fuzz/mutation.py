"""Bytes that were changed a little or much."""

from __future__ import annotations

import gzip
import random

INTERESTING = [b"\0", b"\xff", b"\n", b"\r", b"\t", b" ", b":", b"\\", b"%x[0,0]", b'%m[-1,0,"^.*$"]', b"\xef\xbb\xbf"]
INTERESTING += [b"\xed\xa0\x80", b"\xc3", b"@weight:", b"nan", b"1e999", b"-1", b"99999999999999999999", b"null", b"{}"]
INTERESTING += [b"\x1f\x8b", b"U00:", b"B", b"[", b"]", b'"', b"#", b"lCRF", b"(", b"-", b"*", b"?"]


def mutated(seeds: list[bytes], rng: random.Random, longest: int = 1 << 14) -> bytes:
    """One of the seeds after one to eight changes."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(CHANGES)(data, rng, seeds)
    del data[longest:]
    return gzip.compress(bytes(data), 1) if rng.random() < 0.01 else bytes(data)


def flip(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def overwrite(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))


def cut(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    del data[rng.randrange(len(data) + 1) :]


def remove(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    start = rng.randrange(len(data) + 1)
    del data[start : start + rng.randint(1, 16)]


def insert(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    start = rng.randrange(len(data) + 1)
    data[start:start] = rng.choice(INTERESTING) * rng.choice((1, 1, 1, 2, 300, 9000))


def repeat(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.randint(1, 64)]
    data[start:start] = piece * rng.randint(1, 8)


def splice(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    other = rng.choice(seeds)
    data[rng.randrange(len(data) + 1) :] = other[rng.randrange(len(other) + 1) :]


def overwrite_number(data: bytearray, rng: random.Random, seeds: list[bytes]) -> None:
    """Eight bytes, as sizes and offsets are."""
    if len(data) >= 8:
        start = rng.randrange(len(data) - 7)
        number = rng.choice((0, 1, 2**31, 2**32, 2**62, 2**63, 2**64 - 1, rng.getrandbits(64)))
        data[start : start + 8] = number.to_bytes(8, "little")


CHANGES = (flip, overwrite, cut, remove, insert, repeat, splice, overwrite_number)
