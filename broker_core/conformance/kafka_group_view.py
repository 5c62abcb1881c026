"""How the coordinator's answers, records and groups look in the files of recorded answers, and what of them
is compared as a set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import STATE_NAMES, Partitions
from broker_core.kafka.group.record_bytes import key_bytes, value_bytes
from broker_core.kafka.group.records import NO_PRODUCER_ID, EndOfTransaction, LogRecord

Json = dict[str, Any]

UNCOMPARED = frozenset({"throttleTimeMs", "errorMessage", "error", "from", "new"})
_BYTES_FIELDS = frozenset({"metadata", "assignment"})


@cache
def camel(name: str) -> str:
    """A field of ours as Kafka's JSON names it.

    >>> camel("generation_id_or_member_epoch")
    'generationIdOrMemberEpoch'
    """
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


@cache
def snake(name: str) -> str:
    """A field of Kafka's JSON as ours.

    >>> snake("groupsNames")
    'groups_names'
    """
    return "".join(f"_{character.lower()}" if character.isupper() else character for character in name)


def request_fields(fields: Any, name: str = "") -> Any:
    """A recorded request's fields under our names; hex is bytes where the schema says so."""
    if isinstance(fields, dict):
        return {snake(key): request_fields(value, key) for key, value in fields.items()}
    if isinstance(fields, list):
        return [request_fields(item) for item in fields]
    return bytes.fromhex(fields) if name in _BYTES_FIELDS and isinstance(fields, str) else fields


