"""What a cluster is set to: Kafka's settings with Kafka's defaults, and the switches between its ways of
yesterday and today.

Source: Kafka 3.9 KafkaConfig, ReplicationConfigs, KRaftConfigs, QuorumConfig.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.log.settings import DAY_MS
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.in_sync import REPLICA_LAG_TIME_MAX_MS
from broker_core.kafka.replication.sessions import SESSION_TIMEOUT_MS

NEVER_MS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """The same on every broker and on the controller. Times in ms.

    truncation: how a follower finds what to cut off. lag_messages_max: `replica.lag.max.messages`, the rule
    from before 0.9; None: not used.
    is_rack_aware: `replica.selector.class` is the rack-aware one, so consumers are sent to a replica in their
    rack. flush_interval_messages, flush_interval_ms: what is flushed to disk outlives a power cut; by default
    nothing is flushed but at a clean stop.
    log_retention_check_interval_ms: how often retention looks for segments that are due, first
    `log_initial_task_delay_ms` after a start.
    log_cleaner_backoff_ms: how often the cleaner looks for a compacted log that is due. offsets_segment_ms,
    offsets_delete_retention_ms: `segment.ms` and `delete.retention.ms` of `__consumer_offsets`, which is
    compacted; only closed segments are.
    groups: of the group coordinators. verifies_transactions: a leader asks the coordinator before a
    transaction's first batch.
    auto_leader_rebalance: a preferred election for all partitions each `leader_imbalance_check_interval_ms`.
    """

    truncation: Truncation = Truncation.FETCH
    lag_messages_max: int | None = None
    replica_lag_time_max_ms: int = REPLICA_LAG_TIME_MAX_MS
    replica_fetch_wait_max_ms: int = 500
    replica_fetch_min_bytes: int = 1
    replica_fetch_max_bytes: int = 1 << 20
    replica_fetch_response_max_bytes: int = 10 << 20
    replica_fetch_backoff_ms: int = 1_000
    replica_socket_timeout_ms: int = 30_000
    is_rack_aware: bool = False
    broker_heartbeat_interval_ms: int = 2_000
    broker_session_timeout_ms: int = SESSION_TIMEOUT_MS
    high_watermark_checkpoint_interval_ms: int = 5_000
    log_segment_bytes: int = 1 << 30
    log_retention_check_interval_ms: int = 300_000
    log_initial_task_delay_ms: int = 30_000
    log_cleaner_backoff_ms: int = 15_000
    offsets_segment_ms: int = 7 * DAY_MS
    offsets_delete_retention_ms: int = DAY_MS
    flush_interval_messages: int = NEVER_MS
    flush_interval_ms: int = NEVER_MS
    auto_leader_rebalance: bool = True
    leader_imbalance_check_interval_ms: int = 300_000
    verifies_transactions: bool = True
    groups: GroupSettings = field(default_factory=GroupSettings)
