"""What is printed of a folder, and which byte of a batch is what."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.kafka.log.batch_fields import batch_fields
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.dump import NotALogFile, dump_path
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import CONTROL, ControlType, encode_batch
from broker_core.kafka.log.settings import LogSettings

NOW = 1_700_000_000_000
FIRST_BATCH = (
    "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: null position: 0 "
)
MARKER = "endTxnMarker: ABORT coordinatorEpoch: 3"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "flights-0"
    log = PartitionLog.open(DiskFolder(path), LogSettings(index_interval_bytes=0), now_ms=NOW)
    log.append_pairs([(b"k0", b"value-0"), (None, None)], now_ms=NOW)
    log.append_pairs(
        [(b"t", b"\xff")], now_ms=NOW + 1, codec=Codec.ZSTD, producer_id=7, producer_epoch=1, base_sequence=0,
        is_transactional=True,
    )  # fmt: skip
    log.append_marker(ControlType.ABORT, producer_id=7, producer_epoch=1, coordinator_epoch=3, now_ms=NOW + 2)
    log.close(NOW)
    return path


def test_a_folder_is_printed_file_by_file(folder: Path) -> None:
    text = "\n".join(row.text() for row in dump_path(folder, deep=True))
    crc = next(row.fields["crc"] for row in dump_path(folder) if row.kind == "batch")
    assert text.splitlines()[:14] == [
        "Dumping flights-0/00000000000000000000.index",
        "offset: 2 position: 84",
        (
            f"offset: 3 position: "
            f"{next(r.fields['position'] for r in dump_path(folder) if r.fields.get('baseOffset') == 3)}"
        ),
        "Dumping flights-0/00000000000000000000.log",
        "Log starting offset: 0",
        FIRST_BATCH + f"CreateTime: {NOW} size: 84 magic: 2 compresscodec: none crc: {crc} isvalid: true",
        (
            f"| offset: 0 CreateTime: {NOW} keySize: 2 valueSize: 7 sequence: -1 headerKeys: [] key: k0 "
            f"payload: value-0"
        ),
        (
            f"| offset: 1 CreateTime: {NOW} keySize: -1 valueSize: -1 sequence: -1 headerKeys: [] key: null "
            f"payload: null"
        ),
        text.splitlines()[8],
        (
            f"| offset: 2 CreateTime: {NOW + 1} keySize: 1 valueSize: 1 sequence: 0 headerKeys: [] key: t "
            f"payload: \\xff"
        ),
        text.splitlines()[10],
        (
            f"| offset: 3 CreateTime: {NOW + 2} keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] "
            f"endTxnMarker: ABORT coordinatorEpoch: 3"
        ),
        "Dumping flights-0/00000000000000000000.timeindex",
        f"timestamp: {NOW + 1} offset: 2",
    ]
    assert "version: 0 producerId: 7 firstOffset: 2 lastOffset: 3 lastStableOffset: 4" in text
    assert "Dumping flights-0/leader-epoch-checkpoint\n0\n1\n0 0" in text
    assert "producerId: 7 producerEpoch: 1 coordinatorEpoch: 3 currentTxnFirstOffset: null" in text


def test_a_file_by_itself_its_spare_room_and_its_torn_end(folder: Path) -> None:
    index = folder / "00000000000000000000.timeindex"
    rows = [row.text() for row in dump_path(index)]
    index.write_bytes(index.read_bytes() + bytes(1200))
    assert [row.text() for row in dump_path(index)] == rows
    log = folder / "00000000000000000000.log"
    log.write_bytes(log.read_bytes() + b"torn")
    assert [row.text() for row in dump_path(log)][-1].endswith("are no whole batch")
    log.write_bytes(bytes(100))
    assert [row.kind for row in dump_path(log)] == ["file", "problem"]


def test_what_holds_nothing_of_a_log_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("127.0.0.1 localhost")
    for path in (tmp_path, other):
        with pytest.raises(NotALogFile):
            next(dump_path(path))
    with pytest.raises(FileNotFoundError):
        next(dump_path(tmp_path / "00000000000000000000.log"))


def test_a_file_that_retention_takes_meanwhile_is_left_out(folder: Path) -> None:
    rows = dump_path(folder)
    next(rows)
    (folder / f"{'0' * 20}.timeindex").unlink()
    paths = [row.fields["path"] for row in rows if row.kind == "file"]
    assert paths and not any(".timeindex" in str(path) for path in paths)


@pytest.fixture
def long_folder(tmp_path: Path) -> Path:
    path = tmp_path / "orders-0"
    log = PartitionLog.open(DiskFolder(path), LogSettings(index_interval_bytes=150), now_ms=NOW)
    for number in range(40):
        log.append_pairs([(b"k", b"v")], now_ms=NOW + number)
    log.close(NOW)
    return path


def problems(path: Path) -> list[str]:
    return [row.text() for row in dump_path(path) if row.kind == "problem"]


@pytest.mark.parametrize(
    ("name", "byte", "says"),
    [
        (".index", 8 * 4 + 3, "Mismatch at offset"),        # a row's offset is another
        (".index", 8 * 4 + 7, "no batch starts at"),        # a row's position is inside a batch
        (".index", 8 * 4 + 2, "no rows that rise"),         # the row behind it is not above it
        (".index", 8 * 4, "no rows that rise"),             # a negative offset
        (".timeindex", 12 * 4 + 7, "Mismatch at timestamp"),
        (".timeindex", 12 * 4 + 10, "no batch holds offset"),
        (".timeindex", 12 * 4, "no rows that rise"),
    ],
)  # fmt: skip
def test_a_damaged_row_of_an_index_is_told(long_folder: Path, name: str, byte: int, says: str) -> None:
    assert problems(long_folder) == []
    index = long_folder / f"{'0' * 20}{name}"
    data = bytearray(index.read_bytes())
    data[byte] ^= 0x81
    index.write_bytes(data)
    assert any(says in problem for problem in problems(index)), problems(index)


def test_an_index_without_its_log_and_one_cut_inside_a_row(long_folder: Path) -> None:
    index = long_folder / f"{'0' * 20}.index"
    (long_folder / f"{'0' * 20}.log").unlink()
    assert problems(index) == []
    index.write_bytes(index.read_bytes() + b"\x01")
    assert problems(index) == [f"1 bytes at {index.stat().st_size - 1} are no rows that rise"]


nullable = st.none() | st.binary(max_size=20)


@given(
    st.lists(
        st.tuples(nullable, nullable, st.lists(st.tuples(st.binary(max_size=4), nullable), max_size=2)),
        min_size=1,
    ),
    st.sampled_from([Codec.NONE, Codec.GZIP]),
)
def test_the_fields_cover_every_byte_once(
    rows: list[tuple[bytes, bytes, list[tuple[bytes, bytes]]]], codec: Codec
) -> None:
    records = [
        Record(offset, NOW, key, value, tuple(headers)) for offset, (key, value, headers) in enumerate(rows)
    ]
    batch = encode_batch(records, codec=codec)
    fields = batch_fields(batch)
    assert [field.start for field in fields] == [0, *(field.end_exclusive for field in fields[:-1])]
    assert fields[-1].end_exclusive == len(batch.data)
    if codec is Codec.NONE:
        keys = [field.value for field in fields if field.name == "key"]
        assert keys == [record.key for record in records if record.key]


def test_control_records_of_a_kraft_quorum_have_their_names(tmp_path: Path) -> None:
    """A cluster's metadata log holds them; what follows the type in the value is the quorum's own."""
    path = tmp_path / "00000000000000000000.log"
    keys = [b"\x00\x00\x00" + bytes([number]) for number in (2, 3, 4, 5, 6, 9)]
    path.write_bytes(
        b"".join(
            encode_batch([Record(at, NOW, key, b"\x00\x00")], attributes=CONTROL).data
            for at, key in enumerate(keys)
        )
    )
    rows = list(dump_path(path, deep=True))
    assert [row.fields["controlType"] for row in rows if row.kind == "record"] == [
        "LEADER_CHANGE(2)", "SNAPSHOT_HEADER(3)", "SNAPSHOT_FOOTER(4)", "KRAFT_VERSION(5)", "KRAFT_VOTERS(6)",
    ]  # fmt: skip
    assert [str(row.fields["text"])[:10] for row in rows if row.kind == "problem"] == ["records at"], (
        "9 is no type"
    )
