"""Bob Jenkins' public-domain hash function lookup3 (`hashlittle` with initial value 0), of many strings at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Longs

Words = NDArray[np.uint32]  # one for each string; sums and differences wrap around

BLOCK = 12  # bytes that a round takes in


def hashes(strings: Sequence[bytes]) -> Longs:
    """Return the hash of each string, none of which is empty."""
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    state = np.tile((0xDEADBEEF + lengths).astype(np.uint32), (3, 1))
    n_rounds = -(-lengths // BLOCK)
    for n in range(1, int(n_rounds.max(initial=0)) + 1):
        (chosen,) = np.nonzero(n_rounds == n)
        if len(chosen):
            state[:, chosen] = absorb([strings[i] for i in chosen.tolist()], state[:, chosen], n)
    return state[2].astype(np.int64)


def absorb(strings: Sequence[bytes], state: Words, n_rounds: int) -> Words:
    """Return the final state of strings of so many rounds."""
    padded = b"".join(string.ljust(BLOCK * n_rounds, b"\0") for string in strings)
    blocks = np.frombuffer(padded, "<u4").reshape(len(strings), n_rounds, 3).astype(np.uint32)
    for r in range(n_rounds):
        state = state + blocks[:, r].T
        state = np.array(finish(*state) if r == n_rounds - 1 else mix(*state))
    return state


def mix(a: Words, b: Words, c: Words) -> tuple[Words, Words, Words]:
    a, c = stir(a, b, c, 4)
    b, a = stir(b, c, a, 6)
    c, b = stir(c, a, b, 8)
    a, c = stir(a, b, c, 16)
    b, a = stir(b, c, a, 19)
    c, b = stir(c, a, b, 4)
    return a, b, c


def stir(x: Words, y: Words, z: Words, k: int) -> tuple[Words, Words]:
    """Return the new x and z."""
    return (x - z) ^ rotated(z, k), z + y


def finish(a: Words, b: Words, c: Words) -> tuple[Words, Words, Words]:
    c = (c ^ b) - rotated(b, 14)
    a = (a ^ c) - rotated(c, 11)
    b = (b ^ a) - rotated(a, 25)
    c = (c ^ b) - rotated(b, 16)
    a = (a ^ c) - rotated(c, 4)
    b = (b ^ a) - rotated(a, 14)
    c = (c ^ b) - rotated(b, 24)
    return a, b, c


def rotated(x: Words, k: int) -> Words:
    return (x << np.uint32(k)) | (x >> np.uint32(32 - k))
