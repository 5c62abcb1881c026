"""What comes of a fault later, and not by the server itself: it may be down. The faults are this node's state: it outlives
the server, and a checkpoint has them."""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.sim.node import Outbox
from broker_core.wire.faults.book import Faults


class Remind(msgspec.Struct, frozen=True, tag="serve.fault.remind", array_like=True):
    """number: of the fault. after_us: 0 or more from now."""

    number: int
    after_us: int


class Timer:
    def __init__(self, state: Faults) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        out.deadline(str(message.number), now_us + message.after_us)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        self.state.ended.append(int(name))
        out.tell("serve.fault.ends", None, {}, {"fault": int(name)})
