"""The timers of a group that run now: the coordinator's, by their deadlines, and those of programs that have
not polled for a while.

    session        of a member, from its last sign of life          initial_delay  of a group's first rebalance
    pending        of an id that was given out and not used         join           until which the others must have joined
    rebalance      of a member that must give partitions up         sync           until which everybody must have synced
    poll           max.poll.interval.ms of a program that is at work

Each is {"kind", "member" (key of the view, None for the group's), "until_us", "of_us" (its whole length)}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from broker_core.clock import MILLISECOND_US
from broker_core.events import Json
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.group.classic import rebalance as classic_timers
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.states import EMPTY, PREPARING
from broker_core.kafka.group.consumer import sessions as consumer_timers
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.lab.kafka.group import GROUP_ID, consumer_state, coordinating
from broker_core.sim.slot import RUNNING, Slot
from broker_core.sim.world import World

POLL_SHOWN_US = 2_000_000
"""A program that has not polled for this long has a timer in the picture; else there would be one for each
record."""


def timers_view(
    world: World,
    group: ClassicGroup | ConsumerGroup | None,
    keys: Mapping[str, str],
    programs: Iterable[Slot],
    settings: GroupSettings,
) -> Json:
    """By name: the kind, and of a member's own its key."""
    views: Json = {}
    found = coordinating(world)
    if found is not None and group is not None:
        due = deadlines_of(world, found[0])
        for kind, member, name, length_ms in named_timers(group, keys, settings):
            if name in due:
                key = kind if member is None else f"{kind}:{member}"
                views[key] = {
                    "kind": kind,
                    "member": member,
                    "until_us": due[name],
                    "of_us": length_ms * MILLISECOND_US,
                }
    for slot in programs:
        state = consumer_state(slot)
        polled_us = state.loop.polled_us - world.design.ahead_us
        of_us = state.settings.max_poll_interval_ms * MILLISECOND_US
        if (
            slot.condition == RUNNING
            and state.is_working
            and POLL_SHOWN_US <= world.now_us - polled_us < of_us
        ):
            views[f"poll:{slot.name}"] = {
                "kind": "poll",
                "member": slot.name,
                "until_us": polled_us + of_us,
                "of_us": of_us,
            }
    return views


def deadlines_of(world: World, broker: Slot) -> dict[str, int]:
    """Name of a timer of the group's coordinator -> when it is due."""
    number = coordinator_partition(
        GROUP_ID, sum(topic == OFFSETS_TOPIC for topic, _ in broker.node.state.registrations)
    )
    prefix = f"group:{number}:"
    return {
        name.removeprefix(prefix): at_us
        for at_us, made, target, name in world.heap
        if target is broker and name.startswith(prefix) and broker.deadlines.get(name, (0, None))[0] == made
    }


def named_timers(
    group: ClassicGroup | ConsumerGroup, keys: Mapping[str, str], settings: GroupSettings
) -> Iterable[tuple[str, str | None, str, int]]:
    """(kind, key of the member, name at the coordinator, length in ms) of every timer that such a group may
    have."""
    if isinstance(group, ConsumerGroup):
        for member_id, consumer in group.members.items():
            yield (
                "session",
                keys[member_id],
                consumer_timers.session_name(GROUP_ID, member_id),
                settings.consumer_session_timeout_ms,
            )
            yield (
                "rebalance",
                keys[member_id],
                consumer_timers.rebalance_name(GROUP_ID, member_id),
                consumer.rebalance_timeout_ms,
            )
        return
    for member_id, member in group.members.items():
        length_ms = settings.new_member_join_timeout_ms if member.is_new else member.session_timeout_ms
        yield "session", keys[member_id], classic_timers.session_name(GROUP_ID, member_id), length_ms
    for member_id in group.pending_joins:
        # Its length is what the program asked for, which is kept with the timer alone.
        yield (
            "pending",
            member_id,
            classic_timers.session_name(GROUP_ID, member_id),
            settings.consumer_session_timeout_ms,
        )
    is_initial = group.state == PREPARING and group.previous_state == EMPTY
    length_ms = group.initial_delay_ms if is_initial else group.rebalance_timeout_ms()
    yield "initial_delay" if is_initial else "join", None, classic_timers.join_name(GROUP_ID), length_ms
    yield "sync", None, classic_timers.sync_name(GROUP_ID), group.rebalance_timeout_ms()
