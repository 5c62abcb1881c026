"""What the programs of a lane do with messages, counted while it passes: who works, how fast, and what was
finished in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from broker_core.clock import SECOND_US
from broker_core.lab.consumer import Consumer

BUCKETS_KEPT_S = 10


class Watch(Protocol):
    """Who wants to see each message of a lane, in headless runs; it changes nothing, but for the order of
    what is due in one microsecond: a watched program goes step by step. programs: by their nodes' names."""

    def arrived(self, message: int, code: int, would_wait: bool) -> None:
        """A message is published."""
        ...

    def received(self, program: str, message: int, now_us: int) -> None:
        """It has reached the client of a program that is alive."""
        ...

    def handled(self, program: str, message: int, now_us: int) -> None:
        """The program is done with it."""
        ...

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """The program releases the message in hand."""
        ...

    def let_go(self, program: str, now_us: int) -> None:
        """The program is gone, with everything that it had."""
        ...

    def stopped(self, units: Mapping[str, int], now_us: int) -> None:
        """These partitions and no others are read by nobody from now on; each with since when."""
        ...


class Unwatched:
    """A watch of some of it: what is not taken over is not seen."""

    def arrived(self, message: int, code: int, would_wait: bool) -> None: ...
    def received(self, program: str, message: int, now_us: int) -> None: ...
    def handled(self, program: str, message: int, now_us: int) -> None: ...
    def dropped(self, program: str, message: int, now_us: int) -> None: ...
    def let_go(self, program: str, now_us: int) -> None: ...
    def stopped(self, units: Mapping[str, int], now_us: int) -> None: ...


@dataclass(slots=True)
class LaneTraffic:
    """watch: sees it too, None for nobody. by_node: node of a program's present life -> its consumer.
    finished: (when, message) of those handled since `put_in_order`; in_order: the messages before those,
    since `take_finished`. done: node -> how many of them it handled since the last `fold` in this second,
    which `ends_us` ends on the nodes' clocks; after: and later. second: of the lab's clock, which the nodes'
    are ahead of by `ahead_us`."""

    watch: Watch | None = None
    by_node: dict[str, Consumer] = field(default_factory=dict)
    finished: list[tuple[int, int]] = field(default_factory=list)
    in_order: list[int] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    second: int = 0
    ends_us: int = SECOND_US
    ahead_us: int = 0

    def begin(self, now_us: int, ahead_us: int) -> None:
        """Set the current time."""
        self.ahead_us = ahead_us
        self._enter(now_us // SECOND_US)

    def _enter(self, second: int) -> None:
        self.second, self.ends_us = second, (second + 1) * SECOND_US + self.ahead_us

    def received(self, program: str, message: int, now_us: int) -> None:
        if self.watch is not None:
            self.watch.received(program, message, now_us)

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.finished.append((now_us, message))
        done = self.done if now_us < self.ends_us else self.after
        done[program] = done.get(program, 0) + 1
        if self.watch is not None:
            self.watch.handled(program, message, now_us)

    def take_finished(self) -> list[int]:
        """Messages handled since the last call, in the order in which programs finished them; of one moment,
        by their numbers."""
        self.put_in_order()
        finished, self.in_order = self.in_order, []
        return finished

    def put_in_order(self) -> None:
        """Nothing will be handled any more before this moment or at it."""
        finished = self.finished
        if finished:
            finished.sort()
            self.in_order += [message for _, message in finished]
            finished.clear()

    def fold(self, now_us: int) -> None:
        """What was handled until now is counted, each in its second. Asked at the end of each second at the
        latest."""
        if self.done:
            self._count()
        if now_us >= self.ends_us - self.ahead_us:
            self._enter(now_us // SECOND_US)
            self.done, self.after = self.after, self.done
            if self.done:
                self._count()

    def _count(self) -> None:
        second = self.second
        for program, count in self.done.items():
            consumer = self.by_node.get(program)
            if consumer is not None:
                acked = consumer.acked
                acked[second] = acked.get(second, 0) + count
                if len(acked) > BUCKETS_KEPT_S:
                    while (oldest := next(iter(acked))) < second - BUCKETS_KEPT_S:
                        del acked[oldest]
        self.done.clear()

    def dropped(self, program: str, message: int, now_us: int) -> None:
        if self.watch is not None:
            self.watch.dropped(program, message, now_us)

    def let_go(self, program: str, now_us: int) -> None:
        """The program of this node is gone."""
        self.fold(now_us)
        self.by_node.pop(program, None)
        if self.watch is not None:
            self.watch.let_go(program, now_us)
