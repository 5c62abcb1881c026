"""What a person may do to a cluster, as functions on its world. Each one checks first: a CommandError at a
field leaves all as it was.

    stop           SIGTERM: leaderships move first, logs are flushed           come_back
    crash          kill -9: its connections break, the page cache survives     come_back
    cut_power      the machine goes silent, what was not flushed is lost       come_back
    lose_disk      the only log directory fails: the broker halts              come_back, with an empty disk
    pause, resume  SIGSTOP: a long garbage collection, a frozen machine
    slow_disk, skew_clock
    cut_link (both ways, or one), heal_link, slow_link        between any two nodes, whatever connections run over it
    create_topic, create_partitions, elect_leaders, reassign  an operator's tool; what the controller refuses
    is reported, not raised

Source: Kafka 3.9 for what each does to a broker; docs/kafka/cluster.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster.cluster import TopicPlan, check_topic
from broker_core.kafka.cluster.control_requests import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    ElectLeadersRequest,
    ToolRequest,
)
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.log_directory import logs_found
from broker_core.kafka.cluster.names import CONTROLLER, TOOL, broker_node
from broker_core.kafka.cluster.state import DOWN, SHUTTING_DOWN, BrokerDisk, BrokerState
from broker_core.kafka.cluster.tool import Order
from broker_core.kafka.controller.cluster_metadata import Topic
from broker_core.sim.routes import cut_route, heal_route, slow_route
from broker_core.sim.slot import CRASHED, PAUSED, RUNNING, Slot
from broker_core.sim.world import World

DELAY_US_MAX = 60_000_000
SKEW_MS_MAX = 24 * 60 * 60 * 1_000

# --- brokers


def stop(world: World, broker: int, cause: Cause | None = None) -> None:
    """Stop a broker in order. It goes when it leads nothing any more; `is_down` says when."""
    slot = _running(world, broker)
    if _state(slot).stage == SHUTTING_DOWN:
        raise CommandError("broker", "broker {broker} is shutting down already", broker=broker)
    world.order(slot.name, lifecycle.Stop(), cause)


def crash(world: World, broker: int, cause: Cause | None = None) -> None:
    """Kill a broker's process: its connections break at once, and its disk has all that it has written."""
    slot = _up(world, broker)
    _kill(world, slot, cause, breaks_connections=True)


