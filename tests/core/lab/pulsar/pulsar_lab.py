"""A lab with one Pulsar lane, what a person orders of it, and what its page says."""

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.sentence import sentence_view

SECOND = 1_000_000


def lab_of(algorithm="consistent_hash", consumers=3, rate=40, keys=200, **options) -> Lab:
    lane = {"model": "pulsar", "algorithm": algorithm, **options}
    workload = {"kind": "uniform", "keys": keys, "rate": rate}
    return Lab(scenario_from_json({"lanes": [lane], "consumers": consumers, "workload": workload}))


def order(lab, kind, consumer=None, lane="all", **args):
    return lab.submit(
        {"command_id": f"x{lab.position + 1}", "kind": kind, "consumer": consumer, "lane": lane, "args": args}
    )


def lane_of(lab):
    return lab.lanes["pulsar"]


def sentence(lab):
    lane = lane_of(lab)
    return sentence_view(lane, bill_of(lab))


def bill_of(lab):
    lane = lane_of(lab)
    ledger = lane.ledger
    return ledger.bill.to_view(lane.reads.redelivered(), ledger.tally.order.count, ledger.standing_us())
