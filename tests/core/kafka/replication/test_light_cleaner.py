"""The light log's cleaner against the byte-exact one: after the same life both have the same batches,
records, horizons, sizes and transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.compaction import clean, log_to_clean
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import encode_pairs
from broker_core.kafka.log.record_batch import HEADER_SIZE, ControlType, RecordBatch
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.replication.light_cleaner import clean_light
from broker_core.kafka.replication.replica_log import LightLog, light_batch
from broker_core.plain import to_plain

SETTINGS = LogSettings(
    segment_bytes=600,
    cleanup_delete=False,
    cleanup_compact=True,
    delete_retention_ms=50,
    segment_index_bytes=1 << 16,
)
FIELDS = (
    "base_offset",
    "last_offset",
    "record_count",
    "attributes",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "partition_leader_epoch",
    "length",
)


def fields_of(batch: RecordBatch) -> list[int]:
    return [getattr(batch.header, name) for name in FIELDS]


def refusal_of(append: Callable[[], object]) -> type[LogError] | None:
    """With what a log refuses a batch. It may have rolled a segment for it all the same."""
    try:
        append()
    except LogError as error:
        return type(error)
    return None


class Both:
    """One life, led by both logs."""

    def __init__(self) -> None:
        self.exact = PartitionLog.open(MemoryFolder(), SETTINGS, now_ms=0, high_watermark=0)
        self.light = LightLog.begin(SETTINGS, now_ms=0)
        self.cleaned_up_to: int | None = None
        self.now_ms = 1
        self.sequences: dict[int, int] = {}

    def append(self, pairs: list[tuple[bytes, bytes | None]], producer: int, is_transactional: bool) -> None:
        sequence = self.sequences.get(producer, 0) if producer >= 0 else -1
        about: dict[str, Any] = {
            "producer_id": producer, "producer_epoch": 0 if producer >= 0 else -1, "base_sequence": sequence,
            "is_transactional": is_transactional and producer >= 0,
        }  # fmt: skip
        values = [(key.hex(), None if value is None else value.hex()) for key, value in pairs]
        batch = light_batch(
            values, timestamp=self.now_ms, size_in_bytes=HEADER_SIZE + len(encode_pairs(pairs)[0]), **about
        )
        refused = [
            refusal_of(lambda: self.exact.append_pairs(pairs, now_ms=self.now_ms, **about)),
            refusal_of(lambda: self.light.append(batch, now_ms=self.now_ms)),
        ]
        assert refused[0] == refused[1]
        if producer >= 0 and refused[0] is None:
            self.sequences[producer] = sequence + len(pairs)
        self.replicate()

    def end(self, producer: int, is_commit: bool) -> None:
        if producer in self.exact.producers.entries:
            about: dict[str, Any] = {
                "producer_id": producer,
                "producer_epoch": 0,
                "coordinator_epoch": 0,
                "now_ms": self.now_ms,
            }
            control = ControlType.COMMIT if is_commit else ControlType.ABORT
            self.exact.append_marker(control, **about)
            self.light.append_marker(control, **about)
        self.replicate()

    def replicate(self) -> None:
        self.exact.high_watermark = self.light.high_watermark = self.exact.log_end_offset

    def roll(self) -> None:
        self.exact.roll(self.now_ms)
        self.light.roll(self.now_ms)

    def clean(self) -> None:
        todo, light_todo = (
            log_to_clean(self.exact, self.cleaned_up_to, self.now_ms),
            log_to_clean(self.light, self.cleaned_up_to, self.now_ms),
        )
        assert todo == light_todo
        done, light_done = (
            clean(self.exact, todo, OffsetMap(1 << 16), self.now_ms),
            clean_light(self.light, light_todo, self.now_ms),
        )
        assert done == light_done
        self.cleaned_up_to = done.end_offset

    def check(self) -> None:
        assert [each.base_offset for each in self.exact.segments] == [
            each.base_offset for each in self.light.segments
        ]
        mine, theirs = list(self.light.batches()), list(self.exact.batches())
        assert [fields_of(each) for each in mine] == [fields_of(each) for each in theirs]
        for light, exact in zip(mine, theirs, strict=True):
            if light.header.is_control or not light.header.record_count:
                continue
            values: Any = light.values  # type: ignore[attr-defined]
            kept = {
                light.header.base_offset + delta: (
                    bytes.fromhex(value[0]),
                    None if value[1] is None else bytes.fromhex(value[1]),
                )
                for delta, value in enumerate(values)
                if value is not None
            }
            assert kept == {record.offset: (record.key, record.value) for record in exact.records()}
        end = self.exact.log_end_offset
        assert self.light.aborted_transactions(0, end) == self.exact.aborted_transactions(0, end)


keys = st.sampled_from([b"a", b"b", b"c", b"dd"])
pairs = st.lists(st.tuples(keys, st.one_of(st.none(), st.binary(max_size=5))), min_size=1, max_size=4)
steps = st.one_of(
    st.tuples(st.just("append"), pairs, st.integers(-1, 1), st.booleans()),
    st.tuples(st.just("append"), pairs, st.just(-1), st.just(False)),
    st.tuples(st.just("end"), st.just([]), st.integers(0, 1), st.booleans()),
    st.tuples(st.just("clean"), st.just([]), st.just(0), st.booleans()),
    st.tuples(st.just("wait"), st.just([]), st.integers(1, 40), st.just(False)),
)


def plain(log: LightLog) -> bytes:
    return msgspec.json.encode(to_plain(list(log.batches())))


@settings(max_examples=250, deadline=None)
@given(st.lists(steps, max_size=40))
def test_both_cleaners_leave_the_same(life: list[tuple[str, Any, int, bool]]) -> None:
    both = Both()
    for kind, rows, number, flag in life:
        if kind == "append":
            both.append(rows, number, flag)
        elif kind == "end":
            both.end(number, flag)
        elif kind == "wait":
            both.now_ms += number
        else:
            if flag:
                both.roll()
            both.clean()
            both.check()
    both.roll()
    both.clean()
    both.check()
    restored = LightLog.from_json(both.light.to_json())
    assert plain(restored) == plain(both.light), "a checkpoint keeps the gaps and the horizons"


def test_a_follower_that_is_new_gets_what_the_leader_has_left() -> None:
    both = Both()
    for round_ in range(12):
        both.append([(b"k", bytes([round_])), (bytes([97 + round_ % 3]), b"v")], -1, False)
    both.roll()
    both.clean()
    both.append([(b"k", b"last")], -1, False)
    follower = LightLog.begin(SETTINGS, now_ms=0)
    while follower.log_end_offset < both.light.log_end_offset:
        fetched: Any = both.light.read(follower.log_end_offset, 100).data
        assert fetched, "a gap does not hold a follower up"
        follower.append_as_follower(fetched, now_ms=9)
    assert list(follower.batches()) == list(both.light.batches())
    assert sum(batch.header.record_count for batch in both.light.batches()) == 5 < both.light.log_end_offset
