"""Arrivals: what happens to a world from outside at moments known beforehand; and a stream, the messages that
a publisher is given to send.

A publisher does no more than send on what its application hands it. So a message of a stream is made when it
arrives at its receiver, one network delay after it was sent, and costs the world one step instead of two and
a turn through the heap. Whenever there may be a look at what is on its way (a turning point, a step of the
publisher itself, the end of a stretch), `catch_up` puts what has been sent by then on its link, from where it
arrives at the same moment. Nothing else differs: links have their faults, and no message overtakes another
one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from heapq import heappush
from itertools import accumulate, cycle
from operator import add
from typing import Any

from broker_core.sim.network import JITTER_COUNT, JITTER_MASK
from broker_core.sim.slot import Slot

AFTER_ALL = 1 << 60
"""In the order of making, what arrives of a stream comes after all else that is due in the same microsecond,
as every arrival does."""


class Arrivals:
    """times: ascending moments. place: of the next one. arrive(place, until_us): what happens then; and up to
    `until_us` at as many after it as come before anything else is due, and until somebody tells something."""

    def __init__(self, times: Sequence[int] = (), arrive: Callable[[int], None] | None = None) -> None:
        self.times = times
        self.place = 0
        self.act = arrive

    def arrive(self, place: int, until_us: int) -> None:
        self.place = place + 1
        if self.act is not None:
            self.act(place)


class Stream(Arrivals):
    """A publisher's messages. Its times are those at which they reach their receivers.

    sender: the publisher's slot. publish(number, key): what the publisher does when the application hands it
    a message; gives the connection and the message that it sends, 0 for none: it keeps the message, or loses it.
    number: of the first message of the plan.
    """

    def __init__(self, sender: Slot, publish: Callable[[int, int], tuple[int, Any]]) -> None:
        super().__init__()
        self.sender, self.world, self.publish = sender, sender.world, publish
        self.sent: Sequence[int] = ()
        self.keys: Sequence[int] = ()
        self.number = 0
        self.late: tuple[int, array[int]] = (
            -1,
            array("q"),
        )  # a delay, and the table of jitter on top of it, twice
        sender.stream = self  # which the world asks before and after each step of the publisher

    def plan(self, sent: Sequence[int], keys: Sequence[int], number: int) -> None:
        """These messages come next, all those before have been put on their way. sent: when each is handed to
        the publisher, ascending;
        keys: of each; number: of the first, from which its jitter follows."""
        links = list(self.sender.links.values())
        delay_us = max((link.delay_us for link in links), default=self.sender.world.design.delay_us)
        last_us = max((link.last_us for link in links), default=0)
        if delay_us != self.late[0]:
            self.late = (
                delay_us,
                array("q", [delay_us + late_us for late_us in self.sender.world.jitter]) * 2,
            )
        first = number & JITTER_MASK
        times = list(map(add, sent, cycle(self.late[1][first : first + min(len(sent), JITTER_COUNT)])))
        if times and (times[0] < last_us or sorted(times) != times):  # no message overtakes another one
            times = list(accumulate(times, max, initial=last_us))[1:]
        self.sent, self.keys, self.times, self.number, self.place = sent, keys, times, number, 0

    def keep_order(self) -> None:
        """The publisher has sent something itself: what it is given from now on arrives after that."""
        last_us, times = max((link.last_us for link in self.sender.links.values()), default=0), self.times
        place = self.place
        while place < len(times) and times[place] < last_us:
            times[place] = last_us  # type: ignore[index]  # a list, once there is a plan
            place += 1

    def arrive(self, place: int, until_us: int) -> None:
        """Messages reach their receivers; they were not put on their way before."""
        keys, times, number, world = self.keys, self.times, self.number, self.world
        while True:
            self.place = place + 1
            if not self.receive(number + place, keys[place]):
                return
            place = self.place
            if place == len(times) or world.told:
                return
            at_us = times[place]
            heap = world.heap
            if at_us > until_us or (heap and heap[0][0] <= at_us):
                return
            world.now_us, world.cause = at_us, None

    def receive(self, number: int, key: int) -> bool:
        """The receiver is given a message. False: it is lost, or has to wait."""
        connection, message = self.publish(number, key)
        if not connection:
            return True
        world, link = self.world, self.sender.links[connection]
        link.last_us = world.now_us
        if link.trouble:
            link.queue.append((message, None))
            if not world.arrives(link):
                return False
            message, world.cause = link.queue.popleft()
        receiver = link.to
        receiver.receive(connection, message, world.now_us, receiver)  # type: ignore[union-attr]  # without a receiver it is GONE
        return True

    def catch_up(self, until_us: int) -> None:
        """Put on its way what was sent before `until_us`."""
        for place in range(self.place, bisect_left(self.sent, until_us, self.place)):
            self.post(place)

    def post(self, place: int) -> None:
        """Put the message at this place on its way."""
        self.place = place + 1
        connection, message = self.publish(self.number + place, self.keys[place])
        if not connection:
            return
        link, at_us = self.sender.links[connection], self.times[place]
        link.queue.append((message, None))
        link.last_us = at_us
        heappush(self.sender.world.heap, (at_us, AFTER_ALL + self.number + place, link, ""))


class Handed(Arrivals):
    """Messages that a publisher does not send on at once: its application hands each one over at its time,
    and when it travels is the publisher's own matter."""

    def __init__(self, hand_over: Callable[[int, int], object]) -> None:
        """hand_over(number, key): the publisher takes it."""
        super().__init__()
        self.hand_over = hand_over
        self.keys: Sequence[int] = ()
        self.number = 0

    def plan(self, sent: Sequence[int], keys: Sequence[int], number: int) -> None:
        """These come next: when each is handed over, its key, and the number of the first."""
        self.times, self.keys, self.number, self.place = sent, keys, number, 0

    def arrive(self, place: int, until_us: int) -> None:
        self.post(place)

    def post(self, place: int) -> None:
        self.place = place + 1
        self.hand_over(self.number + place, self.keys[place])

    def catch_up(self, until_us: int) -> None:
        """Nothing is on its way."""
