"""A node's place in its world, which is the node's outbox at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappush
from typing import Any, Protocol

from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.rng import SeededRandom
from broker_core.sim.disk import Disk
from broker_core.sim.network import CLOSING, Link, due_us
from broker_core.sim.node import Closed, Node

RUNNING, PAUSED, CRASHED = "running", "paused", "crashed"


class SlotWorld(Protocol):
    """What a node's place asks of its world (`World`)."""

    now_us: int
    made: int
    cause: Cause | None
    heap: list[tuple[int, int, Any, str]]
    told: list[TurningPoint]
    jitter: Sequence[int]
    random: SeededRandom
    design: Any
    by_number: dict[int, Any]
    of_connection: dict[int, list[Link]]

    def connect(self, slot: Any, to: str) -> int: ...
    def stop_hearing(self, sending: Link) -> None: ...
    def arrives(self, link: Link) -> bool: ...
    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause: ...


class GivenMessages(Protocol):
    """What an application gives a node to send (`arrivals.Stream`)."""

    def catch_up(self, until_us: int) -> None: ...
    def keep_order(self) -> None: ...


class Slot:
    """A node's place in its world; to the node it is the outbox (`node.Outbox` says what each call does).

    number: from 1, never given twice. silenced_by: cause of its crash or pause. deadlines: name -> (order of
    making, cause).
    deferred: those that came due while the process was paused. links: connection -> the link on which this
    node sends.
    stream: what its application gives it to send (`arrivals.py`), None for one that is given nothing.
    has_machine: the process was killed and its machine runs on, so it resets what arrives for it.
    receive, wake: the node's, bound once for all messages.
    """

    __slots__ = (
        "condition",
        "deadlines",
        "deferred",
        "disk",
        "has_machine",
        "kind",
        "links",
        "name",
        "node",
        "number",
        "receive",
        "silenced_by",
        "stream",
        "wake",
        "world",
    )

    def __init__(self, world: SlotWorld, number: int, name: str, kind: str, node: Node) -> None:
        self.world = world
        self.number = number
        self.name = name
        self.kind = kind
        self.node = node
        self.receive, self.wake = node.receive, node.wake
        self.stream: GivenMessages | None = None
        self.condition = RUNNING
        self.silenced_by: Cause | None = None
        self.has_machine = False
        self.deadlines: dict[str, tuple[int, Cause | None]] = {}
        self.deferred: list[tuple[str, Cause | None]] = []
        self.links: dict[int, Link] = {}
        self.disk = Disk()

    def connect(self, to: str) -> int:
        return self.world.connect(self, to)

    def send(self, connection: int, message: Any) -> None:
        try:
            link = self.links[connection]
        except KeyError:
            raise InvariantError(
                f"{self.name} sends on connection {connection}, which it does not have"
            ) from None
        world = self.world
        link.queue.append((message, world.cause))
        made = world.made = world.made + 1
        at_us = due_us(link, world.now_us, world.jitter)
        heappush(world.heap, (at_us, made, link, ""))

    def close(self, connection: int) -> None:
        self.send(connection, Closed("closed"))
        link = self.links.pop(connection)
        link.trouble |= CLOSING
        self.world.stop_hearing(link)

    def unsent(self, connection: int) -> int:
        link = self.links[connection]
        return len(link.queue) if link.is_held else 0

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None:
        world = self.world
        made = world.made = world.made + 1
        self.deadlines[name] = (made, because or world.cause)
        heappush(world.heap, (at_us, made, self, name))

    def cancel(self, name: str) -> None:
        self.deadlines.pop(name, None)

    def draw(self, stream: str, limit: int) -> int:
        return self.world.random.below(stream, limit)

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        return self.world.tell(kind, rule, inputs, data)

    def because(self, cause: Cause) -> None:
        self.world.cause = cause

    def why(self) -> Cause:
        return self.world.cause or Cause()

    def blame_silence(self, connection: int) -> None:
        world = self.world
        for link in world.of_connection.get(connection, ()):
            if link.receiver == self.number:
                peer = world.by_number.get(link.sender)
                world.cause = (peer.silenced_by if peer is not None else None) or link.cut_by or world.cause


class AheadSlot(Slot):
    """The place of a node whose clock is ahead of the world's (`Design.ahead_us`)."""

    __slots__ = ("ahead_us",)

    def __init__(self, world: SlotWorld, number: int, name: str, kind: str, node: Node) -> None:
        super().__init__(world, number, name, kind, node)
        ahead_us = self.ahead_us = world.design.ahead_us
        node_receive, node_wake = node.receive, node.wake

        def receive(connection: int, message: Any, now_us: int, out: Slot) -> None:
            node_receive(connection, message, now_us + ahead_us, out)

        def wake(name: str, now_us: int, out: Slot) -> None:
            node_wake(name, now_us + ahead_us, out)

        self.receive, self.wake = receive, wake  # type: ignore[assignment]

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None:
        super().deadline(name, at_us - self.ahead_us, because)


@dataclass(slots=True)
class SlotState:
    """A slot in a checkpoint. links: connection -> number of the link. node: the node's own state, plain."""

    number: int
    kind: str
    condition: str
    silenced_by: Cause | None
    deadlines: dict[str, tuple[int, Cause | None]]
    deferred: list[tuple[str, Cause | None]]
    links: dict[int, int]
    disk: Disk
    node: Any
    has_machine: bool = False
