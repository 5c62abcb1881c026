"""Murmur2 against words of Kafka's own test and the shape of its answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.murmur2 import murmur2


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_words_that_kafka_itself_tests(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected


@given(st.binary(max_size=40))
def test_every_key_hashes_to_a_signed_32_bit_integer(key: bytes) -> None:
    assert -(1 << 31) <= murmur2(key) < 1 << 31