def as_json(value: Any) -> Any:
    """A message or record value as the files have it."""
    if isinstance(value, msgspec.Struct):
        return {camel(name): as_json(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


def record_view(record: LogRecord) -> Json:
    """A record as the files have it, with its bytes."""
    if isinstance(record, EndOfTransaction):
        control = "COMMIT" if record.commit else "ABORT"
        return {
            "type": "ControlRecord",
            "control": control,
            "producer_id": record.producer_id,
            "producer_epoch": record.producer_epoch,
        }
    view = {
        "type": record.key.type,
        "key_version": record.key.version,
        "key": as_json(record.key),
        "value": None,
    }
    view["key_hex"] = key_bytes(record.key).hex()
    if record.value is not None:
        view |= {
            "value_version": record.value.version,
            "value": as_json(record.value),
            "value_hex": value_bytes(record.value).hex(),
        }
    if record.producer_id != NO_PRODUCER_ID:
        view |= {"producer_id": record.producer_id, "producer_epoch": record.producer_epoch}
    return view


def group_view(group: ClassicGroup | ConsumerGroup, names: Mapping[str, str]) -> Json:
    """A group's state as the files have it. names: topic id -> name."""
    return _classic_view(group) if isinstance(group, ClassicGroup) else _consumer_view(group, names)


def comparable(value: Any) -> Any:
    """What is compared of a recorded value: lists as sets, and no texts, throttle times or `new` flags.

    A value's bytes are compared as a bag: what the value holds is compared by field, and its sets have no
    promised order.
    """
    if isinstance(value, dict):
        parts = {key: item for key, item in value.items() if key not in UNCOMPARED}
        return {key: _bag(item) if key == "value_hex" else comparable(item) for key, item in parts.items()}
    if isinstance(value, list):
        return sorted(map(comparable, value), key=sorted_by)
    return value


def _bag(text: Any) -> Any:
    return sorted(bytes.fromhex(text)) if isinstance(text, str) else text


def sorted_by(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def like(recorded: Any, seen: Any) -> Any:
    """What is there of `seen` has only the fields that the recorded value has: its version may know fewer."""
    if isinstance(recorded, dict) and isinstance(seen, dict):
        return {key: like(value, seen.get(key)) for key, value in recorded.items()}
    if isinstance(recorded, list) and isinstance(seen, list):
        shape = {key: value for item in recorded if isinstance(item, dict) for key, value in item.items()}
        return [like(shape, item) if shape else item for item in seen]
    return seen


def runs(records: Iterable[Json]) -> list[Json]:
    """Records in the order of the log, but for what one event writes side by side of one kind, tombstones
    among them: that is a set."""
    grouped: list[tuple[str, list[Json]]] = []
    for record in records:
        kind = "tombstones" if record.get("value", True) is None else record["type"]
        if not grouped or grouped[-1][0] != kind:
            grouped.append((kind, []))
        grouped[-1][1].append(record)
    return [
        {"kind": kind, "records": sorted(map(comparable, listed), key=sorted_by)} for kind, listed in grouped
    ]


def records_like(recorded: Sequence[Json], seen: Sequence[Json]) -> list[Json]:
    """Our records with the parts that the recorded ones of their kind have: bytes are there in named cases
    alone."""
    if not recorded:
        return list(seen)
    parts = {(record["type"], record.get("value") is None): record.keys() for record in recorded}
    views = []
    for record in seen:
        known = parts.get(
            (record["type"], record["value"] is None if "value" in record else True), record.keys()
        )
        view = {part: value for part, value in record.items() if part in known}
        views.append(_with_fields_of(recorded, view))
    return views


def _with_fields_of(recorded: Sequence[Json], view: Json) -> Json:
    """Drop fields of the value that this version of it does not have."""
    for record in recorded:
        is_same = record["type"] == view["type"] and record.get("value_version") == view.get("value_version")
        if is_same and isinstance(record.get("value"), dict) and isinstance(view.get("value"), dict):
            return view | {"value": like(record["value"], view["value"])}
    return view


def _classic_view(group: ClassicGroup) -> Json:
    members = {}
    for member in group.members.values():
        view: Json = {} if member.instance_id is None else {"instance": member.instance_id}
        view |= {
            "client_id": member.client_id,
            "client_host": member.client_host,
            "session_timeout": member.session_timeout_ms,
            "rebalance_timeout": member.rebalance_timeout_ms,
            "protocols": [protocol.name for protocol in member.protocols],
            "assignment": member.assignment.hex(),
        }
        if member.awaits_join is not None or member.awaits_sync is not None:
            view["awaiting"] = "join" if member.awaits_join is not None else "sync"
        members[member.member_id] = view
    shown: Json = {
        "type": "classic",
        "state": group.state,
        "generation": group.generation,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "leader": group.leader,
        "members": members,
    }
    if group.pending_joins:
        shown["pending_members"] = list(group.pending_joins)
    if group.pending_syncs:
        shown["pending_sync"] = list(group.pending_syncs)
    if group.subscribed_topics is not None:
        shown["subscribed_topics"] = list(group.subscribed_topics)
    return shown


def _consumer_view(group: ConsumerGroup, names: Mapping[str, str]) -> Json:
    members = {}
    for member in group.members.values():
        view: Json = {
            "epoch": member.epoch,
            "previous_epoch": member.previous_epoch,
            "state": STATE_NAMES[member.state],
            "rebalance_timeout": member.rebalance_timeout_ms,
            "subscribed": list(member.subscribed),
            "assigned": _by_name(member.assigned, names),
            "target": _by_name(group.target.get(member.member_id, {}), names),
        }
        optional = {
            "instance": member.instance_id,
            "rack": member.rack_id,
            "assignor": member.server_assignor,
        }
        view |= {name: value for name, value in optional.items() if value is not None}
        if member.revoking:
            view["revoking"] = _by_name(member.revoking, names)
        if member.classic is not None:
            view["classic"] = True
        members[member.member_id] = view
    is_equal = all(count == len(group.members) for count in group.subscriber_counts.values())
    return {
        "type": "consumer",
        "state": group.state,
        "epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "assignor": group.preferred_assignor(),
        "subscription_type": "Homogeneous" if is_equal else "Heterogeneous",
        "members": members,
    }


def _by_name(partitions: Partitions | Mapping[str, tuple[int, ...]], names: Mapping[str, str]) -> Json:
    return {names[topic_id]: sorted(numbers) for topic_id, numbers in partitions.items()}
