"""Where the high watermark is after a truncation inside a batch: Kafka keeps it as an offset, and looks its
place up when it is next asked for.

The oracle is written from UnifiedLog's words alone: an offset, and whether its place is known.
"""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.log.errors import OffsetOutOfRange
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.replica_log import LightLog
from tests.core.kafka.log.small_logs import NOW, fill

PAIR = (b"k", b"v")


def test_a_high_watermark_known_by_offset_moves_to_the_log_end_when_its_batch_is_cut() -> None:
    """The history in which a held-out recording of Kafka 3.9 answered otherwise than this log."""
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW, high_watermark=0)
    fill(log, 28)
    log.high_watermark = 28
    log.raise_log_start(28)
    log.high_watermark = 0  # below the log start: it becomes 28, as an offset without a place
    log.append_pairs([PAIR] * 2, now_ms=NOW)
    log.append_pairs([PAIR] * 2, now_ms=NOW)
    assert log.truncate_to(29, NOW)
    assert not log.raise_high_watermark(26)
    assert (log.log_end_offset, log.high_watermark, log.last_stable_offset) == (29, 29, 29)


def test_a_high_watermark_whose_place_is_known_stays_when_its_batch_is_cut() -> None:
    log = PartitionLog.open(MemoryFolder(), now_ms=NOW, high_watermark=0)
    fill(log, 28)
    log.high_watermark = 28  # the log end: its place is known
    log.append_pairs([PAIR] * 2, now_ms=NOW)
    assert log.truncate_to(29, NOW)
    assert not log.raise_high_watermark(26)
    assert (log.log_end_offset, log.high_watermark) == (29, 28)


@dataclass
class Oracle:
    """UnifiedLog.updateHighWatermark, fetchHighWatermarkMetadata, maybeIncrementHighWatermark,
    updateHighWatermarkWithLogEndOffset."""

    log: PartitionLog
    offset: int = 0
    is_offset_only: bool = False

    def update(self, offset: int, is_offset_only: bool = True) -> None:
        start, end = self.log.log_start_offset, self.log.log_end_offset
        if offset < start:
            self.offset, self.is_offset_only = start, True
        elif offset >= end:
            self.offset, self.is_offset_only = end, False
        else:
            self.offset, self.is_offset_only = offset, is_offset_only

    def follow_log_end(self) -> None:
        if self.offset >= self.log.log_end_offset:
            self.update(self.log.log_end_offset, False)

    def fetch(self) -> int:
        if self.is_offset_only:
            is_found = any(
                batch.header.last_offset >= self.offset
                for segment in self.log.segments
                for _, batch in segment.batches()
            )
            self.update(self.offset if is_found else self.log.log_end_offset, False)
        return self.offset

    def increment(self, offset: int) -> bool:
        if self.fetch() >= offset:
            return False
        self.update(offset)
        return True


steps = st.tuples(
    st.sampled_from(
        [
            "append",
            "append",
            "append",
            "update",
            "update",
            "increment",
            "cut",
            "cut",
            "read",
            "roll",
            "restart",
            "start",
        ]
    ),
    st.integers(0, 11),
)


@given(st.lists(steps, max_size=60), st.booleans())
def test_its_place_is_looked_up_when_the_original_does(life: list[tuple[str, int]], is_light: bool) -> None:
    settings = LogSettings(segment_bytes=400)
    log: PartitionLog
    if is_light:
        log = LightLog.begin(settings, now_ms=NOW)
    else:
        log = PartitionLog.open(MemoryFolder(), settings, now_ms=NOW, high_watermark=0)
    oracle = Oracle(log)
    for kind, number in life:
        end = log.log_end_offset
        below = max(0, end - number)
        try:
            if kind == "append":
                log.append_pairs([PAIR] * (1 + number % 4), now_ms=NOW)
                oracle.follow_log_end()
            elif kind == "update":
                log.high_watermark = below
                oracle.update(below)
            elif kind == "increment":
                assert log.raise_high_watermark(below) == oracle.increment(below)
            elif kind == "cut":
                if log.truncate_to(max(0, end - number % 4), NOW):
                    oracle.follow_log_end()
            elif kind == "read":
                log.read_as(Isolation.HIGH_WATERMARK, max(log.log_start_offset, below), 1_000)
                oracle.fetch()
            elif kind == "roll":
                log.roll(NOW)
                oracle.follow_log_end()
            elif kind == "restart":
                log.restart_at(end + number % 3, NOW)
                oracle.update(log.log_end_offset, False)
            else:
                log.raise_log_start(below)
        except (CommandError, OffsetOutOfRange):
            continue
        assert log.high_watermark == oracle.offset, (kind, number)
