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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.held import Held
from broker_core.rng import SeededRandom
from broker_core.sim.arrivals import Arrivals
from broker_core.sim.network import (
    CLOSING,
    CUT,
    DEAF,
    DEFAULT_DELAY_US,
    FULL,
    GONE,
    STOPPED,
    Link,
    Route,
    due_us,
    jitter_table,
)
from broker_core.sim.node import PERSON, Closed, Node, Opened
from broker_core.sim.routes import follow_route
from broker_core.sim.slot import CRASHED, PAUSED, RUNNING, AheadSlot, Slot

NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Design:
    """What the worlds of one model are made of; it follows from the scenario, so a checkpoint does not hold
    it.

    kinds: kind of node -> (class of its state, what makes the node from one). messages: union of all structs
    that travel. delay_us, jitter_us: of a new link, one way; a message takes delay_us to delay_us +
    jitter_us. ahead_us: how far the nodes' clocks are ahead of the world's; a lab's processes start before
    its time 0, and the clocks of a node that counts from 1970 are never negative.
    """

    kinds: Mapping[str, tuple[type, Callable[[Any], Node]]]
    messages: Any
    delay_us: int = DEFAULT_DELAY_US
    jitter_us: int = 0
    ahead_us: int = 0


@dataclass(eq=False, repr=False)
class Counters:
    """What a world counts. made: messages and deadlines so far, which orders those of one moment. told_count:
    turning points. last_node, last_connection, last_link: numbers, none of which is given twice."""

    now_us: int = 0
    made: int = 0
    told_count: int = 0
    last_node: int = 0
    last_connection: int = 0
    last_link: int = 0


