"""A topic's settings for its log, under Kafka's names and with its defaults.

Source: Kafka 3.9 storage/internals/log/LogConfig, TopicConfig.
"""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.errors import CommandError

LONG_MAX = 2**63 - 1
DAY_MS = 24 * 60 * 60 * 1000
UNLIMITED = -1


@dataclass(frozen=True, slots=True)
class LogSettings:
    """One topic's settings. Times in ms, sizes in bytes; -1 in `retention_*`: no limit."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    message_bytes_max: int = 1_048_588
    flush_interval_messages: int = LONG_MAX
    flush_interval_ms: int = LONG_MAX

    cleanup_delete: bool = True  # cleanup.policy has "delete"
    cleanup_compact: bool = False  # cleanup.policy has "compact"
    retention_ms: int = 7 * DAY_MS
    retention_bytes: int = UNLIMITED
    file_delete_delay_ms: int = 60_000

    min_cleanable_dirty_ratio_percent: int = 50
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LONG_MAX
    delete_retention_ms: int = DAY_MS

    is_log_append_time: bool = False  # message.timestamp.type
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_after_max_ms: int = LONG_MAX
    producer_id_expiration_ms: int = DAY_MS
    verifies_transactions: bool = (
        False  # transaction.partition.verification.enable, for a broker that can ask the coordinator
    )

    @property
    def asks_for_records(self) -> bool:
        """Whether a rule is about single records, so that an append must read them."""
        return (
            self.cleanup_compact
            or self.message_timestamp_before_max_ms < LONG_MAX
            or self.message_timestamp_after_max_ms < LONG_MAX
        )

    def __post_init__(self) -> None:
        """Raises CommandError for a size that a segment cannot have."""
        for name in ("segment_bytes", "segment_index_bytes", "index_interval_bytes", "message_bytes_max"):
            if getattr(self, name) < 0 or getattr(self, name) > 2**31 - 1:
                raise CommandError(name, "must be 0 to 2,147,483,647 bytes")
        # Two rows of either index: with less, an index is full before anything is in it.
        if self.segment_index_bytes < 24:
            raise CommandError("segment_index_bytes", "must hold two rows of the time index, 24 bytes")
