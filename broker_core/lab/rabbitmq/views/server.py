"""The RabbitMQ page's view of its lane: each virtual host as a graph (`topology.py`), users with their permissions,
connections, and what each queue held over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from broker_core.events import Json
from broker_core.lab.rabbitmq.crew import connection_of, crews_of
from broker_core.lab.rabbitmq.reading import BROKER, PUBLISHER, Published, RabbitMqReading
from broker_core.lab.rabbitmq.views.growth import growing, is_delay, is_full
from broker_core.lab.rabbitmq.views.topology import (
    BindingEdge,
    ConsumerNode,
    DeadLetterEdge,
    ExchangeNode,
    PublishEdge,
    PublisherNode,
    QueueNode,
    ReturnEdge,
    TopologyView,
    binding_id,
)
from broker_core.lab.shared.history import by_second
from broker_core.rabbitmq.arguments import REJECT_PUBLISH_DLX
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client.publisher import Publishing
from broker_core.rabbitmq.client.worker import WorkerState
from broker_core.rabbitmq.loading import LOADER
from broker_core.rabbitmq.queues.classic import EXPIRED, MAXLEN, REJECTED, ClassicQueue
from broker_core.rabbitmq.queues.consumers import Consumer
from broker_core.rabbitmq.vhost import Vhost
from broker_core.sim.slot import RUNNING

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def rabbitmq_view(lane: Lane, reads: RabbitMqReading) -> Json:
    state, is_running = reads.seen(), lane.world.condition(BROKER) == RUNNING
    crew_of, real, opened = crews_of(lane, reads), reads.names(), reads.server
    sockets = {} if opened is None else {each.connection: number for number, each in opened.sockets.items()}
    return {
        "is_running": is_running,
        "has_topology": reads.topology is not None,
        "alarms": list(state.alarms),
        "vhosts": {
            name: topology_of(lane, reads, state, vhost, crew_of).to_json() for name, vhost in state.vhosts.items()
        },
        "users": {
            user.name: {
                "tags": list(user.tags),
                "hashed": list(user.hashed()),
                "permissions": msgspec.to_builtins(user.permissions),
                "topic_permissions": msgspec.to_builtins(user.topic_permissions),
            }
            for user in state.users.values()
            if user.name != LOADER
        },
        "connections": {
            str(number): {
                "name": real.get(number) or known.name, "user": known.user, "vhost": known.vhost, "state": known.state,
                "is_blocked": known.is_blocked, "channels": len(known.channels), "unacked": known.unacked_count(),
                "is_real": number in real, **({"socket": sockets[number]} if number in sockets else {}),
            }
            for number, known in state.connections.items()
        },
        "faults": [] if opened is None else [opened.faults.plain(row) for row in opened.faults.rows.values() if not row.is_over],
        "kept": {section: list(rows.values()) for section, rows in state.kept.items()},
        "refused": refused_programs(lane, reads),
        "cancelled": cancelled_programs(lane),
        "trace": state.trace.view(lane.now_us + lane.world.design.ahead_us, lane.world.design.ahead_us),
        "paths": reads.notes.paths.view(lane.messages.by_hand),
        "flows": reads.notes.counts.view(),
        "history": by_second(reads.notes.depths),
    }  # fmt: skip


def refused_programs(lane: Lane, reads: RabbitMqReading) -> dict[str, str]:
    """Publishers and consumers that have ended or go on without what the server refused them -> its code and text."""
    slot = lane.world.slots.get(PUBLISHER)
    roles: list[Publishing] = [] if slot is None else slot.node.state.roles
    found: dict[str, str] = {each.role.name: _said(each) for each in roles if each.refused}
    for consumer in lane.consumers.values():
        slot = lane.world.slots.get(consumer.incarnation)
        if slot is not None and slot.node.state.refused:
            found[consumer.name] = _said(slot.node.state)
    return found


def cancelled_programs(lane: Lane) -> list[str]:
    """Consumers whose queue was deleted: the server has cancelled them, and their channel is open."""
    slots = {name: lane.world.slots.get(each.incarnation) for name, each in lane.consumers.items()}
    return [name for name, slot in slots.items() if slot is not None and slot.node.state.is_cancelled]


def _said(program: Publishing | WorkerState) -> str:
    return f"{program.refused} {program.refused_text}"


def topology_of(
    lane: Lane,
    reads: RabbitMqReading,
    state: BrokerState,
    vhost: Vhost,
    crew_of: Callable[[ClassicQueue], str],
) -> TopologyView:
    """One virtual host of what is seen of the broker."""
    real, edges = reads.names(), list(edges_of(reads.publishing(vhost.name)))
    return TopologyView(
        vhost.name,
        list(state.vhosts),
        vhost.changes,
        publishers={
            str(each.connection): PublisherNode(
                each.name,
                each.user,
                sum(other.published for _, other in edges if other.connection == each.connection),
                state.connections[each.connection].is_blocked,
                each.nacked,
                each.is_real,
            )
            for _, each in edges
        },
        exchanges={
            exchange.name: ExchangeNode(
                exchange.name,
                exchange.type_,
                exchange.is_durable,
                exchange.is_auto_delete,
                exchange.is_internal,
                exchange.alternate or "",
                exchange.published,
                exchange.unroutable,
                reads.notes.counts.dropped(vhost.name, exchange.name),
                exchange.arguments,
            )
            for exchange in vhost.exchanges.values()
        },
        queues={name: _queue(lane, reads, queue, crew_of) for name, queue in vhost.queues.items()},
        consumers={
            consumer.key: _consumer(reads, queue, consumer, real)
            for queue in vhost.queues.values()
            for consumer in queue.consumers.by_key.values()
        },
        publishes={
            edge: PublishEdge(str(each.connection), each.exchange, each.published) for edge, each in edges
        },
        bindings={
            binding_id(source, *binding.destination, binding.routing_key, binding.arguments): BindingEdge(
                source,
                *binding.destination,
                binding.routing_key,
                binding.arguments,
                vhost.routed(source, binding),
                *vhost.exchanges[source].bindings.buckets(binding),
            )
            for source, binding in vhost.bindings()
        },
        dead_letters={
            name: DeadLetterEdge(
                name,
                queue.settings.dead_letter_exchange,
                queue.settings.dead_letter_key or "",
                _dead_letters(queue),
            )
            for name, queue in vhost.queues.items()
            if queue.settings.dead_letter_exchange is not None
        },
        returns={
            edge: ReturnEdge(each.exchange, str(each.connection), each.returned_key, each.returned)
            for edge, each in edges
            if each.returned
        },
    )


def edges_of(publishing: Iterable[Published]) -> Iterator[tuple[str, Published]]:
    """The lines from publishers to exchanges, by an id each: of the first of a connection its number."""
    seen: set[int] = set()
    for each in publishing:
        number = each.connection
        yield (f"{number} {each.exchange}" if number in seen else str(number)), each
        seen.add(number)


def _dead_letters(queue: ClassicQueue) -> dict[str, int]:
    """Why they died -> how many. What such a queue refuses is one, too, if its overflow rule says so."""
    reasons = {
        reason: count
        for reason, count in queue.state.dropped.items()
        if reason in (EXPIRED, MAXLEN, REJECTED)
    }
    if queue.settings.overflow == REJECT_PUBLISH_DLX and queue.state.refused:
        reasons[MAXLEN] = reasons.get(MAXLEN, 0) + queue.state.refused
    return reasons


def _queue(
    lane: Lane, reads: RabbitMqReading, queue: ClassicQueue, crew_of: Callable[[ClassicQueue], str]
) -> QueueNode:
    state, unacked = queue.state, queue.unacked_count
    why, by = growing(lane, reads, queue, crew_of)
    return QueueNode(
        state.name,
        state.is_durable,
        bool(state.owner),
        state.is_auto_delete,
        state.arguments,
        queue.ready,
        unacked,
        state.published,
        state.acked + unacked,
        state.acked,
        queue.settings.dead_letter_exchange,
        why,
        by,
        queue.waiting,
        is_delay(queue),
        state.refused,
        state.nacked,
        lane.world.condition(BROKER) == RUNNING and is_full(reads, queue),
        lane.world.condition(BROKER) == RUNNING and reads.notes.has_changed(queue, crew_of(queue)),
    )


def _consumer(
    reads: RabbitMqReading, queue: ClassicQueue, consumer: Consumer, real: Mapping[int, str]
) -> ConsumerNode:
    connection = connection_of(consumer)
    return ConsumerNode(
        real.get(connection) or reads.broker().connections[connection].name,
        consumer.tag,
        queue.name,
        consumer.prefetch,
        len(consumer.unacked),
        not consumer.needs_ack,
        consumer.priority,
        not queue.settings.is_single_active or queue.consumers.active == consumer.key,
        connection in reads.dead(),
        connection in real,
    )


def where_is(reads: RabbitMqReading, record: int) -> list[Json]:
    """Every copy of a message that the server holds: in which queue, ready or with which channel, how it died
    before."""
    found: list[Json] = []
    for queue in reads.queues().values():
        holders = {position: each for each in queue.consumers.by_key.values() for position in each.unacked}
        for position, message in queue.bodies.items():
            if reads.record(message) == record:
                stored = reads.broker().messages.at.get(message)
                headers = {} if stored is None else stored.content.properties.headers or {}
                holder = holders.get(position)
                found.append(
                    {
                        "vhost": queue.state.vhost, "queue": queue.name, "position": position,
                        "consumer": None if holder is None else holder.key,
                        "exchange": "" if stored is None else stored.exchange,
                        "routing_key": queue.name if stored is None else stored.routing_keys[0],
                        "deaths": headers.get("x-death", []),
                    }
                )  # fmt: skip
    return found
