"""A person's verbs on a member of the group on a Kafka cluster, and what is reported of each: which timer
runs from now on, and until when.

freeze   the coordinator hears nothing: session.timeout.ms after the last sign of life it removes the member, which does not know
stick    the coordinator hears heartbeats: max.poll.interval.ms after the last poll() the client itself takes the member out of the group
thaw     it goes on as if nothing had been; if the group has given it up meanwhile it is a zombie, and its commit is refused
"""

from __future__ import annotations

from typing import cast

from broker_core.clock import SECOND_US
from broker_core.events import Cause, Json
from broker_core.kafka.assignors.custom import CUSTOM
from broker_core.kafka.client.group_consumer.orders import Stick, Subscribe
from broker_core.kafka.client.group_consumer.settings import CLASSIC
from broker_core.lab.consumer import CRASHED, FROZEN, GONE, LIVE, STUCK, Consumer
from broker_core.lab.kafka.group import consumer_state, owned, session_ends_us
from broker_core.lab.kafka.lane import AHEAD_US, KafkaClusterRules
from broker_core.lab.kafka.settings import OF_A_RESTART
from broker_core.lab.shared.lane import Lane
from broker_core.sim.program import Leave

DEPLOY_US = 2 * SECOND_US
"""Between a program's close and its next process, when all are given another assignor."""


def has_group(lane: Lane) -> bool:
    """Whether the lane's consumers are a group on a cluster."""
    return isinstance(lane.rules, KafkaClusterRules)


def freeze(lane: Lane, name: str, position: int) -> None:
    """Its process is frozen, as in a long garbage collection."""
    rules = _rules(lane)

    def do(consumer: Consumer, cause: Cause) -> None:
        rules.forget_caches()
        slot = lane.world.slots[consumer.incarnation]
        state = consumer_state(slot)
        taken = owned(state, rules.reads.topic)
        lane.world.pause(slot.name, cause)
        consumer.state, consumer.held_by, consumer.deadline_from_us = FROZEN, position, lane.now_us
        rules.forget_caches()
        consumer.deadline_us = session_ends_us(lane.world, rules.reads.look(), slot)
        told = lane.emit(
            "kafka.member.frozen",
            cause,
            "kafka.group.session_timeout",
            {"session_timeout_us": rules.session_timeout_us(state)},
            {"consumer": name, "partitions": len(taken), "deadline_us": consumer.deadline_us},
        )
        rules.narrator.stop_unread(lane, taken, told, "kafka.group.session_timeout")
        lane.say("kafka.frozen", consumer=name, partitions=len(taken), deadline_us=consumer.deadline_us)

    lane.act("group_freeze", name, position, do)


def thaw(lane: Lane, name: str, position: int) -> None:
    """Its process goes on: what it still believes to own it reads, until it hears otherwise."""
    rules = _rules(lane)

    def do(consumer: Consumer, cause: Cause) -> None:
        rules.forget_caches()
        slot = lane.world.slots[consumer.incarnation]
        is_member = rules.reads.look().member_of(slot) is not None
        lane.world.resume(slot.name)
        consumer.state, consumer.deadline_us, consumer.deadline_from_us, consumer.held_by = (
            LIVE,
            None,
            None,
            0,
        )
        rules.forget_caches()
        taken = owned(consumer_state(slot), rules.reads.topic)
        told = lane.emit(
            "kafka.member.thawed",
            cause,
            None,
            {},
            {"consumer": name, "partitions": len(taken), "is_member": is_member},
        )
        readers = rules.reads.notes.readers
        rules.reads.notes.resume(lane, name, [number for number in taken if number not in readers], told)
        lane.say("kafka.thawed" if is_member else "kafka.zombie", consumer=name, partitions=len(taken))

    lane.act("group_thaw", name, position, do)


