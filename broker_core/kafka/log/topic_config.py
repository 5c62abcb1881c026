"""What a topic says of its own logs, over what its brokers say of all: the rest of `LogSettings` is theirs.

    retention.ms, retention.bytes     when a segment goes (retention.py); -1: never for its age, or size
    segment.ms, segment.bytes         when a segment is closed: only whole segments go

Source: Kafka 3.9 storage/internals/log/LogConfig.fromProps, TopicConfig.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.settings import LONG_MAX, UNLIMITED, LogSettings


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """Times in ms, sizes in bytes; None: as the broker says.

    >>> TopicConfig(retention_ms=60_000).over(LogSettings(segment_bytes=1_024)).retention_ms
    60000
    """

    retention_ms: int | None = None
    retention_bytes: int | None = None
    segment_ms: int | None = None
    segment_bytes: int | None = None

    def check(self) -> None:
        """Raises Refused (INVALID_CONFIG) for what no log can have."""
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise Refused(
                    ErrorCode.INVALID_CONFIG, "{name} must be {low} to {high}", name=name, low=low, high=high
                )

    def over(self, brokers: LogSettings) -> LogSettings:
        """The settings of the topic's logs on a broker."""
        own = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(brokers, **own) if own else brokers


_BOUNDS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "retention_ms": (UNLIMITED, LONG_MAX),
        "retention_bytes": (UNLIMITED, LONG_MAX),
        "segment_ms": (1, LONG_MAX),
        "segment_bytes": (14, 2**31 - 1),
    }
)
AS_THE_BROKERS = TopicConfig()
