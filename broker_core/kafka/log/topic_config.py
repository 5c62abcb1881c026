"""What a topic says of its own logs, over what its brokers say of all: the rest of `LogSettings` is theirs.

    retention.ms, retention.bytes     when a segment goes (retention.py); -1: never for its age, or size
    segment.ms, segment.bytes         when a segment is closed: only whole segments go

Source: Kafka 3.9 storage/internals/log/LogConfig.fromProps, TopicConfig.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from broker_core.kafka.log.settings import LogSettings


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

    def over(self, brokers: LogSettings) -> LogSettings:
        """The settings of the topic's logs on a broker."""
        own = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(brokers, **own) if own else brokers


AS_THE_BROKERS = TopicConfig()
