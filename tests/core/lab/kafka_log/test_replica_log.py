"""A replica of a lab's cluster as a folder: that broker's own bytes, whoever leads, and Kafka's checkpoint
files to the character."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record import MemoryRecords

from broker_core.events import Json
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.group.record_words import described
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.light_columns import columns_of
from broker_core.kafka.replication.replica_log import LightLog, LightSegment, light_batch
from broker_core.lab.kafka.group import GROUP_ID
from broker_core.lab.kafka.views.replica import SETTINGS, replica_view
from broker_core.lab.kafka_log.replica_bytes import EPOCH_MS
from broker_core.lab.kafka_log.replica_log import ReplicaLog
from broker_core.lab.kafka_log.settings import FolderSettings
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.workload.parse import workload_from_json

SECOND = 1_000_000
FIELDS = (
    "base_offset",
    "last_offset",
    "partition_leader_epoch",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "record_count",
    "attributes",
)
OFFSETS = ("__consumer_offsets", coordinator_partition(GROUP_ID, 5))


class Folder:
    """A replica's folder in memory, written from what a lab tells."""

    def __init__(self, key: tuple[str, int], workload: Json | None = None, **chosen: int) -> None:
        self.key, self.name = key, f"{key[0]}-{key[1]}"
        self.folders: dict[str, MemoryFolder] = {}
        self.log = ReplicaLog(
            lambda name: self.folders.setdefault(name, MemoryFolder()),
            self.name,
            workload=workload_from_json(workload or {}),
            settings=FolderSettings(**chosen),
        )
        self.state: Json = {}

    def take(self, told: Json) -> Json:
        self.state = self.log.take(json.loads(json.dumps(told)))
        return self.state["logs"].get(self.name, {})

    def look(self, lab: Lab, broker: int) -> Json:
        return self.take(replica_view(lab.lanes["kafka"].world, broker, self.key, lab.messages))

    @property
    def files(self) -> MemoryFolder:
        return self.folders[f"{self.log.generation}/{self.name}"]

    @property
    def broker_files(self) -> MemoryFolder:
        return self.folders[f"{self.log.generation}"]

    def opened(self) -> PartitionLog:
        return PartitionLog.open(self.files.after_crash(1 << 30), now_ms=0)

    def batches(self, start: int = 0) -> list[bytes]:
        return [bytes(batch.data) for batch in self.opened().batches() if batch.header.last_offset >= start]


def lab_of(**options: Any) -> Lab:
    lane = {"model": "kafka", "brokers": 3, "partitions": 3, "offsets_partitions": 5, **options}
    return Lab(scenario_from_json({"lanes": [lane], "consumer_rate": 20}))


def order(lab: Lab, kind: str, **parts: Any) -> None:
    lab.submit({"command_id": f"t{lab.position + 1}", "kind": kind, "position": lab.position + 1, **parts})


def log_of(lab: Lab, broker: int, key: tuple[str, int]) -> LightLog:
    log: LightLog = lab.lanes["kafka"].world.slots[broker_node(broker)].node.state.disk.logs[key]
    return log


def sizes_of(log: LightLog) -> list[list[int]]:
    return [[segment.base_offset, segment.size] for segment in log.segments]


def test_every_replica_is_its_broker_s_own_log() -> None:
    lab = lab_of()
    lab.advance_to(8 * SECOND + 123_456)
    for broker in (1, 2, 3):
        for number in range(3):
            key = ("flights", number)
            folder, log = Folder(key, lab.workload.to_json()), log_of(lab, broker, key)
            told = folder.look(lab, broker)
            written = folder.opened()
            offsets = (told["start_offset"], told["end_offset"], told["high_watermark"])
            assert offsets == (log.log_start_offset, log.log_end_offset, log.high_watermark)
            assert written.log_end_offset == log.log_end_offset
            assert told["segments"] == sizes_of(log), "the broker counts the bytes that its log would have"
            mine = [batch for batch in log.batches() if batch.header.last_offset >= log.log_start_offset]
            for theirs, batch in zip(written.batches(), mine, strict=True):
                theirs.ensure_valid()
                for field in FIELDS:
                    assert getattr(theirs.header, field) == getattr(batch.header, field), field
                assert theirs.header.max_timestamp - EPOCH_MS == batch.header.max_timestamp - 3_600_000
                for record, index in zip(theirs.records(), batch.values, strict=True):  # type: ignore[attr-defined]
                    assert record.value == lab.workload.payload(index).encode()
                    assert record.key == lab.workload.key_bytes(lab.workload.codes_of([index])[0])


