"""What a person does to a TubeMQ lane's clients and to its cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from broker_core.events import Cause, Json
from broker_core.lab.tubemq.launching import launch, replace, sweep
from broker_core.lab.tubemq.nodes import GROUP, OPERATOR, PRODUCER
from broker_core.lab.tubemq.operator import ConsumeFromMax
from broker_core.lab.tubemq.reading import TubeMqReading, is_alive
from broker_core.lab.tubemq.sharing import deal, is_dealt, reads_of, share
from broker_core.sim.slot import CRASHED, Slot
from broker_core.tubemq import requests as r
from broker_core.tubemq import restart as restarting
from broker_core.tubemq.broker import Partition
from broker_core.tubemq.client.producer import AddPartitions, Connect
from broker_core.tubemq.master import MasterState, PeerLost, StepDown, TakeOver
from broker_core.tubemq.partition_key import PartitionKey, broker_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


# -- clients -------------------------------------------------------------------------------------------------


def restart(lane: Lane, name: str, source_count: int | None, node_id: int | None, cause: Cause) -> None:
    """One client's process ends, and its next one starts with these; None: as before."""
    reads = reads_of(lane)
    consumer = lane.consumers[name]
    if not is_alive(consumer):
        return
    sweep(lane)
    if name not in reads.notes.plan:
        reads.notes.plan = [*reads.notes.plan, name]
    count, node = reads.notes.started_with(name)
    # From here on every one has what it was started with, whatever the plan's length says.
    reads.notes.starts = {each: reads.notes.started_with(each) for each in reads.notes.plan}
    count, node = count if source_count is None else source_count, node if node_id is None else node_id
    reads.notes.starts[name] = (count, node)
    reads.forget()
    said = lane.emit(
        "tubemq.client.restarting", cause, None, {"source_count": count},
        {"consumer": name, "source_count": count, "node_id": node},
    )  # fmt: skip
    replace(lane, reads, consumer, said)
    launch(lane, reads, consumer, said)


def assign(lane: Lane, name: str, partitions: list[str] | None, bootstrap: Json, cause: Cause) -> None:
    """One client takes these partitions from now on, None: those of the lane's rule again."""
    reads = reads_of(lane)
    notes = reads.notes
    if name not in notes.plan:
        return
    if partitions is None:
        notes.by_hand.pop(name, None)
    else:
        notes.by_hand[name] = list(partitions)
    reads.forget()
    count = -1 if partitions is None else len(partitions)
    said = lane.emit("tubemq.client.given", cause, None, {}, {"consumer": name, "partitions": count})
    if is_dealt(lane):
        if partitions is None:
            notes.shares[name] = []  # so that it hears of what is dealt, whatever that is
        deal(lane, said)
    if partitions is not None or not is_dealt(lane):
        share(lane, name, partitions, said, bootstrap)


def order_client(lane: Lane, name: str, order: Any, kind: str, data: Json, cause: Cause) -> None:
    """Something that only this client's program does."""
    consumer = lane.consumers[name]
    if is_alive(consumer):
        said = lane.emit(f"tubemq.client.{kind}", cause, None, {}, {"consumer": name, **data})
        lane.world.order(consumer.incarnation, order, said)


# -- brokers -------------------------------------------------------------------------------------------------


def masters_of(lane: Lane, reads: TubeMqReading) -> list[MasterState]:
    return [*reads.master_states().values()]


def go_offline(lane: Lane, broker: int, cause: Cause) -> None:
    """The broker's process dies. The masters see that; what was on its way to it the producer sends to others."""
    reads = reads_of(lane)
    name = reads.brokers[broker]
    if lane.world.condition(name) == CRASHED:
        return
    for master in masters_of(lane, reads):
        master.brokers[broker].is_online = False
    keys = [key for key in reads.partition_keys if broker_of(key) == broker]
    said = lane.emit("tubemq.broker.offline", cause, None, {}, {"broker": broker, "partitions": len(keys)})
    producer = lane.world.slots[PRODUCER]
    lost = unsent(lane, producer, broker)
    restarting.crash(lane.world, name, said)
    reads.notes.down = sorted({*reads.notes.down, broker})
    reads.notes.stop_all(keys, lane.now_us)
    reads.forget()
    publish_at(lane, reads, said)
    send_again(lane, producer, lost)


def unsent(lane: Lane, producer: Slot, broker: int) -> list[r.SendMessageRequestP2B]:
    """Messages on their way to a broker."""
    link = producer.links.get(producer.node.state.connections.get(broker, -1))
    under_way = [] if link is None else lane.world.under_way(link)
    return [message for message, _ in under_way if isinstance(message, r.SendMessageRequestP2B)]


def send_again(lane: Lane, producer: Slot, lost: list[r.SendMessageRequestP2B]) -> None:
    """The producer has no answer to these, and sends them where it may publish now."""
    if not producer.node.state.connections:
        return
    codes = lane.messages.codes_of([message.message for message in lost])
    for message, code in zip(lost, codes, strict=True):
        producer.node.state.sent[message.partition] -= 1
        producer.send(*producer.node.send(message.message, code, message.size))  # type: ignore[attr-defined]