def stick(lane: Lane, name: str, position: int) -> None:
    """Its program does not come back from its next record."""
    rules = _rules(lane)

    def do(consumer: Consumer, cause: Cause) -> None:
        state = consumer_state(lane.world.slots[consumer.incarnation])
        interval_us = state.settings.max_poll_interval_ms * 1_000
        lane.world.order(consumer.incarnation, Stick(True), cause)
        consumer.state, consumer.held_by, consumer.deadline_from_us = STUCK, position, lane.now_us
        consumer.deadline_us = state.loop.polled_us - AHEAD_US + interval_us if state.is_working else None
        taken = owned(state, rules.reads.topic)
        lane.emit(
            "kafka.member.stuck",
            cause,
            "kafka.consumer.max_poll_interval",
            {"max_poll_interval_us": interval_us},
            {"consumer": name, "partitions": len(taken)},
        )
        lane.say("kafka.stuck", consumer=name, partitions=len(taken))

    lane.act("group_stick", name, position, do)


def unstick(lane: Lane, name: str, position: int) -> None:
    """Its program comes back from its record, and polls."""

    def do(consumer: Consumer, cause: Cause) -> None:
        consumer.state, consumer.deadline_us, consumer.deadline_from_us, consumer.held_by = (
            LIVE,
            None,
            None,
            0,
        )
        told = lane.emit("kafka.member.unstuck", cause, None, {}, {"consumer": name})
        lane.world.order(consumer.incarnation, Stick(False), told)
        lane.say("kafka.unstuck", consumer=name)

    lane.act("group_unstick", name, position, do)


def restart(lane: Lane, name: str, position: int, down_us: int, set_to: Json) -> None:
    """Close it and start a new process, which comes up `down_us` later. set_to: what its settings are from
    then on, where they change."""
    rules = _rules(lane)

    def do(consumer: Consumer, cause: Cause) -> None:
        slot = lane.world.slots[consumer.incarnation]
        taken = owned(consumer_state(slot), rules.reads.topic)
        instance = consumer_state(slot).settings.group_instance_id
        consumer.set_to = {**consumer.set_to, **set_to}
        told = lane.emit(
            "kafka.member.restarting",
            cause,
            None,
            {},
            {"consumer": name, "down_us": down_us, "instance": instance},
        )
        lane.traffic.let_go(consumer.incarnation, lane.now_us)
        lane.world.order(consumer.incarnation, Leave(), told)
        rules.forget_caches()
        rules.narrator.stop_unread(lane, taken, told, "kafka.consumer.closed")
        consumer.state, consumer.deadline_us, consumer.deadline_from_us, consumer.held_by = (
            LIVE,
            None,
            None,
            0,
        )
        consumer.acked = {}
        consumer.incarnation, consumer.joined_us = lane.new_incarnation(name), lane.now_us
        lane.traffic.by_node[consumer.incarnation] = consumer
        rules.start(lane, consumer, told, down_us)
        lane.say(
            "kafka.restarting" if instance is None else "kafka.restarting_static",
            consumer=name,
            partitions=len(taken),
            down_us=down_us,
        )

    lane.act("group_restart", name, position, do)


def deploy_assignor(lane: Lane, position: int, source: str | None) -> None:
    """All programs that are alive restart with this assignor of their own, and whoever joins later has it.
    None: with the lane's rule again."""
    lane.set_to = (
        {}
        if source is None
        else {"assignor_source": source, "assignors": [CUSTOM], "group_protocol": CLASSIC}
    )
    for name, consumer in list(lane.consumers.items()):
        consumer.set_to = {
            setting: value for setting, value in consumer.set_to.items() if setting not in OF_A_RESTART
        }
        if consumer.state not in (CRASHED, GONE, FROZEN):
            restart(lane, name, position, DEPLOY_US, {})


def subscribe(lane: Lane, name: str, position: int, topics: list[str] | None, pattern: str | None) -> None:
    """It subscribes again. topics and pattern None: to the lane's own topic."""
    rules = _rules(lane)

    def do(consumer: Consumer, cause: Cause) -> None:
        wanted = [] if pattern is not None else topics or [rules.reads.topic]
        consumer.set_to = {**consumer.set_to, "topics": wanted, "pattern": pattern}
        told = lane.emit(
            "kafka.member.subscribed",
            cause,
            None,
            {},
            {"consumer": name, "topics": pattern if pattern is not None else wanted},
        )
        lane.world.order(consumer.incarnation, Subscribe(wanted, pattern), told)
        lane.say("kafka.subscribed", consumer=name)

    lane.act("group_subscribe", name, position, do)


def _rules(lane: Lane) -> KafkaClusterRules:
    return cast(KafkaClusterRules, lane.rules)
