"""The kafka_log source: every record once, pruned by offset and time, damaged batches told, streams exactly
once."""

import shutil

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from crc32c import crc32c
from pyspark.errors import PySparkException
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from broker_core.errors import CommandError
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.offset_index import ROW
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import (
    TRANSACTIONAL,
    ControlType,
    encode_batch,
    encode_control_batch,
    encode_pairs_batch,
)  # fmt: skip
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.transaction_index import AbortedTransaction, add_aborted
from broker_core.pipeline.sources.kafka_log import (
    KafkaLogReader,
    KafkaLogSource,
    KafkaLogStreamReader,
    Options,
    kafka_log_register,
)
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from broker_core.pipeline.sources.kafka_log_plan import Bounds, end_offset, last_stable_offset, plan
from broker_core.pipeline.sources.kafka_log_tasks import damaged_batches, read_range, sound_batches
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.read import source_failure, source_read

START_MS = 1_700_000_000_000
SETTINGS = LogSettings(segment_bytes=16_384, index_interval_bytes=1_024)


def struct(schema):
    types = {"string": StringType(), "binary": BinaryType()}
    return StructType(
        [StructField(name, types[kind]) for name, kind in (column.split() for column in schema.split(", "))]
    )


def write_log(folder, first, count, *, codec=Codec.NONE, batch=10, settings=SETTINGS):
    """Append records first..first+count-1: key "k<n mod 7>", value "v<n>", one a ms."""
    log = PartitionLog.open(DiskFolder(folder), settings, now_ms=START_MS, was_closed=True)
    for start in range(first, first + count, batch):
        records = [
            Record(
                number - start,
                START_MS + number,
                b"k%d" % (number % 7) if number % 11 else None,
                b"v%d" % number,
                ((b"h", b"%d" % number),),
            )
            for number in range(start, min(start + batch, first + count))
        ]
        log.append(encode_batch(records, codec=codec).data, now_ms=START_MS + start)
    log.close(START_MS)
    return folder


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    top = tmp_path_factory.mktemp("kafka-logs")
    write_log(top / "flights-0", 0, 2_000)
    write_log(top / "flights-1", 0, 900, codec=Codec.ZSTD)
    write_log(top / "orders-0", 0, 50, codec=Codec.GZIP)
    return top


def load(spark, path, view="records", schema=None, **options):
    kafka_log_register(spark)
    reader = spark.read.format("kafka_log").option("view", view)
    if schema is not None:
        reader = reader.schema(schema)
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load(str(path))


def test_every_record_of_every_partition_once_with_all_that_it_holds(spark, logs):
    rows = load(spark, logs, taskBytes=20_000, includeHeaders="true").toArrow().to_pylist()
    counts = {}
    for row in rows:
        counts[row["topic"], row["partition"]] = counts.get((row["topic"], row["partition"]), 0) + 1
    assert counts == {("flights", 0): 2_000, ("flights", 1): 900, ("orders", 0): 50}
    found = {(row["topic"], row["partition"], row["offset"]): row for row in rows}
    assert len(found) == len(rows)
    assert found["flights", 1, 123] == {
        "topic": "flights",
        "partition": 1,
        "offset": 123,
        "timestamp_ms": START_MS + 123,
        "key": b"k4",
        "value": b"v123",
        "headers": [{"key": b"h", "value": b"123"}],
    }
    assert found["flights", 0, 22]["key"] is None


def test_sizes_are_read_without_values(spark, logs):
    rows = load(spark, logs / "orders-0", "sizes").orderBy("offset").toArrow().to_pylist()
    assert [(row["key"], row["key_bytes"], row["value_bytes"]) for row in rows[10:12]] == [
        (b"k3", 2, 3),
        (None, None, 3),
    ]


def test_a_schema_names_the_columns_that_are_read(spark, logs):
    asked = load(spark, logs, schema="value binary, partition int", until_offset=20).toArrow()
    assert (asked.column_names, asked.num_rows) == (["value", "partition"], 60)
    with pytest.raises(
        PySparkException, match="may name these columns: topic string, partition int, offset bigint"
    ):
        load(spark, logs, schema="kee binary").toArrow()


@pytest.mark.parametrize(
    ("schema", "view"),
    [("key string", "records"), ("value binary", "sizes"), ("key binary, problem string", "records")],
)
def test_a_schema_of_other_columns_is_refused(logs, schema, view):
    source = KafkaLogSource({"path": str(logs), "view": view})
    with pytest.raises(CommandError, match="may name these columns"):
        source.reader(struct(schema))


