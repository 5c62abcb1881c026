"""Live studies: windows over a lab's chunks and a growing log, the same whether or not the query was ended in
between."""

import threading

import pytest
from py4j.protocol import Py4JNetworkError

from broker_core.errors import CommandError
from broker_core.kafka.log.checkpoints import REPLICATION, write_offsets
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.pipeline.chunks import WANTED, chunk_write
from broker_core.pipeline.live import LiveQuery, live_check, live_start
from broker_core.pipeline.live_windows import WindowBook, high_watermarks

SECOND = 1_000_000
START_MS = 1_700_000_000_000


def second_rows(second, lag=0, skew=1.0, finished=10):
    row = {"lab": "x", "at_us": second * SECOND}
    return [
        row | {"lane": lane, "kind": "lane", "arrived": 12, "finished": finished, "lag": lag, "skew": skew}
        for lane in ("kafka", "pulsar")
    ] + [row | {"lane": "kafka", "kind": "owner", "owner": "c1", "finished": finished}]


class Told:
    """What on_windows was told: the newest figures of each window, and a signal for whoever waits for one."""

    def __init__(self):
        self.windows = {}
        self.changed = threading.Condition()

    def __call__(self, rows):
        with self.changed:
            self.windows |= {(row["start_us"], row["lane"]): row for row in rows}
            self.changed.notify_all()

    def wait(self, query, arrived):
        with self.changed:
            ok = self.changed.wait_for(
                lambda: arrived(self.windows) or query.exception() is not None, timeout=120
            )
        assert query.exception() is None
        assert ok, self.windows


def lab_study(spark, chunks, checkpoint, told, until, **options):
    query = live_start(
        spark,
        {"source": {"kind": "lab", "chunks": str(chunks)}},
        checkpoint=checkpoint,
        on_windows=told,
        **options,
    )
    try:
        told.wait(query, until)
    finally:
        query.stop()
    return query


def test_windows_of_a_lab_carry_throughput_lag_skew_and_cost(spark, tmp_path):
    chunks = tmp_path / "chunks"
    chunks.mkdir()
    turning = {
        "lab": "x",
        "lane": "kafka",
        "kind": "turning",
        "at_us": 4 * SECOND,
        "units_moved": 4,
        "stopped_us": 36 * SECOND,
    }
    chunk_write(chunks, 3, 4, second_rows(3, lag=5, skew=1.5) + second_rows(4, lag=7, skew=1.25) + [turning])
    told = Told()
    lab_study(spark, chunks, tmp_path / "checkpoint", told, lambda windows: len(windows) == 4)
    assert told.windows[4 * SECOND, "kafka"] == {
        "start_us": 4 * SECOND,
        "end_us": 5 * SECOND,
        "lane": "kafka",
        "throughput": 10.0,
        "lag": 7,
        "skew": 1.25,
        "hw_lag": None,
        "rebalance_cost": 36.0,
        "late": 0,
        "damaged": 0,
    }
    assert told.windows[3 * SECOND, "pulsar"]["rebalance_cost"] == 0
    assert (chunks / WANTED).exists()


