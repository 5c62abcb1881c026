"""What can be promised of a lane: a number that it has at every moment, and how large it may become.

Each number is one that the lane's page shows, too; no rule is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.lab.shared.lane import Lane

COUNT, SECONDS = "count", "s"
ALL_MODELS = ("pulsar", "kafka", "tubemq", "rabbitmq")
QUEUE_MAX, PAUSE_S_MAX = 1_000_000, 3_600


@dataclass(frozen=True, slots=True)
class Kind:
    """measure: what must not become larger than promised. unit: of the promised number; "": it is 0."""

    measure: Callable[[Lane], int]
    models: Collection[str]
    unit: str = ""
    high: int = 0


@dataclass(frozen=True, slots=True)
class Promise:
    """at_most: what its kind measures; of a pause in microseconds."""

    kind: str
    at_most: int = 0

    def measure(self, lane: Lane) -> int:
        return KINDS[self.kind].measure(lane)

    def to_json(self) -> Json:
        """As `promise_from_json` takes it."""
        unit = KINDS[self.kind].unit
        if not unit:
            return {"kind": self.kind}
        return {"kind": self.kind, "at_most": self.at_most // (SECOND_US if unit == SECONDS else 1)}


def _lost(lane: Lane) -> int:
    return lane.reads.lost() or 0


def _out_of_order(lane: Lane) -> int:
    return lane.ledger.tally.order.count


def _paused_us(lane: Lane) -> int:
    """How long the partition that is paused longest has been so; without partitions, how long some of the keys, or
    the queue, have had no reader."""
    stopped = lane.reads.stopped()
    since_us = min(stopped.values(), default=lane.now_us) if stopped else lane.ledger.tally.darkness.began_us
    return 0 if since_us is None else lane.now_us - since_us


def _owned_twice(lane: Lane) -> int:
    return len(lane.reads.owned_twice())


def _lag(lane: Lane) -> int:
    return lane.reads.lag()


def _redelivered(lane: Lane) -> int:
    return lane.reads.redelivered()


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "nothing_lost": Kind(_lost, ("kafka",)),
        "key_order": Kind(_out_of_order, ALL_MODELS),
        "pause_at_most": Kind(_paused_us, ALL_MODELS, SECONDS, PAUSE_S_MAX),
        "one_owner": Kind(_owned_twice, ("kafka", "tubemq")),
        "queue_at_most": Kind(_lag, ALL_MODELS, COUNT, QUEUE_MAX),
        "nothing_redelivered": Kind(_redelivered, ALL_MODELS),
    }
)


def promises_of(model: str) -> list[str]:
    """The kinds of promises that can be made about a lane of this model."""
    return [name for name, kind in KINDS.items() if model in kind.models]


def promise_from_json(raw: object, model: str) -> Promise:
    """`{"kind", "at_most"?}`; a pause is in seconds. Raises CommandError at the field that is wrong, which begins
    with `promise`."""
    if not isinstance(raw, dict):
        raise CommandError("promise", "must be an object")
    refuse_unknown(raw, ("kind", "at_most"), "promise.", "promise")
    name = raw.get("kind")
    known = promises_of(model)
    if not isinstance(name, str) or name not in known:
        raise CommandError("promise.kind", "must be one of {choices}", choices=Names(known))
    kind = KINDS[name]
    if not kind.unit:
        if "at_most" in raw:
            raise CommandError("promise.at_most", "does not belong to {kind}: leave this out", kind=name)
        return Promise(name)
    at_most = whole("promise.at_most", raw.get("at_most"), 0, kind.high)
    return Promise(name, at_most * (SECOND_US if kind.unit == SECONDS else 1))
