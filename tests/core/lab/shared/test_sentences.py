"""A lane's sentence, its figures and its picture say the same at every moment: laws over lives of labs, one
law each."""

import pytest

from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.lives import SECOND, lanes, order, views

OF_THE_BILL = ("keys_moved", "keys_total", "partitions_moved", "partitions_total", "pause_us")
PACE = ("pause", "resume", "slow")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("lives")]  # lived once, in one process


def paused(lane: Json) -> int:
    return sum(partition["stopped"] for partition in lane["picture"]["partitions"].values())


def test_the_lives_say_every_sentence_that_has_numbers_of_its_own():
    said = {lane["sentence"]["code"] for _, lane in lanes()}
    wanted = {
        "kafka.announced",
        "kafka.rebalancing",
        "kafka.cooperating",
        "kafka.cooperating_unpaused",
        "kafka.held_up",
        "kafka.rebalanced",
        "kafka.cooperative",
        "kafka.paused",
        "pulsar.paused",
        "tubemq.paused",
        "rabbitmq.paused",
        "full_speed",
        "slow",
        "paced_later",
        "tubemq.restarted",
        "pulsar.crash_noticed",
        "kafka.crash_noticed",
    }
    assert wanted - said == set()


def test_a_number_that_is_both_in_the_sentence_and_on_the_bill_is_one_number():
    for _, lane in lanes():
        for name in OF_THE_BILL:
            if lane["bill"] and name in lane["sentence"]["params"]:
                assert lane["sentence"]["params"][name] == lane["bill"][name], lane["sentence"]


def test_what_a_sentence_says_was_read_again_is_what_the_figure_counts():
    for _, lane in lanes():
        params = lane["sentence"]["params"]
        if lane["bill"] and "read_again" in params:
            assert params["redelivered"] == min(lane["bill"]["redelivered"], params["read_again"])


def test_the_partitions_that_the_sentence_calls_paused_are_those_that_the_picture_hatches():
    for _, lane in lanes():
        if lane["model"] == "kafka" and "paused" in lane["sentence"]["params"]:
            assert lane["sentence"]["params"]["paused"] == paused(lane), lane["sentence"]
            assert (lane["sentence"]["code"] in ("kafka.announced", "kafka.cooperating_unpaused")) <= (
                paused(lane) == 0
            )


def test_partitions_that_a_sentence_calls_unregistered_are_void_in_the_picture():
    for _, lane in lanes():
        if lane["sentence"]["code"] == "tubemq.crash_noticed":
            params, parts = lane["sentence"]["params"], lane["picture"]["partitions"].values()
            assert (
                sum(part["assigned"] == params["consumer"] and part["owner"] is None for part in parts)
                == params["partitions"]
            )


def test_nobody_is_refused_for_a_node_id_that_its_own_live_session_has():
    for _, lane in lanes():
        if lane["sentence"]["code"] == "tubemq.node_taken":
            holder = lane["consumers"].get(lane["sentence"]["params"]["holder"])
            assert holder is None or holder["state"] in ("crashed", "waiting", "gone")


def test_while_the_picture_hatches_a_partition_the_pause_runs():
    for view, lane in lanes():
        if lane["model"] in ("kafka", "tubemq") and lane["bill"] and lane["bill"]["pause_us"] == 0:
            assert (
                paused(lane) == 0
                or view["at_us"] == 0
                or any(event["at_us"] == view["at_us"] for event in lane["why"])
            )


def test_a_chain_that_ends_a_pause_names_the_pause_of_the_bill():
    for _, lane in lanes():
        ends = [event for event in lane["why"] if event["kind"].endswith(".partitions_resumed")]
        if ends and not paused(lane):
            assert ends[-1]["data"]["pause_us"] == lane["bill"]["pause_us"]


