"""Streams to a broker that only writes a message down when it arrives: several are written in one step, each
as of its own moment.

    Stream      one step a message: arrive ─► receive
    Written     one step for all that arrive before the next event of the world, or until something follows from one (who waited is answered)

Observed state always equals that of delivering each message in its own step. On an impaired link, each
message is delivered in its own step again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from broker_core.sim.stream import Stream

if TYPE_CHECKING:
    from broker_core.sim.slot import Slot


class Write(Protocol):
    """What `publish` and the receivers' `receive` do with some messages, without making any."""

    def __call__(
        self, number: int, keys: Sequence[int], times: Sequence[int], place: int, until_us: int
    ) -> int:
        """Write the messages from `place` on that arrive before `until_us`, or fewer: it ends after one from
        which something follows. Returns the place of the next one. number: of the message at place 0. The
        link's `last_us` is that of the last message on it."""
        ...


class Written(Stream):
    """is_plain: a link is impaired."""

    def __init__(self, sender: Slot, publish: Callable[[int, int], tuple[int, Any]], write: Write) -> None:
        super().__init__(sender, publish)
        self.write = write
        self.is_plain = False

    def plan(self, sent: Sequence[int], keys: Sequence[int], number: int) -> None:
        super().plan(sent, keys, number)
        self.is_plain = any(link.trouble or link.to is None for link in self.sender.links.values())

    def arrive(self, place: int, until_us: int) -> None:
        if self.is_plain:
            super().arrive(place, until_us)
            return
        heap, limit_us = self.sender.world.heap, until_us + 1
        if heap and heap[0][0] < limit_us:
            limit_us = heap[0][
                0
                # what is due in the same microsecond goes before an arrival; the one at this place has waited
                # for it
            ]
        self.place = self.write(self.number, self.keys, self.times, place, limit_us)