class World(Counters):
    """One world. name: in the ids of its turning points. told: turning points that nobody has taken yet.
    of_connection: its links, two or (while a reset is on its way) more.

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
        super().__init__()
        self.name = name
        self.listener, self.witness = listener, witness
        self.design = design
        self.random = SeededRandom(seed)
        self.jitter = jitter_table(self.random, design.jitter_us)
        self.heap: list[tuple[int, int, Any, str]] = []  # the third is a link, or with a name a slot
        self.slots: dict[str, Slot] = {}
        self.by_number: dict[int, Slot] = {}
        self.links: dict[int, Link] = {}
        self.of_connection: dict[int, list[Link]] = {}
        self.routes: dict[tuple[str, str], Route] = {}
        self.cause: Cause | None = None
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

    # -- network ---------------------------------------------------------------------------------------------

    def connect(self, slot: Slot, to: str) -> int:
        """Open a connection from a node to another; see `node.Outbox.connect`. To a name without a process,
        it opens and stays silent; one whose process was killed resets it."""
        peer = self.slots.get(to)
        number = 0 if peer is None else peer.number
        self.last_connection += 1
        connection = self.last_connection
        there = self._link(connection, slot.number, number)
        back = self._link(connection, number, slot.number)
        slot.links[connection] = there
        if peer is not None:
            peer.links[connection] = back
        slot.send(connection, Opened(slot.name))
        return connection

    def connection(self, one: str, other: str) -> int | None:
        """The newest open connection between two nodes, None if there is none."""
        numbers = {self._known(one).number, self._known(other).number}
        found = [
            link.connection
            for link in self.links.values()
            if {link.sender, link.receiver} == numbers and self._is_open(link)
        ]
        return max(found, default=None)

    def set_delay(self, connection: int, delay_us: int) -> None:
        """From now on a message takes this long, each way. What is under way keeps its time."""
        for link in self._both(connection):
            link.delay_us = delay_us

    def cut(self, connection: int, sender: str | None = None, cause: Cause | None = None) -> None:
        """Nothing is delivered any more: both ways, or only what `sender` sends. Raises CommandError if it is
        cut already."""
        links = self._ways(connection, sender)
        if all(link.trouble & CUT for link in links):
            raise CommandError("link", "the link is cut already")
        for link in links:
            link.trouble |= CUT
            link.cut_by = cause

    def heal(self, connection: int) -> None:
        """What was held is on its way again, in its order. Raises CommandError if nothing was cut."""
        links = self._both(connection)
        if not any(link.trouble & CUT for link in links):
            raise CommandError("link", "the link is not cut")
        for link in links:
            link.trouble &= ~CUT
            link.cut_by = None
            self.release(link)

    def fill(self, connection: int, sender: str, full: bool) -> None:
        """The receiver's buffer is full (or has room again): what `sender` sends waits on its side."""
        for link in self._ways(connection, sender):
            link.trouble = link.trouble | FULL if full else link.trouble & ~FULL
            self.release(link)

    def reset(self, connection: int, cause: Cause | None = None) -> None:
        """The connection breaks: what is under way is lost, and both ends receive Closed("reset") after the
        link's delay.

        An end that is closed already learns nothing more. Raises CommandError if there is nothing left to
        break.
        """
        links = [link for link in self._both(connection) if self._is_open(link)]
        if not links:
            raise CommandError("link", "there is no such connection")
        for link in links:
            link.trouble = DEAF
            if any(type(message) is Opened for message, _ in link.queue):
                continue  # the receiver never knew of the connection
            last = self._link(connection, link.sender, link.receiver)
            last.delay_us = link.delay_us
            last.trouble |= CLOSING
            last.queue.append((Closed("reset"), cause))
            self.made += 1
            heappush(self.heap, (due_us(last, self.now_us, self.jitter), self.made, last, ""))

    def stop_hearing(self, sending: Link) -> None:
        """The sender of this link has closed its end: what its peer has under way to it, or sends from now
        on, is lost."""
        for link in self._both(sending.connection):
            if link is not sending:
                link.trouble |= DEAF
                self._drop_if_dead(link)

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

    def _reset_all(self, slot: Slot, cause: Cause | None) -> None:
        for connection in list(slot.links):
            self._reset_if_open(connection, cause)

    def _reset_if_open(self, connection: int, cause: Cause | None) -> None:
        if any(self._is_open(link) for link in self._both(connection)):
            self.reset(connection, cause)

    def _remove(self, slot: Slot) -> None:
        del self.slots[slot.name], self.by_number[slot.number]
        slot.deadlines.clear()
        self._mark(slot, GONE)
        for link in slot.links.values():
            self._drop_if_dead(link)

    def _link(self, connection: int, sender: int, receiver: int) -> Link:
        self.last_link += 1
        link = self.links[self.last_link] = Link(
            self.last_link, connection, sender, receiver, self.design.delay_us, self.now_us
        )
        self.of_connection.setdefault(connection, []).append(link)
        link.to = self.by_number.get(receiver)
        if link.to is None or link.to.condition == CRASHED:
            link.trouble = GONE
        elif link.to.condition == PAUSED:
            link.trouble = STOPPED
        if self.routes:
            follow_route(self, link)
        return link

    def _mark(self, slot: Slot, trouble: int) -> None:
        """Set this condition on all links to a process; on those whose end it has closed nothing arrives
        anyway."""
        for connection in slot.links:
            for link in self.of_connection[connection]:
                if link.receiver == slot.number:
                    link.trouble |= trouble

    def arrives(self, link: Link) -> bool:
        """A ticket came due on an impaired link. False: it is owed, as its message will be delivered one day,
        or the message is lost."""
        trouble = link.trouble
        if trouble & (CUT | FULL) or (trouble & STOPPED and not trouble & (DEAF | GONE)):
            link.owed += 1
            return False
        is_last = trouble & CLOSING and len(link.queue) == 1
        if is_last:
            self._end(link)
        if trouble & (DEAF | GONE):
            link.queue.popleft()
            if not trouble & DEAF and link.to is not None and link.to.has_machine:
                self._reset_if_open(link.connection, link.to.silenced_by)
            return False
        if is_last and link.to is not None:
            back = link.to.links.pop(link.connection, None)
            if back is not None:
                self._end(back)
        return True

    def _drop_if_dead(self, link: Link) -> None:
        """A link to a closed end, whose sender is no more, never carries anything again."""
        if link.trouble & DEAF and link.sender not in self.by_number and not link.queue:
            self._end(link)

    def _end(self, link: Link) -> None:
        """This link carries nothing any more."""
        if self.links.pop(link.number, None) is not None:
            others = self.of_connection[link.connection]
            others.remove(link)
            if not others:
                del self.of_connection[link.connection]

    def release(self, link: Link) -> None:
        if link.is_held:
            return
        if not link.trouble & STOPPED:
            self._pay(link, self.now_us + link.delay_us)

    def _pay(self, link: Link, at_us: int) -> None:
        for _ in range(link.owed):
            self.made += 1
            heappush(self.heap, (at_us, self.made, link, ""))
        link.owed = 0
        link.last_us = max(link.last_us, at_us)

    def _known(self, name: str) -> Slot:
        try:
            return self.slots[name]
        except KeyError:
            raise CommandError("node", "there is no {name}", name=name) from None

    def _running(self, name: str) -> Slot:
        slot = self._known(name)
        if slot.condition != RUNNING:
            raise CommandError("node", "{name} is {condition}", name=name, condition=slot.condition)
        return slot

    def _is_open(self, link: Link) -> bool:
        return not link.trouble & (DEAF | CLOSING)

    def under_way(self, link: Link) -> list[tuple[object, int]]:
        """(message, when it arrives) in the order of sending, for whoever says beforehand what will follow
        from it; of a link that is held those before the fault only."""
        tickets = sorted(entry[:2] for entry in self.heap if entry[2] is link)
        return [(message, at_us) for (message, _), (at_us, _) in zip(link.queue, tickets, strict=False)]

    def _both(self, connection: int) -> list[Link]:
        return self.of_connection.get(connection, [])[:]

    def _ways(self, connection: int, sender: str | None) -> list[Link]:
        links = self._both(connection)
        if sender is not None:
            number = self._known(sender).number
            links = [link for link in links if link.sender == number]
        if not links:
            raise CommandError("link", "there is no such connection")
        return links
