"""Records as Arrow columns are the records that record.py reads, and fail where it fails."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.arrow_columns import COLUMNS, BrokenBatch, arrow_columns
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import (
    HEADER_SIZE,
    LOG_APPEND_TIME,
    BatchHeader,
    RecordBatch,
    encode_batch,
)

CONTENT = st.none() | st.binary(max_size=20) | st.just(b"x" * 200)
RECORDS = st.lists(
    st.tuples(
        st.integers(0, 300), st.integers(-5, 2**40), CONTENT, CONTENT,
        st.lists(st.tuples(st.binary(max_size=5), st.none() | st.binary(max_size=5)), max_size=2).map(tuple),
    ),
    min_size=1, max_size=8,
)  # fmt: skip
BATCHES = st.lists(st.tuples(RECORDS, st.sampled_from(list(Codec)), st.booleans()), max_size=5)


def encoded(described):
    batches, offset = [], 0
    for rows, codec, is_append_time in described:
        records = []
        for gap, timestamp, key, value, headers in rows:
            offset += gap + 1
            records.append(Record(offset, timestamp, key, value, headers))
        batches.append(
            encode_batch(records, codec=codec, attributes=LOG_APPEND_TIME if is_append_time else 0)
        )
    return batches


def as_record_py_reads(batches):
    return [
        {
            "offset": record.offset,
            "timestamp_ms": record.timestamp,
            "key": record.key,
            "value": record.value,
            "headers": [{"key": key, "value": value} for key, value in record.headers],
            "key_bytes": None if record.key is None else len(record.key),
            "value_bytes": None if record.value is None else len(record.value),
            "record_bytes": record.size_in_bytes,
        }
        for batch in batches
        for record in batch.records()
    ]


def rows_of(batches):
    return [row for made in arrow_columns(batches) for row in made.to_pylist()]


@settings(deadline=None)
@given(BATCHES)
def test_columns_are_what_record_py_reads(described):
    batches = encoded(described)
    assert rows_of(batches) == as_record_py_reads(batches)


@given(BATCHES, st.integers(1, 3_000))
def test_records_come_in_pieces_of_bounded_size_uncompressed(described, piece_bytes):
    batches = encoded(described)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker_core.kafka.log.arrow_columns.PIECE_BYTES", piece_bytes)
        pieces = list(arrow_columns(batches))
    assert [row for made in pieces for row in made.to_pylist()] == as_record_py_reads(batches)
    largest = max((sum(record.size_in_bytes for record in batch.records()) for batch in batches), default=0)
    assert all(sum(made["record_bytes"].to_pylist()) < piece_bytes + largest for made in pieces)


def test_a_batch_that_no_column_holds_is_broken_and_those_before_it_are_read(monkeypatch):
    small, large = encoded(
        [([(0, 5, b"k", b"v", ())], Codec.ZSTD, False), ([(0, 5, b"k", b"v" * 9_000, ())], Codec.ZSTD, False)]
    )
    monkeypatch.setattr("broker_core.kafka.log.arrow_columns._ARROW_BYTES_MAX", 8_000)
    reading = arrow_columns([small, small, large], ["key"])
    assert next(reading).num_rows == 2
    with pytest.raises(BrokenBatch, match="a column of Arrow's holds 8000 at most") as caught:
        next(reading)
    assert caught.value.index == 2


@settings(deadline=None, max_examples=300)
@given(RECORDS, st.data())
def test_damaged_records_give_what_record_py_gives_or_fail_as_it_does(rows, data):
    [batch] = encoded([(rows, Codec.NONE, False)])
    content = bytearray(batch.data)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(HEADER_SIZE, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = RecordBatch(batch.header, bytes(content))
    try:
        expected = as_record_py_reads([damaged])
    except LogError as error:
        with pytest.raises(BrokenBatch) as caught:
            rows_of([batch, damaged, batch])
        assert (caught.value.index, str(caught.value)) == (1, str(error))
        return
    assert rows_of([damaged]) == expected


@pytest.mark.parametrize("count", [-1, 0, 1, 2**31 - 1])
def test_batch_with_another_count_is_read_or_refused_as_record_py_does(count):
    [batch] = encoded([([(0, 5, b"k", b"v", ())] * 2, Codec.NONE, False)])
    claimed = RecordBatch(BatchHeader(*batch.header[:-1], count), batch.data)
    if count == 0:
        assert rows_of([claimed]) == []
        return
    with pytest.raises(LogError) as expected:
        list(claimed.records())
    with pytest.raises(BrokenBatch) as caught:
        rows_of([claimed])
    assert caught.value.args == expected.value.args


def test_only_the_columns_that_are_asked_for():
    [batch] = encoded([([(0, 5, b"k", None, ())], Codec.ZSTD, False)])
    [made] = arrow_columns([batch], ["value_bytes", "key"])
    assert made.schema.names == ["value_bytes", "key"]
    assert made.to_pylist() == [{"value_bytes": None, "key": b"k"}]
    assert made.schema.field("value_bytes").type == COLUMNS["value_bytes"]
    assert list(arrow_columns([])) == []
