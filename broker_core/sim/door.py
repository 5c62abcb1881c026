"""Work that nobody else can notice needs no step of the world.

    broker ── feed ──► [ door: when each message arrives ] ◄── settle ── program        only what the program sends or tells wakes it

A program that is busy puts what reaches it into its buffer, takes the next message when it is done with one,
and sends nothing for a long time. Such a node opens its door: what is fed to it waits there with the moment
of its arrival, and the node takes it in when it comes round to it. `settle(now)` does all that has happened
inside by now. The world calls it before anybody looks (a turning point, the end of a stretch), and before any
fault of the node or its connection; then what has not arrived yet travels as all messages do.

When settle is called changes nothing: it gives out no number, sets no deadline and sends nothing, so whoever
looks leaves no trace.
"""

from __future__ import annotations

from heapq import heappush
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from broker_core.sim.network import DOOR, Link
from broker_core.sim.node import Node, Outbox

if TYPE_CHECKING:
    from broker_core.sim.slot import Slot
    from broker_core.sim.world import World


@runtime_checkable
class QuietNode(Node, Protocol):
    """A node that works on its own between two steps of the world."""

    def settle(self, now_us: int, out: Outbox) -> None:
        """Do what happens inside by now; nothing of it can be noticed from outside."""
        ...

    def thaw(self, now_us: int, out: Outbox) -> None:
        """The process was stopped (SIGSTOP) and goes on: what it was busy with is done now at the
        earliest."""
        ...


def open_door(slot: Slot, connection: int, room: int) -> None:
    """Let so many messages wait at the door. It is not opened while other messages are in flight or the link
    is impaired."""
    link = slot.door
    if link is None or link.connection != connection:
        link = next(
            (link for link in slot.world.of_connection.get(connection, ()) if link.receiver == slot.number),
            None,
        )
    if link is None or link.trouble & ~DOOR or len(link.queue) != len(link.times):
        return
    slot.door = slot.doors[connection] = link
    link.room = room
    link.trouble |= DOOR


def shut(world: World, link: Link) -> None:
    """Let in who has arrived; who has not travels on as all messages do."""
    if not link.trouble & DOOR:
        return
    slot = link.to
    assert slot is not None  # a link whose receiver is gone has no door
    if slot.expect is not None:
        slot.recall(world.now_us, slot)  # type: ignore[misc]  # who expects something can recall it
        return
    if slot.settle is not None:
        slot.settle(world.now_us, slot)
    for at_us in link.times:
        world.made += 1
        heappush(world.heap, (at_us, world.made, link, ""))
    link.times.clear()
    gone(slot, link)


def gone(slot: Slot, link: Link) -> None:
    """Nobody waits at the door any more, and it is shut."""
    link.room = 0
    link.trouble &= ~DOOR
    slot.door = None
    slot.doors.pop(link.connection, None)
