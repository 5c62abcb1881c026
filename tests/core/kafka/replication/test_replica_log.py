"""The light log is the byte-exact log without its bytes: the same steps give the same answers, errors and
state."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.conformance import kafka_log
from broker_core.conformance.kafka_log import FILES_WRITTEN_MS, STARTED_MS, DrivenLog
from broker_core.errors import CommandError
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import (
    CONTROL,
    TRANSACTIONAL,
    ControlType,
    RecordBatch,
    encode_batch,
    encode_control_batch,
    with_offset,
)
from broker_core.kafka.log.retention import delete_old_segments
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.fetcher import Fetcher, Truncation
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.replica_log import (
    MARKER_BYTES,
    LightBatch,
    LightLog,
    LightSegment,
    Payload,
    light_batch,
)
from broker_core.plain import from_plain, to_plain
from tests.core.kafka.replication.brokers_of_a_test import NOW, brokers, decided, fetch_round, follow

VECTORS = Path(__file__).parents[3] / "vectors" / "kafka" / "replication"
LOOKS_INTO_RECORDS = "cleanup.policy"  # a compacted topic refuses records without a key
REMEMBERED_BY_AN_INDEX = {"log-random-20260584"}  # a time that only a time index would still know


def light(batch: RecordBatch) -> LightBatch:
    """The descriptor of a batch of bytes."""
    values: tuple[Any, ...] = (
        batch.control_type() if batch.header.is_control else tuple(record.value for record in batch.records())
    )
    return LightBatch(batch.header, Payload(values, batch.size_in_bytes))  # type: ignore[arg-type]


class DrivenLightLog(DrivenLog):
    """The steps of the recorded files, on a light log."""

    def __init__(self, row: dict[str, Any]) -> None:
        super().__init__(row)
        self.log = LightLog.begin(self.settings, now_ms=self.now_ms)

    def append_as_leader(
        self, leader_epoch: int, records: int, size_bytes: int, timestamp: int | None = None
    ) -> dict[str, Any]:
        time = self.now_ms if timestamp is None else STARTED_MS + timestamp
        batch = light_batch(("v",) * records, timestamp=time, size_in_bytes=size_bytes)
        return kafka_log._offsets(self.log.append(batch, now_ms=self.now_ms, leader_epoch=leader_epoch))

    def append(
        self, pid: int, epoch: int, sequence: int, records: int, leader_epoch: int, origin: str, **more: bool
    ) -> dict[str, Any]:
        batch = light(
            kafka_log.producer_batch(
                pid, epoch, sequence, records, self.now_ms, more.get("transactional", False)
            )
        )
        appended = self.log.append(
            batch,
            now_ms=self.now_ms,
            leader_epoch=leader_epoch,
            is_from_coordinator=origin == "COORDINATOR",
            verification_guard=self.guards.get(pid) if more.get("with_guard") else None,
        )
        return kafka_log._offsets(appended)

    def append_as_follower(self, batches: list[dict[str, Any]]) -> dict[str, Any]:
        data: Any = tuple(light(kafka_log._replicated(batch, self.now_ms)) for batch in batches)
        return kafka_log._offsets(self.log.append_as_follower(data, now_ms=self.now_ms))

    def read(self, offset: int, isolation: str) -> dict[str, Any]:
        fetched, aborted = self.log.read_as(Isolation[isolation], offset, 1 << 30)
        headers = [batch.header for batch in fetched.data]
        answer: dict[str, Any] = {
            "batches": [[each.base_offset, each.last_offset, each.partition_leader_epoch] for each in headers]
        }
        return (
            answer
            if aborted is None
            else answer | {"aborted": [[row.producer_id, row.first_offset] for row in aborted]}
        )

    def reopen(self, log_start_checkpoint: int) -> None:
        assert isinstance(self.log, LightLog)
        self.log = self.log.reopened(now_ms=self.now_ms, log_start_offset=log_start_checkpoint)
        self.guards.clear()
        self.checked_ms = self.now_ms


def recorded() -> Iterator[Any]:
    for name in ("unified_log", "producer_state"):
        document = json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes()))
        for row in document["cases"]:
            if LOOKS_INTO_RECORDS not in row["config"] and row["name"] not in REMEMBERED_BY_AN_INDEX:
                yield row


def test_it_answers_as_kafkas_log_did(monkeypatch: pytest.MonkeyPatch) -> None:
    # The recorder's files were younger than the clock of the steps.
    monkeypatch.setattr(
        LightSegment,
        "largest_timestamp",
        property(lambda self: self.max_timestamp if self.max_timestamp >= 0 else FILES_WRITTEN_MS),
    )
    count = 0
    for row in recorded():
        count += 1
        log = DrivenLightLog(row)
        for index, step in enumerate(row["steps"]):
            expected = {name: step[name] for name in ("answer", "error", "after") if name in step}
            got = log.take(step)
            got["after"] = log.state(expected["after"])
            if step["op"] == "read" and "aborted" in expected.get("answer", ()):
                # Ours are those among the batches; the original, which looks into an index only, gives a few
                # more.
                theirs, ours = expected["answer"].pop("aborted"), got["answer"].pop("aborted")
                assert [each for each in ours if each not in theirs] == []
            assert got == expected, (row["name"], index, step["op"])
    assert count > 280


# -- the law, by chance --------------------------------------------------------------------------------------

PRODUCERS = st.tuples(
    st.integers(1, 2), st.integers(0, 1), st.integers(0, 4), st.integers(1, 3), st.booleans()
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 3), st.integers(1, 4)),
        st.tuples(st.just("produce"), PRODUCERS),
        st.tuples(
            st.just("marker"), st.integers(1, 2), st.integers(0, 1), st.sampled_from(list(ControlType)[:2])
        ),
        st.tuples(
            st.sampled_from(
                ["truncate_to", "watermark", "raise", "start", "restart_at", "read", "time", "epoch"]
            ),
            st.integers(0, 25),
        ),
        st.tuples(st.sampled_from(["roll", "retention", "reopen", "checkpoint"])),
    ),
    max_size=40,
)


class Both:
    """One step on both logs: the same answer or the same error, and the same state."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.settings = LogSettings(segment_bytes=500, retention_bytes=900)
        self.folder = MemoryFolder(now_ms=lambda: self.now_ms)
        self.bytes = PartitionLog.open(self.folder, self.settings, now_ms=self.now_ms, high_watermark=0)
        self.light = LightLog.begin(self.settings, now_ms=self.now_ms)

    def take(self, name: str, *args: Any) -> None:
        self.now_ms += 7
        results = []
        for log in (self.bytes, self.light):
            try:
                results.append(getattr(self, name)(log, *args))
            except (LogError, CommandError) as error:
                results.append(type(error).__name__)
        assert results[0] == results[1], name
        assert self.state(self.bytes) == self.state(self.light), name

    def state(self, log: PartitionLog) -> object:
        producers = log.producers
        entries = {
            producer: (
                entry.producer_epoch,
                list(entry.batches),
                entry.coordinator_epoch,
                entry.transaction_start,
                entry.last_timestamp,
            )
            for producer, entry in sorted(producers.entries.items())
        }
        return (
            (
                log.log_start_offset,
                log.log_end_offset,
                log.high_watermark,
                log.last_stable_offset,
                log.first_unstable_offset,
            ),
            [(segment.base_offset, segment.size) for segment in log.segments],
            (log.epochs.rows, entries, producers.first_undecided_offset()),
        )

    def sent(self, log: PartitionLog, batch: RecordBatch) -> Any:
        return light(batch) if isinstance(log, LightLog) else batch.data

    def append(self, log: PartitionLog, epoch: int, count: int) -> object:
        batch = encode_batch([Record(index, self.now_ms, b"k", b"value") for index in range(count)])
        return log.append(self.sent(log, batch), now_ms=self.now_ms, leader_epoch=epoch)

    def produce(self, log: PartitionLog, producer: tuple[int, int, int, int, bool]) -> object:
        pid, epoch, sequence, count, is_transactional = producer
        batch = kafka_log.producer_batch(pid, epoch, sequence, count, self.now_ms, is_transactional)
        return log.append(self.sent(log, batch), now_ms=self.now_ms)

    def marker(self, log: PartitionLog, pid: int, epoch: int, kind: ControlType) -> object:
        return log.append_marker(
            kind, producer_id=pid, producer_epoch=epoch, coordinator_epoch=0, now_ms=self.now_ms
        )

    def truncate_to(self, log: PartitionLog, offset: int) -> object:
        return log.truncate_to(offset, self.now_ms)

    def watermark(self, log: PartitionLog, offset: int) -> None:
        log.high_watermark = offset

    def restart_at(self, log: PartitionLog, offset: int) -> None:
        log.restart_at(offset, self.now_ms)

    def start(self, log: PartitionLog, offset: int) -> object:
        return log.raise_log_start(offset)

    def epoch(self, log: PartitionLog, epoch: int) -> object:
        return log.epochs.end_offset_for(epoch, log.log_end_offset)

    def time(self, log: PartitionLog, ago: int) -> object:
        return log.offset_for_time(self.now_ms - ago * 7)

    def read(self, log: PartitionLog, offset: int) -> object:
        found = [log.read_as(isolation, offset, 1 << 20).fetched for isolation in Isolation]
        return [[batch.header.base_offset for batch in log._copied(each.data)] for each in found]

    def roll(self, log: PartitionLog) -> object:
        return log.roll(self.now_ms).base_offset

    def retention(self, log: PartitionLog) -> object:
        return delete_old_segments(log, self.now_ms)

    def checkpoint(self, log: PartitionLog) -> None:
        """Kept as plain data and taken back: nothing is to be seen of it. The other log has its files for
        that."""
        if isinstance(log, LightLog):
            kept = msgspec.msgpack.encode(to_plain(log))
            self.light = from_plain(msgspec.msgpack.decode(kept), LightLog)
            assert msgspec.msgpack.encode(to_plain(self.light)) == kept

    def reopen(self, log: PartitionLog) -> None:
        if isinstance(log, LightLog):
            self.light = log.reopened(now_ms=self.now_ms, log_start_offset=log.log_start_offset)
            return
        log.close(self.now_ms)
        self.bytes = PartitionLog.open(
            self.folder,
            self.settings,
            now_ms=self.now_ms,
            was_closed=True,
            recovery_point=log.recovery_point,
            log_start_offset=log.log_start_offset,
            high_watermark=0,
        )