def publish_at(lane: Lane, reads: TubeMqReading, cause: Cause) -> None:
    """The producer hears at which brokers it may publish."""
    up = {broker_id: name for broker_id, name in reads.brokers.items() if broker_id not in reads.notes.down}
    lane.world.order(PRODUCER, Connect(up), cause)


def come_back(lane: Lane, broker: int, cause: Cause) -> None:
    """The broker's process starts with what its disk has."""
    reads = reads_of(lane)
    name = reads.brokers[broker]
    if lane.world.condition(name) != CRASHED:
        return
    restarting.come_back(lane.world, name)
    for master in masters_of(lane, reads):
        master.brokers[broker].is_online = True
    reads.notes.down = [other for other in reads.notes.down if other != broker]
    reads.forget()
    said = lane.emit("tubemq.broker.online", cause, None, {}, {"broker": broker})
    publish_at(lane, reads, said)


def accept(lane: Lane, broker: int, accepts: bool, cause: Cause) -> None:
    """Whether this broker accepts subscriptions of the topic."""
    reads = reads_of(lane)
    for master in masters_of(lane, reads):
        master.brokers[broker].topics[reads.topic].accepts_subscribe = accepts
    verb = "accepts" if accepts else "accepts_not"
    lane.emit(f"tubemq.broker.{verb}", cause, None, {}, {"broker": broker})


def black_list(lane: Lane, is_listed: bool, cause: Cause) -> None:
    """Whether the group may not subscribe the topic."""
    reads = reads_of(lane)
    for master in masters_of(lane, reads):
        master.black_lists[GROUP] = [reads.topic] if is_listed else []
    verb = "black_listed" if is_listed else "allowed"
    lane.emit(f"tubemq.topic.{verb}", cause, None, {}, {"topic": reads.topic})


def expand(lane: Lane, broker: int, count: int, cause: Cause) -> None:
    """The topic has so many partitions on this broker from now on."""
    reads = reads_of(lane)
    now = sum(broker_of(key) == broker for key in reads.partition_keys)
    keys = [str(PartitionKey(broker, reads.topic, number)) for number in range(now, count)]
    if not keys or lane.world.condition(reads.brokers[broker]) == CRASHED:
        return
    for master in masters_of(lane, reads):
        master.brokers[broker].topics[reads.topic].partitions_per_store = count
    state = lane.world.slots[reads.brokers[broker]].node.state
    state.partitions |= {key: Partition() for key in keys}
    reads.notes.added = [*reads.notes.added, *keys]
    reads.forget()
    said = lane.emit("tubemq.topic.expanded", cause, None, {}, {"broker": broker, "partitions": count})
    lane.world.order(PRODUCER, AddPartitions(keys), said)
    if is_dealt(lane):
        deal(lane, said)


# -- masters and the rule ------------------------------------------------------------------------------------


def fail_over(lane: Lane, cause: Cause) -> None:
    """The active master steps down, and the standby takes over: it knows the configuration and no client."""
    reads = reads_of(lane)
    active, _ = reads.master()
    standby = next((name for name in reads.masters if name != active and reads.is_up(name)), None)
    if standby is None or not reads.is_up(active):
        return
    said = lane.emit("tubemq.master.failing_over", cause, None, {}, {"master": standby.partition(":")[2]})
    lane.world.order(active, StepDown(), said)
    lane.world.order(standby, TakeOver(), said)


def master_goes_offline(lane: Lane, number: int, cause: Cause) -> None:
    """A master's process dies. If it was the active one a standby that is up misses it, and is elected."""
    reads = reads_of(lane)
    name = reads.masters[number - 1]
    if not reads.is_up(name):
        return
    was_active = reads.is_active(name)
    said = lane.emit("tubemq.master.offline", cause, None, {}, {"master": name.partition(":")[2]})
    restarting.crash(lane.world, name, said)
    standby = next((other for other in reads.masters if reads.is_up(other)), None)
    if was_active and standby is not None:
        lane.world.order(standby, PeerLost(), said)


def master_comes_back(lane: Lane, number: int, cause: Cause) -> None:
    """It starts as a standby; if no other one is up it is elected."""
    reads = reads_of(lane)
    name = reads.masters[number - 1]
    if reads.is_up(name):
        return
    is_alone = not any(reads.is_up(other) for other in reads.masters)
    restarting.master_comes_back(lane.world, name)
    said = lane.emit("tubemq.master.online", cause, None, {}, {"master": name.partition(":")[2]})
    if is_alone:
        lane.world.order(name, PeerLost(), said)


def consume_from_max(lane: Lane, cause: Cause) -> None:
    """The operator has the active master tell every client to begin at the end of what it has."""
    reads = reads_of(lane)
    master, _ = reads.master()
    if reads.by_master or not reads.is_active(master):
        return
    said = lane.emit(
        "tubemq.group.from_max", cause, "tubemq.master.from_max", {}, {"clients": len(reads.members())}
    )
    lane.world.order(OPERATOR, ConsumeFromMax(GROUP, master), said)
