"""A consumer of a classic group, and the answers of its coordinator."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.assignors.subscription_bytes import (
    SubscriptionData,
    read_assignment,
    write_subscription,
)
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from tests.core.kafka.client.consumer_bench import Bench


def started(**settings: Any) -> Bench:
    """It has its id, and waits for the answer to its JoinGroup."""
    bench = Bench(**settings)
    bench.start()
    if settings.get("group_instance_id") is None:
        bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", codes.MEMBER_ID_REQUIRED))
    return bench


def joined(
    bench: Bench,
    *others: tuple[str, SubscriptionData],
    protocol: str = "range",
    generation: int = 1,
    **fields: Any,
) -> Any:
    """The answer to its JoinGroup: it leads these others and itself. Returns its SyncGroup, None if there is
    none."""
    ((connection, request),) = bench.to(m.JoinGroupRequest)
    offered = {each.name: each.metadata for each in request.protocols}
    members = [m.JoinGroupMember("c1-id", None, offered[protocol])]
    members += [m.JoinGroupMember(name, None, write_subscription(told)) for name, told in others]
    answer = m.JoinGroupResponse(
        "c1-id", 0, generation, "consumer", protocol, "c1-id", fields.get("skip_assignment", False), members
    )
    bench.node.receive(connection, answer, fields.get("now_us", 0), bench.out)
    found = bench.to(m.SyncGroupRequest)
    return found[0][1] if found else None


def given(sync: Any) -> dict[str, list[tuple[str, int]]]:
    return {entry.member_id: list(read_assignment(entry.assignment).partitions) for entry in sync.assignments}
