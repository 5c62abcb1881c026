"""Lives of labs for tests of what a page says: every kind of change, looked at in small steps before, during
and after what it causes."""

import random
from collections.abc import Iterator
from functools import cache

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000
SEEDS = range(8)
STEPS_US = (0, 1, 100_000, 300_000, 700_000, 1_500_000, 4_000_000, 20_000_000)
KINDS = (
    "join",
    "join",
    "ten",
    "leave",
    "crash",
    "crash",
    "rejoin",
    "pause",
    "resume",
    "slow",
    "switch",
    "all_leave",
)
RULES = {
    "kafka": ["sticky", "cooperative-sticky", "range"],
    "pulsar": ["auto_split", "consistent_hash"],
    "rabbitmq": ["prefetch_1", "prefetch_5"],
}


def order(lab: Lab, kind: str, consumer: str | None = None, lane: str = "all", **args: object) -> bool:
    """Whether the lab took the command."""
    position = lab.position + 1
    command = {
        "command_id": f"x{position}",
        "kind": kind,
        "lane": lane,
        "consumer": consumer,
        "args": args,
        "position": position,
    }
    try:
        lab.submit(command)
    except CommandError:
        return False
    return True


def random_order(draw: random.Random, lab: Lab) -> None:
    kind = draw.choice(KINDS)
    if kind == "ten":
        order(lab, "join", count=10)
    elif kind == "switch":
        lane = draw.choice(list(RULES))
        order(lab, "set_algorithm", lane=lane, algorithm=draw.choice(RULES[lane]))
    elif kind == "all_leave":
        for name in list(lab.seen):
            order(lab, "leave", name)
    elif kind == "join":
        order(lab, "join")
    else:
        order(lab, kind, draw.choice(list(lab.seen)[-5:]))


def life(seed: int) -> Iterator[Json]:
    draw = random.Random(seed)
    lab = Lab(scenario_from_json({"workload": {"kind": "zipf", "keys": 300, "rate": 30}, "seed": seed}))
    for lane, rules in RULES.items():
        order(lab, "set_algorithm", lane=lane, algorithm=draw.choice(rules))
    for _ in range(18):
        lab.advance_to(lab.now_us + draw.choice(STEPS_US))
        random_order(draw, lab)
        for step in STEPS_US[: draw.randint(2, len(STEPS_US))]:
            lab.advance_to(lab.now_us + step)
            yield lab.view()


@cache
def views() -> list[Json]:
    return [view for seed in SEEDS for view in life(seed)]


def lanes() -> Iterator[tuple[Json, Json]]:
    for view in views():
        for lane in view["lanes"].values():
            yield view, lane
