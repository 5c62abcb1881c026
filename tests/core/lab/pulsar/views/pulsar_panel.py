"""A lab of one Pulsar lane, and its panel."""

from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.view import lab_view

SECOND = 1_000_000


def lab_of(algorithm="consistent_hash", consumers=3, rate=40, **options) -> Lab:
    lane = {"model": "pulsar", "algorithm": algorithm, **options}
    return Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": 200, "rate": rate},
            }
        )
    )


def order(lab, kind, consumer=None, **args):
    lab.submit(
        {
            "command_id": f"x{lab.position + 1}",
            "kind": kind,
            "consumer": consumer,
            "lane": "all",
            "args": args,
        }
    )


def run(lab, seconds):
    lab.advance_to(lab.now_us + int(seconds * SECOND))


def panel(lab):
    return whole(lab_view(lab))["rigs"]["pulsar"]["pulsar"]


def idle(lab, name):
    return panel(lab)["consumers"][name]["idle"]


def subscription(lab):
    lane = lab.lanes["pulsar"]
    return lane.reads.subscriptions()[0]
