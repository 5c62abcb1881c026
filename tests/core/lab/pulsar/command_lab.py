"""A lab for the commands of a Pulsar lane."""

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000


def lab_of(algorithm="shared", consumers=2, rate=20, **options):
    lane = {"model": "pulsar", "algorithm": algorithm, **options}
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": 50, "rate": rate},
            }
        )
    )
    lab.advance_to(5 * SECOND)
    return lab


def order(lab, kind, consumer="c1", seconds=1.0, **args):
    events = lab.submit(
        {"command_id": f"n{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args}
    )
    return events + lab.advance_to(lab.now_us + int(seconds * SECOND))


def view(lab):
    return lab.view()["rigs"]["pulsar"]
