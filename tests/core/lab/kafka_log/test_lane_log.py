"""The Kafka lane as a log folder: the lane's own records, at the lane's own offsets, the same bytes however
it is written."""

from pathlib import Path
from typing import Any

import pytest
from kafka.record import MemoryRecords

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.dump import dump_path
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.lab.kafka.acked import log_on
from broker_core.lab.kafka_log.derived_folder import DerivedFolder
from broker_core.lab.kafka_log.lane import LaneLog
from broker_core.lab.kafka_log.producer import EPOCH_MS, LINGER_US, RETIRE_AFTER_US, LaneProducer
from broker_core.lab.kafka_log.settings import SEGMENTS_MAX, LaneSettings, lane_settings
from broker_core.lab.lab import Lab
from broker_core.lab.past import SWITCH_RECORDS_MAX
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.workload.parse import workload_from_json

SMALL = LaneSettings(
    segment_bytes=4096, index_interval_bytes=256, retention_bytes=12_288, delete_retention_ms=5_000
)
SMALL_AND_SOON = LaneSettings(
    segment_bytes=4096, index_interval_bytes=256, retention_bytes=8_192, file_delete_delay_ms=7_000
)
KEYS = {"kind": "keys", "name": "orders", "keys": [["a", 5], ["b", 3], ["c", 1]], "keyless": 3, "rate": 40}
RARE = {"kind": "uniform", "keys": 300, "rate": 8}
PARTITIONS = 4


class Written:
    """A lane in memory: one folder for the top, one for each partition."""

    def __init__(
        self, workload: dict[str, Any] | None = None, settings: LaneSettings = SMALL, **rest: Any
    ) -> None:
        self.made_of = {"workload": workload or {}, "settings": settings, **rest}
        self.top = MemoryFolder()
        self.folders: dict[str, MemoryFolder] = {}
        self.lane = self.open({})

    def open(self, written: dict[str, Any]) -> LaneLog:
        made_of = {"partitions": range(PARTITIONS), **self.made_of}
        workload = workload_from_json(made_of.pop("workload"))
        return LaneLog(
            self.top,
            self._folder,
            workload=workload,
            seed=7,
            topic="flights",
            partition_count=PARTITIONS,
            written=written,
            **made_of,
        )

    def _folder(self, name: str) -> MemoryFolder:
        return self.folders.setdefault(name, MemoryFolder())

    def crash(self, unflushed_bytes_kept: int, noted: dict[str, Any]) -> None:
        """The process dies; the next one finds what survived, and the state that was noted last."""
        self.top = self.top.after_crash(unflushed_bytes_kept)
        self.folders = {
            name: folder.after_crash(unflushed_bytes_kept) for name, folder in self.folders.items()
        }
        self.lane = self.open(noted)

    def bytes_of(self, ending: str = "") -> dict[str, bytes]:
        return {
            f"{name}/{file}": folder.read(file)
            for name, folder in self.folders.items()
            for file in folder.names()
            if file.endswith(ending)
        }

    def log(self, name: str) -> PartitionLog:
        return PartitionLog.open(self.folders[name].after_crash(1 << 30), now_ms=0)

    def table(self) -> dict[bytes | None, bytes | None]:
        """What a reader of the compacted topic ends up with."""
        rows = {}
        for number in range(PARTITIONS):
            for batch in self.log(f"flights-latest-{number}").batches():
                rows.update({record.key: record.value for record in batch.records()})
        return {key: value for key, value in rows.items() if value is not None}


def test_two_builds_give_the_same_bytes() -> None:
    first, second = Written(), Written()
    for written in (first, second):
        written.lane.advance_to(16 * SECOND_US)
    assert first.bytes_of() == second.bytes_of()
    assert first.lane.state() == second.lane.state()
    assert len(first.bytes_of(".log")) > 2 * PARTITIONS


@pytest.mark.parametrize("workload", [{}, KEYS, {"kind": "hot_key", "keys": 20, "rate": 60}])
def test_written_bit_by_bit_it_is_the_same_folder(workload: dict[str, Any]) -> None:
    at_once, bit_by_bit = Written(workload), Written(workload)
    at_once.lane.advance_to(16 * SECOND_US)
    for at_us in (0, 1, 249_999, 250_000, 777_777, 5 * SECOND_US, 5_100_000, 9_999_999, 16 * SECOND_US):
        bit_by_bit.lane.advance_to(at_us)
        bit_by_bit.lane.state()  # what is noted on the way changes nothing
    assert at_once.lane.state() == bit_by_bit.lane.state()
    assert at_once.bytes_of() == bit_by_bit.bytes_of()


