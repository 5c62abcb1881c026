"""Kafka's turning points with the names that a person knows: the coordinator knows its members by their ids,
the Stage its programs by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from broker_core.events import TurningPoint

if TYPE_CHECKING:
    from broker_core.lab.kafka.group import Shared

HEARTBEAT_INTERVAL_US = 3_000_000


def with_names(event: TurningPoint, shared: Shared, partition_count: int) -> TurningPoint:
    """The turning point as a person reads it, times in microseconds as everywhere in a lab. partition_count:
    of the topic."""
    data, members = event.data, shared.group.members
    inputs = {
        _name_us(name): value * 1_000 if name.endswith("_ms") else value
        for name, value in event.inputs.items()
    }
    event = replace(event, inputs=inputs)
    if "client" in data:
        event = replace(
            event,
            data={name: value for name, value in data.items() if name != "client"}
            | {"consumer": data["client"]},
        )
    elif "member_id" in data:
        event = event.with_facts(data={"consumer": client_of(shared, data["member_id"])})
    match event.kind:
        case "kafka.group.rebalance_started" if "rebalance_timeout_us" in inputs:
            return event.with_facts({"heartbeat_interval_us": HEARTBEAT_INTERVAL_US})
        case "kafka.group.rebalance_started" if "initial_delay_us" in inputs:
            return replace(
                event,
                inputs={"delay_us": inputs["initial_delay_us"]},
                rule="kafka.group.initial_rebalance_delay",
            )
        case "kafka.group.generation_started":
            return event.with_facts(data={"leader": client_of(shared, data["leader"])})
        case "kafka.group.assigned":
            named = {member.client_id: member.assignment for member in members.values()}
            return event.with_facts(quota(partition_count, named), {"assignment": named})
    return event


def client_of(shared: Shared, member_id: str) -> str:
    """The client.id of a member; of one that the coordinator does not know any more, what a classic member's
    id begins with.

    A classic id is the client.id, a hyphen and a UUID of 36 characters.
    """
    member = shared.group.members.get(member_id)
    return member.client_id if member is not None else member_id[:-37] or member_id


def quota(partition_count: int, assignment: Mapping[str, object]) -> dict[str, int]:
    """The numbers that an even share goes by."""
    each, rest = divmod(partition_count, max(1, len(assignment)))
    return {
        "partitions": partition_count,
        "members": len(assignment),
        "quota": each,
        "one_more_for_the_first": rest,
    }


def _name_us(name: str) -> str:
    return name[:-3] + "_us" if name.endswith("_ms") else name
