"""What a request's fields can carry: bytes with a larger number in them, or of another kind, are no request,
and the connection on which they came is closed.

Source: Kafka 3.9 clients/src/main/resources/common/message (the type of each field), core SocketServer
(processCompletedReceives: what cannot be parsed, or is not enabled for the listener, closes the connection).
"""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.kafka.log.record_batch import BatchHeader

INT8, INT16, INT32, INT64 = 8, 16, 32, 64
_INT8 = ("isolation_level", "election_type", "key_type", "leader_recovery_state")
_INT16 = ("acks", "producer_epoch", "replication_factor", "attributes", "magic")
_INT64 = (
    "fetch_offset", "log_start_offset", "timestamp", "producer_id", "broker_epoch", "replica_epoch",
    "incarnation_id", "current_metadata_offset", "committed_offset", "retention_time_ms",
    "base_offset", "base_timestamp", "max_timestamp", "crc",
)  # fmt: skip
WIDTHS = {
    **dict.fromkeys(_INT8, INT8),
    **dict.fromkeys(_INT16, INT16),
    **dict.fromkeys(_INT64, INT64),
}
"""Field -> its bits, where it has not 32."""
_LIMITS: dict[type, tuple[int, ...]] = {}
"""Kind of a struct -> for each of its fields the first number that is too large for it; 0: it is none."""


def fits(message: Any) -> bool:
    """Whether every number in a request fits its field; numbers in plain rows have up to 64 bits."""
    kind = type(message)
    limits = _LIMITS.get(kind) or _limits_of(kind)
    for value, limit in zip(msgspec.structs.astuple(message), limits, strict=True):
        if limit:
            if value is None or not -limit <= value < limit:
                return False
        elif type(value) is list:
            if value and not all(map(_item_fits, value)):
                return False
        elif isinstance(value, tuple) and not _batch_fits(value[0]):
            return False
    return True


# --- inside


def _limits_of(kind: type) -> tuple[int, ...]:
    limits = _LIMITS[kind] = tuple(
        1 << WIDTHS.get(field.name, INT32) - 1 if field.type is int else 0
        for field in msgspec.structs.fields(kind)
    )
    return limits


def _item_fits(item: Any) -> bool:
    if isinstance(item, msgspec.Struct):
        return fits(item)
    if type(item) is int:
        return -(1 << 31) <= item < 1 << 31
    if isinstance(item, (tuple, list)):
        return all(type(each) is not int or -(1 << 63) <= each < 1 << 63 for each in item)
    return True


def _batch_fits(header: BatchHeader) -> bool:
    return all(-limit <= value < limit for value, limit in zip(header, _HEADER, strict=True))


_HEADER = tuple(1 << WIDTHS.get(name, INT32) - 1 for name in BatchHeader._fields)