setattr(Both, "raise", lambda self, log, offset: log.raise_high_watermark(offset))


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_the_same_steps_give_the_same_offsets_epochs_and_producer_errors(
    steps: list[tuple[Any, ...]],
) -> None:
    both = Both()
    for name, *args in steps:
        both.take(name, *args)


def filled(count: int) -> LightLog:
    log = LightLog.begin(LogSettings(), now_ms=0)
    for index in range(count):
        log.append(light_batch([index], timestamp=count - index), now_ms=index)
    log.high_watermark = count
    return log


def test_a_checkpoint_changes_nothing_for_a_log_that_is_cut_off_at_its_start() -> None:
    kept, other = filled(8), filled(8)
    for log in (kept, other):
        log.raise_log_start(5)
    kept = from_plain(msgspec.msgpack.decode(msgspec.msgpack.encode(to_plain(kept))), LightLog)
    for log in (kept, other):
        assert log.truncate_to(5, 100)
    assert to_plain(kept) == to_plain(other) and kept.active.size == 305 and kept.active.max_timestamp == 8
    found = [log.found_again(now_ms=200, log_start_offset=5) for log in (kept, other)]
    assert [log.log_end_offset for log in found] == [5, 5] and to_plain(found[0]) == to_plain(found[1])


# -- in place of the other -----------------------------------------------------------------------------------


