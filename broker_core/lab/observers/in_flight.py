"""What the programs of a lane do with messages, counted while it passes: who works, how fast, and what was finished in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from broker_core.clock import SECOND_US
from broker_core.lab.consumer import Consumer

BUCKETS_KEPT_S = 10


class Watch(Protocol):
    """Who wants to see each message of a lane, in headless runs; it changes nothing. programs: by their nodes' names."""

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


@dataclass(slots=True)
class LaneTraffic:
    """watch: sees it too, None for nobody. by_node: node of a program's present life -> its consumer. finished: (when, message) of those
    handled since `take_finished`. done: node -> how many of them it handled since the last `fold`."""

    watch: Watch | None = None
    by_node: dict[str, Consumer] = field(default_factory=dict)
    finished: list[tuple[int, int]] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    is_watched: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_watched = self.watch is not None

    def received(self, program: str, message: int, now_us: int) -> None:
        if self.watch is not None:
            self.watch.received(program, message, now_us)

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.finished.append((now_us, message))
        done = self.done
        done[program] = done.get(program, 0) + 1
        if self.watch is not None:
            self.watch.handled(program, message, now_us)

    def handled_quietly(self, program: str, messages: Sequence[tuple[int, int]]) -> None:
        """As `handled`; a program of which each message is watched is never quiet."""
        self.finished += messages
        done = self.done
        done[program] = done.get(program, 0) + len(messages)

    def take_finished(self) -> list[int]:
        """Messages handled since the last call, in the order in which programs finished them; of one moment, by their numbers."""
        self.finished.sort()
        finished = [message for _, message in self.finished]
        self.finished.clear()
        return finished

    def fold(self, second: int) -> None:
        """What was handled since the last call was handled in this second."""
        for program, count in self.done.items():
            consumer = self.by_node.get(program)
            if consumer is not None:
                acked = consumer.acked
                acked[second] = acked.get(second, 0) + count
                if len(acked) > BUCKETS_KEPT_S:
                    for old in [s for s in acked if s < second - BUCKETS_KEPT_S]:
                        del acked[old]
        self.done.clear()

    def dropped(self, program: str, message: int, now_us: int) -> None:
        if self.watch is not None:
            self.watch.dropped(program, message, now_us)

    def let_go(self, program: str, now_us: int) -> None:
        """The program of this node is gone."""
        self.fold(now_us // SECOND_US)
        self.by_node.pop(program, None)
        if self.watch is not None:
            self.watch.let_go(program, now_us)
