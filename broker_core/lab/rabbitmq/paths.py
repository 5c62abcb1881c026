"""Where the last messages of a lane went, step by step, also of those that have gone: a ring of the workload's, and one
of those that people published, which a fast workload does not push out.

    published ─► queues ─► delivered ─► ack
                   │            └─► requeue ─► delivered again ...
                   └─► died (why) ─► dead letter exchange ─► queues ...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from broker_core.events import Json
from broker_core.lab.messages import FIRST_SENT
from broker_core.rabbitmq.restart import LOST

MESSAGES_KEPT, SENT_KEPT = 32, 16
FIRST_STEPS, LAST_STEPS = 4, 16
PUBLISHED, REFUSED, RETURNED, DELIVERED = "published", "refused", "returned", "delivered"
GIVEN_BACK, DIED, DROPPED, LEFT_OUT = "given_back", "died", "dropped", "left_out"
ROUTED = ("vhost", "exchange", "routing_keys", "headers", "changes")
FIELDS: dict[str, tuple[str, ...]] = {
    PUBLISHED: ("program", *ROUTED, "queues"),
    RETURNED: ("program",),
    REFUSED: ("queue",),
    DELIVERED: ("program", "queue", "redelivered", "needs_ack"),
    "ack": ("program", "queue"),
    "requeue": ("program", "queue"),
    "discard": ("program", "queue"),
    GIVEN_BACK: ("program", "queue", "rule"),
    DIED: ("queue", "reason", *ROUTED, "queues"),
    DROPPED: ("queue", "reason"),
    LEFT_OUT: ("count",),
}
"""Kind of a step -> what it says beside when it was."""
SETTLED = ("ack", "requeue", "discard")


Step = tuple[Any, ...]
"""When it was, its kind, and what FIELDS says of it."""


@dataclass(slots=True)
class Paths:
    """records, sent: message -> its steps, the first few and the last ones; the message published last at the end.
    newest: of both, -1 for none."""

    records: dict[int, list[Step]] = field(default_factory=dict)
    sent: dict[int, list[Step]] = field(default_factory=dict)
    newest: int = -1

    def of(self, message: int) -> list[Step] | None:
        return (self.records if message < FIRST_SENT else self.sent).get(message)

    def published(self, message: int, step: Step) -> None:
        """One that is published again goes on with its path."""
        ring, kept = (self.records, MESSAGES_KEPT) if message < FIRST_SENT else (self.sent, SENT_KEPT)
        steps = ring.pop(message, None)
        if steps is None:
            ring[message] = [step]
        else:
            ring[message] = steps
            go_on(steps, step)
        self.newest = message
        if len(ring) > kept:
            del ring[next(iter(ring))]

    def lost(self, messages: Iterable[int], queue: str, now_us: int) -> None:
        """A restart of the server did not bring them back."""
        for message in messages:
            steps = self.of(message)
            if steps is not None:
                go_on(steps, (now_us, DROPPED, queue, LOST))

    def view(self) -> Json:
        """of: by message."""
        rings = (*self.records.items(), *self.sent.items())
        return {
            "newest": self.newest,
            "of": {str(message): {"steps": shown(steps)} for message, steps in rings},
        }


def go_on(steps: list[Step], step: Step) -> None:
    """Where there are too many, one step says how many it stands for, between the first and the last ones."""
    steps.append(step)
    if len(steps) > FIRST_STEPS + 1 + LAST_STEPS:
        at_us, kind, *facts = steps[FIRST_STEPS]
        so_far = facts[0] if kind == LEFT_OUT else 1
        steps[FIRST_STEPS : FIRST_STEPS + 2] = [(at_us, LEFT_OUT, so_far + 1)]


def shown(steps: list[Step]) -> list[Json]:
    return [
        {"at_us": at_us, "kind": kind, **dict(zip(FIELDS[kind], facts, strict=True))}
        for at_us, kind, *facts in steps
    ]