def test_a_partition_and_its_fetcher_run_on_it() -> None:
    known = brokers()
    first, second = Partition(1, known, 101), Partition(2, known, 102)
    for partition in (first, second):
        partition.log = LightLog.begin(now_ms=NOW)
    first.make_leader(decided(1, 0, 0, (1, 2), (1, 2)), NOW)
    fetcher = Fetcher(second, Truncation.FETCH)
    follow(fetcher, first, 0, 0)
    batch: Any = light_batch([10, 11, 12], timestamp=NOW)
    assert first.append_as_leader(batch, -1, NOW).appended.last_offset == 2
    for _ in range(3):
        fetch_round(fetcher, first)
    assert second.log is not None and (second.log.high_watermark, second.log.epochs.rows) == (3, [(0, 0)])
    assert [
        value for held in second.log.batches() if isinstance(held, LightBatch) for value in held.values
    ] == [10, 11, 12]


@pytest.mark.parametrize(("bytes_max", "count"), [(0, 1), (100, 1), (199, 1), (200, 2), (300, 3), (1000, 3)])
def test_a_fetch_ends_between_two_batches_and_brings_at_least_one(bytes_max: int, count: int) -> None:
    log = LightLog.begin(now_ms=NOW, high_watermark=None)
    for _ in range(3):
        log.append(light_batch(["v"], timestamp=NOW, size_in_bytes=100), now_ms=NOW)
    assert len(log.read(0, bytes_max).data) == count
    assert len(log.read(0, bytes_max, at_least_one=False).data) == (count if bytes_max >= 100 else 0)


def test_a_marker_counts_as_long_as_its_bytes() -> None:
    batch = encode_control_batch(
        ControlType.COMMIT,
        base_offset=0,
        timestamp=0,
        producer_id=1,
        producer_epoch=0,
        coordinator_epoch=0,
        partition_leader_epoch=0,
    )
    assert batch.size_in_bytes == MARKER_BYTES
    assert batch.header.attributes == CONTROL | TRANSACTIONAL
    assert with_offset(batch, 5, 1).size_in_bytes == MARKER_BYTES


def test_a_checkpoint_keeps_a_finished_transaction_that_a_cut_has_left_unreplicated() -> None:
    """Cluster seed 20111. A cut above the high watermark reads the producers again; until it moves, nothing
    forgets what is replicated."""
    log = LightLog.begin(now_ms=0)
    log.append(
        light_batch(
            ["t"], timestamp=0, producer_id=3, producer_epoch=0, base_sequence=0, is_transactional=True
        ),
        now_ms=0,
    )
    log.append_marker(ControlType.COMMIT, producer_id=3, producer_epoch=0, coordinator_epoch=0, now_ms=0)
    for value in "ab":
        log.append(light_batch([value], timestamp=0), now_ms=0)
    log.high_watermark = 2
    log.truncate_to(3, 0)
    assert log.producers.to_json()["unreplicated"] == [(0, 1)]
    restored = LightLog.from_json(from_plain(to_plain(log.to_json()), dict))
    assert to_plain(restored.to_json()) == to_plain(log.to_json())
