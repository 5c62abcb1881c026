"""When partitions of the Kafka lane are read by nobody, and how long: turning points at the first and the
last of them, and the bill's figure.

A partition is paused from the revoke (or the crash, or the leave) of its reader until a program that is alive
is assigned it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broker_core.events import Cause

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


@dataclass(slots=True)
class KafkaNotes:
    """What the observers of a Kafka lane remember. high_read: of each partition, the next offset that nobody
    has read yet; redelivered: records read a second time. readers: partition -> name of the program that
    reads it now. paused_us: partition that somebody read, or was to read, and nobody does -> since when.
    dark_us: of all such spans that are over, the sum over partitions; dark_most: how many partitions were
    dark at once at most. moved: how often a partition got another reader than the one before, who is in
    last_readers;
    last_since_us: since when that one is its reader, whatever pauses came between."""

    high_read: list[int]
    redelivered: int = 0
    readers: dict[int, str] = field(default_factory=dict)
    paused_us: dict[int, int] = field(default_factory=dict)
    dark_us: int = 0
    dark_most: int = 0
    moved: int = 0
    last_readers: dict[int, str] = field(default_factory=dict)
    last_since_us: dict[int, int] = field(default_factory=dict)

    def note_read(self, number: int, offset: int) -> None:
        """A program takes the record at this offset."""
        self.note_reads(number, offset, offset + 1)

    def note_reads(self, number: int, offset: int, end: int) -> None:
        """A program takes the records from one offset to another, which is excluded."""
        while number >= len(self.high_read):  # the topic has grown
            self.high_read.append(0)
        high = self.high_read[number]
        if offset < high:
            self.redelivered += min(end, high) - offset
        if end > high:
            self.high_read[number] = end

    def stop(self, lane: Lane, numbers: Iterable[int], cause: Cause, rule: str | None) -> None:
        """Nobody reads these partitions from here on. cause, rule: why."""
        was_paused = bool(self.paused_us)
        for number in numbers:
            self.readers.pop(number, None)
            self.paused_us.setdefault(number, lane.now_us)
        paused, bill = len(self.paused_us), lane.ledger.kept_bill
        self.dark_most = max(self.dark_most, paused)
        if paused and not was_paused:
            lane.emit("kafka.group.partitions_paused", cause, rule, {}, {"partitions": paused})
        if bill is not None:
            bill.partitions_stopped = max(bill.partitions_stopped, paused)

    def resume(self, lane: Lane, name: str, numbers: Iterable[int], cause: Cause) -> None:
        """This program reads these partitions from here on."""
        was_paused, bill = bool(self.paused_us), lane.ledger.kept_bill
        for number in numbers:
            self.readers[number] = name
            self.moved += self.last_readers.get(number, name) != name
            if self.last_readers.get(number) != name:
                self.last_readers[number], self.last_since_us[number] = name, lane.now_us
            since_us = self.paused_us.pop(number, None)
            if since_us is not None:
                self.dark_us += lane.now_us - since_us
                if bill is not None:
                    bill.note_pause(since_us, lane.now_us)
        if was_paused and not self.paused_us and bill is not None:
            lane.emit("kafka.group.partitions_resumed", cause, None, {}, bill.pause_facts())
