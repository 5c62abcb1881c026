"""What a strategy is: a rule of sharing with its parameters, and the tables that tell who owns what after
each change.

    id        "kafka.range:partitions=24"
    family    "kafka.range"   hashes by murmur2   ──routes(steps)──►   a RouteTable for each step of the membership history

No rule is written here: a family runs the lab's own lane, and the tables are read off it (`headless.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.hashing.jump_hash import jump_hash
from broker_core.lab.fields import whole
from broker_core.lab.scenario import LaneSpec

NOBODY = -1
DEFAULT_SEED = 7
"""The lab's: Kafka's member ids, and with them the order of members, follow from the seed."""
DEFAULT_TOPIC = "flights"
"""The lab's: TubeMQ hashes "broker:topic:partition"."""

Int64s = NDArray[np.int64]
Owners = NDArray[np.int16]


class Step(Protocol):
    """What is asked of a step of the history; `members.Step` has it. The first step is the start: its members
    join at once."""

    @property
    def kind(self) -> str: ...
    @property
    def consumer(self) -> str | None: ...
    @property
    def members(self) -> tuple[str, ...]: ...
    @property
    def at(self) -> int | None: ...
    @property
    def down_s(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class SlotRule:
    """How a selector makes a slot of an unsigned 32-bit hash: masked, modulo (0: not taken), plus offset."""

    mask: int
    modulo: int = 0
    offset: int = 0

    def __call__(self, hash32: int) -> int:
        slot = hash32 & self.mask
        return (slot % self.modulo if self.modulo else slot) + self.offset


@dataclass(frozen=True, slots=True)
class RouteTable:
    """Who owns what after one step.

    kind: "ranges": slice i holds the slots (bounds[i-1], bounds[i]], what is above the last bound belongs to
    the first slice; "modulo": owners[partition], the partition is (hash & rule.mask) % len(owners); "buckets":
    owners[bucket], the bucket is that of the slot by jump consistent hash; "none":
    keys have no owner; with owners, records go to their partitions whatever their keys are.
    owners: index into names, -1 for nobody, -2 - k for the holders shared[k], who split the slots by slot %
    len(holders).
    names: everybody who has been there so far, in order of arrival. live: whom the broker still counts, in
    its order.
    units: names of the partitions, in order; empty for ranges. space_moved: share of the hash space that
    changed hands in this step in millionths, None where there is no space or no change. partitions_moved:
    likewise, as the lab's bill has them.
    """

    kind: str
    names: tuple[str, ...]
    live: tuple[str, ...]
    owners: Owners
    bounds: Int64s
    rule: SlotRule
    space: int = 0
    first_slot: int = 0
    shared: tuple[tuple[int, ...], ...] = ()
    units: tuple[str, ...] = ()
    space_moved: int | None = None
    partitions_moved: int | None = None

    def owner_of(self, hash32: int) -> str | None:
        """The owner of a key with this unsigned 32-bit hash: one look-up, for tests and single keys."""
        if self.kind == "none":
            return None
        slot = self.rule(hash32)
        if self.kind == "buckets":
            return self.names[self.owners[jump_hash(slot, len(self.owners))]] if len(self.owners) else None
        at = slot if self.kind == "modulo" else int(np.searchsorted(self.bounds, slot)) % len(self.bounds)
        owner = int(self.owners[at])
        if owner <= -2:
            holders = self.shared[-2 - owner]
            owner = holders[slot % len(holders)]
        return None if owner == NOBODY else self.names[owner]


@dataclass(frozen=True, slots=True)
class Param:
    """A whole number that a strategy takes."""

    name: str
    default: int
    low: int
    high: int

    def to_json(self) -> Json:
        return {"name": self.name, "default": self.default, "min": self.low, "max": self.high}


def config_file(name: str, versions: str, lines: Sequence[str]) -> Json:
    """Lines for one file of the original, and the product and versions that they are true for."""
    return {"file": name, "for": versions, "lines": list(lines)}


EACH_SHOWN = 8


def of_each(lines: Sequence[str], comment: str) -> list[str]:
    """Lines of which there is one for each consumer: the first eight, and how many more there are.

    >>> of_each(["a=1"] * 10, "#")[-2:]
    ['a=1', '# ... and 2 more']
    """
    more = len(lines) - EACH_SHOWN
    return [*lines[:EACH_SHOWN], *([f"{comment} ... and {more} more"] if more > 0 else [])]


@dataclass(frozen=True, slots=True)
class Family:
    """Strategies that differ only in their parameters.

    hash: "murmur3" | "murmur2" | "java" | "phash2", or None where keys have no owner. routes: how tables are made.
    lane: parameters -> (the lab's algorithm id, options of its lane). check: raises CommandError (field name
    of the parameter) for numbers that do not go together. is_default: is among those that a study offers
    first. drawn: what chance decides of how even its shares are: "names" of the consumers, or how many
    "partitions" there are; None where neither does. start: the table of a group that forms at once, without a
    lane; None where a lane of one step is as quick. config: what sets the original to it, see `originals.py`;
    None where no released system is known to have it. sends_keys: whether a producer gives its records their keys.
    history: the steps as its processes are named, where they are not called as the consumers; seed: of the study.
    """

    model: str
    algorithm: str
    hash: str | None
    params: tuple[Param, ...]
    lane: Callable[[Mapping[str, int]], tuple[str, Json]]
    routes: "Callable[[Strategy, Sequence[Step], int, str], list[RouteTable]]"
    document: bool = False
    is_default: bool = True
    check: Callable[[Mapping[str, int]], None] | None = None
    config: "Callable[[Strategy, RouteTable], list[Json]] | None" = None
    drawn: str | None = None
    start: "Callable[[Strategy, Sequence[str]], RouteTable] | None" = None
    sends_keys: bool = True
    history: "Callable[[Sequence[Any], int], list[Any]] | None" = None

    @property
    def id(self) -> str:
        return f"{self.model}.{self.algorithm}"

    def make(self, given: Mapping[str, Any], field: str) -> "Strategy":
        """The strategy with these parameters, the others by default. Raises CommandError at `field`."""
        known = {param.name for param in self.params}
        for name in given:
            if name not in known:
                raise CommandError(
                    field, "{strategy} has no parameter {name}", strategy=self.id, name=name[:40]
                )
        params = {
            param.name: whole(field, given.get(param.name, param.default), param.low, param.high)
            for param in self.params
        }
        if self.check is not None:
            try:
                self.check(params)
            except CommandError as error:
                raise CommandError(field, error.template, **error.values) from None
        text = ",".join(f"{name}={value}" for name, value in params.items())
        return Strategy(
            f"{self.id}:{text}" if text else self.id, self.model, self.algorithm, params, self.hash, self
        )

    def to_json(self) -> Json:
        """What a page can offer."""
        return {
            "model": self.model,
            "algorithm": self.algorithm,
            "document": self.document,
            "default": self.is_default,
            "params": [param.to_json() for param in self.params],
        }


@dataclass(frozen=True, slots=True)
class Strategy:
    """A rule with its numbers. id: as `strategy_parse` reads it, every parameter named. algorithm: the lab's,
    but "queue" for RabbitMQ."""

    id: str
    model: str
    algorithm: str
    params: dict[str, int]
    hash: str | None
    family: Family

    @property
    def document(self) -> bool:
        return self.family.document

    def routes(
        self, steps: Sequence[Step], *, seed: int = DEFAULT_SEED, topic: str = DEFAULT_TOPIC
    ) -> list[RouteTable]:
        """One table for each step, after every change has come to rest. seed, topic: of the lab that the
        study is compared with.

        Joins at one and the same record are one order, as they are in the lab: the tables before the last of
        them show no change yet.
        """
        return self.family.routes(self, steps, seed, topic)

    def lane_spec(self, lane_id: str | None = None, *, topic: str = DEFAULT_TOPIC) -> LaneSpec:
        """The lane of a lab that runs this strategy, headless or not."""
        algorithm, options = self.family.lane(self.params)
        return LaneSpec(
            lane_id or self.model,
            self.model,
            algorithm,
            options | ({} if self.model == "pulsar" else {"topic": topic}),
        )
