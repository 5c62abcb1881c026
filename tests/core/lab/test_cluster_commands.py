"""A person's faults reach the cluster of a lane: as commands, with cards, through a checkpoint, a replay and a change of rule."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.commands.facts import facts_of_view
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000
LANE = {"model": "kafka", "brokers": 3, "min_insync_replicas": 2, "partitions": 3, "offsets_partitions": 3}


def lab_on_a_cluster(**lane):
    lab = Lab(scenario_from_json({"lanes": [LANE | lane], "consumers": 2, "workload": {"kind": "uniform", "keys": 20, "rate": 20}}))
    lab.advance_to(5 * SECOND)
    return lab


def order(lab, kind, seconds=0, **args):
    number = lab.position + 1
    lab.submit({"command_id": f"n{number}", "kind": f"cluster_{kind}", "args": args})
    lab.advance_to(lab.now_us + int(seconds * SECOND))


def cluster(lab):
    return lab.view()["rigs"]["kafka"]["cluster"]


def test_the_view_has_the_lanes_partitions_and_none_of_kafkas_own():
    view = cluster(lab_on_a_cluster())
    assert [name.rpartition("-")[2] for name in view["partitions"]] == ["0", "1", "2"] and view["counts"]["healthy"] == 3
    assert all(partition["high_watermark"] > 0 for partition in view["partitions"].values())
    assert view["producers"]["producer"]["counts"]["acked"] > 0


def test_a_lane_without_brokers_has_no_such_panel_and_refuses_its_commands():
    lab = Lab(scenario_from_json({"lanes": [{"model": "kafka"}]}))
    assert "cluster" not in lab.view()["rigs"]["kafka"]
    with pytest.raises(CommandError):
        order(lab, "crash", broker=1)


def test_a_crash_and_what_came_of_it():
    lab = lab_on_a_cluster()
    order(lab, "crash", 20, broker=1)
    view = cluster(lab)
    assert view["brokers"]["1"]["condition"] == "crashed" and view["counts"]["under_replicated"] == 3
    card = view["faults"][-1]
    assert (card["verb"], card["target"], card["was"]["healthy"]) == ("crash", ["broker-1"], 3)
    assert {"unavailable", "elections"} <= {entry["code"] for entry in card["means"]}
    order(lab, "come_back", 30, broker=1)
    assert cluster(lab)["counts"]["healthy"] == 3
    assert lab.timeline[lab.position]["kind"] == "cluster_come_back"


@pytest.mark.parametrize(
    ("kind", "args", "field"),
    [
        ("crash", {"broker": 4}, "args.broker"), ("crash", {"broker": 0}, "args.broker"), ("resume", {"broker": 1}, "args.broker"),
        ("come_back", {"broker": 1}, "args.broker"), ("heal_link", {"one": "broker-1", "other": "broker-2"}, "args.one"),
        ("cut_link", {"one": "broker-1", "other": "broker-1"}, "args.other"), ("cut_link", {"one": "broker-1", "other": "nobody"}, "args.other"),
        ("slow_disk", {"broker": 1, "write_us": -1}, "args.write_us"), ("skew_clock", {"broker": 1}, "args.skew_ms"),
        ("cut_link", {"one": "broker-1", "other": "broker-2", "one_way": 1}, "args.one_way"),
    ],
)  # fmt: skip
def test_a_wrong_order_is_a_message_at_its_field_and_changes_nothing(kind, args, field):
    lab = lab_on_a_cluster()
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refused:
        order(lab, kind, **args)
    assert refused.value.field == field and lab.checkpoint() == before


def test_cut_links_are_refused_by_what_a_page_knows_too():
    lab = lab_on_a_cluster()
    order(lab, "cut_link", one="broker-1", other="broker-2", one_way=True)
    facts = facts_of_view(lab.view(), DEFAULT_LIMITS)

    def check(kind, **args):
        command_from_json({"command_id": "x", "kind": kind, "args": args}).check(facts)

    check("cluster_cut_link", one="broker-2", other="broker-1", one_way=True)
    check("cluster_heal_link", one="broker-1", other="broker-2")
    with pytest.raises(CommandError):
        check("cluster_cut_link", one="broker-1", other="broker-2", one_way=True)
    with pytest.raises(CommandError):
        check("cluster_crash", broker=9)


def test_a_cluster_under_faults_goes_on_the_same_after_a_checkpoint():
    lab = lab_on_a_cluster()
    order(lab, "crash", 2, broker=2)
    order(lab, "cut_link", 1, one="broker-1", other="broker-3", one_way=True)
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        order(each, "come_back", 12, broker=2)
    assert lab.view() == other.view() and lab.checkpoint() == other.checkpoint()


def test_a_lane_with_another_rule_goes_through_its_faults_again():
    lab = lab_on_a_cluster()
    order(lab, "crash", 15, broker=3)
    lab.submit({"command_id": "rule", "kind": "set_algorithm", "rig": "kafka", "args": {"algorithm": "roundrobin"}})
    assert cluster(lab)["brokers"]["3"]["condition"] == "crashed" and cluster(lab)["faults"][-1]["verb"] == "crash"
