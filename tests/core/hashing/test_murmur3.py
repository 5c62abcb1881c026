"""Murmur3 over text that is not plain; the recorded strings are in
tests/core/pulsar/test_recorded_pulsar.py."""

from broker_core.hashing.murmur3 import murmur3_31, murmur3_32


def test_text_is_hashed_as_utf_8() -> None:
    assert murmur3_32("订单-9391422") == murmur3_32("订单-9391422".encode())
    assert murmur3_31("订单-9391422") == 1962548742


def test_half_a_surrogate_pair_is_a_question_mark_as_in_java() -> None:
    assert murmur3_32("a\ud800b") == murmur3_32("a?b")


def test_keyless_records_of_3_2_share_one_hash() -> None:
    assert murmur3_32("NONE_KEY") == 2652225187


def test_empty_key_is_a_key() -> None:
    assert murmur3_32("") == 0
