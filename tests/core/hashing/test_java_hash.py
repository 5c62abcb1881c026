"""Java's string hash and order, where Python's own would differ."""

from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.java_hash import java_sorted, string_hash, string_hash_unsigned


def test_a_character_above_the_basic_plane_counts_as_its_two_units() -> None:
    assert string_hash("\U0001f600") == 0xD83D * 31 + 0xDE00 == 1772899


def test_a_lone_surrogate_counts_as_the_unit_it_is() -> None:
    assert string_hash("\ud800") == 0xD800


def test_the_sum_wraps_to_the_smallest_integer() -> None:
    assert string_hash("polygenelubricants") == -(1 << 31)


def test_strings_stand_by_unit_and_not_by_code_point() -> None:
    assert java_sorted(["\uffee", "\U0001f600"]) == ["\U0001f600", "\uffee"]
    assert sorted(["\uffee", "\U0001f600"]) == ["\uffee", "\U0001f600"]


@given(st.text(max_size=12), st.text(max_size=12))
def test_a_hash_can_be_carried_on_from_a_prefix(head: str, tail: str) -> None:
    tail_units = len(tail.encode("utf-16-be")) // 2
    carried = string_hash_unsigned(head) * 31**tail_units + string_hash_unsigned(tail)
    assert string_hash_unsigned(head + tail) == carried % (1 << 32)


@given(st.text(max_size=12))
def test_signed_and_unsigned_hash_are_the_same_32_bits(text: str) -> None:
    assert string_hash(text) % (1 << 32) == string_hash_unsigned(text)


def test_a_long_text_hashes_as_the_loop_of_java_does() -> None:
    text = "consumer-0123456789é😀" * 40
    hashed = 0
    raw = text.encode("utf-16-be")
    for index in range(0, len(raw), 2):
        hashed = (hashed * 31 + raw[index] * 256 + raw[index + 1]) % (1 << 32)
    assert string_hash_unsigned(text) == hashed
