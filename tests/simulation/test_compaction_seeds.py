"""Seeded lives of a cluster whose topic is compacted, under faults: the cluster's laws hold where logs have
gaps, what goes has a newer record of its key, and every replica holds the same table. But for one thing: who was away
for longer than `delete.retention.ms` never hears of a deletion, and keeps the value from before it.
"""

from collections.abc import Hashable
from types import MappingProxyType
from typing import Any

import pytest

from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.ledger import GONE
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.replication.replica_log import LightLog
from tests.simulation.cluster_life import Life
from tests.simulation.seeds import seeds

STEPS = 300
CONFIGS = {
    "compact": TopicConfig(
        cleanup_policy="compact", segment_bytes=600, min_cleanable_dirty_ratio_percent=30, delete_retention_ms=8_000
    ),
    "both": TopicConfig(cleanup_policy="compact,delete", segment_bytes=400, retention_bytes=3_000),
    "lag": TopicConfig(
        cleanup_policy="compact", segment_bytes=600, min_compaction_lag_ms=4_000, max_compaction_lag_ms=9_000,
        min_cleanable_dirty_ratio_percent=100,
    ),
}  # fmt: skip


class KeyedValues:
    """Values are v or x and a number; those of transactions have keys of their own."""

    def key(self, value: Any) -> Hashable | None:
        return value[0] + str(int(value[1:]) % 5)

    def is_tombstone(self, value: Any) -> bool:
        return int(value[1:]) % 7 == 0

    def size(self, value: Any, offset_delta: int, time_delta: int) -> int:
        return 39


CONTENTS = KeyedValues()


def keyed_broker(state: BrokerState) -> Broker:
    made = Broker(state)
    made.host.contents = CONTENTS
    return made


class CompactedLife(Life):
    kinds = MappingProxyType({"broker": (BrokerState, keyed_broker)})

    def logs(self, key: tuple[str, int]) -> list[LightLog]:
        found = (self.world.node(broker_node(broker)).state.disk.logs.get(key) for broker in self.brokers)
        return [log for log in found if log is not None]

    def committed(self, key: tuple[str, int]) -> dict[int, Any]:
        """offset -> value of what is in no transaction, as it was before compaction took any of it."""
        ledger = self.laws.ledger(key)
        told = {offset: value for of, offset, value in self.acked if of == key}
        seen = {ledger.start + place: entry.value for place, entry in enumerate(ledger.entries)}
        return {
            offset: value
            for offset, value in sorted(
                (told | {at: each for at, each in seen.items() if each != GONE}).items()
            )
            if value is not None and value.startswith("v")
        }


def records(log: LightLog) -> dict[int, Any]:
    """Those that a log still has below its high watermark, without those of transactions."""
    return {
        batch.header.base_offset + delta: value
        for batch in log.batches(log.log_start_offset)
        if not batch.header.is_control
        for delta, value in enumerate(batch.values)  # type: ignore[attr-defined]  # light batches
        if value is not None
        and value.startswith("v")
        and log.log_start_offset <= batch.header.base_offset + delta < log.high_watermark
    }


def table(rows: dict[int, Any]) -> dict[Hashable | None, Any]:
    """What a reader ends up with: of each key the last value, and nothing of a key that was deleted."""
    latest = {CONTENTS.key(value): value for _, value in sorted(rows.items())}
    return {key: value for key, value in latest.items() if not CONTENTS.is_tombstone(value)}


MISSED_A_TOMBSTONE, UNCLEAN_WITH_GAPS, LED_ALONE_UNSEEN = 3883374387, 3883374589, 2732003152


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("seed", seeds(found=[MISSED_A_TOMBSTONE, UNCLEAN_WITH_GAPS, LED_ALONE_UNSEEN]))
def test_laws_hold_and_each_replica_has_the_same_table_where_logs_are_compacted(
    seed: int, config: str
) -> None:
    life = CompactedLife(seed, config=CONFIGS[config])
    life.run(STEPS)
    gaps = 0
    for key in life.keys:
        before = life.committed(key)
        for log in life.logs(key):
            left = records(log)
            gone = {
                offset: value
                for offset, value in before.items()
                if offset >= log.log_start_offset and offset not in left
            }
            gaps += len(gone)
            if life.may_lose:
                continue
            newest = {CONTENTS.key(value): offset for offset, value in before.items()}
            for offset, value in gone.items():
                is_newest = newest[CONTENTS.key(value)] == offset
                assert not is_newest or CONTENTS.is_tombstone(value), (key, offset, value)
            kept = {offset: value for offset, value in before.items() if offset >= log.log_start_offset}
            missed = {
                CONTENTS.key(value)
                for offset, value in gone.items()
                if newest[CONTENTS.key(value)] == offset and CONTENTS.is_tombstone(value)
            }
            found = {of: value for of, value in table(left).items() if of not in missed}
            assert found == table(kept), (key, log.log_start_offset)
    print(f"\nseed {seed}: {life.chosen}\ngaps {gaps}, confirmed {len(life.acked)}")
    assert gaps or len(life.acked) < 60, "whoever wrote that much has seen records go"
    if not life.may_lose:
        assert life.lost_acked == 0 and not life.laws.losses
