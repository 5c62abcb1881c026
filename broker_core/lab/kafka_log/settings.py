"""The settings of a lab's log: small, so that a segment rolls, retention cuts and the cleaner runs while
somebody looks.

Kafka's defaults are 1 GiB, 4 KiB, no limit and 7 days. With those a lab of 36 records a second would show one
segment for days.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.log.settings import UNLIMITED, LogSettings

SEGMENTS_MAX = 64
"""What retention.bytes may leave, in full segments, and leaves where it sets no limit: a lab's folder stays
small."""
NUMBER_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """What a person may change. Bytes and virtual ms; -1 in a retention: no limit from the person, but
    `bytes_limit` holds."""

    segment_bytes: int = 16 * 1024
    index_interval_bytes: int = 1024
    retention_bytes: int = 64 * 1024
    retention_ms: int = UNLIMITED
    file_delete_delay_ms: int = 20_000
    delete_retention_ms: int = 60_000

    @property
    def bytes_limit(self) -> int:
        """How much of the log stays at the most, whatever retention.bytes says."""
        return SEGMENTS_MAX * self.segment_bytes

    def records(self) -> LogSettings:
        """Those of the topic that holds every record: cleanup.policy=delete."""
        return LogSettings(
            segment_bytes=self.segment_bytes,
            index_interval_bytes=self.index_interval_bytes,
            message_bytes_max=self.segment_bytes,
            retention_bytes=self.bytes_limit if self.retention_bytes == UNLIMITED else self.retention_bytes,
            retention_ms=self.retention_ms,
            file_delete_delay_ms=self.file_delete_delay_ms,
        )

    def latest(self) -> LogSettings:
        """Those of the topic that holds each key's newest record: cleanup.policy=compact."""
        return LogSettings(
            segment_bytes=self.segment_bytes,
            index_interval_bytes=self.index_interval_bytes,
            message_bytes_max=self.segment_bytes,
            cleanup_delete=False,
            cleanup_compact=True,
            file_delete_delay_ms=self.file_delete_delay_ms,
            delete_retention_ms=self.delete_retention_ms,
        )

    def to_json(self) -> Json:
        """As the page shows it, and as the interface names it."""
        return asdict(self)


RECORDS_SHOWN = ("segment_bytes", "index_interval_bytes", "retention_bytes", "retention_ms")
LATEST_SHOWN = ("segment_bytes", "index_interval_bytes", "min_cleanable_dirty_ratio", "delete_retention_ms")
"""The settings that act on each of the two topics."""
BOUNDS: Mapping[str, tuple[int, int]] = {
    "segment_bytes": (4096, 1 << 20),
    "index_interval_bytes": (0, 1 << 20),
    "retention_bytes": (UNLIMITED, SEGMENTS_MAX << 20),
    "retention_ms": (UNLIMITED, NUMBER_MAX),
    "file_delete_delay_ms": (0, 3_600_000),
    "delete_retention_ms": (0, NUMBER_MAX),
}


def lane_settings(raw: Mapping[str, str]) -> LaneSettings:
    """Settings from what a person typed; missing ones have their default, unknown ones are ignored. Raises
    CommandError at the field.

    >>> lane_settings({"segment_bytes": "8192"}).segment_bytes
    8192
    """
    given = {
        field.name: whole_number(field.name, raw[field.name], *BOUNDS[field.name])
        for field in fields(LaneSettings)
        if field.name in raw
    }
    settings = LaneSettings(**given)
    if settings.retention_bytes > settings.bytes_limit:
        raise CommandError(
            "retention_bytes",
            "must be at most {limit}: a lab keeps no more than {count} times segment.bytes",
            limit=settings.bytes_limit,
            count=SEGMENTS_MAX,
        )
    return settings


def whole_number(field: str, text: str, low: int, high: int) -> int:
    """The number that a text is. Raises CommandError at the field for any other text, and for a number out of
    range."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 19 and low <= int(text) <= high):
        raise CommandError(field, "must be a whole number from {low} to {high}", low=low, high=high)
    return int(text)


def digest(description: Json) -> str:
    """A folder's name for what it was made from: equal descriptions, equal names."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:16]
