"""A lab with one TubeMQ lane, what a person orders of it, and what its page shows."""

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000


def lab_of(consumers=3, keys=50, rate=20, **options) -> Lab:
    lanes = [{"model": "tubemq", "topic": "flights", **options}]
    return Lab(
        scenario_from_json(
            {
                "lanes": lanes,
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": keys, "rate": rate},
            }
        )
    )


def order(lab, kind, consumer=None, **args):
    return lab.submit(
        {"command_id": f"x{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args}
    )


def lane_of(lab):
    return lab.lanes["tubemq"]


def at(lab, second, kind=None, consumer=None, **args):
    """Whatever happens until then, with what is ordered at that time."""
    events = lab.advance_to(int(second * SECOND))
    return events + order(lab, kind, consumer, **args) if kind else events


def seen(lab):
    return lab.view()["lanes"]["tubemq"]


def kinds(events):
    return [event["kind"].removeprefix("tubemq.") for event in events]