def cut_power(world: World, broker: int, cause: Cause | None = None) -> None:
    """The machine goes silent, and loses what was not flushed; by default a broker flushes only at a clean
    stop."""
    slot = _up(world, broker)
    _kill(world, slot, cause, breaks_connections=False)
    for log in _state(slot).disk.logs.values():
        log.truncate_to(max(log.recovery_point, log.log_start_offset), world.node_us // 1_000)


def lose_disk(world: World, broker: int, cause: Cause | None = None) -> None:
    """Its log directory fails, and everything on it is lost: a broker without one halts."""
    slot = _known(world, broker)
    if slot.disk.is_lost:
        raise CommandError("broker", "the disk of broker {broker} is lost already", broker=broker)
    if slot.condition in (RUNNING, PAUSED) and _state(slot).stage != DOWN:
        _kill(world, slot, cause, breaks_connections=True)
    slot.disk.lose()
    _state(slot).disk = BrokerDisk()
    _state(slot).rejoin()


def pause(world: World, broker: int, cause: Cause | None = None) -> None:
    """Stop its process for a while: it neither hears nor says anything, and its connections stay."""
    world.pause(_running(world, broker).name, cause)


def resume(world: World, broker: int) -> None:
    slot = _known(world, broker)
    if slot.condition != PAUSED:
        raise CommandError("broker", "broker {broker} is not paused", broker=broker)
    world.resume(slot.name)


def come_back(world: World, broker: int, cause: Cause | None = None) -> None:
    """Start a broker that has stopped, crashed or lost its disk. The controller takes it when it no longer
    counts the former process as alive."""
    slot = _known(world, broker)
    state = _state(slot)
    if slot.condition == PAUSED:
        raise CommandError("broker", "broker {broker} is paused", broker=broker)
    if slot.condition != CRASHED and state.stage != DOWN:
        raise CommandError("broker", "broker {broker} is running", broker=broker)
    disk = slot.disk
    if slot.condition == CRASHED:
        world.forget(slot.name)
    else:
        world.exit(slot.name, cause)
    if disk.is_lost:
        disk.replace()
    logs_found(state.disk, state.now_ms(world.node_us))
    world.start(
        slot.name, "broker", BrokerState(broker, state.settings, state.rack, state.disk, state.skew_ms)
    )
    disk.free_us = world.node_us
    world.slots[slot.name].disk = disk
    world.order(slot.name, lifecycle.Start(), cause)


def slow_disk(world: World, broker: int, write_us: int) -> None:
    """From now on a write takes this long, one after another; 0: at once, as by default."""
    slot = _known(world, broker)
    if not 0 <= write_us <= DELAY_US_MAX:
        raise CommandError("write_us", "must be 0 to {high}", high=DELAY_US_MAX)
    slot.disk.write_us = write_us


def skew_clock(world: World, broker: int, skew_ms: int) -> None:
    """From now on its clock is so far ahead of the others'."""
    slot = _known(world, broker)
    if abs(skew_ms) > SKEW_MS_MAX:
        raise CommandError("skew_ms", "must be at most {high} either way", high=SKEW_MS_MAX)
    _state(slot).skew_ms = skew_ms


def is_down(world: World, broker: int) -> bool:
    """Whether there is no process: it has stopped, or crashed."""
    slot = _known(world, broker)
    return slot.condition == CRASHED or _state(slot).stage == DOWN


# --- links. An end is a broker's number, or the name of a node: the controller, a client.


def cut_link(
    world: World, one: int | str, other: int | str, *, one_way: bool = False, cause: Cause | None = None
) -> None:
    """Cut what `one` sends to `other`, and the way back unless `one_way`."""
    ways = _ways(world, one, other, one_way)
    if all(_is_cut(world, way) for way in ways):
        raise CommandError("link", "the link is cut already")
    for way in ways:
        if not _is_cut(world, way):
            cut_route(world, *way, cause)


def heal_link(world: World, one: int | str, other: int | str) -> None:
    ways = [way for way in _ways(world, one, other, False) if _is_cut(world, way)]
    if not ways:
        raise CommandError("link", "the link is not cut")
    for way in ways:
        heal_route(world, *way)


def slow_link(world: World, one: int | str, other: int | str, delay_us: int | None) -> None:
    """A message takes this long, each way; None: as it was."""
    if delay_us is not None and not 0 <= delay_us <= DELAY_US_MAX:
        raise CommandError("delay_us", "must be 0 to {high}", high=DELAY_US_MAX)
    for way in _ways(world, one, other, False):
        slow_route(world, *way, delay_us)


# --- an operator's tool


def create_topic(world: World, topic: TopicPlan, cause: Cause | None = None) -> None:
    check_topic(topic, len(_brokers(world)))
    if topic.name in _rules_topics(world):
        raise CommandError("topic", "there is a topic {name} already", name=topic.name)
    order_tool(world, topic.request(), cause)


def create_partitions(world: World, topic: str, count: int, cause: Cause | None = None) -> None:
    """count: how many there are to be in all."""
    known = _topic(world, topic)
    if count <= len(known.partitions):
        raise CommandError(
            "count", "must be more than the {now} partitions that there are", now=len(known.partitions)
        )
    order_tool(world, CreatePartitionsRequest(topic, count), cause)


def elect_leaders(
    world: World,
    partitions: Sequence[tuple[str, int]] | None = None,
    *,
    unclean: bool = False,
    cause: Cause | None = None,
) -> None:
    """Preferred leaders, or unclean ones where nobody leads; None: for all partitions."""
    for topic, number in partitions or ():
        _partition(world, topic, number)
    order_tool(world, elect_request(partitions, unclean=unclean), cause)


def elect_request(partitions: Sequence[tuple[str, int]] | None, *, unclean: bool) -> ElectLeadersRequest:
    return ElectLeadersRequest(int(unclean), None if partitions is None else list(partitions))


def reassign(
    world: World, topic: str, partition: int, replicas: Sequence[int] | None, cause: Cause | None = None
) -> None:
    """Move a partition to other brokers, the preferred leader first; None: take a move back."""
    _partition(world, topic, partition)
    if replicas is not None:
        if not replicas:
            raise CommandError("replicas", "must name a broker")
        for broker in replicas:
            if broker not in _brokers(world):
                raise CommandError("replicas", "there is no broker {broker}", broker=broker)
        if len(set(replicas)) < len(replicas):
            raise CommandError("replicas", "names a broker twice")
    order_tool(world, reassign_request(topic, partition, replicas), cause)


def reassign_request(
    topic: str, partition: int, replicas: Sequence[int] | None
) -> AlterPartitionReassignmentsRequest:
    return AlterPartitionReassignmentsRequest(topic, partition, None if replicas is None else list(replicas))


def order_tool(world: World, request: ToolRequest, cause: Cause | None = None) -> None:
    """The tool sends this to the controller."""
    world.order(TOOL, Order(request), cause)


# --- inside


def _kill(world: World, slot: Slot, cause: Cause | None, *, breaks_connections: bool) -> None:
    if slot.condition == PAUSED:
        world.resume(slot.name)
    if breaks_connections:
        world.kill(slot.name, cause)
    else:
        world.crash(slot.name, cause)


def _brokers(world: World) -> list[int]:
    return [slot.node.state.broker_id for slot in world.slots.values() if slot.kind == "broker"]


def _known(world: World, broker: int) -> Slot:
    slot = world.slots.get(broker_node(broker))
    if slot is None or slot.kind != "broker":
        raise CommandError("broker", "there is no broker {broker}", broker=broker)
    return slot


def _up(world: World, broker: int) -> Slot:
    slot = _known(world, broker)
    if is_down(world, broker):
        raise CommandError("broker", "broker {broker} is down", broker=broker)
    return slot


def _running(world: World, broker: int) -> Slot:
    slot = _up(world, broker)
    if slot.condition != RUNNING:
        raise CommandError("broker", "broker {broker} is paused", broker=broker)
    return slot


def _state(slot: Slot) -> BrokerState:
    state: BrokerState = slot.node.state
    return state


def _ways(world: World, one: int | str, other: int | str, one_way: bool) -> list[tuple[str, str]]:
    names = [_known(world, end).name if isinstance(end, int) else end for end in (one, other)]
    for name in names:
        if name not in world.slots:
            raise CommandError("link", "there is no {name}", name=name)
    if names[0] == names[1]:
        raise CommandError("link", "must have two ends")
    ways = [(names[0], names[1]), (names[1], names[0])]
    return ways[:1] if one_way else ways


def _is_cut(world: World, way: tuple[str, str]) -> bool:
    route = world.routes.get(way)
    return route is not None and route.is_cut


def _rules_topics(world: World) -> dict[str, Topic]:
    state: ControllerState = world.slots[CONTROLLER].node.state
    return state.rules.topics


def _topic(world: World, name: str) -> Topic:
    topics = _rules_topics(world)
    if name not in topics:
        raise CommandError("topic", "there is no topic {name}", name=name)
    return topics[name]


def _partition(world: World, topic: str, number: int) -> None:
    if not 0 <= number < len(_topic(world, topic).partitions):
        raise CommandError(
            "partition", "there is no partition {number} of {topic}", number=number, topic=topic
        )