def test_a_sentence_about_a_consumer_holds_what_its_row_holds():
    for _, lane in lanes():
        code, params = lane["sentence"]["code"], lane["sentence"]["params"]
        consumer = lane["consumers"].get(params.get("consumer"))
        if code.endswith(".paused"):
            assert consumer["state"] in ("paused", "waiting") and params["held"] == consumer["unacked"]
        if code == "full_speed":
            assert consumer["state"] in ("live", "waiting", "crashed", "gone")
        if code in ("slow", "resumed_slow") and consumer["state"] not in ("crashed", "gone", "paused"):
            assert params["rate"] == consumer["capacity"] and (
                consumer["slow"] or consumer["state"] == "waiting"
            )


def test_the_figures_belong_to_the_last_command_of_the_caption():
    for view in views():
        last = max(map(int, view["timeline"]), default=0)
        if not last or view["timeline"][str(last)]["kind"] not in (*PACE, "join", "leave", "crash", "rejoin"):
            continue
        for lane in view["lanes"].values():
            # A crash that a broker notices later has a bill of its own, under the number of the crash.
            bill = lane["bill"]
            assert (
                bill is None
                or bill["position"] == last
                or (bill["kind"] == "crash" and bill["position"] < last)
            ), (bill, view["caption"])


def test_what_went_to_others_is_never_more_than_what_was_unacked():
    for _, lane in lanes():
        for event in lane["why"]:
            if event["kind"] == "pulsar.consumer.disconnected":
                assert event["data"]["redelivered"] <= event["inputs"]["unacked"]


def test_what_was_before_is_the_same_in_the_figure_and_in_the_picture():
    for _, lane in lanes():
        if lane["model"] == "kafka" and lane["bill"] and lane["bill"]["settled"] and lane["bill"]["at_us"]:
            moved = sum(
                partition["before"] != partition["owner"]
                for partition in lane["picture"]["partitions"].values()
            )
            if lane["picture"]["state"] == "Stable" and not paused(lane):
                assert moved == lane["bill"]["partitions_moved"]


def test_those_without_a_partition_are_counted_as_the_picture_shows_them():
    for _, lane in lanes():
        if lane["model"] not in ("kafka", "tubemq"):
            assert lane["idle"] is None
            continue
        owner = "owner" if lane["model"] == "kafka" else "assigned"
        owners = {partition[owner] for partition in lane["picture"]["partitions"].values()}
        counted = [
            name
            for name, consumer in lane["consumers"].items()
            if consumer["state"] in ("live", "slow", "paused", "crashed")
        ]
        without = [name for name in counted if name not in owners]
        assert lane["idle"] is None or (lane["idle"]["count"], lane["idle"]["of"]) == (
            len(without),
            len(counted),
        )


def test_all_lanes_of_a_view_show_the_record_that_arrived_last():
    for view in views():
        last = max((int(index) for index in view["recent"]), default=None)
        assert {lane["route"]["record"] if lane["route"] else None for lane in view["lanes"].values()} == {
            last
        }


@pytest.mark.parametrize("model", ["kafka", "tubemq"])
def test_more_consumers_than_partitions_leave_some_without_one(model: str):
    lab = Lab(scenario_from_json({"consumers": 34}))
    lab.advance_to(30 * SECOND)
    idle = lab.view()["lanes"][model]["idle"]
    assert idle == {"count": {"kafka": 22, "tubemq": 25}[model], "of": 34, "partitions": 12}


def test_resuming_one_who_is_paused_and_slow_ends_the_pause_and_then_the_slowness():
    lab = Lab(scenario_from_json({}))
    lab.advance_to(10 * SECOND)
    said = []
    for kind, args in (("slow", {"rate": 2}), ("pause", {}), ("resume", {}), ("resume", {})):
        assert order(lab, kind, "c2", **args)
        lab.advance_to(lab.now_us + SECOND)
        lane = lab.view()["lanes"]["kafka"]
        said.append(
            (lane["sentence"]["code"], lane["sentence"]["params"]["rate"], lane["consumers"]["c2"]["state"])
        )
    assert said == [
        ("slow", 2, "slow"),
        ("kafka.paused", 2, "paused"),
        ("resumed_slow", 2, "slow"),
        ("full_speed", 10, "live"),
    ]
