"""A node that plans: when a message is sent to it, it is known already what it will answer, and when.

    broker ── feed ──► expect(message, when it arrives) ──► post(answer, when it leaves) ──► broker        one turn through the heap, not three

A program that takes its messages one after the other, each for a fixed time, is such a node: from the moments
at which they arrive follow those at which it is done with them. So it learns of a message when that is sent,
and posts its answer at once, for the moment at which it leaves. The world delivers the answer as if the node
had received the message, worked, and sent it then.

A plan holds until something interrupts the node: a person's word, another message, a fault of its process or
its link. Then `recall` makes of the plan what is true by now: answers that have not left are withdrawn,
messages that have not arrived are on their way again, and the node goes on step by step until it plans again.
`settle` (`door.py`) says how far the plan has come, for whoever looks; it changes nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappush
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from broker_core.errors import InvariantError
from broker_core.events import Cause
from broker_core.sim.door import QuietNode
from broker_core.sim.node import Outbox

if TYPE_CHECKING:
    from broker_core.sim.slot import Slot


@runtime_checkable
class PlanningNode(QuietNode, Protocol):
    """A node that posts what it will send."""

    def recall(self, now_us: int, out: Outbox) -> None:
        """Withdraw what has not left by now; from here on the node is asked step by step, until it plans
        again."""
        ...


@runtime_checkable
class ExpectingNode(PlanningNode, Protocol):
    """A node that plans what is fed to it before it has arrived. Its `recall` puts back what has not, and
    shuts the door."""

    def expect(self, message: Any, at_us: int, because: Cause | None, out: Outbox) -> None:
        """This message will arrive at `at_us`, after all that was expected or received before. because: what
        it follows from."""
        ...


def withdraw(slot: Slot, connection: int, count: int) -> None:
    """Take back the last `count` messages posted, with their tickets. On a connection that is gone they are
    lost already."""
    link = slot.links.get(connection)
    if link is None or not count:
        return
    for _ in range(count):
        link.queue.pop()
    if link.room:  # they are posted to a door, and nothing else is on its way behind them
        link.room += count
        for _ in range(count):
            link.times.pop()
        link.last_us = link.times[-1] if link.times else min(link.last_us, slot.world.now_us)
        return
    heap = slot.world.heap
    tickets = sorted(ticket[:2] for ticket in heap if ticket[2] is link)
    withdrawn = set(tickets[-count:])
    heap[:] = [ticket for ticket in heap if ticket[2] is not link or ticket[:2] not in withdrawn]
    heapify(heap)
    # What is sent next arrives after what has left, and after nothing else.
    link.last_us = tickets[-count - 1][0] if len(tickets) > count else min(link.last_us, slot.world.now_us)


def put_back(slot: Slot, expected: Sequence[tuple[int, Any, Cause | None]]) -> None:
    """These have not arrived yet: they are on their way again, before all that was sent after them."""
    if not expected:
        return
    link, world = slot.door, slot.world
    if link is None:
        raise InvariantError(f"{slot.name} puts back what did not come through a door")
    link.queue.extendleft((message, because) for _, message, because in reversed(expected))
    for at_us, _, _ in expected:
        world.made += 1
        heappush(world.heap, (at_us, world.made, link, ""))
