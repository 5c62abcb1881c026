"""From batch to batch by their headers, over bytes made by hand: whole, cut off, hollow, of an old format, or
no batch at all."""

import pytest

from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import HEADER_SIZE, encode_batch
from broker_core.kafka.log.storage import LogFile
from broker_core.lab.kafka_log.walk import BatchSeen, Damage, begins_with_batch, walk


def batch(base: int, *values: bytes, at_ms: int = 1_000) -> bytes:
    data = bytearray(
        encode_batch(
            [Record(number, at_ms + number, None, value) for number, value in enumerate(values)]
        ).data
    )
    data[:8] = base.to_bytes(8)
    return bytes(data)


def old_message(base: int, magic: int, timestamp: int = 77) -> bytes:
    """A message of format 0 or 1: offset, size, CRC, magic, attributes, and in format 1 a timestamp, then key
    and value."""
    body = (
        b"\0\0\0\0"
        + bytes([magic, 0])
        + (timestamp.to_bytes(8) if magic else b"")
        + b"\xff\xff\xff\xff"
        + (3).to_bytes(4)
        + b"abc"
    )
    return base.to_bytes(8) + len(body).to_bytes(4) + body


def file_of(*parts: bytes) -> LogFile:
    file = MemoryFolder().open("00000000000000000000.log")
    for part in parts:
        file.append(part)
    return file


def seen(*parts: bytes, position: int = 0, end: int | None = None) -> list[BatchSeen | Damage]:
    return list(walk(file_of(*parts), position, end))


ONE, TWO = batch(0, b"a", b"b"), batch(2, b"c", at_ms=5_000)


def test_each_header_says_where_its_batch_lies_and_what_it_holds() -> None:
    assert seen(ONE, TWO) == [
        BatchSeen(0, len(ONE), 0, 1, 2, 2, 1_000, 1_001),
        BatchSeen(len(ONE), len(TWO), 2, 2, 2, 1, 5_000, 5_000),
    ]


def test_walk_begins_at_a_batch_and_ends_before_the_byte_that_is_given() -> None:
    assert [one.position for one in seen(ONE, TWO, position=len(ONE))] == [len(ONE)]
    assert [one.position for one in seen(ONE, TWO, end=len(ONE))] == [0]
    assert [one.position for one in seen(ONE, TWO, end=len(ONE) + 1)] == [0, len(ONE)], (
        "a batch that begins before the end is whole"
    )
    assert len(seen(ONE, TWO, end=10**9)) == 2 and seen() == []


@pytest.mark.parametrize("left", [1, 16, 17, HEADER_SIZE - 1, HEADER_SIZE, len(TWO) - 1])
def test_batch_that_is_cut_off_is_damage_up_to_the_end_of_the_file(left: int) -> None:
    assert seen(ONE, TWO[:left])[1:] == [Damage("cut", len(ONE), left)]


@pytest.mark.parametrize("count", [17, HEADER_SIZE, 300])
def test_zeros_are_a_hole_of_the_file(count: int) -> None:
    assert seen(ONE, bytes(count))[1:] == [Damage("zeros", len(ONE), count)]


def test_hole_that_is_followed_by_something_is_told_to_the_end_all_the_same() -> None:
    assert seen(bytes(200), ONE) == [Damage("zeros", 0, 200 + len(ONE))]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (slice(8, 12), (13).to_bytes(4)),
        (slice(8, 12), b"\xff\xff\xff\xff"),
        (slice(16, 17), b"\x03"),
        (slice(8, 12), (48).to_bytes(4)),
    ],
    ids=["too short for any format", "below 0", "of a format to come", "too short for its own format"],
)
def test_bytes_that_cannot_be_a_header_are_no_batch(place: slice, value: bytes) -> None:
    data = bytearray(TWO)
    data[place] = value
    assert seen(ONE, bytes(data))[1:] == [Damage("no_batch", len(ONE), len(TWO))]


def test_walk_ends_at_the_first_damage() -> None:
    assert [type(one) for one in seen(ONE, b"only words, and more of them than a header", ONE)] == [
        BatchSeen,
        Damage,
    ]


@pytest.mark.parametrize(("magic", "timestamp"), [(0, -1), (1, 77)])
def test_message_of_an_old_format_is_one_record_with_a_time_if_its_format_has_one(
    magic: int, timestamp: int
) -> None:
    message = old_message(9, magic)
    assert seen(message, ONE)[0] == BatchSeen(0, len(message), 9, 9, magic, 1, timestamp, timestamp)
    assert len(seen(message, ONE)) == 2


def test_many_small_batches_are_read_window_by_window() -> None:
    parts = [batch(number, b"x" * 400) for number in range(400)]
    found = seen(*parts)
    assert len(found) == 400 and [one.base_offset for one in found if isinstance(one, BatchSeen)] == list(
        range(400)
    )
    assert sum(len(part) for part in parts) > 2 * 64 * 1024


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"", True),
        (ONE[:17], True),
        (ONE[:16], False),
        (old_message(0, 0)[:17], True),
        (bytes(17), False),
        (b"\xff" * 8 + ONE[8:17], False),
        (ONE[:16] + b"\x03", False),
    ],
)
def test_first_bytes_of_a_file_say_whether_it_can_be_a_log(head: bytes, is_one: bool) -> None:
    assert begins_with_batch(head) is is_one
