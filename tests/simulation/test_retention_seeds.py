"""Seeded lives of a cluster whose topic has a bound, under faults: the cluster's laws hold as without one,
nobody reads below a log start, and nothing goes that the bound keeps.
"""

from typing import Any

import pytest

from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.replica_log import LightLog
from tests.simulation.cluster_life import Life
from tests.simulation.seeds import seeds

STEPS, KEPT_BYTES, KEPT_MS = 300, 1_000, 15_000
FOLLOWERS_GAVE_UP = 1950459826
"""A life at whose end a leader is alone in sync, below min.insync.replicas."""
BOUNDS = {
    "size": TopicConfig(retention_bytes=KEPT_BYTES, segment_bytes=600),
    "time": TopicConfig(retention_ms=KEPT_MS),
}


class BoundedLife(Life):
    """A life that looks, at each deletion that a leader reports, at what its log still has.

    deletions: how many there were. stamps: partition -> last offset of a committed
    batch -> its time.
    """

    def __init__(self, seed: int, bound: str) -> None:
        self.bound, self.deletions = bound, 0
        self.stamps: dict[tuple[str, int], dict[int, int]] = {}
        super().__init__(seed, config=BOUNDS[bound])

    def pass_time(self, us: int) -> None:
        super().pass_time(us)
        for key in self.keys:
            to = self.leader(key)
            log = None if to is None else self.world.node(to).state.disk.logs.get(key)
            for header, _ in () if log is None else log.batches():
                if header.last_offset < log.high_watermark:
                    self.stamps.setdefault(key, {})[header.last_offset] = header.max_timestamp

    def hear(self, events: list[Any]) -> None:
        super().hear(events)
        for event in events:
            if event.kind == "kafka.log.segments_deleted":
                self.deletions += 1
                self.check(event.data)

    def check(self, data: dict[str, Any]) -> None:
        key, start = (data["topic"], data["partition"]), data["start"]
        state = self.world.node(broker_node(data["broker"])).state
        log = state.disk.logs[key]
        assert data["was_start"] < start <= log.high_watermark, "only what is committed goes"
        assert start == log.segments[0].base_offset, "whole segments go"
        if self.bound == "size":
            assert log.size >= KEPT_BYTES, "by size nothing goes that the bound keeps"
        elif not self.may_lose:  # else other records may have been at these offsets
            now_ms = state.now_ms(self.world.node_us)
            gone = [time for last, time in self.stamps[key].items() if data["was_start"] <= last < start]
            assert now_ms - max(gone, default=0) > KEPT_MS, "by time nothing goes that is young enough"


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("seed", [*seeds(), FOLLOWERS_GAVE_UP])
def test_laws_hold_where_retention_deletes(seed: int, bound: str) -> None:
    life = BoundedLife(seed, bound)
    life.run(STEPS)
    print(f"\nseed {seed}: {life.chosen}\ndeletions {life.deletions}, confirmed {len(life.acked)}")
    much = 100 if bound == "size" else 50  # of records, small and many to a batch
    assert life.deletions or len(life.acked) < much, "whoever wrote that much has seen a segment go"
    if not life.may_lose:
        assert life.lost_acked == 0 and not life.laws.losses
    by_size = life.bound == "size"
    for key in life.keys:
        for broker in life.brokers:
            log = life.world.node(broker_node(broker)).state.disk.logs.get(key)
            if log is not None:
                held = is_held(log)
                assert not held or life.chosen["truncation"] is Truncation.HIGH_WATERMARK
                if by_size:
                    assert held or log.size - log.segments[0].size < KEPT_BYTES, "and what it does not, goes"
                else:
                    assert held or log.log_start_offset == log.log_end_offset == log.high_watermark


def is_held(log: LightLog) -> bool:
    """Whether the first segment stays because it is not committed: followers that were cut inside a batch have
    given up, so too few are in sync for the high watermark to move."""
    after = log.segments[1].base_offset if len(log.segments) > 1 else log.log_end_offset
    return log.high_watermark < after
