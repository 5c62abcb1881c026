"""What a RabbitMQ lane that is open to real clients says: its programs are whoever is connected, by the names that they give
their connections, and its messages are theirs, numbered as the server takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from broker_core.events import Json, TurningPoint
from broker_core.lab.rabbitmq import counts
from broker_core.lab.rabbitmq.crew import connection_of
from broker_core.lab.rabbitmq.narrator import RabbitMqNarrator
from broker_core.lab.rabbitmq.path_ear import PathEar
from broker_core.lab.rabbitmq.paths import DELIVERED, PUBLISHED
from broker_core.lab.rabbitmq.reading import (
    BROKER,
    IN_FLIGHT_SHOWN,
    Published,
    RabbitMqReading,
)
from broker_core.lab.shared.bill import Bill
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.loading import DEFAULT_VHOST
from broker_core.rabbitmq.messages import FIRST_STORED
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.tracing import fields_of, name_of
from broker_core.rabbitmq.vhost import DEFAULT_EXCHANGE
from broker_core.sim.slot import RUNNING
from broker_core.wire.open_server import OpenServer, socket_name

QUEUES_SHOWN = 6
"""Of the Stage's picture: those that most was published to, in the order in which they were declared."""

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


_BEHIND: dict[str, tuple[type, ...]] = {
    PUBLISHED: (m.BasicPublish,),
    DELIVERED: (m.BasicDeliver, m.BasicGetOk),
    "ack": (m.BasicAck,),
    "requeue": (m.BasicNack, m.BasicReject),
    "discard": (m.BasicNack, m.BasicReject),
}
"""Kind of a step of a message -> the methods that it is of; another one, as tx.commit, did more than that."""


class ClientEar(PathEar):
    """Hears, too, on which connection and at which exchange a message came, and by which method."""

    heard: Any = None

    def hears(self, method: Any) -> None:
        self.heard = method

    def said(self, kind: str, method: Any = None) -> tuple[Json, ...]:
        behind = self.heard if method is None else method
        if not isinstance(behind, _BEHIND.get(kind, ())):
            return ()
        return ({"name": name_of(behind), "fields": fields_of(behind)},)

    def published(
        self,
        connection: int,
        program: str,
        vhost: str,
        message: int,
        routing_key: str,
        queues: list[str],
        is_returned: bool,
    ) -> None:
        stored = self.reads.broker().messages.at.get(message)
        exchange = DEFAULT_EXCHANGE if stored is None else stored.exchange
        counted = self.reads.notes.published.setdefault(connection, {}).setdefault(exchange, [0, 0])
        counted[0] += 1
        counted[1] += is_returned
        super().published(connection, program, vhost, message, routing_key, queues, is_returned)


