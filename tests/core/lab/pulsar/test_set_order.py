"""Another order rule of Key_Shared for a Pulsar lane: who waits is another, after the same past, and a
checkpoint keeps it."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from tests.core.lab.pulsar.views.pulsar_panel import idle, lab_of, order, panel, run, subscription


def set_order(lab, rule, lane="pulsar"):
    lab.submit(
        {"command_id": f"o{lab.position + 1}", "kind": "set_order", "lane": lane, "args": {"order": rule}}
    )


def stuck(rule="recently_joined"):
    lab = lab_of(order=rule)
    run(lab, 5)
    order(lab, "pause", "c1")
    run(lab, 3)
    order(lab, "join")
    run(lab, 3)
    return lab


def test_who_waited_by_the_rule_of_3_2_is_served_when_only_slots_drain():
    lab = stuck()
    assert idle(lab, "c4")["code"] == "newcomer" and idle(lab, "c2")["code"] == "behind_newcomer"
    set_order(lab, "draining")
    run(lab, 3)
    assert isinstance(subscription(lab).dispatcher, DrainingDispatcher) and panel(lab)["order"] == "draining"
    assert panel(lab)["consumers"]["c4"]["permits"] < 1000 and panel(lab)["draining"]["count"] > 0
    set_order(lab, "recently_joined")
    run(lab, 1)
    assert idle(lab, "c4")["code"] == "newcomer"


def test_it_stays_under_another_algorithm_and_after_a_restore():
    lab = stuck()
    set_order(lab, "draining")
    lab.submit(
        {"command_id": "a", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "auto_split"}}
    )
    run(lab, 2)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    run(lab, 5)
    run(again, 5)
    assert panel(again) == panel(lab) and panel(again)["order"] == "draining"


@pytest.mark.parametrize(
    ("rule", "lane", "algorithm", "field"),
    [
        ("sorted", "pulsar", "consistent_hash", "args.order"),
        (None, "pulsar", "consistent_hash", "args.order"),
        ("draining", "all", "consistent_hash", "lane"),
        ("recently_joined", "pulsar", "consistent_hash", "args.order"),
        ("draining", "pulsar", "shared", "lane"),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_field(rule, lane, algorithm, field):
    lab = lab_of(algorithm)
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refused:
        set_order(lab, rule, lane)
    assert refused.value.field == field and lab.checkpoint() == before
