"""A world: nodes, the network between them, and one heap that orders everything that happens by (microsecond,
order of making).

    orders, arrivals ─► nodes ─ send ─► links ─► heap ─► nodes ...        deadlines ─► heap
                          └─ tell ─► turning points, taken by the driver of the world

A world never runs on its own: `advance` lets everything happen up to a moment, `order` hands a node something
from outside now. `advance(a)` then `advance(b)` equals `advance(b)`. Causes travel: an order's cause, or the
last turning point that a node told, goes with the messages and deadlines that the node makes next, so the
chain of causes crosses nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.held import Held
from broker_core.rng import SeededRandom
from broker_core.sim.arrivals import Arrivals
from broker_core.sim.connections import Connections
from broker_core.sim.design import Design
from broker_core.sim.network import (
    GONE,
    STOPPED,
)
from broker_core.sim.node import PERSON, Node
from broker_core.sim.slot import CRASHED, PAUSED, RUNNING, AheadSlot, Slot

NEVER = 1 << 62


class World(Connections):
    """One world. name: in the ids of its turning points. told: turning points that nobody has taken yet.

    Errors: CommandError for an order that the world cannot carry out (no such node, link already cut), and
    then nothing has changed; InvariantError where a node breaks the rules of its outbox.
    """

    def __init__(
        self,
        name: str,
        design: Design,
        seed: int,
        listener: Callable[[list[TurningPoint]], None] | None = None,
        witness: Callable[[TurningPoint], None] | None = None,
    ) -> None:
        """listener: called after each step of a node that told something, with what it told; without one,
        turning points gather in `told`.
        witness: called at once with what a node tells, in the middle of its step. Both may only look."""
        super().__init__(design, SeededRandom(seed))
        self.name = name
        self.listener, self.witness = listener, witness
        self.told: list[TurningPoint] = []
        self.is_midway = False
        self.held: Held | None = None

    @property
    def node_us(self) -> int:
        """What the nodes' clocks say."""
        return self.now_us + self.design.ahead_us

    # -- time ------------------------------------------------------------------------------------------------

    def advance(self, until_us: int, arrivals: Arrivals | None = None, *, by_report: bool = False) -> None:
        """Let everything happen up to and including `until_us`.

        arrivals: what comes from outside meanwhile; those after `until_us` are left. What is due in the same
        microsecond goes before an arrival. by_report: return after the first step whose turning points were
        reported; then `is_midway`, and the same call goes on. So it does where a node's deadline is `held`:
        that comes first then.
        """
        heap, told = self.heap, self.told
        self.is_midway, self.held = False, None
        coming = arrivals or Arrivals()
        times = coming.times
        stop = len(times)
        while True:
            place = coming.place
            arrival = times[place] if place < stop else NEVER
            limit = until_us if until_us < arrival else arrival  # noqa: FURB136  # a call of `min` for each record
            while heap and heap[0][0] <= limit:
                at_us, made, target, name = heappop(heap)
                self.now_us = at_us
                if not name:  # a message; deadlines have names
                    if target.trouble and not self.arrives(target):
                        continue
                    slot = target.to
                    message, self.cause = target.queue.popleft()
                    stream = slot.stream
                    if stream is not None:
                        stream.catch_up(at_us)
                    slot.receive(target.connection, message, at_us, slot)
                    if stream is not None:
                        stream.keep_order()
                else:
                    found = target.deadlines.pop(name, None)
                    if found is None:
                        continue
                    if found[0] != made:
                        target.deadlines[name] = found
                        continue
                    if target.condition == PAUSED:
                        target.deferred.append((name, found[1]))
                        continue
                    self.cause = found[1]
                    stream = target.stream
                    if stream is not None:
                        stream.catch_up(at_us)
                    try:
                        target.wake(name, at_us, target)
                    except Held as held:
                        target.deadlines[name] = found
                        heappush(heap, (at_us, made, target, name))
                        self.is_midway, self.held = True, held
                        return
                    if stream is not None:
                        stream.keep_order()
                if told:
                    self._report()
                    if by_report:
                        self.is_midway = True
                        return
                if coming.place != place:  # what comes next may come before the limit
                    break
            if arrival > until_us:
                if coming.place == place:
                    break
            elif (
                coming.place == place and times[place] == arrival
            ):  # else it was put on its way meanwhile, or has to wait for another one
                self.now_us = arrival
                self.cause = None
                coming.arrive(place, until_us)
                if told:
                    self._report()
                    if by_report:
                        self.is_midway = True
                        return
        self.now_us = until_us
        self.cause = None

    def order(self, name: str, message: Any, cause: Cause | None = None) -> None:
        """Hand a node something from outside, now. Raises CommandError if no such process runs."""
        slot = self._running(name)
        self.cause = cause
        if slot.stream is not None:
            slot.stream.catch_up(self.now_us)
        slot.receive(PERSON, message, self.now_us, slot)
        if slot.stream is not None:
            slot.stream.keep_order()
        self.cause = None
        if self.told:
            self._report()

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        """Record a turning point; also for what is decided outside the nodes (an operator's act)."""
        self.told_count += 1
        event = TurningPoint(
            f"{self.name}:{self.told_count}",
            self.now_us,
            self.name,
            kind,
            self.cause or Cause(),
            rule,
            inputs,
            data,
        )
        self.told.append(event)
        if self.witness is not None:
            self.witness(event)
        self.cause = Cause(event=event.id)
        return self.cause

    # -- nodes -----------------------------------------------------------------------------------------------

    def start(self, name: str, kind: str, state: Any) -> Node:
        """A process starts. kind: of the design. Raises CommandError if the name is taken."""
        if name in self.slots:
            raise CommandError("node", "{name} runs already", name=name)
        self.last_node += 1
        return self.add(self.last_node, name, kind, state).node

    def node(self, name: str) -> Node | None:
        """The node of that name, whatever its condition."""
        slot = self.slots.get(name)
        return None if slot is None else slot.node

    def condition(self, name: str) -> str | None:
        """RUNNING, PAUSED, CRASHED, or None for a name without a process."""
        slot = self.slots.get(name)
        return None if slot is None else slot.condition

    def exit(self, name: str, cause: Cause | None = None) -> None:
        """The process ends in order: then its connections are closed."""
        slot = self._known(name)
        self.cause = cause
        for connection in list(slot.links):
            slot.close(connection)
        self.cause = None
        self._remove(slot)

    def crash(self, name: str, cause: Cause | None = None) -> None:
        """The machine goes silent. What it sent still arrives; its peers learn nothing, and their connections
        stay."""
        slot = self._running(name)
        slot.condition, slot.silenced_by = CRASHED, cause
        self._mark(slot, GONE)
        slot.deadlines.clear()
        slot.deferred.clear()

    def kill(self, name: str, cause: Cause | None = None) -> None:
        """The process ends without a word, and its machine lives: it breaks the connections, so peers learn
        that at once, and refuses new ones."""
        slot = self._running(name)
        self._reset_all(slot, cause)
        self.crash(name, cause)
        slot.has_machine = True

    def forget(self, name: str) -> None:
        """A crashed node goes from the books."""
        slot = self._known(name)
        if slot.condition != CRASHED:
            raise CommandError("node", "{name} has not crashed", name=name)
        if slot.has_machine:
            self._reset_all(slot, slot.silenced_by)
        self._remove(slot)

    def pause(self, name: str, cause: Cause | None = None) -> None:
        """The process is stopped (SIGSTOP): it neither receives nor wakes until `resume`, and the network
        does not notice."""
        slot = self._running(name)
        slot.condition, slot.silenced_by = PAUSED, cause
        self._mark(slot, STOPPED)

    def resume(self, name: str) -> None:
        """It goes on: first the deadlines that came due meanwhile, then what has arrived, each in its
        order."""
        slot = self._known(name)
        if slot.condition != PAUSED:
            raise CommandError("node", "{name} is not paused", name=name)
        slot.condition, slot.silenced_by = RUNNING, None
        for deadline, cause in slot.deferred:
            self.made += 1
            slot.deadlines[deadline] = (self.made, cause)
            heappush(self.heap, (self.now_us, self.made, slot, deadline))
        slot.deferred.clear()
        for link in self.links.values():
            if link.receiver == slot.number:
                link.trouble &= ~STOPPED
                if not link.is_held:
                    self._pay(link, self.now_us)

    # -- how -------------------------------------------------------------------------------------------------

    def _report(self) -> None:
        if self.listener is not None:
            told = self.told[:]
            self.told.clear()
            self.listener(told)

    def add(self, number: int, name: str, kind: str, state: Any) -> Slot:
        node = self.design.kinds[kind][1](state)
        slot = (
            AheadSlot(self, number, name, kind, node)
            if self.design.ahead_us
            else Slot(self, number, name, kind, node)
        )
        self.slots[name] = self.by_number[number] = slot
        return slot

    def _remove(self, slot: Slot) -> None:
        del self.slots[slot.name], self.by_number[slot.number]
        slot.deadlines.clear()
        self._mark(slot, GONE)
        for link in slot.links.values():
            self._drop_if_dead(link)
