"""What comes of a fault later, and not by the server itself: it may be down. A node that has nothing but deadlines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from broker_core.serve.faults.book import Faults
from broker_core.sim.node import Outbox


class Remind(msgspec.Struct, frozen=True, tag="serve.fault.remind", array_like=True):
    """number: of the fault. after_us: 0 or more from now."""

    number: int
    after_us: int


@dataclass(slots=True)
class TimerState:
    """Its deadlines are all that it has."""


class Timer:
    def __init__(self, state: TimerState, faults: Faults) -> None:
        self.state, self.faults = state, faults

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        out.deadline(str(message.number), now_us + message.after_us)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        self.faults.ended.append(int(name))
        out.tell("serve.fault.ends", None, {}, {"fault": int(name)})