def test_rows_have_the_schemas_columns_whatever_the_bounds_need(logs):
    [given] = plan(partition_folders(logs / "flights-1"), Bounds(10, 20, START_MS + 12))
    types = {
        "key": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "timestamp_ms": pa.int64(),
        "problem": pa.string(),
    }
    for names in (["key"], ["partition"], ["timestamp_ms", "topic"], ["problem", "key"]):
        schema = pa.schema([(name, types[name]) for name in names])
        rows = pa.Table.from_batches(read_range(given, schema, "records", skip_damaged=True), schema)
        assert rows.num_rows == 8 and rows.schema == schema
    assert rows["key"].to_pylist() == [
        b"k%d" % (number % 7) if number % 11 else None for number in range(12, 20)
    ]


def test_comparisons_of_offsets_and_times_reach_the_plan(spark, logs):
    frame = load(spark, logs)
    query = frame.filter("topic = 'flights' and partition = 0 and offset >= 500 and offset < 510")
    assert [row.offset for row in query.orderBy("offset").collect()] == list(range(500, 510))
    times = frame.filter(f"timestamp_ms > {START_MS + 1_990} and partition = 0")
    assert sorted(row.offset for row in times.collect()) == list(range(1_991, 2_000))


def test_bounds_as_options_and_one_segment_by_itself(spark, logs):
    found = load(spark, logs, topic="flights", from_offset=890, until_offset=905).count()
    assert found == 15 + 10
    segment = sorted((logs / "flights-0").glob("*.log"))[1]
    offsets = [row.offset for row in load(spark, segment).collect()]
    assert min(offsets) == int(segment.stem)
    assert load(spark, logs, from_ms=START_MS + 100, until_ms=START_MS + 103, topic="flights").count() == 6


def test_workload_has_ordinals_in_the_order_of_time(spark, logs):
    workload = source_read(spark, {"kind": "kafka_log", "path": str(logs), "topic": "flights"}, ordinals=True)
    rows = workload.records.orderBy("ordinal").toArrow().to_pylist()
    assert [row["ordinal"] for row in rows] == list(range(2_900))
    assert [row["at_us"] for row in rows[:5]] == [(START_MS + number) * 1_000 for number in (0, 0, 1, 1, 2)]
    assert (rows[2]["key"], rows[2]["bytes"]) == (b"k1", 4)
    assert workload.bad.count() == 0


def test_damaged_batch_fails_with_its_place_or_is_set_aside(spark, logs, tmp_path):
    folder = shutil.copytree(logs / "flights-0", tmp_path / "flights-0")
    log = min(folder.glob("*.log"))
    content = bytearray(log.read_bytes())
    [first, second, *_] = [
        position for position, _, _ in sound_batches(plan(partition_folders(log), Bounds())[0])
    ]
    content[second + 70] ^= 0xFF
    log.write_bytes(content)
    with pytest.raises(Exception) as caught:
        load(spark, folder).count()
    assert source_failure(caught.value).startswith(
        f"flights-0/{log.name}: the batch at {second} is damaged: the stored crc is"
    )
    assert load(spark, folder, damaged="skip").count() == 1_990
    told = load(spark, folder, "sizes", damaged="tell").toArrow()
    [damaged] = told.filter(pc.is_valid(told["problem"])).to_pylist()
    assert told.num_rows == 1_991
    assert damaged | {"problem": damaged["problem"][:16]} == {
        "topic": "flights",
        "partition": 0,
        "offset": 10,
        "timestamp_ms": START_MS + 9,
        "key": None,
        "key_bytes": None,
        "value_bytes": None,
        "problem": "the stored crc i",
    }
    for bounds, expected in (((11, 2_000), []), ((5, 11), [second]), ((0, 10), [])):
        assert [
            position
            for given in plan(partition_folders(log), Bounds(*bounds))
            for position, _ in damaged_batches(given)
        ] == expected
    workload = source_read(spark, {"kind": "kafka_log", "path": str(folder)})
    assert workload.records.count() == 1_990
    [bad] = workload.bad.collect()
    assert (bad.line, bad.reason, bad.file) == (second, "bad_batch", f"flights-0/{log.name}")
    assert first == 0


def test_batch_that_is_broken_inside_a_right_crc_is_a_bad_row(spark, tmp_path):
    folder = write_log(tmp_path / "t-0", 0, 40, codec=Codec.ZSTD)
    log = min(folder.glob("*.log"))
    content = bytearray(log.read_bytes())
    [_, (position, batch, _), *_] = sound_batches(plan(partition_folders(log), Bounds())[0])
    end = position + batch.size_in_bytes
    content[position + 61 : position + 75] = bytes(
        byte ^ 0xFF for byte in content[position + 61 : position + 75]
    )
    content[position + 17 : position + 21] = crc32c(content[position + 21 : end]).to_bytes(4, "big")
    log.write_bytes(content)
    workload = source_read(spark, {"kind": "kafka_log", "path": str(folder)})
    assert workload.records.count() == 30
    [bad] = workload.bad.collect()
    assert (bad.line, bad.reason, bad.file) == (position, "bad_batch", f"t-0/{log.name}")
    assert bad.text.startswith("zstd: ")


