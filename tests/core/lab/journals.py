"""Random journals for tests: commands that a lab accepts, made from a seed, and the lab that came of them."""

import random

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import Scenario, scenario_from_json

SCENARIO = {"workload": {"kind": "uniform", "keys": 200, "rate": 20}, "consumer_rate": 10}
THREE_LANES = [{"model": "pulsar"}, {"model": "tubemq"}, {"model": "rabbitmq"}]
"""A Kafka cluster costs several times what these cost together: a law is held on them in many lives, and with
Kafka's lane beside them in one."""
ALL_LANES = [{"model": "pulsar"}, {"model": "kafka"}, {"model": "tubemq"}, {"model": "rabbitmq"}]
ALGORITHMS = {
    "pulsar": [
        "auto_split",
        "sticky",
        "ring_document",
        "consistent_hash_current",
        "auto_split_document",
        "sticky_document",
        "consistent_hash",
        "exclusive",
        "failover",
        "failover_document",
        "shared",
    ],
    "kafka": ["roundrobin", "sticky", "cooperative-sticky", "range_global", "round_robin_hashed", "range"],
    "rabbitmq": ["prefetch_1", "prefetch_unlimited", "prefetch_5"],
}


def random_command(draw: random.Random, lab: Lab) -> Json:
    """A command that may or may not make sense now."""
    kind = draw.choice(
        ["join", "join", "leave", "crash", "rejoin", "pause", "resume", "slow", "set_algorithm", "step"]
    )
    command: Json = {"kind": kind, "lane": "all", "consumer": None, "args": {}}
    if kind == "join":
        if draw.random() < 0.25:
            command["consumer"] = draw.choice(list(lab.seen))  # who left may come back under the same name
        else:
            command["args"] = {"count": draw.choice([1, 1, 1, 2, 5])}
    elif kind == "set_algorithm":
        lane = draw.choice([lane for lane in ALGORITHMS if lane in lab.lanes])
        command |= {"lane": lane, "args": {"algorithm": draw.choice(ALGORITHMS[lane])}}
    elif kind != "step":
        command["consumer"] = draw.choice(list(lab.seen))
        if draw.random() < 0.2:
            command["lane"] = draw.choice(list(lab.lanes))
    return command


def random_life(seed: int, command_count: int = 25, **changed: object) -> tuple[Scenario, list[Json], Lab]:
    """A lab after `command_count` accepted commands at random times, with its journal. changed: of the
    scenario."""
    draw = random.Random(seed)
    scenario = scenario_from_json({**SCENARIO, "seed": seed, **changed})
    lab = Lab(scenario)
    journal: list[Json] = []
    tries = 0
    while len(journal) < command_count and tries < command_count * 20:
        tries += 1
        lab.advance_to(lab.now_us + draw.choice([0, 1, 100_000, 3_000_000, 20_000_000]))
        command = {
            **random_command(draw, lab),
            "command_id": f"x{tries}",
            "position": len(journal) + 1,
            "at_us": lab.now_us,
        }
        try:
            lab.submit(command)
        except CommandError:
            continue
        journal.append(command)
    lab.advance_to(lab.now_us + 5_000_000)
    return scenario, journal, lab