def records_of(lane: Any, number: int) -> list[int]:
    """The workload's records that the only broker's log of a partition holds."""
    log = log_on(lane.world, 1, ("flights", number))
    assert log is not None
    found = [value for batch in log.batches() for value in batch.values]
    return found[len(found) - (log.log_end_offset - log.log_start_offset) :]


@pytest.mark.parametrize("workload", [{}, KEYS])
def test_offsets_are_those_that_the_lane_s_consumers_read(workload: dict[str, Any]) -> None:
    lane = {"model": "kafka", "brokers": 1, "topic": "flights", "partitions": PARTITIONS}
    lab = Lab(scenario_from_json({"workload": workload, "lanes": [lane], "seed": 7}))
    written = Written(workload, LaneSettings())
    sent: list[list[bytes | None]] = [[] for _ in range(PARTITIONS)]
    producer = LaneProducer(lab.workload, 7, PARTITIONS)
    lane = lab.lanes["kafka"]
    for seconds in (1, 7, 20):
        lab.advance_to(seconds * SECOND_US)
        written.lane.advance_to(seconds * SECOND_US)
        while producer.now_us < seconds * SECOND_US:
            for number, records in producer.next_window(
                with_content=frozenset(range(PARTITIONS))
            ).records.items():
                sent[number] += [record.value for record in records]
        shown = lab.view()["lanes"]["kafka"]["picture"]["partitions"]
        ends = written.lane.state()["ends"]["flights"]
        # The log holds what was sent; what was sent last is still on its way to the lane's broker.
        assert all(0 <= end - shown[str(number)]["end"] <= 1 for number, end in enumerate(ends)) and ends == [
            len(part) for part in sent
        ]
        for number, log in enumerate(lane.reads.look().logs):
            assert [lab.workload.payload(record).encode() for record in records_of(lane, number)] == sent[
                number
            ][log.start : log.end]
        logs = written.lane.state()["logs"]
        assert [
            logs[f"flights-{number}"]["end_offset"] for number in range(PARTITIONS)
        ] == written.lane.state()["ends"]["flights"]
    assert written.lane.state()["records"] == lab.record_count


def test_partitions_of_the_cluster_s_lane_end_where_the_written_log_ends() -> None:
    lab = Lab(
        scenario_from_json(
            {
                "workload": KEYS,
                "lanes": [{"model": "kafka", "topic": "flights", "partitions": PARTITIONS}],
                "seed": 7,
            }
        )
    )
    written = Written(KEYS, LaneSettings())
    for seconds in (3, 20):
        lab.advance_to(seconds * SECOND_US)
        written.lane.advance_to(seconds * SECOND_US)
        shown = lab.view()["lanes"]["kafka"]["picture"]["partitions"]
        for number, end in enumerate(written.lane.state()["ends"]["flights"]):
            assert (
                shown[str(number)]["high_watermark"]
                <= shown[str(number)]["end"]
                <= end
                <= shown[str(number)]["end"] + 3
            )


def test_each_record_is_the_workload_s_with_its_virtual_time() -> None:
    written = Written(KEYS, LaneSettings())
    written.lane.advance_to(5 * SECOND_US)
    workload = workload_from_json(KEYS, seed=7)
    found = [
        record
        for number in range(PARTITIONS)
        for batch in written.log(f"flights-{number}").batches()
        for record in batch.records()
    ]
    expected = {
        workload.payload(index).encode(): index for index in range(workload.count_until(5 * SECOND_US))
    }
    assert len(found) == len(expected)
    for record in found:
        index = expected[record.value or b""]
        code = workload.key_code(index)
        assert record.timestamp == EPOCH_MS + workload.arrival_us(index) // 1000
        assert record.key == (None if code < 0 else workload.key_bytes(code))


