"""Priority levels and sticky ranges, given with a join or later."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.pulsar.command_lab import order, running, view


def test_worse_priority_level_gets_records_only_when_the_better_ones_cannot():
    lab = running(consumers=3, priorities={"c3": 1}, receiver_queue_size=10, rate=15)
    rates = {name: consumer["rate"] for name, consumer in view(lab)["consumers"].items()}
    assert rates["c3"] == 0 < rates["c1"]
    order(lab, "pulsar_priority", "c1", 10, level=2)
    rates = {name: consumer["rate"] for name, consumer in view(lab)["consumers"].items()}
    assert rates["c2"] > 5 > rates["c1"] and view(lab)["sentence"]["code"] == "pulsar.priority"


def test_better_priority_takes_over_all_partitions_of_failover():
    lab = running("failover", consumers=3, partitions=6, priorities={"c1": 1, "c2": 1, "c3": 1})
    order(lab, "pulsar_priority", "c3", 3, level=0)
    assert {partition["owner"] for partition in view(lab)["picture"]["partitions"].values()} == {"c3"}


def test_ranges_that_a_person_types_are_taken_or_refused_by_the_broker():
    lab = running("sticky")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 9_999]])
    lane = lab.lanes["pulsar"]
    assert (
        dict(
            zip(
                lane.reads.subscription().selector.slices()[0],
                view(lab)["picture"]["now"]["owners"],
                strict=True,
            )
        )[32_767]
        == -1
    )
    events = order(lab, "pulsar_ranges", "c1", 6, ranges=[[0, 40_000]])
    refused = [event for event in events if event["kind"] == "pulsar.consumer.refused"]
    assert (
        refused
        and refused[0]["data"]["error"] == "ConsumerAssignError"
        and "Range conflict with consumer" in refused[0]["data"]["message"]
    )


def test_priority_given_at_the_join_decides_from_the_first_record_on():
    lab = running("failover", partitions=4, priorities={"c1": 1, "c2": 1})
    order(lab, "join", "c9", 3, priority=0)
    assert {partition["owner"] for partition in view(lab)["picture"]["partitions"].values()} == {"c9"}
    order(lab, "join", "c8", 3, priority=2)
    assert view(lab)["pulsar"]["consumers"]["c8"]["priority"] == 2


@pytest.mark.parametrize("given", ["join", "later"])
def test_program_that_comes_back_has_the_priority_that_a_person_gave_it(given):
    lab = running("failover", partitions=4)
    order(lab, "join", "c9", 2, **({"priority": 3} if given == "join" else {}))
    if given == "later":
        order(lab, "pulsar_priority", "c9", 2, level=3)
    order(lab, "crash", "c9", 1)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        order(each, "rejoin", "c9", 3)
    assert (
        view(again)["pulsar"]["consumers"]["c9"]["priority"] == 3 and again.checkpoint() == lab.checkpoint()
    )


def test_ranges_given_at_the_join_are_taken_or_refused_by_the_broker_and_nobody_makes_room():
    lab = running("sticky")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 9_999]])
    order(lab, "join", "c3", 1, ranges=[[10_000, 20_000], [30_000, 32_767]])
    shown = view(lab)["pulsar"]["consumers"]
    assert [shown[name]["ranges"] for name in ("c1", "c2", "c3")] == [
        [[0, 9_999]],
        [[32_768, 65_535]],
        [[10_000, 20_000], [30_000, 32_767]],
    ]
    events = order(lab, "join", "c4", 6, ranges=[[20_000, 25_000]])
    (refused,) = [event for event in events if event["kind"] == "pulsar.consumer.refused"]
    assert refused["data"]["error"] == "ConsumerAssignError" and refused["data"]["consumer"] == "c4"
    assert lab.lanes["pulsar"].reads.is_settled()


def test_ranges_of_the_article_end_before_their_end():
    lab = running("sticky_document")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 16_384]])
    order(lab, "join", "c3", 1, ranges=[[16_384, 32_768]])
    order(lab, "pulsar_ranges", "c2", 1, ranges=[[32_768, 65_536]])
    assert (
        view(lab)["picture"]["now"]["owners"].count(-1) == 0
        and not view(lab)["pulsar"]["consumers"]["c2"]["refused"]
    )
    for ranges in ([[0, 65_537]], [[5, 5]], [[9, 3]], [[0, 9], [8, 12]], []):
        with pytest.raises(CommandError) as refusal:
            order(lab, "pulsar_ranges", "c1", 1, ranges=ranges)
        assert refusal.value.field == "args.ranges"


@pytest.mark.parametrize(
    ("algorithm", "args", "field"),
    [
        ("shared", {"ranges": [[0, 9]]}, "args.ranges"),
        ("sticky", {"ranges": [[0, 65_536]]}, "args.ranges"),
        ("sticky", {"ranges": 7}, "args.ranges"),
        ("sticky", {"ranges": [[0, 9]], "count": 2}, "args.count"),
        ("shared", {"priority": -1}, "args.priority"),
        ("shared", {"priority": None}, "args.priority"),
    ],
)
def test_joins_that_no_lane_could_carry_out_are_refused_and_change_nothing(algorithm, args, field):
    lab = running(algorithm)
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refusal:
        order(lab, "join", None if "count" in args else "c9", **args)
    assert refusal.value.field == field and lab.checkpoint() == before


def test_priority_is_for_a_pulsar_lane_and_other_lanes_join_beside_it():
    kafka = Lab(scenario_from_json({"lanes": [{"model": "kafka"}]}))
    with pytest.raises(CommandError) as refusal:
        order(kafka, "join", "c9", priority=1)
    assert refusal.value.field == "args.priority"
    both = Lab(scenario_from_json({"lanes": [{"model": "rabbitmq"}, {"model": "pulsar"}]}))
    order(both, "join", "c9", priority=1)
    assert [lane.consumers["c9"].set_to for lane in both.lanes.values()] == [{}, {"priority": 1}]


def test_join_with_its_wishes_is_in_the_journal_and_in_the_past_of_a_switched_lane():
    command = {
        "command_id": "n1",
        "kind": "join",
        "consumer": "c9",
        "args": {"count": 1, "priority": 2, "ranges": [[0, 9]]},
    }
    assert command_from_json(command).to_json() == {**command, "lane": "all"}
    lab = running("sticky", consumers=0)
    order(lab, "join", "c9", priority=2, ranges=[[0, 99]])
    lab.submit(
        {"command_id": "switch", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "failover"}}
    )
    assert view(lab)["pulsar"]["consumers"]["c9"]["priority"] == 2