def test_query_ended_and_begun_again_tells_the_windows_of_one_that_ran_through(spark, tmp_path):
    chunks = tmp_path / "chunks"
    chunks.mkdir()
    through, stopped = Told(), Told()
    seconds = [(0, 2), (3, 5)]  # ended in the middle of a window of two seconds
    for first, last in seconds:
        chunk_write(
            chunks,
            first,
            last,
            [
                row
                for second in range(first, last + 1)
                for row in second_rows(second, lag=second, finished=second)
            ],
        )
        count = 2 * ((last // 2) + 1)
        lab_study(
            spark,
            chunks,
            tmp_path / "stopped",
            stopped,
            lambda windows, count=count, last=last: (
                len(windows) == count and windows[last // 2 * 2 * SECOND, "kafka"]["lag"] == last
            ),
            window_s=2,
        )
    lab_study(spark, chunks, tmp_path / "through", through, lambda windows: len(windows) == 6, window_s=2)
    assert stopped.windows == through.windows
    assert stopped.windows[4 * SECOND, "kafka"]["throughput"] == (4 + 5) / 2


def append(logs, partition, first, count, at_ms):
    log = PartitionLog.open(DiskFolder(logs / f"t-{partition}"), None, now_ms=START_MS, was_closed=True)
    log.append(encode_batch([Record(n, at_ms, b"k", b"v") for n in range(count)]).data, now_ms=START_MS)
    log.close(START_MS)


def test_windows_of_a_growing_log_put_its_partitions_together_over_a_restart(spark, tmp_path):
    logs, told = tmp_path / "logs", Told()
    source = {"kind": "kafka_log", "path": str(logs)}
    append(logs, 0, 0, 30, START_MS)
    append(logs, 1, 0, 10, START_MS + 500)
    write_offsets(DiskFolder(logs), REPLICATION, {("t", 0): 25, ("t", 1): 10})

    def study(until):
        query = live_start(spark, source, checkpoint=tmp_path / "checkpoint", on_windows=told)
        try:
            assert query.is_counting, "or about to"
            told.wait(query, until)
            query.query.processAllAvailable()
            assert not query.is_counting, "it waits for more"
        finally:
            query.stop()

    window = START_MS * 1_000
    study(lambda windows: (window, "t") in windows)
    assert told.windows[window, "t"] == {
        "start_us": window,
        "end_us": window + SECOND,
        "lane": "t",
        "throughput": 40.0,
        "lag": None,
        "skew": 1.5,
        "hw_lag": 5,
        "rebalance_cost": None,
        "late": 0,
        "damaged": 0,
    }
    append(logs, 1, 10, 20, START_MS + 700)
    study(lambda windows: windows[window, "t"]["throughput"] == 60.0)
    assert told.windows[window, "t"]["skew"] == 1.0


def test_a_damaged_batch_is_counted_once_over_a_restart(spark, tmp_path):
    logs, told, window = tmp_path / "logs", Told(), START_MS * 1_000
    for number in range(3):
        append(logs, 0, 5 * number, 5, START_MS + number)
    [log] = (logs / "t-0").glob("*.log")
    content = bytearray(log.read_bytes())
    content[2 * len(content) // 3 - 1] ^= 0xFF  # the last byte of the second of three equal batches
    log.write_bytes(content)
    for first, expected in ((0, 10.0), (15, 15.0)):
        if first:
            append(logs, 0, first, 5, START_MS + 3)
        query = live_start(
            spark,
            {"kind": "kafka_log", "path": str(logs)},
            checkpoint=tmp_path / "checkpoint",
            on_windows=told,
        )
        try:
            told.wait(
                query,
                lambda windows, expected=expected: (
                    windows.get((window, "t"), {}).get("throughput") == expected
                ),
            )
        finally:
            query.stop()
        assert told.windows[window, "t"]["damaged"] == 1


def test_records_behind_the_watermark_are_counted_and_change_nothing(spark, tmp_path):
    logs, told = tmp_path / "logs", Told()
    append(logs, 0, 0, 5, START_MS)
    query = live_start(
        spark,
        {"kind": "kafka_log", "path": str(logs)},
        checkpoint=tmp_path / "checkpoint",
        on_windows=told,
        watermark_s=2,
    )
    window = START_MS * 1_000
    try:
        for step, (at_ms, expected) in enumerate(
            ((START_MS, 0), (START_MS + 60_000, 60), (START_MS + 120_000, 120))
        ):
            if step:
                append(logs, 0, 5 * step, 5, at_ms)
            told.wait(query, lambda windows, expected=expected: (window + expected * SECOND, "t") in windows)
        append(logs, 0, 15, 5, START_MS + 100)
        query.query.processAllAvailable()
        append(logs, 0, 20, 5, START_MS + 121_000)
        told.wait(query, lambda windows: windows.get((window + 121 * SECOND, "t"), {}).get("late", 0) > 0)
    finally:
        query.stop()
    assert told.windows[window, "t"]["throughput"] == 5.0
    assert told.windows[window + 121 * SECOND, "t"]["late"] == 1  # one group of five


# -- without Spark


def group(start, partition, records, end_offset):
    return {
        "start_us": start,
        "lane": "t",
        "partition": partition,
        "records": records,
        "lag": None,
        "skew": None,
        "hw_lag": None,
        "stopped_us": None,
        "end_offset": end_offset,
    }


def test_batch_that_is_done_again_gives_the_same_windows(tmp_path):
    book = WindowBook(tmp_path, SECOND, 10 * SECOND)
    book.merge(0, [group(0, 0, 4, 4)], (0, -1), {})
    again = [
        WindowBook(tmp_path, SECOND, 10 * SECOND).merge(1, [group(0, 1, 2, 2)], (3, 0), {}) for _ in range(2)
    ]
    assert again[0] == again[1]
    assert (again[0][0]["throughput"], again[0][0]["late"]) == (6.0, 3)
    assert again[0][0]["skew"] == pytest.approx(4 / 3)


def test_windows_that_cannot_change_any_more_are_forgotten(tmp_path):
    book = WindowBook(tmp_path, SECOND, 5 * SECOND)
    for batch in range(30):
        book.merge(batch, [group(batch * SECOND, 0, 1, batch)], (0, -1), {})
    assert len(list(tmp_path.iterdir())) == 10
    assert len(book._state_before(30)["windows"]) == 6


def test_high_watermarks_are_those_of_the_log_folder(tmp_path):
    assert high_watermarks(tmp_path) == {}
    write_offsets(DiskFolder(tmp_path), REPLICATION, {("t", 0): 7})
    (tmp_path / "t-0").mkdir()
    assert high_watermarks(tmp_path / "t-0") == high_watermarks(tmp_path) == {("t", 0): 7}


def test_only_what_grows_can_be_studied_live(tmp_path):
    (tmp_path / "a.csv").write_text("k\n1\n")
    for source, field in (
        ({"kind": "csv", "path": str(tmp_path / "a.csv"), "key": "k"}, "source.kind"),
        ({"kind": "lab"}, "source.chunks"),
        ({"kind": "lab", "chunks": "x", "lab": "y"}, "source.lab"),
        ({"kind": "kafka_log", "path": str(tmp_path / "no")}, "source.path"),
    ):
        with pytest.raises(CommandError) as caught:
            live_check(source)
        assert caught.value.field == field


def test_a_query_of_a_dead_spark_counts_nothing():
    class Dead:
        @property
        def status(self):
            raise Py4JNetworkError("Answer from Java side is empty")

    assert not LiveQuery(Dead(), None).is_counting
