"""When partitions of the Kafka lane are read by nobody, and how long: turning points at the first and the last of them, and the bill's figure.

A partition is paused from the revoke (or the crash, or the leave) of its reader until a program that is alive is assigned it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broker_core.events import Cause

if TYPE_CHECKING:
    from broker_core.lab.lanes.lane import Lane


@dataclass(slots=True)
class KafkaNotes:
    """What the observers of a Kafka lane remember. high_read: of each partition, the next offset that nobody has read yet; redelivered:
    records read a second time. read: partitions that somebody read when the observer last looked; paused_us: partition -> since when
    nobody reads it."""

    high_read: list[int]
    redelivered: int = 0
    read: list[int] = field(default_factory=list)
    paused_us: dict[int, int] = field(default_factory=dict)

    def fold_pause(self, lane: Lane, readers: Collection[int], given_to_silent: Collection[int], cause: Cause, rule: str | None) -> None:
        """Who reads what may have changed. readers: partitions that somebody reads now; given_to_silent: those just assigned to a program
        that will never read them. cause, rule: of the change."""
        was_paused, bill = bool(self.paused_us), lane.bill
        for number in [number for number in self.paused_us if number in readers]:
            since_us = self.paused_us.pop(number)
            if bill is not None:
                bill.note_pause(since_us, lane.now_us)
        for number in (*self.read, *given_to_silent):
            if number not in readers:
                self.paused_us.setdefault(number, lane.now_us)
        self.read = sorted(readers)
        paused = len(self.paused_us)
        if paused and not was_paused:
            lane.emit("kafka.group.partitions_paused", cause, rule, {}, {"partitions": paused})
        if bill is not None:
            bill.partitions_stopped = max(bill.partitions_stopped, paused)
            if was_paused and not paused:
                lane.emit("kafka.group.partitions_resumed", cause, None, {}, bill.pause_facts())