def test_another_reader_of_kafka_s_format_reads_the_same() -> None:
    lab = lab_of()
    lab.advance_to(4 * SECOND)
    folder = Folder(("flights", 1), lab.workload.to_json())
    folder.look(lab, 2)
    count = 0
    for name in folder.files.names():
        if name.endswith(".log"):
            records = MemoryRecords(folder.files.read(name))
            while (batch := records.next_batch()) is not None:
                assert batch.validate_crc()
                count += len(list(batch))
    log = log_of(lab, 2, ("flights", 1))
    assert count == log.log_end_offset - log.log_start_offset > 5


def test_the_checkpoints_are_kafka_s_text_and_the_broker_s_own() -> None:
    lab = lab_of()
    lab.advance_to(11 * SECOND)
    order(lab, "cluster_crash", args={"broker": 1})
    lab.advance_to(40 * SECOND)
    key = ("flights", 0)
    for broker in (1, 2, 3):
        folder = Folder(key, lab.workload.to_json())
        told = folder.look(lab, broker)
        log = log_of(lab, broker, key)
        rows = "".join(f"{epoch} {start}\n" for epoch, start in log.epochs.rows)
        assert folder.files.read("leader-epoch-checkpoint").decode() == f"0\n{len(log.epochs.rows)}\n{rows}"
        version, count, *entries = (
            folder.broker_files.read("replication-offset-checkpoint").decode().splitlines()
        )
        assert (version, int(count)) == ("0", len(entries)) and len(entries) == 3 + 5
        marks = {
            (topic, int(number)): int(offset)
            for topic, number, offset in (entry.rsplit(" ", 2) for entry in entries)
        }
        assert 0 < marks[key] <= told["high_watermark"], "it is written every 5 s, so it may be behind"
        assert (folder.state["broker"]["condition"], folder.state["replica"]["role"]) == (
            ("crashed", "not_running") if broker == 1 else ("running", folder.state["replica"]["role"])
        )
    crashed, alive = log_of(lab, 1, key), log_of(lab, 2, key)
    assert crashed.log_end_offset < alive.log_end_offset and crashed.epochs.rows != alive.epochs.rows


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(100, 4_000), min_size=1, max_size=8), st.sampled_from([1_000, 20_000]))
def test_bit_by_bit_or_at_once_the_bytes_are_the_same(steps_ms: list[int], segment_ms: int) -> None:
    lab = lab_of(segment_ms=segment_ms)
    lab.advance_to(2 * SECOND)
    folder = Folder(("flights", 2), lab.workload.to_json())
    for step in steps_ms:
        folder.look(lab, 3)
        lab.advance_to(lab.now_us + step * 1_000)
    told = folder.look(lab, 3)
    whole = Folder(("flights", 2), lab.workload.to_json())
    whole.look(lab, 3)
    assert folder.batches(told["start_offset"]) == whole.batches(told["start_offset"])
    assert folder.log.generation == whole.log.generation == 1


def view_of(log: LightLog, **more: Any) -> Json:
    """What `replica_view` would say of a log that no cluster has."""
    replica = {
        "start": log.log_start_offset,
        "end": log.log_end_offset,
        "high_watermark": log.high_watermark,
        "recovery_point": log.recovery_point,
        "role": "follows",
        "leader": 1,
        "leader_end": None,
        "is_compacted": False,
        "settings": {name: getattr(log.settings, name) for name in SETTINGS},
        "cleaned_up_to": None,
        "files": {"leader-epoch-checkpoint": log.folder.read("leader-epoch-checkpoint").decode()}
        if log.epochs.rows
        else {},
        "segments": [
            {"base": each.base_offset, "batches": columns_of(each.held)}
            for each in log.segments
            if isinstance(each, LightSegment)
        ],
    }
    return {
        "at_us": 0,
        "clock_ms": 0,
        "sent": {},
        "broker": {"id": 1, "condition": "running", "files": {}},
        "replicas": [],
        "replica": {**replica, **more},
    }


steps = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 4), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("marker"), st.just(0), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("truncate"), st.integers(0, 30), st.just(0), st.just(False)),
    st.tuples(st.just("mark"), st.integers(0, 30), st.just(0), st.just(False)),
    st.tuples(st.just("epoch"), st.just(0), st.just(0), st.just(False)),
    st.tuples(st.just("look"), st.just(0), st.just(0), st.just(False)),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(steps, max_size=25))
