"""What a light log's values are: for the cleaner, which goes by keys, and for the leader of a compacted topic,
which takes no record without one.

    __consumer_offsets     ("6b31", "7631") or ("6b31", None)     key and value in hexadecimal: `STORED`
    a topic of records     whatever its clients put in            known to who has put it in, who hands it to the broker
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from broker_core.kafka.log.record import Record, encode_record

Stored = tuple[str, str | None]
"""Key and value in hexadecimal; a value of None is a tombstone. A checkpoint gives it back as a list."""


class RecordContents(Protocol):
    """Of a value that stands for a record; it changes nothing."""

    def key(self, value: Any) -> Hashable | None:
        """Equal for equal keys; None: the record has no key."""
        ...

    def is_tombstone(self, value: Any) -> bool:
        """Whether the record has a key and no value."""
        ...

    def size(self, value: Any, offset_delta: int, time_delta: int) -> int:
        """Bytes of the record in its batch."""
        ...


class StoredPairs:
    """Values are `Stored`; any other, which a client may send, has no key."""

    def key(self, value: Any) -> Hashable | None:
        match value:
            case [str(key), str() | None]:
                return key
        return None

    def is_tombstone(self, value: Any) -> bool:
        return value[1] is None

    def size(self, value: Any, offset_delta: int, time_delta: int) -> int:
        key, content = (None if part is None else bytes(len(part) // 2) for part in value)
        return len(encode_record(Record(offset_delta, time_delta, key, content), 0, 0))


STORED = StoredPairs()
