"""Other subscriptions on a Pulsar lane's topic: each gets every record, whatever the lab's own subscription
and its consumers do."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json

SECOND = 1_000_000
BOTH = {"audit": {}, "billing": {"type": "shared", "consumers": 3, "rate": 4}}


def lab_of(algorithm="consistent_hash", consumers=4, rate=20, subscriptions=BOTH, **options):
    lane = {"model": "pulsar", "algorithm": algorithm, "subscriptions": subscriptions, **options}
    return Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": 50, "rate": rate},
            }
        )
    )


def order(lab, kind, consumer="c1", seconds=1.0, **args):
    lab.submit({"command_id": f"n{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args})
    lab.advance_to(lab.now_us + int(seconds * SECOND))


def panel(lab):
    return lab.view()["lanes"]["pulsar"]["pulsar"]


CASES = [
    ("consistent_hash", {}),
    ("shared", {}),
    ("failover", {"partitions": 6}),
    ("exclusive", {"partitions": 0}),
    ("sticky", {}),
    ("auto_split", {"batching": "key_based"}),
    ("shared", {"retry_topic": True, "fails_every": 5, "max_redeliver": 1, "nack_delay_us": 500_000}),
]


@pytest.mark.parametrize(("algorithm", "options"), CASES)
def test_each_subscription_gets_every_record_at_its_own_pace(algorithm, options):
    lab = lab_of(algorithm, **options)
    lab.advance_to(20 * SECOND)
    found = panel(lab)["subscriptions"]
    assert found["audit"]["consumers"]["audit-1"]["finished"] >= 395 and found["audit"]["backlog"] <= 10
    handled = sum(one["finished"] for one in found["billing"]["consumers"].values())
    assert 225 <= handled <= 240, "three consumers of four a second each: it falls behind, alone"
    if "batching" not in options:
        cursors = found["billing"]["cursors"].values()
        acked = sum(cursor["mark_delete"] + 1 + cursor["acked_ahead"] for cursor in cursors)
        assert found["billing"]["backlog"] + acked == sum(cursor["end"] for cursor in cursors)
    assert (lab.lanes["pulsar"].reads.lag() < 20) == (algorithm != "exclusive")


@pytest.mark.parametrize(("algorithm", "options"), CASES)
def test_lab_sees_of_its_own_programs_what_it_sees_without_the_others(algorithm, options):
    plain, beside = lab_of(algorithm, subscriptions={}, **options), lab_of(algorithm, **options)
    for lab in (plain, beside):
        lab.advance_to(5 * SECOND)
        order(lab, "join", "c9", 3)
        order(lab, "crash", "c1", 70)
        order(lab, "rejoin", "c1", 3)
        order(lab, "leave", "c2", 3)
        lab.lanes["pulsar"].reads.check()
    assert (
        set(panel(beside)["holders"].values())
        == set(panel(plain)["holders"].values())
        <= {"c1", "c3", "c4", "c9"}
    )
    seen = [
        {name: consumer["state"] for name, consumer in lab.view()["lanes"]["pulsar"]["consumers"].items()}
        for lab in (plain, beside)
    ]
    assert seen[0] == seen[1]
    codes = [lab.view()["lanes"]["pulsar"]["sentence"]["code"] for lab in (plain, beside)]
    assert codes[0] == codes[1]
    assert plain.lanes["pulsar"].reads.is_settled() == beside.lanes["pulsar"].reads.is_settled()
    dark = [lab.lanes["pulsar"].reads.dark_units() for lab in (plain, beside)]
    assert dark[0] == dark[1]


def test_without_consumers_of_the_lab_all_its_keys_are_dark_while_others_read():
    lab = lab_of(consumers=0)
    lab.advance_to(5 * SECOND)
    lane = lab.lanes["pulsar"]
    dark, units = lane.reads.dark_units()
    assert dark == units and lane.reads.lag() == 100 and panel(lab)["subscriptions"]["audit"]["backlog"] <= 10


def test_entries_stay_until_the_slowest_subscription_has_acknowledged_them():
    lab = lab_of(rate=30)
    lab.advance_to(20 * SECOND)
    lane = lab.lanes["pulsar"]
    topic, mark_delete = (
        lane.reads.topics()[0],
        panel(lab)["subscriptions"]["billing"]["cursors"]["-1"]["mark_delete"],
    )
    assert topic.ledger.first == mark_delete + 1 < lane.reads.subscription().cursor.mark_delete - 200


def test_restored_at_any_point_and_under_another_rule_they_go_on():
    lab = lab_of("shared")
    lab.advance_to(7_654_321)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        each.advance_to(12 * SECOND)
        each.submit(
            {
                "command_id": "switch",
                "kind": "set_algorithm",
                "lane": "pulsar",
                "args": {"algorithm": "failover"},
            }
        )
        each.advance_to(15 * SECOND)
    assert again.checkpoint() == lab.checkpoint()
    found = panel(lab)["subscriptions"]
    assert len(found["audit"]["cursors"]) == 12 and found["audit"]["consumers"]["audit-1"]["finished"] > 290


def test_unsubscribe_takes_away_the_labs_subscription_only():
    lab = lab_of("shared", consumers=1)
    lab.advance_to(5 * SECOND)
    order(lab, "pulsar_unsubscribe", "c1", 5)
    assert panel(lab)["subscriptions"]["audit"]["consumers"]["audit-1"]["finished"] > 190
    assert lab.lanes["pulsar"].reads.lag() <= 1


def test_defaults_are_filled_in_and_a_scenario_comes_back_as_it_was_written():
    scenario = scenario_from_json({"lanes": [{"model": "pulsar", "subscriptions": BOTH}]})
    (lane,) = scenario_to_json(scenario)["lanes"]
    assert lane["subscriptions"] == {
        "audit": {"type": "exclusive", "consumers": 1, "rate": 100},
        "billing": BOTH["billing"],
    }
    assert scenario_from_json(scenario_to_json(scenario)) == scenario


@pytest.mark.parametrize(
    ("subscriptions", "field"),
    [
        (["audit"], ""),
        ({"Audit": {}}, ""),
        ({"subscription": {}}, ""),
        ({f"s{number}": {} for number in range(9)}, ""),
        ({"audit": 1}, ".audit"),
        ({"audit": {"kind": "shared"}}, ".audit.kind"),
        ({"audit": {"type": "key_shared"}}, ".audit.type"),
        ({"audit": {"consumers": 2}}, ".audit.consumers"),
        ({"audit": {"type": "shared", "consumers": 9}}, ".audit.consumers"),
        ({"audit": {"rate": 0}}, ".audit.rate"),
    ],
)
def test_subscriptions_that_make_no_sense_are_refused_at_their_field(subscriptions, field):
    with pytest.raises(CommandError) as refusal:
        lab_of(subscriptions=subscriptions)
    assert refusal.value.field == f"lanes.0.subscriptions{field}"
