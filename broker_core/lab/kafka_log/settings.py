"""What a person may choose of a lab's log that is written for the page: how dense its index is, and how long the
files of a deleted segment stay.

Segments and retention are the topic's own, which the lane's options set (`lab/kafka/settings.py`). A lab's broker
keeps no index, so its density is the page's. Kafka's defaults, 4 KiB and 60 s, would show one row in four batches
and files that wait longer than somebody looks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from broker_core.errors import CommandError
from broker_core.events import Json

NUMBER_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """Bytes and virtual ms."""

    index_interval_bytes: int = 1024
    file_delete_delay_ms: int = 20_000

    def to_json(self) -> Json:
        """As the page shows it, and as the interface names it."""
        return asdict(self)


BOUNDS: Mapping[str, tuple[int, int]] = {
    "index_interval_bytes": (0, 1 << 20),
    "file_delete_delay_ms": (0, 3_600_000),
}


def folder_settings(raw: Mapping[str, str]) -> FolderSettings:
    """Settings from what a person typed; missing ones have their default, unknown ones are ignored. Raises
    CommandError at the field.

    >>> folder_settings({"index_interval_bytes": "4096"}).index_interval_bytes
    4096
    """
    given = {
        field.name: whole_number(field.name, raw[field.name], *BOUNDS[field.name])
        for field in fields(FolderSettings)
        if field.name in raw
    }
    return FolderSettings(**given)


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
