"""What a topic says of its own logs, over what its brokers say of all: the rest of `LogSettings` is theirs.

    cleanup.policy                    what happens to what is old: delete, compact, or both
    retention.ms, retention.bytes     when a segment goes (retention.py); -1: never for its age, or size
    segment.ms, segment.bytes         when a segment is closed: only whole segments go, only closed ones are compacted
    min.cleanable.dirty.ratio, min.compaction.lag.ms, max.compaction.lag.ms
                                      when a log is compacted, and how far (compaction.py)
    delete.retention.ms               how long a tombstone stays

Source: Kafka 3.9 storage/internals/log/LogConfig.fromProps, validateValues, TopicConfig.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.settings import LONG_MAX, UNLIMITED, LogSettings

DELETE, COMPACT = "delete", "compact"


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """Times in ms, sizes in bytes; None: as the broker says. cleanup_policy: one or both words, with a comma
    between them.

    >>> TopicConfig(retention_ms=60_000).over(LogSettings(segment_bytes=1_024)).retention_ms
    60000
    >>> TopicConfig(cleanup_policy="compact").over(LogSettings()).cleanup_delete
    False
    """

    retention_ms: int | None = None
    retention_bytes: int | None = None
    segment_ms: int | None = None
    segment_bytes: int | None = None
    cleanup_policy: str | None = None
    min_cleanable_dirty_ratio_percent: int | None = None
    delete_retention_ms: int | None = None
    min_compaction_lag_ms: int | None = None
    max_compaction_lag_ms: int | None = None

    def check(self) -> None:
        """Raises Refused (INVALID_CONFIG) for what no log can have."""
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise Refused(
                    ErrorCode.INVALID_CONFIG, "{name} must be {low} to {high}", name=name, low=low, high=high
                )
        if not {DELETE, COMPACT}.issuperset(self.policies() or ()):
            raise Refused(ErrorCode.INVALID_CONFIG, "cleanup_policy must be delete, compact, or both")
        settings = self.over(LogSettings())
        if settings.min_compaction_lag_ms > settings.max_compaction_lag_ms:
            raise Refused(
                ErrorCode.INVALID_CONFIG,
                "min.compaction.lag.ms ({low}) must not be above max.compaction.lag.ms ({high})",
                low=settings.min_compaction_lag_ms,
                high=settings.max_compaction_lag_ms,
            )

    def policies(self) -> list[str] | None:
        """The words of the cleanup policy; None: as the broker says."""
        given = self.cleanup_policy
        return None if given is None else [word.strip() for word in given.split(",")] if given else []

    def over(self, brokers: LogSettings) -> LogSettings:
        """The settings of the topic's logs on a broker."""
        own = {name: value for name, value in asdict(self).items() if value is not None}
        policies = self.policies()
        if policies is not None:
            del own["cleanup_policy"]
            own |= {"cleanup_delete": DELETE in policies, "cleanup_compact": COMPACT in policies}
        return replace(brokers, **own) if own else brokers


_BOUNDS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "retention_ms": (UNLIMITED, LONG_MAX),
        "retention_bytes": (UNLIMITED, LONG_MAX),
        "segment_ms": (1, LONG_MAX),
        "segment_bytes": (14, 2**31 - 1),
        "min_cleanable_dirty_ratio_percent": (0, 100),
        "delete_retention_ms": (0, LONG_MAX),
        "min_compaction_lag_ms": (0, LONG_MAX),
        "max_compaction_lag_ms": (1, LONG_MAX),
    }
)
AS_THE_BROKERS = TopicConfig()
