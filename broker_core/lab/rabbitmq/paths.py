"""Where the last messages of a lane went, step by step, also of those that have gone: a ring of the workload's, and two
that a fast workload does not push out: each program's first message of each second, and those that people published.

    published ─► queues ─► delivered ─► ack
                   │            └─► requeue ─► delivered again ...
                   └─► died (why) ─► dead letter exchange ─► queues ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.messages import FIRST_SENT
from broker_core.rabbitmq.restart import LOST

MESSAGES_KEPT, FIRSTS_KEPT, SENT_KEPT = 32, 48, 16
FIRST_STEPS, LAST_STEPS = 4, 16
PUBLISHED, REFUSED, RETURNED, DELIVERED = "published", "refused", "returned", "delivered"
GIVEN_BACK, DIED, DROPPED, LEFT_OUT = "given_back", "died", "dropped", "left_out"
ROUTED = ("vhost", "exchange", "routing_keys", "headers", "properties", "changes")
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
"""Kind of a step -> what it says beside when it was. properties: those that an exchange may hash, None where the message
has none of them."""


Step = tuple[Any, ...]
"""When it was, its kind, what FIELDS says of it, and of a real client's message the method behind it."""
_QUEUES = 2 + FIELDS[PUBLISHED].index("queues")


@dataclass(slots=True)
class Paths:
    """records, firsts, sent: message -> its steps, the first few and the last ones; the message published last at the
    end. firsts: of a program's first message of each second; they and those that people sent are followed longer.
    seconds: program -> of its last one there. newest: of those, -1 for none."""

    records: dict[int, list[Step]] = field(default_factory=dict)
    firsts: dict[int, list[Step]] = field(default_factory=dict)
    sent: dict[int, list[Step]] = field(default_factory=dict)
    seconds: dict[str, int] = field(default_factory=dict)
    newest: int = -1

    def of(self, message: int) -> list[Step] | None:
        if message >= FIRST_SENT:
            return self.sent.get(message)
        return self.records.get(message) or self.firsts.get(message)

    def ring_of(self, message: int, program: str, second: int) -> tuple[dict[int, list[Step]], int]:
        """Where its steps are kept, and how many messages are there."""
        if message >= FIRST_SENT:
            return self.sent, SENT_KEPT
        if message in self.firsts:
            return self.firsts, FIRSTS_KEPT
        if second > self.seconds.get(program, -1) and message not in self.records:
            self.seconds[program] = second
            return self.firsts, FIRSTS_KEPT
        return self.records, MESSAGES_KEPT

    def reached(self, message: int) -> bool | None:
        """Whether a message that was published came to a queue; None for one that is not kept."""
        steps = [step for step in self.of(message) or () if step[1] == PUBLISHED]
        return bool(steps[-1][_QUEUES]) if steps else None

    def published(self, message: int, step: Step) -> None:
        """One that is published again goes on with its path."""
        ring, kept = self.ring_of(message, step[2], step[0] // SECOND_US)
        steps = ring.pop(message, None)
        if steps is None:
            ring[message] = [step]
        else:
            ring[message] = steps
            go_on(steps, step)
        if ring is not self.records:
            self.newest = message
        if len(ring) > kept:
            del ring[next(iter(ring))]

    def lost(self, messages: Iterable[int], queue: str, now_us: int) -> None:
        """A restart of the server did not bring them back."""
        for message in messages:
            steps = self.of(message)
            if steps is not None:
                go_on(steps, (now_us, DROPPED, queue, LOST))

    def view(self, by_hand: Callable[[int], int]) -> Json:
        """of: by message. is_followed: it stays longer than the ones that come after it. by_hand: which one it is of those
        that people sent, from 1; 0 for the workload's."""
        rings = ((self.firsts, True), (self.sent, True), (self.records, False))
        return {
            "newest": self.newest,
            "of": {
                str(message): {"is_followed": is_followed, "by_hand": by_hand(message), "steps": shown(steps)}
                for ring, is_followed in rings
                for message, steps in ring.items()
            },
        }


def go_on(steps: list[Step], step: Step) -> None:
    """Where there are too many, one step says how many it stands for, between the first and the last ones."""
    steps.append(step)
    if len(steps) > FIRST_STEPS + 1 + LAST_STEPS:
        at_us, kind, *facts = steps[FIRST_STEPS]
        so_far = facts[0] if kind == LEFT_OUT else 1
        steps[FIRST_STEPS : FIRST_STEPS + 2] = [(at_us, LEFT_OUT, so_far + 1)]


def shown(steps: list[Step]) -> list[Json]:
    return [_shown(*step) for step in steps]


def _shown(at_us: int, kind: str, *facts: Any) -> Json:
    known = len(FIELDS[kind])
    told = dict(zip(FIELDS[kind], facts[:known], strict=True))
    return {"at_us": at_us, "kind": kind, **told, **({"method": facts[known]} if len(facts) > known else {})}
