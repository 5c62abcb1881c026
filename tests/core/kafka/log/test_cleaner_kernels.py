"""The cleaner's compiled loops give what the plain ways give."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.errors import InvalidRecord
from broker_core.kafka.log.offset_map import digests_of
from broker_core.kafka.log.record import Record, decode_records, encode_record
from broker_core.kafka.log.record_columns import record_columns

nullable = st.none() | st.binary(max_size=150)
headers = st.lists(st.tuples(st.binary(max_size=4), nullable), max_size=2).map(tuple)
rows = st.tuples(st.integers(0, 2**31 - 1), st.integers(-(2**62), 2**62), nullable, nullable, headers)


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.binary(max_size=260)))
def test_digests_are_the_md5_of_the_keys(keys: list[bytes]) -> None:
    assert digests_of(keys).tobytes() == b"".join(hashlib.md5(key).digest() for key in keys)


@pytest.mark.parametrize("size", [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 5000])
def test_digests_at_the_edges_of_md5_s_blocks(size: int) -> None:
    key = bytes(index * 7 % 256 for index in range(size))
    assert digests_of([b"before", key, b"behind"]).tobytes()[16:32] == hashlib.md5(key).digest()


@settings(deadline=None)  # the first call compiles
@given(st.lists(rows, max_size=20))
def test_columns_say_what_the_records_say(
    drawn: list[tuple[int, int, bytes | None, bytes | None, tuple[tuple[bytes, bytes | None], ...]]],
) -> None:
    encoded = [encode_record(Record(*row), 0, 0) for row in drawn]
    columns = record_columns(b"".join(encoded), len(encoded))
    assert encoded == [
        columns.data[start:end]
        for start, end in zip(columns.starts.tolist(), columns.ends.tolist(), strict=True)
    ]
    assert list(
        zip(
            columns.offset_deltas.tolist(),
            columns.timestamp_deltas.tolist(),
            columns.has_values.tolist(),
            strict=True,
        )
    ) == [(offset, time, value is not None) for offset, time, _, value, _ in drawn]
    spans = zip(columns.key_starts.tolist(), columns.key_sizes.tolist(), strict=True)
    assert [None if size < 0 else columns.data[start : start + size] for start, size in spans] == [
        key for _, _, key, _, _ in drawn
    ]


@settings(deadline=None)  # the first call compiles
@given(st.lists(rows, min_size=1, max_size=6), st.data())
def test_what_the_reader_takes_the_columns_take(
    drawn: list[tuple[int, int, bytes | None, bytes | None, tuple[tuple[bytes, bytes | None], ...]]],
    data: st.DataObject,
) -> None:
    """Damaged bytes are refused, or read as the reader reads them; never read out of bounds."""
    damaged = bytearray(b"".join(encode_record(Record(*row), 0, 0) for row in drawn))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    try:
        records = list(decode_records(content, len(drawn), 0, 0))
    except InvalidRecord:
        records = None
    try:
        columns = record_columns(content, len(drawn))
    except InvalidRecord:
        assert records is None
    else:
        assert records is None or columns.offset_deltas.tolist() == [record.offset for record in records]


@pytest.mark.parametrize("count", [-1, 0, 2, 2**31 - 1])
def test_a_count_that_the_bytes_do_not_hold(count: int) -> None:
    with pytest.raises(InvalidRecord):
        record_columns(encode_record(Record(0, 0, b"k", b"v"), 0, 0), count)
