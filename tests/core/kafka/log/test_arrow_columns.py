"""Records as Arrow columns are the records that record.py reads, and fail where it fails."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.arrow_columns import COLUMNS, BrokenBatch, arrow_columns
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import HEADER_SIZE, LOG_APPEND_TIME, BatchHeader, RecordBatch, encode_batch

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
        batches.append(encode_batch(records, codec=codec, attributes=LOG_APPEND_TIME if is_append_time else 0))
    return batches


def as_record_py_reads(batches):
    return [
        {
            "offset": record.offset, "timestamp_ms": record.timestamp, "key": record.key, "value": record.value,
            "headers": [{"key": key, "value": value} for key, value in record.headers],
            "key_bytes": None if record.key is None else len(record.key), "value_bytes": None if record.value is None else len(record.value),
            "record_bytes": record.size_in_bytes,
        }
        for batch in batches for record in batch.records()
    ]  # fmt: skip


@settings(deadline=None)
@given(BATCHES)
def test_columns_are_what_record_py_reads(described):
    batches = encoded(described)
    assert arrow_columns(batches).to_pylist() == as_record_py_reads(batches)


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
            arrow_columns([batch, damaged, batch])
        assert (caught.value.index, str(caught.value)) == (1, str(error))
        return
    assert arrow_columns([damaged]).to_pylist() == expected


@pytest.mark.parametrize("count", [-1, 0, 1, 2**31 - 1])
def test_batch_with_another_count_is_read_or_refused_as_record_py_does(count):
    [batch] = encoded([([(0, 5, b"k", b"v", ())] * 2, Codec.NONE, False)])
    claimed = RecordBatch(BatchHeader(*batch.header[:-1], count), batch.data)
    if count == 0:
        assert arrow_columns([claimed]).num_rows == 0
        return
    with pytest.raises(LogError) as expected:
        list(claimed.records())
    with pytest.raises(BrokenBatch) as caught:
        arrow_columns([claimed])
    assert caught.value.args == expected.value.args


def test_only_the_columns_that_are_asked_for():
    [batch] = encoded([([(0, 5, b"k", None, ())], Codec.ZSTD, False)])
    made = arrow_columns([batch], ["value_bytes", "key"])
    assert made.schema.names == ["value_bytes", "key"]
    assert made.to_pylist() == [{"value_bytes": None, "key": b"k"}]
    assert arrow_columns([], ["offset"]).schema.field("offset").type == COLUMNS["offset"]