def test_a_batch_holds_what_came_within_one_linger() -> None:
    written = Written({"rate": 200}, LaneSettings(segment_bytes=1 << 20, retention_bytes=1 << 22))
    written.lane.advance_to(4 * SECOND_US)
    for number in range(PARTITIONS):
        headers = [batch.header for batch in written.log(f"flights-{number}").batches()]
        lingers = [(header.base_timestamp - EPOCH_MS - 1) * 1000 // LINGER_US for header in headers]
        assert len(headers) == len(set(lingers)) == 16
        assert all(header.max_timestamp - header.base_timestamp <= LINGER_US // 1000 for header in headers)


def test_batches_end_where_the_segment_would_be_too_small() -> None:
    written = Written({"rate": 2000}, LaneSettings(segment_bytes=4096, retention_bytes=65_536))
    written.lane.advance_to(SECOND_US)
    sizes = [
        len(batch.data)
        for number in range(PARTITIONS)
        for batch in written.log(f"flights-{number}").batches()
    ]
    assert max(sizes) <= 4096 and len(sizes) > 60


def test_a_block_of_partitions_is_the_same_as_all_of_them() -> None:
    whole, block = Written(), Written(partitions=[1, 2])
    whole.lane.advance_to(20 * SECOND_US)
    block.lane.advance_to(20 * SECOND_US)
    assert set(block.folders) == {
        f"{topic}-{number}" for topic in ("flights", "flights-latest") for number in (1, 2)
    }
    assert {
        name: content for name, content in whole.bytes_of().items() if name.split("/")[0] in block.folders
    } == block.bytes_of()
    assert block.lane.state()["ends"] == whole.lane.state()["ends"]


def test_a_lane_that_counts_anew_begins_at_offset_0() -> None:
    first = 30 * 36
    written = Written(first_record=first)
    written.lane.advance_to(40 * SECOND_US)
    assert written.lane.state()["records"] == 40 * 36 - first
    assert sum(written.lane.state()["ends"]["flights"]) == 40 * 36 - first
    assert SWITCH_RECORDS_MAX > 0


def test_things_happen_before_one_s_eyes_in_virtual_time() -> None:
    written = Written(settings=SMALL_AND_SOON)
    written.lane.advance_to(40 * SECOND_US)
    logs = written.lane.state()["logs"]
    turning = [event for number in range(PARTITIONS) for event in logs[f"flights-{number}"]["turning"]]
    assert {(event["kind"], event["reason"]) for event in turning} == {
        ("rolled", "size"), ("deleted", "retention_bytes"), ("removed", "file_delete_delay"),
    }  # fmt: skip
    for number in range(PARTITIONS):
        told = logs[f"flights-{number}"]
        assert told["start_offset"] > 0 and told["high_watermark"] == told["end_offset"]
        assert sum(size for _base, size in told["segments"]) < 8_192 + 4096
        deleted = {
            event["base_offset"]: event["at_ms"] for event in told["turning"] if event["kind"] == "deleted"
        }
        for event in told["turning"]:
            if event["kind"] == "removed" and event["base_offset"] in deleted:
                assert event["at_ms"] == deleted[event["base_offset"]] + 7_000
    table = [event for number in range(PARTITIONS) for event in logs[f"flights-latest-{number}"]["turning"]]
    rounds = [event for event in table if event["kind"] == "compacted"]
    assert rounds and all(event["records_kept"] <= event["records_read"] for event in rounds)
    assert any(event["records_kept"] < event["records_read"] for event in rounds)


def test_retention_by_time_is_told_with_its_reason() -> None:
    written = Written(settings=LaneSettings(segment_bytes=4096, retention_bytes=65_536, retention_ms=10_000))
    written.lane.advance_to(40 * SECOND_US)
    reasons = {
        event["reason"]
        for event in written.lane.state()["logs"]["flights-0"]["turning"]
        if event["kind"] == "deleted"
    }
    assert reasons == {"retention_ms"}


def test_what_the_lab_s_own_limit_cuts_is_not_told_as_retention_bytes() -> None:
    written = Written({"rate": 400}, LaneSettings(segment_bytes=4096, retention_bytes=-1), partitions=[0])
    written.lane.advance_to(15 * SECOND_US)
    told = written.lane.state()["logs"]["flights-0"]
    assert {event["reason"] for event in told["turning"] if event["kind"] == "deleted"} == {"lab_limit"}
    assert SEGMENTS_MAX * 4096 <= sum(size for _base, size in told["segments"]) < (SEGMENTS_MAX + 1) * 4096


def test_the_table_has_each_key_s_newest_record_until_it_has_long_not_been_seen() -> None:
    written = Written(RARE)
    end_us = 100 * SECOND_US
    written.lane.advance_to(end_us)
    workload = workload_from_json(RARE)
    newest = {}
    for index in range(workload.count_until(end_us)):
        if (code := workload.key_code(index)) >= 0:
            newest[workload.key_bytes(code)] = index
    alive = {
        key: index for key, index in newest.items() if workload.arrival_us(index) > end_us - RETIRE_AFTER_US
    }
    assert written.table() == {key: workload.payload(index).encode() for key, index in alive.items()}
    assert 0 < len(alive) < len(newest)


def test_tombstones_go_after_their_time() -> None:
    written = Written(RARE)
    written.lane.advance_to(150 * SECOND_US)
    stones = [
        record
        for number in range(PARTITIONS)
        for batch in written.log(f"flights-latest-{number}").batches()
        for record in batch.records()
        if record.value is None
    ]
    assert stones, "the newest ones are still there"
    assert min(stone.timestamp for stone in stones) > EPOCH_MS + 60_000 + 5_000


@pytest.mark.parametrize(
    ("died_at_us", "unflushed_bytes_kept"), [(700_000, 0), (9_250_000, 1 << 30), (23_500_000, 100)]
)
def test_after_a_crash_it_goes_on_as_if_nothing_had_been(died_at_us: int, unflushed_bytes_kept: int) -> None:
    undisturbed, crashed = Written(KEYS), Written(KEYS)
    undisturbed.lane.advance_to(30 * SECOND_US)
    crashed.lane.advance_to(died_at_us - died_at_us % 500_000)
    noted = crashed.lane.state()
    crashed.lane.advance_to(died_at_us)
    crashed.crash(unflushed_bytes_kept, noted if unflushed_bytes_kept > 100 else {})
    crashed.lane.advance_to(30 * SECOND_US)
    live = {name: content for name, content in undisturbed.bytes_of(".log").items() if "latest" not in name}
    assert {
        name: content for name, content in crashed.bytes_of(".log").items() if "latest" not in name
    } == live
    assert crashed.table() == undisturbed.table()
    assert crashed.lane.state()["ends"] == undisturbed.lane.state()["ends"]


def test_an_orderly_end_is_a_clean_start() -> None:
    written = Written(KEYS)
    written.lane.advance_to(12 * SECOND_US)
    noted = written.lane.close()
    assert ".kafka_cleanshutdown" in written.top.names()
    written.lane = written.open(noted)
    written.lane.advance_to(30 * SECOND_US)
    undisturbed = Written(KEYS)
    undisturbed.lane.advance_to(30 * SECOND_US)
    assert written.bytes_of(".log").keys() == undisturbed.bytes_of(".log").keys()
    assert {n: c for n, c in written.bytes_of(".log").items() if "latest" not in n} == {
        n: c for n, c in undisturbed.bytes_of(".log").items() if "latest" not in n
    }


@pytest.mark.parametrize("kind", [DiskFolder, DerivedFolder])
def test_other_readers_read_the_folder(tmp_path: Path, kind: type[DiskFolder]) -> None:
    lane = LaneLog(
        kind(tmp_path),
        lambda name: kind(tmp_path / name),
        workload=workload_from_json({}),
        seed=7,
        topic="flights",
        partition_count=3,
        partitions=range(3),
        settings=LaneSettings(),
    )
    lane.advance_to(20 * SECOND_US)
    told = lane.close()["logs"]
    for name, about in told.items():
        for waiting in list((tmp_path / name).glob("*.deleted")):
            waiting.unlink()
        rows = list(dump_path(tmp_path / name, deep=True))
        assert not [row for row in rows if row.kind == "problem"]
        offsets = [row.fields["offset"] for row in rows if row.kind == "record"]
        data = b"".join(path.read_bytes() for path in sorted((tmp_path / name).glob("*.log")))
        batches = MemoryRecords(data)
        decoded = []
        while (batch := batches.next_batch()) is not None:
            assert batch.validate_crc()
            decoded += [record.offset for record in batch]
        assert decoded == offsets and offsets[-1] == about["end_offset"] - 1
        assert any(row.kind == "index" for row in rows) and any(row.kind == "time_index" for row in rows)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"segment_bytes": "4095"}, "segment_bytes"),
        ({"segment_bytes": "2097152"}, "segment_bytes"),
        ({"segment_bytes": "many"}, "segment_bytes"),
        ({"segment_bytes": ""}, "segment_bytes"),
        ({"segment_bytes": "1e4"}, "segment_bytes"),
        ({"segment_bytes": "٤٠٩٦"}, "segment_bytes"),
        ({"index_interval_bytes": "-1"}, "index_interval_bytes"),
        ({"retention_bytes": "-2"}, "retention_bytes"),
        ({"segment_bytes": "4096", "retention_bytes": "262145"}, "retention_bytes"),
        ({"retention_ms": "-2"}, "retention_ms"),
        ({"retention_ms": "9" * 30}, "retention_ms"),
        ({"file_delete_delay_ms": "3600001"}, "file_delete_delay_ms"),
    ],
)
def test_impossible_settings_are_refused_at_their_field(raw: dict[str, str], field: str) -> None:
    with pytest.raises(CommandError) as refused:
        lane_settings(raw)
    assert refused.value.field == field


def test_no_limit_is_the_lab_s_own_limit() -> None:
    settings = lane_settings({"segment_bytes": "4096", "retention_bytes": "-1"})
    assert (
        settings.retention_bytes == -1
        and settings.records().retention_bytes == settings.bytes_limit == 64 * 4096
    )


def test_settings_that_are_left_out_have_their_defaults() -> None:
    assert lane_settings({"segment_bytes": "8192", "partition": "3"}) == LaneSettings(segment_bytes=8192)
