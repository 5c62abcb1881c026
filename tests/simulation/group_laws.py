"""What must hold of a group's members, and what its story says of their rebalances."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.client.group_consumer.core import ConsumerState

MEMBERS_CHANGED = (
    "kafka.group.member_joined",
    "kafka.group.member_left",
    "kafka.group.member_expired",
    "kafka.group.member_removed",
    "kafka.consumer.poll_timeout",
    "kafka.consumer.failed",
    "kafka.group.coordinator_loaded",
)


def rebalances(told: list[Any], since_us: int) -> int:
    """Generations, or group epochs, that began after a moment."""
    return sum(
        event.kind in ("kafka.group.generation_started", "kafka.group.epoch_bumped")
        and event.at_us > since_us
        for event in told
    )


def last_change_us(told: list[Any]) -> int:
    """When a member came or went for the last time, the coordinator moved, or its log took no writes. Of
    a member of the consumer protocol that comes only the number of members tells."""
    last_us = members = 0
    for event in told:
        was, members = (
            members,
            event.inputs["members"] if event.kind == "kafka.group.epoch_bumped" else members,
        )
        if event.kind in MEMBERS_CHANGED or members != was or event.rule == "kafka.group.append_failed":
            last_us = event.at_us
    return last_us


def check_owners(states: dict[str, ConsumerState], running: set[str]) -> None:
    """No partition is owned twice in one generation or epoch, whoever is alive or frozen. A static member
    whose place was taken in a stable group, where nothing is rebalanced, hears of it with its next
    request: until then there are two of it."""
    taken: dict[tuple[int, tuple[str, int]], str] = {}
    for name, state in states.items():
        if state.settings.group_protocol == "consumer" and name not in running:
            continue  # a frozen member does not know yet that its epoch is over
        # Of a classic member the one of its assignment: it may know of a later one that its coordinator
        # did not live to write, and another coordinator has given that number again.
        epoch = (
            state.member.generation
            if state.settings.group_protocol == "consumer"
            else state.member.previous_generation
        )
        for partition in state.owned:
            place = state.settings.group_instance_id or name
            other = taken.setdefault((epoch, partition), place)
            assert other == place, f"{partition} in {epoch}: {other} and {place}"
