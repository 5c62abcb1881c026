"""What the nodes' states of a RabbitMQ lane say: who consumes, who holds what, what waits, and the picture of
it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.rabbitmq.history import RabbitMqNotes
from broker_core.lab.shared.in_flight import BUCKETS_KEPT_S
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.client.publisher import Publisher
from broker_core.rabbitmq.connection import SILENT_CHECKS_MAX, Connection
from broker_core.rabbitmq.loading import DEFAULT_VHOST
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.reply_codes import PRECONDITION_FAILED
from broker_core.rabbitmq.restart import on_disk
from broker_core.rabbitmq.vhost import QUEUE
from broker_core.sim.slot import RUNNING
from broker_core.wire.open_server import OpenServer

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


class Published(NamedTuple):
    """What a connection publishes at one exchange. published: messages so far; nacked: that a queue refused; returned: that
    went back, the last one with returned_key. is_real: a real client's, from outside the lab."""

    connection: int
    name: str
    user: str
    exchange: str
    published: int
    returned: int
    returned_key: str = ""
    nacked: int = 0
    is_real: bool = False


HEAD_SHOWN = 12
IN_FLIGHT_SHOWN = 24
BROKER, PUBLISHER = "broker", "publisher"


class RabbitMqReading:
    """queue_name, vhost: the queue of the Stage's picture. prefetch: of each consumer that names none, 0 for no
    limit. topology: None for the work queue. server, is_open: of a lane that real clients come to."""

    lane: Lane
    server: OpenServer | None = None
    is_open = False

    fresh: None = None

    def __init__(self, queue_name: str, prefetch: int, topology: Json | None) -> None:
        self.queue_name, self.vhost, self.prefetch = queue_name, DEFAULT_VHOST, prefetch
        self.topology = topology
        if topology is not None:
            first = topology["consumers"][0]
            self.queue_name, self.vhost = first["queue"], first["vhost"]
        self.notes = RabbitMqNotes()

    def broker(self) -> BrokerState:
        state: BrokerState = self.lane.world.slots[BROKER].node.state
        return state

    def seen(self) -> BrokerState:
        """What a page can see of the broker: of one that is down, what its disk has."""
        slot = self.lane.world.slots[BROKER]
        state: BrokerState = slot.node.state if slot.condition == RUNNING else on_disk(slot)
        return state

    def queue(self) -> ClassicQueue:
        """The one that the Stage draws."""
        vhost = self.broker().vhosts.get(self.vhost)
        found = None if vhost is None else vhost.queues.get(self.queue_name)
        return found or ClassicQueue()

    def queues(self) -> dict[int, ClassicQueue]:
        """All of them, by number."""
        return {
            queue.number: queue for vhost in self.broker().vhosts.values() for queue in vhost.queues.values()
        }

    def record(self, message: int) -> int:
        """The number of the workload's or a person's message that this is, which the broker may hold under an id of
        its own."""
        return self.broker().messages.record(message)

    def routing_key(self, queue: ClassicQueue, position: int) -> str:
        """Of a message that the queue holds."""
        stored = self.broker().messages.at.get(queue.bodies[position])
        return queue.name if stored is None else stored.routing_keys[0]

    def connection_of(self, incarnation: str) -> int:
        slot = self.lane.world.slots.get(incarnation)
        return 0 if slot is None else slot.node.state.connection

    def incarnation_of(self, connection: int) -> str:
        """The node that has this connection, also when the broker has closed its end."""
        workers = [slot for slot in self.lane.world.slots.values() if slot.kind == "worker"]
        return next(slot.name for slot in workers if slot.node.state.connection == connection)

    def program_of(self, connection: int) -> Consumer | None:
        """The consuming program that has this connection; None for a former life's, a publisher's or a person's."""
        programs = self.lane.consumers.values()
        return next((each for each in programs if self.connection_of(each.incarnation) == connection), None)

    def consuming(self) -> list[tuple[Connection, Channel]]:
        """Consumers of the queue at the broker."""
        return [
            (known, channel)
            for known in self.broker().connections.values()
            for channel in known.channels.values()
            if channel.consumers
        ]

    def channels(self) -> dict[str, Channel]:
        """The same, name -> channel, without the former connections of programs that have come back."""
        former = self.former_connections()
        return {
            known.name: channel for known, channel in self.consuming() if channel.connection not in former
        }

    def former_connections(self) -> dict[int, str]:
        """Those of dead lives whose program has come back: the broker takes them for living consumers.
        Connection -> the life's node."""
        names = {
            incarnation: self.lane.world.slots[incarnation].node.state.name
            for incarnation in self.lane.crash_positions
        }
        return {
            self.connection_of(incarnation): incarnation
            for incarnation, name in names.items()
            if self.lane.is_ghost(incarnation, name)
        }

    def former(self) -> Json:
        """What former connections hold, by the program's name: how many messages and the first of them, and
        when the broker gives up the last."""
        found: Json = {}
        queue, lives = self.queue(), self.former_connections()
        for known, channel in self.consuming():
            if channel.connection not in lives or not channel.unacked:
                continue
            of = found.setdefault(known.name, {"unacked": 0, "until_us": 0, "records": []})
            of["unacked"] += len(channel.unacked)
            of["until_us"] = max(of["until_us"], self.given_up_us(lives[channel.connection], known))
            of["records"] += self.in_hand(queue, channel)[: IN_FLIGHT_SHOWN - len(of["records"])]
        return found

    def given_up_us(self, incarnation: str, known: Connection) -> int:
        """When the broker drops the connection of a silent program; what that has sent still arrives."""
        link = self.lane.world.slots[incarnation].links[self.connection_of(incarnation)]
        look_us = (
            known.since_us + ((self.lane.now_us - known.since_us) // m.HEARTBEAT_US + 1) * m.HEARTBEAT_US
        )
        if not link.queue:
            return look_us + (known.looks_left() - 1) * m.HEARTBEAT_US
        return look_us + (SILENT_CHECKS_MAX + (link.last_us >= look_us)) * m.HEARTBEAT_US

    def served(self) -> list[int]:
        """Connections that consume."""
        if self.lane.world.condition(BROKER) != RUNNING:
            return []
        return [
            number
            for number, known in self.broker().connections.items()
            if any(channel.consumers for channel in known.channels.values())
        ]

    def dead(self) -> set[int]:
        """Connections of silent programs that the broker has not noticed."""
        return {self.connection_of(incarnation) for incarnation in self.lane.crash_positions}

    def living(self) -> list[int]:
        """Connections that consume for a program that is alive, also when the broker does not know yet that
        another has left."""
        served = set(self.served())
        return [
            connection
            for incarnation in self.incarnations()
            if (connection := self.connection_of(incarnation)) in served
        ]

    def incarnations(self) -> list[str]:
        """Nodes of the programs that are alive."""
        return [
            consumer.incarnation
            for consumer in self.lane.consumers.values()
            if consumer.state not in (CRASHED, GONE)
        ]

    def would_wait(self, index: int, code: int) -> bool:
        if self.topology is None:
            return not self.incarnations()
        living = {str(connection) for connection in self.living()}
        return not any(
            consumer.channel.partition(".")[0] in living
            for queue in self._reached(index, code)
            for consumer in queue.consumers.by_key.values()
        )

    def _reached(self, index: int, code: int) -> list[ClassicQueue]:
        """Queues that a record of the workload would come to now."""
        publisher = self.lane.world.slots[PUBLISHER].node
        if not isinstance(publisher, Publisher):
            raise InvariantError("the publisher is another program")
        turn, place = divmod(index, len(publisher.roles))
        role = publisher.roles[place].role
        keys, vhost = [publisher.routing_key(role, turn, code)], self.broker().vhosts.get(role.login.vhost)
        if vhost is None:
            return []
        hops = vhost.explain(role.exchange, keys, publisher.properties(role, turn, code))
        return [vhost.queues[hop.name] for hop in hops if hop.kind == QUEUE]

    def weights(self) -> dict[str, int]:
        second = self.lane.now_us // SECOND_US
        return {
            name: consumer.acked_between(second - BUCKETS_KEPT_S, second + 1)
            for name, consumer in self.lane.consumers.items()
        }

    def key_owners(self) -> None:
        return None

    def units(self) -> None:
        return None

    def space(self) -> None:
        return None

    def is_settled(self) -> bool:
        wanted = {
            self.connection_of(incarnation)
            for incarnation in (*self.incarnations(), *self.lane.crash_positions)
            if not self.is_shut_out(incarnation)
        }
        return wanted == set(self.served())

    def is_shut_out(self, incarnation: str) -> bool:
        """Whether the broker has cancelled the program's consumer, or closed its channel, and it has not opened another:
        it is paused, or dead."""
        worker = self.lane.world.slots[incarnation].node.state
        known = self.broker().connections.get(worker.connection)
        return worker.refused != 0 or worker.is_cancelled or (known is not None and bool(known.closing))

    def dark_units(self) -> tuple[int, int]:
        return int(not self.living()), 1

    def stuck(self) -> tuple[int, int]:
        dead = self.dead()
        held = {number: known.unacked_count() for number, known in self.broker().connections.items()}
        return sum(count for number, count in held.items() if number in dead), sum(held.values())

    def waiting_for(self, consumer: Consumer) -> int:
        return self.held(consumer)

    def way_in(self) -> str:
        return "turn"

    def redelivered(self) -> int:
        return self.broker().redelivered

    def held(self, consumer: Consumer) -> int:
        known = self.broker().connections.get(self.connection_of(consumer.incarnation))
        return 0 if known is None else known.unacked_count()

    def is_served(self, consumer: Consumer) -> bool:
        known = self.broker().connections.get(self.connection_of(consumer.incarnation))
        return known is not None and any(channel.consumers for channel in known.channels.values())

    def has_failed(self, consumer: Consumer) -> bool:
        """The broker has refused what it asked for, and its program gave up."""
        slot = self.lane.world.slots.get(consumer.incarnation)
        return slot is not None and slot.node.state.refused not in (0, PRECONDITION_FAILED)

    def stopped(self) -> Mapping[str, int]:
        return {}

    def owned_twice(self) -> tuple[str, ...]:
        return ()

    def lag(self) -> int:
        # What the publisher has sent and the broker has not seen yet is part of it.
        if self.topology is None:
            done: int = self.queue().acked + self.notes.done + self.never_sent()
            lag: int = self.lane.next_record - self.lane.first_record - done
            return max(0, lag)
        return sum(queue.ready + queue.unacked_count for queue in self.queues().values())

    def lost(self) -> int | None:
        # What the topology drops on purpose, by a limit or a TTL, is not counted with what went astray.
        return self.never_sent() if self.topology is None else None

    def never_sent(self) -> int:
        """Published on a connection that broke before the broker had them, by a publisher without confirms."""
        return sum(each.lost for each in self.lane.world.slots[PUBLISHER].node.state.roles)

    def publishing(self, vhost: str) -> list[Published]:
        """Who publishes in a virtual host, and where."""
        known = self.seen().connections
        return [
            Published(
                each.connection, each.role.name, each.role.login.user, each.role.exchange, each.published, each.returned,
                each.returned_key, each.nacked,
            )
            for each in self.lane.world.slots[PUBLISHER].node.state.roles
            if each.connection in known and known[each.connection].vhost == vhost
        ]  # fmt: skip

    def names(self) -> dict[int, str]:
        """Real clients, by connection."""
        return {}

    def unacked(self) -> int:
        return sum(known.unacked_count() for known in self.broker().connections.values())

    def route(self, index: int, code: int) -> Json:
        """Where the record is: in whose hands, at which place of the queue, or done."""
        queue = self.queue()
        former = self.former_connections()
        for known, channel in self.consuming():
            if self.holds(queue, channel, index):
                return {
                    "hash": None,
                    "unit": None,
                    "consumer": known.name,
                    "place": None,
                    "waits": channel.connection in former,
                }
        ready = queue.ready
        return {
            "hash": None,
            "unit": None,
            "consumer": None,
            "place": ready if ready else None,
            "waits": ready > 0,
        }

    def head(self, queue: ClassicQueue) -> list[Json]:
        """Those that are next."""
        return [
            {"record": self.record(queue.message(position)), "redelivered": redelivered}
            for position, redelivered in queue.head(HEAD_SHOWN)
        ]

    def picture(self) -> Json:
        queue, channels = self.queue(), self.channels()
        names = {consumer_key(channel): name for name, channel in channels.items()}
        return {
            "kind": "queue",
            "name": self.queue_name,
            "ready": queue.ready,
            "head": self.head(queue),
            "prefetch": self.prefetch,
            "ring": [names[key] for key in queue.ring if key in names],
            "in_flight": {name: self.in_hand(queue, channel) for name, channel in channels.items()},
            "former": self.former(),
            "unacked": self.unacked(),
        }

    def check(self) -> None:
        for queue in self.queues().values():
            gone = queue.acked + sum(queue.state.dropped.values())
            if queue.ready + queue.unacked_count + gone != queue.published:
                raise InvariantError(
                    f"{queue.name}: {queue.ready} ready, {queue.unacked_count} unacked and {gone} done are not "
                    f"{queue.published} published"
                )
            for consumer in queue.consumers.by_key.values():
                if consumer.prefetch and len(consumer.unacked) > consumer.prefetch:
                    raise InvariantError(
                        f"{consumer.key} holds {len(consumer.unacked)} messages with a prefetch of "
                        f"{consumer.prefetch}"
                    )

    def holds(self, queue: ClassicQueue, channel: Channel, index: int) -> bool:
        """Whether the channel's consumer holds that record."""
        return any(
            self.record(queue.message(position)) == index
            for position, _ in queue.unacked(consumer_key(channel))
        )

    def in_hand(self, queue: ClassicQueue, channel: Channel) -> list[Json]:
        """The first messages that are out on a channel."""
        return [
            {"record": self.record(queue.message(position)), "redelivered": again}
            for position, again in queue.unacked(consumer_key(channel), IN_FLIGHT_SHOWN)
        ]


def consumer_key(channel: Channel) -> str:
    """What queues call the one consumer that a program's channel has."""
    return channel.consumer_key(next(iter(channel.consumers), ""))