def test_the_folder_agrees_with_the_light_log_after_appends_markers_and_truncations(
    life: list[tuple[str, int, int, bool]],
) -> None:
    light = LightLog.begin(LogSettings(segment_bytes=400), now_ms=0)
    folder, sequences, epoch = Folder(("flights", 0), {}), [0, 0, 0], 0
    for kind, number, producer, flag in life:
        if kind == "append":
            batch = light_batch(
                list(range(number)),
                timestamp=5,
                size_in_bytes=100,
                producer_id=producer,
                producer_epoch=0,
                base_sequence=sequences[producer],
                is_transactional=flag,
            )
            with suppress(LogError):  # of a producer that has a transaction open, and sends without one
                light.append(batch, now_ms=5, leader_epoch=epoch, is_from_coordinator=True)
                sequences[producer] += number
        elif kind == "marker" and producer in light.producers.entries:
            which = ControlType.COMMIT if flag else ControlType.ABORT
            light.append_marker(
                which,
                producer_id=producer,
                producer_epoch=0,
                coordinator_epoch=0,
                now_ms=6,
                leader_epoch=epoch,
            )
        elif kind == "truncate":
            light.truncate_to(min(number, light.log_end_offset), 7)
        elif kind == "mark":
            light.high_watermark = number
        elif kind == "epoch":
            epoch += 1
        elif kind == "look":
            folder.take(view_of(light))
    told = folder.take(view_of(light))
    exact = folder.log.log
    assert exact is not None
    mine = [batch.header for batch in light.batches()]
    theirs = [batch.header for batch in exact.batches()]
    assert [[getattr(each, field) for field in FIELDS] for each in mine] == [
        [getattr(each, field) for field in FIELDS] for each in theirs
    ]
    assert told["end_offset"] == light.log_end_offset and told["high_watermark"] == light.high_watermark
    assert exact.log_end_offset == (theirs[-1].last_offset + 1 if theirs else 0) <= light.log_end_offset
    assert {
        producer: exact.producers.entries[producer].transaction_start for producer in exact.producers.entries
    } == {
        producer: light.producers.entries[producer].transaction_start for producer in light.producers.entries
    }
    for offset in range(light.log_end_offset):
        found, light_found = next(exact.batches(offset), None), light.batch_at(offset)
        assert (found is None) == (light_found is None)
        if found is not None and light_found is not None:
            assert found.header.base_offset == light_found.header.base_offset
    if light.epochs.rows:
        assert folder.files.read("leader-epoch-checkpoint") == light.folder.read("leader-epoch-checkpoint")


def test_a_truncated_replica_begins_a_new_folder_and_says_what_was_cut() -> None:
    light = LightLog.begin(now_ms=0)
    folder = Folder(("flights", 0))
    for _ in range(4):
        light.append(light_batch([1, 2], timestamp=5), now_ms=5, leader_epoch=0)
    folder.take(view_of(light))
    light.truncate_to(4, 6)
    light.append(light_batch([7], timestamp=8), now_ms=8, leader_epoch=2)
    told = folder.take(view_of(light))
    assert folder.log.generation == 2 and told["end_offset"] == 5
    assert told["turning"][-1] | {"at_ms": 0} == {
        "at_ms": 0,
        "kind": "truncated",
        "reason": "follower",
        "base_offset": 4,
        "records": 4,
    }
    assert folder.files.read("leader-epoch-checkpoint").decode() == "0\n2\n0 0\n2 4\n"


def test_the_offsets_topic_of_a_lab_has_the_real_keys_and_values() -> None:
    lab = lab_of()
    lab.advance_to(12 * SECOND)
    folder = Folder(OFFSETS)
    folder.look(lab, 1)
    assert folder.state["logs"][folder.name]["segments"] == sizes_of(log_of(lab, 1, OFFSETS))
    records = [record for batch in folder.opened().batches() for record in batch.records()]
    words = [described(record.key, record.value) for record in records]
    assert {each["kind"] for each in words if each} == {"GroupMetadata", "OffsetCommit"}
    commits = [each for each in words if each and each["kind"] == "OffsetCommit"]
    assert {each["key"]["topic"] for each in commits} == {"flights"} and all(
        each["key"]["group"] == GROUP_ID for each in commits
    )
    assert all(EPOCH_MS <= each["value"]["commit_timestamp"] <= EPOCH_MS + 12_000 for each in commits)


def test_a_broker_without_that_partition_and_one_that_is_not_there() -> None:
    lab = lab_of(brokers=4, partitions=2)
    lab.advance_to(SECOND)
    world = lab.lanes["kafka"].world
    lacking = next(
        broker
        for broker in (1, 2, 3, 4)
        if ("flights", 0) not in world.slots[broker_node(broker)].node.state.disk.logs
    )
    folder = Folder(("flights", 0))
    folder.look(lab, lacking)
    assert folder.state["replica"] is None and ["flights", 0] not in [
        each[:2] for each in folder.state["replicas"]
    ]
    with pytest.raises(KeyError):
        replica_view(world, 9, ("flights", 0), lab.messages)


