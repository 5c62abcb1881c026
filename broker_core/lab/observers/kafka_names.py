"""Kafka's turning points with the names that a person knows: the coordinator knows its members by their ids,
the Stage its programs by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from broker_core.events import TurningPoint
from broker_core.kafka.client.consumer import HEARTBEAT_INTERVAL_US


def with_names(event: TurningPoint, partition_count: int) -> TurningPoint:
    """The turning point as a person reads it. partition_count: of the topic."""
    data = event.data
    if "client" in data:
        event = replace(
            event,
            data={name: value for name, value in data.items() if name != "client"}
            | {"consumer": data["client"]},
        )
    elif "member_id" in data:
        event = event.with_facts(data={"consumer": consumer_name(data["member_id"])})
    match event.kind:
        case "kafka.group.rebalance_started" if "rebalance_timeout_us" in event.inputs:
            return event.with_facts({"heartbeat_interval_us": HEARTBEAT_INTERVAL_US})
        case "kafka.group.generation_started":
            return event.with_facts(data={"leader": consumer_name(data["leader"])})
        case "kafka.group.assigned":
            assignment = data["assignment"]
            named = {consumer_name(member_id): numbers for member_id, numbers in assignment.items()}
            return event.with_facts(quota(partition_count, assignment), {"assignment": named})
    return event


def consumer_name(member_id: str) -> str:
    """The client.id that a member's id begins with.

    >>> consumer_name("c1-2a3b4c5d")
    'c1'
    """
    return member_id.rpartition("-")[0]


def quota(partition_count: int, assignment: Mapping[str, object]) -> dict[str, int]:
    """The numbers that an even share goes by."""
    each, rest = divmod(partition_count, max(1, len(assignment)))
    return {
        "partitions": partition_count,
        "members": len(assignment),
        "quota": each,
        "one_more_for_the_first": rest,
    }
