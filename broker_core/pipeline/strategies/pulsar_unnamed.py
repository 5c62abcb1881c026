"""Key_Shared's rings where nobody sets `consumerName`: each process draws a name when it starts, so one that restarts
has other points on the ring, and keys that it did not have. The rule is the ring's own; only names differ. The first processes are
called as the consumers, so that both rings begin alike.

    c2 is "c2"  ──stops──►  its keys to the next ones  ──back, as "b91c4"──►  keys of others, hardly any of its own
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from broker_core.events import Json
from broker_core.pipeline.members import BACK, START, Step
from broker_core.pipeline.strategies import base
from broker_core.pipeline.strategies.base import Family, RouteTable, Strategy, config_file
from broker_core.pipeline.strategies.pulsar import pulsar_routes
from broker_core.pipeline.strategies.pulsar_ring import FAMILIES as RINGS
from broker_core.pipeline.strategies.pulsar_ring import VERSIONS, ring_lines
from broker_core.rng import SeededRandom

NAME_BITS = 20
"""A client that is given no name draws one of five hexadecimal digits (ConsumerBase)."""
UNNAMED = ("consistent_hash", "consistent_hash_current")


def _processes(steps: Sequence[Step], seed: int) -> tuple[list[Step], dict[str, str]]:
    """The history with the names that its processes draw, and whose each name is. One that comes back after a crash
    is a newcomer."""
    random = SeededRandom(seed)
    now: dict[str, str] = {}
    whose: dict[str, str] = {}

    def start(consumer: str) -> None:
        name = consumer
        while name in whose or name == consumer:
            name = f"{random.bits('study.process', NAME_BITS):05x}"
        now[consumer], whose[name] = name, consumer

    drawn: list[Step] = []
    for step in steps:
        if step.kind == START:
            now |= {consumer: consumer for consumer in step.members}
            whose |= now
        if step.kind in ("join", "rejoin", BACK):
            start(step.consumer or "")
        drawn.append(
            replace(
                step,
                kind="join" if step.kind == "rejoin" else step.kind,
                consumer=None if step.consumer is None else now[step.consumer],
                members=tuple(now[consumer] for consumer in step.members),
            )
        )
    return drawn, whose


def drawn_history(steps: Sequence[Step], seed: int) -> list[Step]:
    return _processes(steps, seed)[0]


def _routes(strategy: Strategy, steps: Sequence[base.Step], seed: int, topic: str) -> list[RouteTable]:
    drawn, whose = _processes([step for step in steps if isinstance(step, Step)], seed)
    return [_shown(table, whose) for table in pulsar_routes(strategy, drawn, seed, topic)]


def _shown(table: RouteTable, whose: Mapping[str, str]) -> RouteTable:
    """The same with the consumers' names, whatever their processes are called."""
    places: dict[str, int] = {}
    for name in table.names:
        places.setdefault(whose[name], len(places))
    of_name = np.array([places[whose[name]] for name in table.names], np.int16)
    owners = np.where(table.owners >= 0, of_name[np.maximum(table.owners, 0)], table.owners)
    return replace(
        table,
        names=tuple(places),
        live=tuple(whose[name] for name in table.live),
        owners=owners,
        shared=tuple(tuple(int(of_name[holder]) for holder in holders) for holders in table.shared),
    )


def _start(strategy: Strategy, members: Sequence[str]) -> RouteTable:
    """With just these names."""
    start = Step(0, START, None, str(len(members)), tuple(members), None)
    return pulsar_routes(strategy, [start], base.DEFAULT_SEED, base.DEFAULT_TOPIC)[0]


def _family(ring: Family) -> Family:
    versions = VERSIONS[ring.algorithm]

    def config(strategy: Strategy, _: RouteTable) -> list[Json]:
        return [
            config_file("broker.conf", versions, ring_lines(strategy)),
            config_file(
                "consumer (Java)", versions, ["// no consumerName: each process draws one when it starts"]
            ),
        ]

    return replace(
        ring, algorithm=f"{ring.algorithm}_unnamed", routes=_routes, is_default=False, config=config, start=_start,
        history=drawn_history,
    )  # fmt: skip


FAMILIES = tuple(_family(ring) for ring in RINGS if ring.algorithm in UNNAMED)