def test_rest_of_a_segment_that_is_no_batch_is_told_once(logs, tmp_path):
    folder = shutil.copytree(logs / "flights-0", tmp_path / "flights-0")
    log, after = sorted(folder.glob("*.log"))[:2]
    content = bytearray(log.read_bytes())
    [(position, _, _), *_] = sound_batches(plan(partition_folders(log), Bounds())[0])
    content[position + 8 : position + 12] = b"\xff" * 4  # the length
    log.write_bytes(content)
    schema = pa.schema([("offset", pa.int64()), ("timestamp_ms", pa.int64()), ("problem", pa.string())])
    base = int(after.stem)

    def told(from_offset, until_offset):
        ranges = plan(partition_folders(folder), Bounds(from_offset, until_offset))
        rows = pa.Table.from_batches(
            [batch for given in ranges for batch in read_range(given, schema, "records", skip_damaged=True)],
            schema,
        )
        return rows.filter(pc.is_valid(rows["problem"]))["offset"].to_pylist(), rows.num_rows

    assert told(0, base + 3) == ([0], 1 + 3)
    assert told(base, base + 3) == ([], 3)


def test_read_committed_leaves_out_aborted_and_open_transactions(spark, tmp_path):
    folder = tmp_path / "orders-0"
    folder.mkdir()

    def batch(offset, producer, key):
        return encode_pairs_batch(
            [(key, b"v")],
            timestamp=START_MS,
            base_offset=offset,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=0,
            attributes=TRANSACTIONAL,
        ).data

    def marker(offset, producer, kind):
        return encode_control_batch(
            kind,
            base_offset=offset,
            timestamp=START_MS,
            producer_id=producer,
            producer_epoch=0,
            coordinator_epoch=0,
        ).data

    plain = encode_pairs_batch([(b"plain", b"v")], timestamp=START_MS, base_offset=5).data
    parts = [
        batch(0, 1, b"aborted"),
        batch(1, 2, b"kept"),
        marker(2, 1, ControlType.ABORT),
        marker(3, 2, ControlType.COMMIT),
        batch(4, 1, b"kept later"),
        plain,
        marker(6, 1, ControlType.COMMIT),
        batch(7, 3, b"open"),
    ]
    (folder / f"{0:020d}.log").write_bytes(b"".join(bytes(part) for part in parts))
    add_aborted(DiskFolder(folder), f"{0:020d}.txnindex", AbortedTransaction(1, 0, 2, 0))
    keys = [row.key for row in load(spark, folder, isolation="read_committed").orderBy("offset").collect()]
    assert keys == [b"kept", b"kept later", b"plain"]
    assert load(spark, folder).count() == 5
    batches = load(spark, folder, "batches")
    assert (batches.filter("is_control").count(), batches.filter("is_transactional").count()) == (3, 7)
    assert last_stable_offset(partition_folders(folder)[0]) == 7


# -- the plan, without Spark


def test_tasks_cut_segments_at_whole_batches_and_leave_nothing_out(logs):
    [partition] = partition_folders(logs / "flights-0")
    ranges = plan([partition], Bounds(), task_bytes=4_000)
    assert len(ranges) > 2 * len(partition.segments)
    offsets = [
        batch.header.base_offset
        for given in ranges
        for _, batch, problem in sound_batches(given)
        if problem is None
    ]
    assert offsets == list(range(0, 2_000, 10))


def test_offset_and_time_prune_segments_and_bytes(logs):
    [partition] = partition_folders(logs / "flights-0")
    size = sum(path.stat().st_size for _, path in partition.segments)
    for bounds in (Bounds(1_000, 1_010), Bounds(from_ms=START_MS + 1_990)):
        ranges = plan([partition], bounds)
        assert sum(given.end - given.start for given in ranges) < size / 10
        read = {batch.header.base_offset for given in ranges for _, batch, _ in sound_batches(given)}
        assert read >= ({1_000} if bounds.from_ms is None else {1_990})


def test_index_that_points_astray_prunes_nothing_wrong(logs, tmp_path):
    folder = shutil.copytree(logs / "flights-0", tmp_path / "flights-0")
    for index in folder.glob("*.index"):
        rows = list(ROW.iter_unpack(index.read_bytes()))
        index.write_bytes(b"".join(ROW.pack(offset, position + 1) for offset, position in rows))
    ranges = plan(partition_folders(folder), Bounds(1_000, 1_010), task_bytes=1_000)
    read = {batch.header.base_offset for given in ranges for _, batch, _ in sound_batches(given)}
    assert 1_000 in read