def test_a_replica_that_retention_has_cut_starts_where_its_broker_does_and_keeps_its_bytes() -> None:
    """Looked at all along, or once at the end."""
    bounds = {"segment_ms": 5_000, "retention_ms": 10_000, "retention_check_interval_ms": 5_000}
    lab, key = lab_of(**bounds), ("flights", 0)
    for name in list(lab.lanes["kafka"].consumers):
        order(lab, "leave", consumer=name)
    often = Folder(key, lab.workload.to_json())
    for _ in range(12):
        lab.advance_to(lab.now_us + 5 * SECOND)
        often.look(lab, 1)
    log = log_of(lab, 1, key)
    assert log.log_start_offset > 0 and log.segments[0].base_offset == log.log_start_offset
    once = Folder(key, lab.workload.to_json())
    once.look(lab, 1)
    kept = [batch.header.base_offset for batch in log.batches()]
    for folder in (often, once):
        told = folder.look(lab, 1)
        assert (told["start_offset"], told["end_offset"]) == (log.log_start_offset, log.log_end_offset)
        read = folder.opened()
        assert [batch.header.base_offset for batch in read.batches(log.log_start_offset)] == kept
        assert told["segments"] == sizes_of(log)
    turning = often.state["logs"]["flights-0"]["turning"]
    assert {each["reason"] for each in turning if each["kind"] == "rolled"} == {"time"}


def test_a_compacted_topic_of_records_has_its_brokers_gaps_and_segments() -> None:
    """Looked at all along, or once at the end."""
    lab, key = lab_of(cleanup_policy="compact", segment_ms=5_000), ("flights", 0)
    often, once = Folder(key, lab.workload.to_json()), Folder(key, lab.workload.to_json())
    for _ in range(12):
        lab.advance_to(lab.now_us + 5 * SECOND)
        often.look(lab, 2)
    log = log_of(lab, 2, key)
    left = {
        batch.header.base_offset + delta: value
        for batch in log.batches()
        for delta, value in enumerate(batch.values)  # type: ignore[attr-defined]
        if value is not None
    }
    assert len(left) < log.log_end_offset
    for folder in (often, once):
        told = folder.look(lab, 2)
        assert told["gaps"] == log.log_end_offset - len(left) and told["cleaned_up_to"]
        read = folder.opened()
        assert told["segments"] == sizes_of(log)
        records = {record.offset: record for batch in read.batches() for record in batch.records()}
        assert records.keys() == left.keys()
        for offset, value in left.items():
            assert records[offset].value == lab.workload.payload(value).encode()
            assert records[offset].key == lab.workload.key_bytes(lab.workload.codes_of([value])[0])
    assert "compacted" in {each["kind"] for each in often.state["logs"]["flights-0"]["turning"]}


def test_the_size_of_a_batch_is_that_of_its_bytes_however_many_records_it_has() -> None:
    """A producer whose broker is away fills its batches; records beyond the 64th have a longer number."""
    lane = {"model": "kafka", "brokers": 1, "partitions": 1, "segment_ms": 1_000}
    workload = {"kind": "uniform", "keys": 5, "rate": 200}
    lab = Lab(scenario_from_json({"lanes": [lane], "workload": workload}))
    lab.advance_to(5 * SECOND)
    order(lab, "cluster_cut_link", args={"one": "broker-1", "other": "producer"})
    lab.advance_to(7 * SECOND)
    order(lab, "cluster_heal_link", args={"one": "broker-1", "other": "producer"})
    lab.advance_to(20 * SECOND)
    folder, log = Folder(("records", 0), lab.workload.to_json()), log_of(lab, 1, ("records", 0))
    assert folder.look(lab, 1)["segments"] == sizes_of(log)
    assert max(batch.header.record_count for batch in log.batches()) > 64


def test_a_tombstone_has_its_key_and_null_and_an_empty_value_is_a_value() -> None:
    lab = lab_of()
    lab.advance_to(2 * SECOND)
    for more in ({"value": "12"}, {}, {"tombstone": True}):
        order(lab, "cluster_send_record", args={"partition": 0, "key": "account-7", **more})
    lab.advance_to(4 * SECOND)
    folder, log = Folder(("flights", 0), lab.workload.to_json()), log_of(lab, 1, ("flights", 0))
    assert folder.look(lab, 1)["segments"] == sizes_of(log)
    records = [record for batch in folder.opened().batches() for record in batch.records()]
    assert [each.value for each in records if each.key == b"account-7"] == [b"12", b"", None]
