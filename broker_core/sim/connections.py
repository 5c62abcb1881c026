"""The connections of a world: what is opened, slowed, cut, filled, reset, and what becomes of what is under way."""

from __future__ import annotations

from heapq import heappush
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.rng import SeededRandom
from broker_core.sim.design import Counters, Design
from broker_core.sim.network import (
    CLOSING,
    CUT,
    DEAF,
    FULL,
    GONE,
    STOPPED,
    Link,
    Route,
    due_us,
    jitter_table,
)
from broker_core.sim.node import Closed, Opened
from broker_core.sim.routes import follow_route
from broker_core.sim.slot import CRASHED, PAUSED, RUNNING, Slot


class Connections(Counters):
    """A world's links between its nodes' places, and the heap in which messages wait for their moment.
    of_connection: the links of a connection, two or (while a reset is on its way) more."""

    def __init__(self, design: Design, random: SeededRandom) -> None:
        super().__init__()
        self.design = design
        self.random = random
        self.jitter = jitter_table(random, design.jitter_us)
        self.heap: list[tuple[int, int, Any, str]] = []  # the third is a link, or with a name a slot
        self.slots: dict[str, Slot] = {}
        self.by_number: dict[int, Slot] = {}
        self.links: dict[int, Link] = {}
        self.of_connection: dict[int, list[Link]] = {}
        self.routes: dict[tuple[str, str], Route] = {}
        self.cause: Cause | None = None

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

    def _reset_all(self, slot: Slot, cause: Cause | None) -> None:
        for connection in list(slot.links):
            self._reset_if_open(connection, cause)

    def _reset_if_open(self, connection: int, cause: Cause | None) -> None:
        if any(self._is_open(link) for link in self._both(connection)):
            self.reset(connection, cause)

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