def test_batch_that_is_being_written_is_not_the_logs_end_yet(logs, tmp_path):
    folder = shutil.copytree(logs / "orders-0", tmp_path / "orders-0")
    [log] = folder.glob("*.log")
    log.write_bytes(log.read_bytes()[:-5])
    [partition] = partition_folders(folder)
    assert end_offset(partition) == 40
    assert [problem for given in plan([partition], Bounds()) for _, _, problem in sound_batches(given)] == [
        None
    ] * 4


def test_filters_narrow_the_plan_and_stay_with_spark(logs):
    from pyspark.sql.datasource import EqualTo, GreaterThan, LessThanOrEqual

    reader = KafkaLogReader(Options.of({"path": str(logs), "topic": "flights"}), None)
    filters = [GreaterThan(("offset",), 10), LessThanOrEqual(("offset",), 20), EqualTo(("partition",), 1)]
    assert list(reader.pushFilters(filters)) == filters
    assert reader.bounds == Bounds(11, 21)
    assert {part.given.partition for part in reader.partitions()} == {1}


@pytest.mark.parametrize("wanted", [0, 1, 999, 1_500, 1_999, 5_000])
def test_stream_from_a_time_begins_close_before_it_and_misses_nothing(logs, wanted):
    reader = KafkaLogStreamReader(
        Options.of({"path": str(logs / "flights-0"), "from_ms": str(START_MS + wanted)}), None
    )
    begin = reader.initialOffset()["flights-0"]
    assert begin <= min(wanted, 2_000)
    assert min(wanted, 2_000) - begin <= 40, (
        "not from the log's start: a row of the time index each KiB says where"
    )


def test_preview_shows_the_first_records(logs):
    shown = source_preview({"kind": "kafka_log", "path": str(logs / "orders-0")}, rows=2)
    assert shown["rows"] == [["0", str(START_MS), None, "v0"], ["1", str(START_MS + 1), "k1", "v1"]]
    assert [column["name"] for column in shown["columns"]] == ["offset", "timestamp_ms", "key", "value"]


# -- streaming


class Stream:
    """A stream into memory, batch by batch, over a checkpoint that outlives it."""

    def __init__(self, spark, path, checkpoint, **options):
        kafka_log_register(spark)
        self.seen = []
        reader = spark.readStream.format("kafka_log")
        for name, value in options.items():
            reader = reader.option(name, value)
        writer = (
            reader.load(str(path))
            .writeStream.option("checkpointLocation", str(checkpoint))
            .foreachBatch(self._take)
        )
        self.query = writer.trigger(availableNow=True).start()
        self.query.awaitTermination(120)

    def _take(self, frame, _):
        self.seen += [(row.topic, row.partition, row.offset) for row in frame.collect()]


def test_stream_gives_each_record_once_over_restarts_new_segments_and_new_partitions(spark, tmp_path):
    logs, checkpoint = tmp_path / "logs", tmp_path / "checkpoint"
    write_log(logs / "t-0", 0, 300)
    first = Stream(spark, logs, checkpoint)
    write_log(logs / "t-0", 300, 700)
    write_log(logs / "t-1", 0, 100)
    second = Stream(spark, logs, checkpoint)
    third = Stream(spark, logs, checkpoint)
    assert sorted(first.seen) == [("t", 0, offset) for offset in range(300)]
    assert sorted(second.seen) == [("t", 0, offset) for offset in range(300, 1_000)] + [
        ("t", 1, offset) for offset in range(100)
    ]
    assert third.seen == []
    assert len(list((logs / "t-0").glob("*.log"))) > 1


def test_stream_that_retention_overtook_fails_or_goes_on_as_it_was_told(spark, tmp_path):
    logs, checkpoint = tmp_path / "logs", tmp_path / "checkpoint"
    write_log(logs / "t-0", 0, 20)
    Stream(spark, logs, checkpoint)
    write_log(logs / "t-0", 20, 900)
    for old in sorted((logs / "t-0").glob("*.log"))[:-1]:
        old.unlink()
    first = int(min((logs / "t-0").glob("*.log")).stem)
    copy = shutil.copytree(checkpoint, tmp_path / "copy")
    with pytest.raises(Exception) as caught:
        Stream(spark, logs, checkpoint)
    assert f"offsets 20 to {first - 1} were removed before they were read" in str(caught.value)
    assert sorted(Stream(spark, logs, copy, failOnDataLoss="false").seen) == [
        ("t", 0, offset) for offset in range(first, 920)
    ]
