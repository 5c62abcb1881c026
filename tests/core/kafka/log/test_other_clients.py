"""kafka-python and aiokafka read what we write, and we read what they write."""

from pathlib import Path
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AioBuilder
from aiokafka.record.memory_records import MemoryRecords as AioRecords
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder as PythonBuilder
from kafka.record.memory_records import MemoryRecords as PythonRecords

from broker_core.kafka.log.batch_reader import records_only
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.dump import dump_path
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import TRANSACTIONAL, encode_batch
from broker_core.kafka.log.settings import LogSettings

NOW = 1_700_000_000_000

nullable = st.none() | st.binary(max_size=300)
headers = st.lists(st.tuples(st.text(max_size=8), nullable), max_size=3)
rows = st.lists(st.tuples(st.integers(0, 2**41), nullable, nullable, headers), min_size=1, max_size=10)
Rows = list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]]

# kafka-python asks for three more packages to read the other codecs; aiokafka reads them all.
READERS: list[tuple[str, Any, list[Codec]]] = [
    ("kafka-python", PythonRecords, [Codec.NONE, Codec.GZIP]),
    ("aiokafka", AioRecords, list(Codec)),
]
BUILDERS: list[tuple[str, Any, list[Codec]]] = [
    ("kafka-python", PythonBuilder, [Codec.NONE, Codec.GZIP]),
    ("aiokafka", AioBuilder, list(Codec)),
]


@pytest.mark.parametrize(("reader", "codecs"), [row[1:] for row in READERS], ids=[row[0] for row in READERS])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_they_read_what_we_write(reader: Any, codecs: list[Codec], data: st.DataObject) -> None:
    drawn: list[Rows] = data.draw(st.lists(rows, min_size=1, max_size=3))
    written: list[list[Record]] = []
    parts = []
    offset = data.draw(st.integers(0, 2**50))
    for batch_rows in drawn:
        records = []
        for time, key, value, its_headers in batch_rows:
            encoded = tuple((name.encode(), content) for name, content in its_headers)
            records.append(Record(offset, time, key, value, encoded))
            offset += data.draw(st.integers(1, 3))
        written.append(records)
        is_transactional = data.draw(st.booleans())
        parts.append(
            bytes(
                encode_batch(
                    records,
                    codec=data.draw(st.sampled_from(codecs)),
                    attributes=TRANSACTIONAL if is_transactional else 0,
                    producer_id=7 if is_transactional else -1,
                    producer_epoch=1 if is_transactional else -1,
                    base_sequence=3 if is_transactional else -1,
                ).data
            )
        )
    read = reader(b"".join(parts))
    for records in written:
        assert read.has_next()
        batch = read.next_batch()
        assert batch.validate_crc()
        assert [plain(record) for record in batch] == [plain(record) for record in records]
    assert not read.has_next()


@pytest.mark.parametrize(
    ("builder", "codecs"), [row[1:] for row in BUILDERS], ids=[row[0] for row in BUILDERS]
)
@settings(max_examples=40, deadline=None)
@given(rows=rows, data=st.data())
def test_we_read_what_they_write(builder: Any, codecs: list[Codec], rows: Rows, data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from(codecs))
    made = builder(
        magic=2,
        compression_type=int(codec),
        is_transactional=False,
        producer_id=9,
        producer_epoch=2,
        base_sequence=5,
        batch_size=1 << 20,
    )
    for offset, (time, key, value, its_headers) in enumerate(rows):
        assert made.append(offset, timestamp=time, key=key, value=value, headers=its_headers)
    (batch,) = records_only(bytes(made.build()))
    assert batch.header.producer_id == 9
    assert [plain(record) for record in batch.records()] == [
        (offset, time, key, value, [(name, content) for name, content in its_headers])
        for offset, (time, key, value, its_headers) in enumerate(rows)
    ]


def plain(record: Any) -> tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]:
    named = [
        (name.decode() if isinstance(name, bytes) else name, None if content is None else bytes(content))
        for name, content in record.headers
    ]
    key, value = (None if content is None else bytes(content) for content in (record.key, record.value))
    return record.offset, record.timestamp, key, value, named


@pytest.mark.parametrize("reader", [PythonRecords, AioRecords], ids=["kafka-python", "aiokafka"])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_they_read_our_folder_and_we_print_what_they_wrote_into_it(
    reader: Any, codec: Codec, tmp_path: Path
) -> None:
    """What their producer built goes through our log; their reader gets it from our files, and so does
    dump_log."""
    builder = PythonBuilder if reader is AioRecords else AioBuilder
    log = PartitionLog.open(
        DiskFolder(tmp_path / "flights-0"),
        LogSettings(segment_bytes=2000, index_interval_bytes=300),
        now_ms=NOW,
    )
    for number in range(0, 60, 3):
        made = builder(
            magic=2,
            compression_type=int(codec),
            is_transactional=False,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=1 << 20,
        )
        for delta in range(3):
            made.append(
                delta,
                timestamp=NOW + number + delta,
                key=b"key-%d" % (number + delta),
                value=b"value",
                headers=[],
            )
        log.append(bytes(made.build()), now_ms=NOW)
    log.close(NOW)
    expected = [(offset, NOW + offset, b"key-%d" % offset, b"value", []) for offset in range(60)]
    files = sorted((tmp_path / "flights-0").glob("*.log"))
    assert len(files) > 1
    read = []
    for file in files:
        records = reader(file.read_bytes())
        while records.has_next():
            batch = records.next_batch()
            assert batch.validate_crc()
            read += [plain(record) for record in batch]
    assert read == expected
    printed = [row.fields for row in dump_path(tmp_path / "flights-0", deep=True) if row.kind == "record"]
    assert [(row["offset"], row["CreateTime"], row["key"]) for row in printed] == [
        (o, t, key.decode()) for o, t, key, _, _ in expected
    ]
    assert all(row.fields["isvalid"] for row in dump_path(tmp_path / "flights-0") if row.kind == "batch")
