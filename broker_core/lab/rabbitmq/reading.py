"""What the nodes' states of a RabbitMQ lane say: who consumes, who holds what, what waits, and the picture of
it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.shared.in_flight import BUCKETS_KEPT_S
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.client import TAG
from broker_core.rabbitmq.connection import SILENT_CHECKS_MAX, Connection
from broker_core.rabbitmq.queues.classic import ClassicQueue

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

HEAD_SHOWN = 12
IN_FLIGHT_SHOWN = 24
BROKER = "broker"
VHOST = "/"


class RabbitMqReading:
    """prefetch: of each consumer, 0 for no limit."""

    lane: Lane

    notes: None = None
    fresh: None = None

    def __init__(self, queue_name: str, prefetch: int) -> None:
        self.queue_name, self.prefetch = queue_name, prefetch

    def broker(self) -> BrokerState:
        state: BrokerState = self.lane.world.slots[BROKER].node.state
        return state

    def queue(self) -> ClassicQueue:
        return self.broker().vhosts[VHOST].queues.get(self.queue_name) or ClassicQueue()

    def connection_of(self, incarnation: str) -> int:
        slot = self.lane.world.slots.get(incarnation)
        return 0 if slot is None else slot.node.state.connection

    def incarnation_of(self, connection: int) -> str:
        """The node that has this connection, also when the broker has closed its end."""
        workers = [slot for slot in self.lane.world.slots.values() if slot.kind == "worker"]
        return next(slot.name for slot in workers if slot.node.state.connection == connection)

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
            of["records"] += in_hand(queue, channel)[: IN_FLIGHT_SHOWN - len(of["records"])]
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
        return all(consumer.state in (CRASHED, GONE) for consumer in self.lane.consumers.values())

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
        """Whether the broker has closed the program's channel, and it has not opened another: it is paused,
        or dead."""
        worker = self.lane.world.slots[incarnation].node.state
        known = self.broker().connections.get(worker.connection)
        return worker.refused != 0 or (known is not None and bool(known.closing))

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
        return False

    def stopped(self) -> Mapping[str, int]:
        return {}

    def lag(self) -> int:
        # What the publisher has sent and the broker has not seen yet is part of it.
        return self.lane.next_record - self.lane.first_record - self.queue().acked

    def unacked(self) -> int:
        return sum(known.unacked_count() for known in self.broker().connections.values())

    def route(self, index: int, code: int) -> Json:
        """Where the record is: in whose hands, at which place of the queue, or done."""
        queue = self.queue()
        former = self.former_connections()
        for known, channel in self.consuming():
            if queue.holds(channel.consumer_key(TAG), index):
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

    def picture(self) -> Json:
        queue, channels = self.queue(), self.channels()
        names = {channel.consumer_key(TAG): name for name, channel in channels.items()}
        return {
            "kind": "queue",
            "name": self.queue_name,
            "ready": queue.ready,
            "head": [
                {"record": queue.message(position), "redelivered": redelivered}
                for position, redelivered in queue.head(HEAD_SHOWN)
            ],
            "prefetch": self.prefetch,
            "ring": [names[key] for key in queue.ring if key in names],
            "in_flight": {name: in_hand(queue, channel) for name, channel in channels.items()},
            "former": self.former(),
            "unacked": self.unacked(),
        }

    def check(self) -> None:
        queue = self.queue()
        if queue.ready + self.unacked() + queue.acked != queue.published:
            raise InvariantError(
                f"{queue.ready} ready, {self.unacked()} unacked and {queue.acked} done are not "
                f"{queue.published} published"
            )
        for known, channel in self.consuming():
            name, count = known.name, queue.held_by(channel.consumer_key(TAG))
            if count != len(channel.unacked):
                raise InvariantError(
                    f"{name}: the queue has {count} messages with it, its channel {len(channel.unacked)}"
                )
            if self.prefetch and count > self.prefetch:
                raise InvariantError(f"{name} holds {count} messages with a prefetch of {self.prefetch}")


def in_hand(queue: ClassicQueue, channel: Channel) -> list[Json]:
    """The first messages that are out on a channel."""
    return [
        {"record": queue.message(position), "redelivered": again}
        for position, again in queue.unacked(channel.consumer_key(TAG), IN_FLIGHT_SHOWN)
    ]
