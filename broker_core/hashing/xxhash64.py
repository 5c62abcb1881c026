"""XXH64 of whole Arrow columns: the 64 bits that Spark's `xxhash64` gives a column of bytes, without a row of
Spark.

    key    32 bytes in four lanes ... │ 8 bytes ... │ 4 │ 1 1 1     each piece joins the hash in its own way, then all bits are mixed

Source: xxHash 0.8, doc/xxhash_spec.md, section XXH64; Spark 4.3 XxHash64 takes it with seed 42. The tests
compare with Spark.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from broker_core.hashing.columns import key_buffers
from broker_core.hashing.compiled import compiled, inlined

SPARK_SEED = 42
P1, P2, P3 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
P4, P5 = np.uint64(0x85EBCA77C2B2AE63), np.uint64(0x27D4EB2F165667C5)
ONE, FOUR, EIGHT, STRIPE = np.uint64(1), np.uint64(4), np.uint64(8), np.uint64(32)
WORD = np.uint64(64)


def xxhash64_column(keys: pa.Array) -> NDArray[np.int64]:
    """The signed 64 bits of each key of a binary or string column without nulls, as Spark's `xxhash64(key)`.

    >>> xxhash64_column(pa.array([b"Spark", b""])).tolist()
    [-4294468057691064905, -7444071767201028348]
    """
    data, offsets = key_buffers(keys)
    hashes = np.empty(len(keys), np.uint64)
    xxhash64_rows(data, offsets, np.uint64(SPARK_SEED), hashes)
    return hashes.view(np.int64)


@inlined
def turned(word: Any, bits: Any) -> Any:
    """The word with its bits turned to the left."""
    return np.uint64(
        np.uint64(word << np.uint64(bits)) | np.uint64(word >> np.uint64(WORD - np.uint64(bits)))
    )


@inlined
def low_word(data: Any, place: Any) -> Any:
    """Four bytes from `place` on, little-endian, as 64 bits."""
    return (
        np.uint64(data[place])
        | np.uint64(np.uint64(data[place + np.uint64(1)]) << np.uint64(8))
        | np.uint64(np.uint64(data[place + np.uint64(2)]) << np.uint64(16))
        | np.uint64(np.uint64(data[place + np.uint64(3)]) << np.uint64(24))
    )


@inlined
def long_word(data: Any, place: Any) -> Any:
    """Eight bytes from `place` on, little-endian."""
    return low_word(data, place) | np.uint64(low_word(data, place + np.uint64(4)) << np.uint64(32))


@inlined
def round_of(lane: Any, word: Any) -> Any:
    """A lane with one more word."""
    return np.uint64(turned(np.uint64(lane + np.uint64(word * P2)), 31) * P1)


@inlined
def met(hashed: Any, lane: Any) -> Any:
    """The hash with a lane."""
    return np.uint64(np.uint64(np.uint64(hashed ^ round_of(np.uint64(0), lane)) * P1) + P4)


@compiled
def xxhash64_rows(data: Any, offsets: Any, seed: Any, out: Any) -> None:
    """XXH64 of each key into `out`."""
    for row in range(len(out)):
        place, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        length = np.uint64(end - place)
        if length >= STRIPE:
            first, second = np.uint64(np.uint64(seed + P1) + P2), np.uint64(seed + P2)
            third, fourth = np.uint64(seed), np.uint64(seed - P1)
            while place + STRIPE <= end:
                first = round_of(first, long_word(data, place))
                second = round_of(second, long_word(data, place + EIGHT))
                third = round_of(third, long_word(data, place + EIGHT + EIGHT))
                fourth = round_of(fourth, long_word(data, place + EIGHT + EIGHT + EIGHT))
                place += STRIPE
            hashed = np.uint64(
                np.uint64(turned(first, 1) + turned(second, 7))
                + np.uint64(turned(third, 12) + turned(fourth, 18))
            )
            hashed = met(met(met(met(hashed, first), second), third), fourth)
        else:
            hashed = np.uint64(seed + P5)
        hashed = np.uint64(hashed + length)
        while place + EIGHT <= end:
            word = round_of(np.uint64(0), long_word(data, place))
            hashed = np.uint64(np.uint64(turned(np.uint64(hashed ^ word), 27) * P1) + P4)
            place += EIGHT
        if place + FOUR <= end:
            word = np.uint64(low_word(data, place) * P1)
            hashed = np.uint64(np.uint64(turned(np.uint64(hashed ^ word), 23) * P2) + P3)
            place += FOUR
        while place < end:
            word = np.uint64(np.uint64(data[place]) * P5)
            hashed = np.uint64(turned(np.uint64(hashed ^ word), 11) * P1)
            place += ONE
        hashed = np.uint64(np.uint64(hashed ^ np.uint64(hashed >> np.uint64(33))) * P2)
        hashed = np.uint64(np.uint64(hashed ^ np.uint64(hashed >> np.uint64(29))) * P3)
        out[row] = np.uint64(hashed ^ np.uint64(hashed >> np.uint64(32)))
