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
from broker_core.rabbitmq.queue import WorkQueue

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

HEAD_SHOWN = 12
IN_FLIGHT_SHOWN = 24
BROKER = "broker"


class RabbitMqReading:
    """prefetch: of each consumer, 0 for no limit."""

    notes: None = None
    fresh: None = None

    def __init__(self, queue_name: str, prefetch: int) -> None:
        self.queue_name, self.prefetch = queue_name, prefetch

    def broker(self, lane: Lane) -> BrokerState:
        state: BrokerState = lane.world.slots[BROKER].node.state
        return state

    def queue(self, lane: Lane) -> WorkQueue:
        return self.broker(lane).queues.get(self.queue_name) or WorkQueue()

    def connection_of(self, lane: Lane, incarnation: str) -> int:
        slot = lane.world.slots.get(incarnation)
        return 0 if slot is None else slot.node.state.connection

    def incarnation_of(self, lane: Lane, connection: int) -> str:
        """The node that has this connection, also when the broker has closed its end."""
        workers = [slot for slot in lane.world.slots.values() if slot.kind == "worker"]
        return next(slot.name for slot in workers if slot.node.state.connection == connection)

    def consuming(self, lane: Lane) -> list[tuple[Connection, Channel]]:
        """Consumers of the queue at the broker."""
        return [
            (known, channel)
            for known in self.broker(lane).connections.values()
            for channel in known.channels.values()
            if channel.consumers
        ]

    def channels(self, lane: Lane) -> dict[str, Channel]:
        """The same, name -> channel, without the former connections of programs that have come back."""
        former = self.former_connections(lane)
        return {
            known.name: channel for known, channel in self.consuming(lane) if channel.connection not in former
        }

    def former_connections(self, lane: Lane) -> dict[int, str]:
        """Those of dead lives whose program has come back: the broker takes them for living consumers.
        Connection -> the life's node."""
        names = {
            incarnation: lane.world.slots[incarnation].node.state.name for incarnation in lane.crash_positions
        }
        return {
            self.connection_of(lane, incarnation): incarnation
            for incarnation, name in names.items()
            if lane.is_ghost(incarnation, name)
        }

    def former(self, lane: Lane) -> Json:
        """What former connections hold, by the program's name: how many messages and the first of them, and
        when the broker gives up the last."""
        found: Json = {}
        queue, lives = self.queue(lane), self.former_connections(lane)
        for known, channel in self.consuming(lane):
            if channel.connection not in lives or not channel.unacked:
                continue
            of = found.setdefault(known.name, {"unacked": 0, "until_us": 0, "records": []})
            of["unacked"] += len(channel.unacked)
            of["until_us"] = max(of["until_us"], self.given_up_us(lane, lives[channel.connection], known))
            of["records"] += in_hand(queue, channel)[: IN_FLIGHT_SHOWN - len(of["records"])]
        return found

    def given_up_us(self, lane: Lane, incarnation: str, known: Connection) -> int:
        """When the broker drops the connection of a silent program; what that has sent still arrives."""
        link = lane.world.slots[incarnation].links[self.connection_of(lane, incarnation)]
        look_us = known.since_us + ((lane.now_us - known.since_us) // m.HEARTBEAT_US + 1) * m.HEARTBEAT_US
        if not link.queue:
            return look_us + (known.looks_left() - 1) * m.HEARTBEAT_US
        return look_us + (SILENT_CHECKS_MAX + (link.last_us >= look_us)) * m.HEARTBEAT_US

    def served(self, lane: Lane) -> list[int]:
        """Connections that consume."""
        return [
            number
            for number, known in self.broker(lane).connections.items()
            if any(channel.consumers for channel in known.channels.values())
        ]

    def dead(self, lane: Lane) -> set[int]:
        """Connections of silent programs that the broker has not noticed."""
        return {self.connection_of(lane, incarnation) for incarnation in lane.crash_positions}

    def living(self, lane: Lane) -> list[int]:
        """Connections that consume for a program that is alive, also when the broker does not know yet that
        another has left."""
        served = set(self.served(lane))
        return [
            connection
            for incarnation in self.incarnations(lane)
            if (connection := self.connection_of(lane, incarnation)) in served
        ]

    def incarnations(self, lane: Lane) -> list[str]:
        """Nodes of the programs that are alive."""
        return [
            consumer.incarnation
            for consumer in lane.consumers.values()
            if consumer.state not in (CRASHED, GONE)
        ]

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        return all(consumer.state in (CRASHED, GONE) for consumer in lane.consumers.values())

    def weights(self, lane: Lane) -> dict[str, int]:
        second = lane.now_us // SECOND_US
        return {
            name: consumer.acked_between(second - BUCKETS_KEPT_S, second + 1)
            for name, consumer in lane.consumers.items()
        }

    def key_owners(self, lane: Lane) -> None:
        return None

    def units(self, lane: Lane) -> None:
        return None

    def space(self, lane: Lane) -> None:
        return None

    def is_settled(self, lane: Lane) -> bool:
        wanted = {
            self.connection_of(lane, incarnation)
            for incarnation in (*self.incarnations(lane), *lane.crash_positions)
            if not self.is_shut_out(lane, incarnation)
        }
        return wanted == set(self.served(lane))

    def is_shut_out(self, lane: Lane, incarnation: str) -> bool:
        """Whether the broker has closed the program's channel, and it has not opened another: it is paused,
        or dead."""
        worker = lane.world.slots[incarnation].node.state
        known = self.broker(lane).connections.get(worker.connection)
        return worker.refused != 0 or (known is not None and bool(known.closing))

    def dark_units(self, lane: Lane) -> tuple[int, int]:
        return int(not self.living(lane)), 1

    def stuck(self, lane: Lane) -> tuple[int, int]:
        dead = self.dead(lane)
        held = {number: known.unacked_count() for number, known in self.broker(lane).connections.items()}
        return sum(count for number, count in held.items() if number in dead), sum(held.values())

    def waiting_for(self, lane: Lane, consumer: Consumer) -> int:
        return self.held(lane, consumer)

    def way_in(self, lane: Lane) -> str:
        return "turn"

    def redelivered(self, lane: Lane) -> int:
        return self.broker(lane).redelivered

    def held(self, lane: Lane, consumer: Consumer) -> int:
        known = self.broker(lane).connections.get(self.connection_of(lane, consumer.incarnation))
        return 0 if known is None else known.unacked_count()

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        known = self.broker(lane).connections.get(self.connection_of(lane, consumer.incarnation))
        return known is not None and any(channel.consumers for channel in known.channels.values())

    def has_failed(self, lane: Lane, consumer: Consumer) -> bool:
        return False

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        return {}

    def lag(self, lane: Lane) -> int:
        # What the publisher has sent and the broker has not seen yet is part of it.
        return lane.next_record - lane.first_record - self.queue(lane).acked

    def unacked(self, lane: Lane) -> int:
        return sum(known.unacked_count() for known in self.broker(lane).connections.values())

    def route(self, lane: Lane, index: int, code: int) -> Json:
        """Where the record is: in whose hands, at which place of the queue, or done."""
        queue = self.queue(lane)
        former = self.former_connections(lane)
        for known, channel in self.consuming(lane):
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

    def picture(self, lane: Lane) -> Json:
        queue, channels = self.queue(lane), self.channels(lane)
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
            "former": self.former(lane),
            "unacked": self.unacked(lane),
        }

    def check(self, lane: Lane) -> None:
        queue = self.queue(lane)
        if queue.ready + self.unacked(lane) + queue.acked != queue.published:
            raise InvariantError(
                f"{queue.ready} ready, {self.unacked(lane)} unacked and {queue.acked} done are not "
                f"{queue.published} published"
            )
        for known, channel in self.consuming(lane):
            name, count = known.name, queue.unacked_count(channel.consumer_key(TAG))
            if count != len(channel.unacked):
                raise InvariantError(
                    f"{name}: the queue has {count} messages with it, its channel {len(channel.unacked)}"
                )
            if self.prefetch and count > self.prefetch:
                raise InvariantError(f"{name} holds {count} messages with a prefetch of {self.prefetch}")


def in_hand(queue: WorkQueue, channel: Channel) -> list[Json]:
    """The first messages that are out on a channel."""
    return [
        {"record": queue.message(position), "redelivered": again}
        for position, again in queue.unacked(channel.consumer_key(TAG), IN_FLIGHT_SHOWN)
    ]
