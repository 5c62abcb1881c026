"""A node's place in its world, which is the node's outbox at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappush
from typing import TYPE_CHECKING, Any

from broker_core.errors import InvariantError
from broker_core.events import Cause, Json
from broker_core.sim.disk import Disk
from broker_core.sim.door import QuietNode, gone, open_door, shut
from broker_core.sim.network import CLOSING, JITTER_MASK, Link
from broker_core.sim.node import Closed, Node
from broker_core.sim.plan import ExpectingNode, PlanningNode, put_back, withdraw

if TYPE_CHECKING:
    from broker_core.sim.stream import Stream
    from broker_core.sim.world import World

RUNNING, PAUSED, CRASHED = "running", "paused", "crashed"


class Slot:
    """A node's place in its world; to the node it is the outbox (`node.Outbox` says what each call does).

    number: from 1, never given twice. silenced_by: cause of its crash or pause. deadlines: name -> (order of
    making, cause).
    deferred: those that came due while the process was paused. links: connection -> the link on which this
    node sends.
    stream: what its application gives it to send (`stream.py`), None for one that is given nothing.
    has_machine: the process was killed and its machine runs on, so it resets what arrives for it.
    receive, wake: the node's, bound once for all messages; settle: of a quiet one; recall, expect: of one
    that plans (`plan.py`). door: the link on which messages wait for it (`door.py`), or are expected; doors:
    all of them, by connection.
    """

    __slots__ = (
        "condition",
        "deadlines",
        "deferred",
        "disk",
        "door",
        "doors",
        "expect",
        "has_machine",
        "kind",
        "links",
        "name",
        "node",
        "number",
        "recall",
        "receive",
        "settle",
        "silenced_by",
        "stream",
        "wake",
        "world",
    )

    def __init__(self, world: World, number: int, name: str, kind: str, node: Node) -> None:
        self.world = world
        self.number = number
        self.name = name
        self.kind = kind
        self.node = node
        self.receive, self.wake = node.receive, node.wake
        self.settle = node.settle if isinstance(node, QuietNode) else None
        self.recall = node.recall if isinstance(node, PlanningNode) else None
        self.expect = node.expect if isinstance(node, ExpectingNode) else None
        self.door: Link | None = None
        self.doors: dict[int, Link] = {}
        self.stream: Stream | None = None
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
        link.room = 0  # what is fed after this may not arrive before it
        world = self.world
        link.queue.append((message, world.cause))
        made = world.made = world.made + 1
        # `due_us`, written out: this is what every message goes through.
        now_us = world.now_us
        at_us = now_us + link.delay_us + world.jitter[(now_us + link.number) & JITTER_MASK]
        if at_us < link.last_us:
            at_us = link.last_us
        else:
            link.last_us = at_us
        heappush(world.heap, (at_us, made, link, ""))

    def feed(self, connection: int, message: Any) -> None:
        link = self.links.get(connection)
        if link is None or not link.room:
            self.send(connection, message)
            return
        link.room -= 1
        world, receiver = self.world, link.to
        now_us = world.now_us
        at_us = now_us + link.delay_us + world.jitter[(now_us + link.number) & JITTER_MASK]
        if at_us < link.last_us:
            at_us = link.last_us
        else:
            link.last_us = at_us
        if receiver.expect is not None:  # type: ignore[union-attr]  # a link whose receiver is gone has no door
            receiver.expect(message, at_us, world.cause, receiver)  # type: ignore[union-attr, arg-type]
            return
        link.queue.append((message, world.cause))
        link.times.append(at_us)

    def post(self, connection: int, message: Any, leaves_us: int, because: Cause) -> None:
        link, world = self.links[connection], self.world
        link.queue.append((message, because))
        at_us = leaves_us + link.delay_us + world.jitter[(leaves_us + link.number) & JITTER_MASK]
        if at_us < link.last_us:
            at_us = link.last_us
        else:
            link.last_us = at_us
        if link.room:
            link.room -= 1
            link.times.append(at_us)
            return
        made = world.made = world.made + 1
        heappush(world.heap, (at_us, made, link, ""))

    def post_each(
        self, connection: int, messages: Sequence[Any], leaves_us: int, step_us: int, because: Cause
    ) -> None:
        link, world = self.links[connection], self.world
        if link.room < len(messages):
            for message in messages:
                self.post(connection, message, leaves_us, because)
                leaves_us += step_us
            return
        jitter, delay_us, number, last_us = world.jitter, link.delay_us, link.number, link.last_us
        times = link.times
        for _ in messages:
            at_us = leaves_us + delay_us + jitter[(leaves_us + number) & JITTER_MASK]
            if at_us > last_us:
                last_us = at_us
            times.append(last_us)
            leaves_us += step_us
        link.last_us = last_us
        link.room -= len(messages)
        link.queue += [(message, because) for message in messages]

    def withdraw(self, connection: int, count: int) -> None:
        withdraw(self, connection, count)

    def put_back(self, expected: Sequence[tuple[int, Any, Cause | None]]) -> None:
        put_back(self, expected)

    def open_door(self, connection: int, room: int) -> None:
        open_door(self, connection, room)

    def shut_door(self) -> None:
        if self.expect is None:
            for connection in sorted(self.doors):  # not as they opened: a restored world does not know that
                shut(self.world, self.doors[connection])
        elif self.door is not None:  # it has recalled its plan, or has none
            gone(self, self.door)

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

    def __init__(self, world: World, number: int, name: str, kind: str, node: Node) -> None:
        super().__init__(world, number, name, kind, node)
        if self.settle is not None:
            raise InvariantError(f"{name} is quiet, and its clock is ahead of the world's")
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
