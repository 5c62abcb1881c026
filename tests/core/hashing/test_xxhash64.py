"""XXH64 of whole columns, without Spark: what Spark's XXH64 gave for each length at which its steps change,
and a plain second account."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.xxhash64 import xxhash64_column

# XXH64.hashUnsafeBytes of Spark 4.3 (catalyst), seed 42, over the bytes (i * 37 + length) mod 256 for i below
# the length.
SPARK = {
    0: -7444071767201028348,
    1: 6668291691252061002,
    3: 3148920741393208189,
    4: -8529620464318019565,
    7: 7106858344616572659,
    8: 8002105678239176810,
    11: 4173798746257674030,
    12: 7259836395577705014,
    31: 5586001559101069169,
    32: -1950638814635592905,
    33: -7222887663799839005,
    39: 6094063154292214173,
    63: 3199585781079972456,
    64: 4116188455191865448,
    71: 5978322334895841912,
    100: -6218915863024991382,
}
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
ALL = (1 << 64) - 1


def key_of(length: int) -> bytes:
    return bytes(place * 37 + length & 255 for place in range(length))


def turned(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & ALL


def joined(lane: int, word: int) -> int:
    return turned(lane + word * P2 & ALL, 31) * P1 & ALL


def xxh64(key: bytes, seed: int = 42) -> int:
    """XXH64 as its specification reads, on whole integers; signed."""
    rest = key
    if len(key) < 32:
        hashed = seed + P5
    else:
        lanes = [seed + P1 + P2, seed + P2, seed, seed - P1]
        while len(rest) >= 32:
            lanes = [
                joined(lane & ALL, int.from_bytes(rest[at : at + 8], "little"))
                for lane, at in zip(lanes, range(0, 32, 8), strict=True)
            ]
            rest = rest[32:]
        hashed = sum(turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            hashed = ((hashed ^ joined(0, lane)) & ALL) * P1 + P4
    hashed = hashed + len(key) & ALL
    while len(rest) >= 8:
        hashed = turned(hashed ^ joined(0, int.from_bytes(rest[:8], "little")), 27) * P1 + P4 & ALL
        rest = rest[8:]
    if len(rest) >= 4:
        hashed = turned(hashed ^ int.from_bytes(rest[:4], "little") * P1 & ALL, 23) * P2 + P3 & ALL
        rest = rest[4:]
    for byte in rest:
        hashed = turned(hashed ^ byte * P5 & ALL, 11) * P1 & ALL
    hashed = (hashed ^ hashed >> 33) * P2 & ALL
    hashed = (hashed ^ hashed >> 29) * P3 & ALL
    hashed ^= hashed >> 32
    return hashed - (1 << 64) if hashed >> 63 else hashed


@pytest.mark.parametrize("length", SPARK)
def test_each_length_hashes_as_in_spark(length: int) -> None:
    assert xxhash64_column(pa.array([key_of(length)])).tolist() == [SPARK[length]]
    assert xxh64(key_of(length)) == SPARK[length], "or the second account below would show nothing"


@given(st.lists(st.binary(max_size=100), max_size=12), st.tuples(st.integers(0, 12), st.integers(0, 12)))
@settings(max_examples=50)
def test_column_hashes_as_its_keys_do_and_a_slice_as_its_part(
    keys: list[bytes], cut: tuple[int, int]
) -> None:
    start, stop = min(cut), max(cut)
    column = pa.array(keys, pa.binary())
    assert xxhash64_column(column).tolist() == [xxh64(key) for key in keys]
    assert xxhash64_column(column[start:stop]).tolist() == [xxh64(key) for key in keys[start:stop]]


def test_text_is_hashed_as_its_utf8() -> None:
    texts = ["", "Spark", "订单-9391422", "\U0001f600"]
    assert xxhash64_column(pa.array(texts)).tolist() == [xxh64(text.encode()) for text in texts]


def test_column_of_numbers_is_refused() -> None:
    with pytest.raises(CommandError, match="must be text or bytes"):
        xxhash64_column(pa.array([1, 2]))