class OpenReading(RabbitMqReading):
    """server: that the clients come to."""

    server: OpenServer
    is_open = True

    def queue(self) -> ClassicQueue:
        """The one that most was published to; of several the first."""
        queues = self.queues()
        found = max(queues, key=lambda number: (queues[number].published, -number), default=0)
        return queues[found] if found else ClassicQueue()

    def record(self, message: int) -> int:
        """Of a client's message the how-manieth it is that the server took, from 1; a dead letter is the message that it
        was."""
        if message < FIRST_STORED:
            return message
        stored = self.broker().messages.at[message]
        if stored.content.message >= 0:
            return stored.content.message
        while stored.origin >= 0:
            message = stored.origin
            if message not in self.broker().messages.at:
                break
            stored = self.broker().messages.at[message]
        return message - FIRST_STORED + 1

    def would_wait(self, index: int, code: int) -> bool:
        return False

    def is_settled(self) -> bool:
        return True

    def dark_units(self) -> tuple[int, int]:
        return 0, 1

    def lag(self) -> int:
        return sum(queue.ready + queue.unacked_count for queue in self.queues().values())

    def lost(self) -> int | None:
        return None

    def publishing(self, vhost: str) -> list[Published]:
        known, real = self.seen().connections, self.real()
        return [
            Published(
                number,
                known[number].name,
                known[number].user,
                exchange,
                counted[0],
                counted[1],
                is_real=number in real,
            )
            for number, exchanges in self.notes.published.items()
            if number in known and known[number].vhost == vhost
            for exchange, counted in exchanges.items()
        ]

    def real(self) -> set[int]:
        """Connections of real clients."""
        return {state.connection for state in self.server.sockets.values()}

    def living_sockets(self) -> list[int]:
        """Sockets whose clients are there."""
        return [number for number, state in self.server.sockets.items() if not state.is_over]

    def client_name(self, socket: int) -> str:
        """As it calls its connection, or the socket where it has not."""
        state = self.server.sockets.get(socket)
        return socket_name(socket) if state is None or not state.name else state.name

    def names(self) -> dict[int, str]:
        """Connection -> the client's name for a page; of several that call themselves the same with the number of the
        connection."""
        real = self.real()
        known = {number: each for number, each in self.seen().connections.items() if number in real}
        often = Counter(each.name for each in known.values())
        return {
            number: each.name if often[each.name] == 1 else f"{each.name} ({number})"
            for number, each in known.items()
        }

    def clients(self) -> dict[str, Json]:
        """Those that consume, as the Stage's rows have consumers. What was finished is counted by name: of several with one
        name each has the mean."""
        found: dict[str, Json] = {}
        took = {name: self._took(name) for name in {each.name for each in self.seen().connections.values()}}
        total, named = sum(took.values()), self.names()
        consuming = {
            number: known
            for number, known in self.seen().connections.items()
            if number in named and any(channel.consumers for channel in known.channels.values())
        }
        often = Counter(known.name for known in consuming.values())
        for number, known in consuming.items():
            name, own = named[number], took[known.name] / often[known.name]
            found[name] = {
                "name": name, "color": number, "state": "live", "share": own / total if total else 0,
                "share_before": None, "rate": round(own, 1), "capacity": 0, "slow": False, "in_flight": 0,
                "unacked": known.unacked_count(), "deadline_us": None, "deadline_from_us": None, "is_real": True,
            }  # fmt: skip
        return found

    def _took(self, program: str) -> float:
        """Messages a second that programs of this name finished lately."""
        seconds = self.notes.counts.seconds()
        if len(seconds) < 2:
            return 0
        first, last = (self.notes.counts.programs_at[each] for each in (seconds[0], seconds[-1]))
        done = _finished(last, program) - _finished(first, program)
        return round(done / (seconds[-1] - seconds[0]), 1)

    def picture(self) -> Json:
        queues, names = list(self.queues().values()), self.names()
        most = sorted(queues, key=lambda queue: -queue.published)[:QUEUES_SHOWN]
        return {
            "kind": "queues",
            "queues": {self.shown_name(each): self._shown(each, names) for each in queues if each in most},
            "more": len(queues) - len(most),
            "unacked": self.unacked(),
            "publishers": [name for number, name in names.items() if number in self.notes.published],
        }

    def shown_name(self, queue: ClassicQueue) -> str:
        """As pages and Why call it: with its virtual host where that is another one."""
        vhost = queue.state.vhost
        return queue.name if vhost == DEFAULT_VHOST else f"{queue.name}@{vhost}"

    def _shown(self, queue: ClassicQueue, names: dict[int, str]) -> Json:
        """Who consumes it and has what of it in hand: all consumers of a client together."""
        consumers: Json = {}
        for key, each in queue.consumers.by_key.items():
            name = names.get(connection_of(each), "")
            hand = consumers.setdefault(name, {"unacked": 0, "prefetch": 0, "in_flight": []})
            hand["unacked"] += len(each.unacked)
            hand["prefetch"] += each.prefetch
            hand["in_flight"] += [
                {"record": self.record(queue.message(position)), "redelivered": again}
                for position, again in queue.unacked(key, IN_FLIGHT_SHOWN - len(hand["in_flight"]))
            ]
        return {
            "ready": queue.ready, "unacked": queue.unacked_count, "head": self.head(queue), "consumers": consumers,
        }  # fmt: skip


def _finished(programs: dict[str, dict[str, list[int]]], name: str) -> int:
    return sum(
        each[what]
        for named in programs.values()
        if (each := named.get(name))
        for what in (counts.ACKED, counts.AUTO)
    )


class OpenNarrator(RabbitMqNarrator):
    """Nobody of the lab's own can join, fall silent or leave."""

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        if event.kind == "rabbitmq.operator.answered" and "message" in event.data:
            return event.with_facts(data={"by_hand": lane.messages.by_hand(event.data["message"])})
        return event

    def told(self, lane: Lane, event: TurningPoint) -> None:
        """Each view has its own sentence."""

    def sentence_now(self, lane: Lane) -> Json:
        if lane.world.slots[BROKER].condition != RUNNING:
            return {"code": "rabbitmq.server_down", "params": {}}
        reads = self.reads
        waits: Sequence[ClassicQueue] = list(reads.queues().values())
        params = {
            "clients": len(reads.names()),
            "ready": sum(queue.ready for queue in waits),
            "unacked": reads.unacked(),
        }
        return {"code": "rabbitmq.open", "params": params}

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        """There is no change of its own."""
