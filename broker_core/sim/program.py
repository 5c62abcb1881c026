"""What every consuming program does, whichever broker it talks to: it handles one message at a time, each for
a fixed time.

A client node holds a `Program` in its state and asks it; how messages reach the program and how they are
acknowledged is the client's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from broker_core.events import Cause
from broker_core.sim.node import Outbox

DONE = "done"
"""Name of the deadline at which the message in hand is handled."""


class Pause(msgspec.Struct, frozen=True, tag="program.pause", array_like=True):
    """A person stops the program from taking messages; the one in hand is still handled, and the client
    library lives on."""


class Resume(msgspec.Struct, frozen=True, tag="program.resume", array_like=True):
    """It takes messages again."""


class Pace(msgspec.Struct, frozen=True, tag="program.pace", array_like=True):
    """From the next message on, each takes `service_us`."""

    service_us: int


class Leave(msgspec.Struct, frozen=True, tag="program.leave", array_like=True):
    """The program ends in order: it releases what it has and closes its connections."""


Order = Pause | Resume | Pace | Leave


class Traffic(Protocol):
    """Who counts messages while they pass; it changes nothing."""

    def received(self, program: str, message: int, now_us: int) -> None:
        """A message has reached the client of a program."""
        ...

    def handled(self, program: str, message: int, now_us: int) -> None:
        """A program is done with a message."""
        ...

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """It releases a message unhandled, in hand or still waiting in its client."""
        ...


@dataclass(slots=True)
class Program:
    """One consuming program."""

    service_us: int  # time that one message takes
    is_paused: bool = False
    hand: int = -1  # the message that it works on, -1 for none
    finished: int = 0  # how many it has handled
    done_us: int = 0  # when the one in hand is handled
    because: Cause = field(default_factory=Cause)  # what the first message since it idled followed from

    @property
    def is_free(self) -> bool:
        """Whether it would take a message now."""
        return self.hand < 0 and not self.is_paused

    def take(self, message: int, now_us: int, out: Outbox) -> None:
        """Begin to handle a message; the node wakes with DONE when it is handled."""
        self.hand = message
        self.done_us = now_us + self.service_us
        out.deadline(DONE, self.done_us)

    def done(self, now_us: int, out: Outbox, traffic: Traffic) -> int:
        """The message in hand is handled. Returns it."""
        message, self.hand = self.hand, -1
        self.finished += 1
        traffic.handled(out.name, message, now_us)
        return message

    def drop(self, now_us: int, out: Outbox, traffic: Traffic) -> None:
        """Let go of the message in hand, if there is one."""
        if self.hand >= 0:
            traffic.dropped(out.name, self.hand, now_us)
            self.hand = -1
            out.cancel(DONE)

    def obey(self, order: Pause | Resume | Pace) -> None:
        """A person's order about the program itself."""
        match order:
            case Pause():
                self.is_paused = True
            case Resume():
                self.is_paused = False
            case Pace(service_us):
                self.service_us = service_us
