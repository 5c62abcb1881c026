"""Any orders in any order: no law of the lane breaks, a checkpoint gives the same lab, and once all is mended and the group
starts afresh every partition is read."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.panels import panels_of
from broker_core.lab.scenario import scenario_from_json
from broker_core.tubemq.client.by_person import CALLS

STEPS = 40
WAITS_US = (0, 1_000, 300_000, 2_000_000, 11_000_000)
OF_CONSUMERS = (
    "leave", "crash", "rejoin", "pause", "resume", "tubemq_restart", "tubemq_assign", "tubemq_call", "tubemq_call",
    "tubemq_hold", "tubemq_confirm",
)  # fmt: skip
OF_LANES = (
    "join", "tubemq_offline", "tubemq_online", "tubemq_accept", "tubemq_black_list", "tubemq_expand", "tubemq_failover",
    "tubemq_master_offline", "tubemq_master_online", "tubemq_consume_from_max", "set_algorithm",
)  # fmt: skip
ALGORITHMS = ("modulo", "sticky", "by_lag", "server", "article")


def lab_with(dice: Random) -> Lab:
    lane = {
        "model": "tubemq", "topic": "t", "partitions": 6, "brokers": 3, "algorithm": dice.choice(ALGORITHMS),
        "masters": dice.choice((1, 2)), "over": dice.choice(("configured", "subscribable")),
        "scale_out": dice.choice(("restart_all", "newcomer_first")),
    }  # fmt: skip
    workload = {"kind": "uniform", "keys": 20, "rate": 8}
    return Lab(
        scenario_from_json({"lanes": [lane], "consumers": dice.choice((0, 1, 3)), "workload": workload})
    )


def arguments(kind: str, dice: Random, keys: list[str]) -> dict[str, Any]:
    chosen = dice.sample(keys, 2)
    match kind:
        case "tubemq_restart":
            return {"source_count": dice.choice((None, -1, 2, 9)), "node_id": dice.choice((None, 0, 1))}
        case "tubemq_assign":
            return dice.choice(
                (
                    {"partitions": None},
                    {"partitions": chosen, "bootstrap": {chosen[0]: dice.choice((-1, 0, 10**6))}},
                )
            )
        case "tubemq_call":
            key = dice.choice((*keys, "", "t", "1:t:0:3"))
            return {"call": dice.choice(CALLS), "key": key, "number": dice.choice((-1, 1, 100))}
        case "tubemq_confirm":
            return {"consumed": dice.random() < 0.5}
        case "tubemq_master_offline" | "tubemq_master_online":
            return {"master": dice.randint(1, 2)}
        case "tubemq_offline" | "tubemq_online":
            return {"broker": dice.randint(1, 3)}
        case "tubemq_accept":
            return {"broker": dice.randint(1, 3), "accepts": dice.random() < 0.5}
        case "tubemq_black_list":
            return {"listed": dice.random() < 0.4}
        case "tubemq_expand":
            return {"broker": dice.randint(1, 3), "count": dice.randint(2, 5)}
        case "set_algorithm":
            return {"algorithm": dice.choice(ALGORITHMS)}
    return {}


def order(lab: Lab, kind: str, consumer: str | None = None, **args: Any) -> None:
    """What makes no sense is refused, and changes nothing."""
    try:
        lab.submit(
            {
                "command_id": f"x{lab.position}", "kind": kind, "consumer": consumer, "args": args, "lane": "tubemq",
            }
        )  # fmt: skip
    except CommandError:
        return


class Offsets:
    """What is confirmed goes forward only, but for partitions for which an offset was given. Another rule begins
    another course, with offsets of its own."""

    def __init__(self) -> None:
        self.before: dict[str, int] = {}
        self.given: set[str] = set()

    def look(self, lab: Lab) -> None:
        places = lab.lanes["tubemq"].reads.places()  # type: ignore[attr-defined]
        now = {key: place.offset for key, place in places.items()}
        back = [key for key in self.before if now[key] < self.before[key] and key not in self.given]
        assert not back, f"{back} are confirmed to less than before"
        self.before = now

    def ordered(self, kind: str, args: dict[str, Any]) -> None:
        if kind == "set_algorithm":
            self.before = {}
        self.given |= {*args.get("bootstrap", ())} | {args.get("key", "")}


@pytest.mark.parametrize("seed", range(6))
def test_any_orders_leave_a_lab_that_can_be_mended(seed: int) -> None:
    dice = Random(seed)
    lab, offsets = lab_with(dice), Offsets()
    for _ in range(STEPS):
        lab.advance_to(lab.now_us + dice.choice(WAITS_US))
        offsets.look(lab)
        lane = lab.lanes["tubemq"]
        keys = list(lane.reads.place_of)  # type: ignore[attr-defined]
        is_about_one = bool(lane.consumers) and dice.random() < 0.6
        kind = dice.choice(OF_CONSUMERS if is_about_one else OF_LANES)
        consumer = dice.choice([*lane.consumers]) if is_about_one else None
        args = arguments(kind, dice, keys)
        order(lab, kind, consumer, **args)
        offsets.ordered(kind, args)
        lab.lanes["tubemq"].reads.check()
    twin = Lab.restore(lab.scenario, lab.checkpoint())
    assert twin.view() == lab.view()
    for broker in (1, 2, 3):
        order(lab, "tubemq_online", broker=broker)
        order(lab, "tubemq_accept", broker=broker, accepts=True)
    order(lab, "tubemq_black_list", listed=False)
    for master in (1, 2):
        order(lab, "tubemq_master_online", master=master)
    for name in [*lab.lanes["tubemq"].consumers]:
        order(lab, "leave", name)
    lab.advance_to(lab.now_us + 40_000_000)
    order(lab, "join", count=3)
    lab.advance_to(lab.now_us + 300_000_000)
    offsets.look(lab)
    partitions = panels_of(lab.lanes["tubemq"], ["tubemq"])["tubemq"]["partitions"]
    assert {key: each["unread"] for key, each in partitions.items() if each["unread"]} == {}
