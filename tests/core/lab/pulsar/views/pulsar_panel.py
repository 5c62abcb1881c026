"""A lab of one Pulsar lane, and its panel."""

from broker_core.lab.pieces import whole
from broker_core.lab.view import lab_view
from tests.core.lab.pulsar.pulsar_lab import SECOND, lab_of

__all__ = ["SECOND", "idle", "lab_of", "lab_view", "order", "panel", "run", "subscription", "whole"]


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
    return whole(lab_view(lab))["lanes"]["pulsar"]["pulsar"]


def idle(lab, name):
    return panel(lab)["consumers"][name]["idle"]


def subscription(lab):
    lane = lab.lanes["pulsar"]
    return lane.reads.subscriptions()[0]
