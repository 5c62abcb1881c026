"""Changes that fall together, and dead sessions that outlive their programs: the sentence counts what its
figures count."""

from itertools import pairwise
from typing import Any

import pytest

from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.lane_orders import WHY_MAX
from tests.core.lab.lives import SECOND, order

pytestmark = pytest.mark.slow


def lab_of(*models: str, **scenario: Any) -> Lab:
    """A lab of these lanes; of all four where none is named."""
    lanes = {"lanes": [{"model": model} for model in models]} if models else {}
    return Lab(scenario_from_json({"seed": 7, **lanes, **scenario}))


def at(lab: Lab, second: float, kind: str, consumer: str | None = None, **args: Any) -> Lab:
    lab.advance_to(int(second * SECOND))
    assert order(lab, kind, consumer, **args)
    return lab


def lane_at(lab: Lab, second: float, lane: str) -> Json:
    lab.advance_to(int(second * SECOND))
    view: Json = lab.view()["lanes"][lane]
    return view


def test_a_restart_that_another_one_overtakes_compares_with_the_count_that_its_figures_compare_with():
    lab = at(at(lab_of("tubemq"), 20, "join", count=10), 20.5, "join")
    assert lane_at(lab, 20.5, "tubemq")["sentence"]["params"] == {"from_count": 13, "to_count": 14}
    settled = lane_at(lab, 40, "tubemq")
    assert settled["sentence"]["code"] == "tubemq.restarted"
    assert (settled["sentence"]["params"]["from_count"], settled["sentence"]["params"]["to_count"]) == (3, 14)
    assert {part["before"] for part in settled["picture"]["partitions"].values()} == {"c1", "c2", "c3"}


def test_clients_of_an_empty_group_start_and_do_not_stop():
    lab = at(at(lab_of("tubemq", consumers=1), 20, "leave", "c1"), 30, "join")
    assert lane_at(lab, 20, "tubemq")["why"][0]["kind"] == "tubemq.group.starting"
    lane = lane_at(lab, 30, "tubemq")
    assert lane["sentence"]["code"] == "tubemq.starting" and lane["why"][0]["kind"] == "tubemq.group.starting"
    assert lane_at(lab, 60, "tubemq")["sentence"]["code"] == "tubemq.first"


def test_nobody_is_left_although_the_queue_still_counts_a_dead_connection():
    lab = at(
        at(at(lab_of("rabbitmq", consumers=1), 20, "crash", "c1"), 25, "rejoin", "c1"), 30, "leave", "c1"
    )
    assert lane_at(lab, 31, "rabbitmq")["sentence"]["code"] == "rabbitmq.leave_last"
    at(lab, 35, "join")
    joined = lane_at(lab, 35.01, "rabbitmq")
    assert joined["sentence"]["code"] == "rabbitmq.join_first"
    assert [entry.get("dead", False) for entry in joined["why"][0]["data"]["skipped"]] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["pulsar", "kafka", "rabbitmq"])
def test_the_dead_session_of_one_who_came_back_and_left_is_a_former_one(lane: str):
    lab = at(at(at(lab_of(lane), 20, "crash", "c3"), 25, "rejoin", "c3"), 30, "leave", "c3")
    codes = {lane_at(lab, second, lane)["sentence"]["code"] for second in range(31, 260)}
    assert f"{lane}.ghost_noticed" in codes and not any(
        code.startswith(f"{lane}.crash_noticed") for code in codes
    )


def test_a_crash_that_is_noticed_is_explained_from_the_crash_on():
    lab = at(lab_of(), 20, "crash", "c3")
    for lane, crash in (
        ("pulsar", "pulsar.consumer"),
        ("kafka", "kafka.member"),
        ("tubemq", "tubemq.client"),
        ("rabbitmq", "rabbitmq.consumer"),
    ):
        why = lane_at(lab, 300, lane)["why"]
        assert why[0]["kind"] == f"{crash}.crashed" and len(why) > 1
    assert [event["kind"] for event in lane_at(at(lab, 310, "join"), 311, "pulsar")["why"]] == [
        "pulsar.consumer.connected"
    ]


def test_a_long_chain_keeps_how_it_began_and_how_it_came_to_rest():
    lab = at(lab_of("kafka", "tubemq"), 20, "join", count=60)
    for lane, last in (
        ("kafka", "kafka.group.partitions_resumed"),
        ("tubemq", "tubemq.group.partitions_resumed"),
    ):
        why = lane_at(lab, 60, lane)["why"]
        seqs = [event["seq"] for event in why]
        assert (
            len(why) == WHY_MAX
            and 20 * SECOND <= why[0]["at_us"] < 20.01 * SECOND
            and last in [event["kind"] for event in why]
        )
        assert seqs == sorted(seqs) and max(later - event for event, later in pairwise(seqs)) > 1


def test_a_rebalance_for_ten_newcomers_counts_them():
    lane = lane_at(at(lab_of("kafka"), 20, "join", count=10), 20, "kafka")
    assert lane["sentence"]["code"] == "kafka.announced" and lane["sentence"]["params"]["count"] == 10


def test_a_rebalance_of_one_member_that_heard_of_it_last_pauses_for_the_requests_alone():
    lab = at(lab_of("kafka", consumers=1), 20, "join", count=10)
    lane = lane_at(lab, 40, "kafka")
    # Commit, JoinGroup and SyncGroup, each with its answer.
    assert 6_000 <= lane["bill"]["pause_us"] <= 6_600 and lane["sentence"]["code"] == "kafka.rebalanced"


def covered(lane: Json) -> list[tuple[str, list[str], int]]:
    """What a lane's bill counts: kind, names, how many."""
    return [(change["kind"], change["names"], change["count"]) for change in lane["bill"]["changes"]]


@pytest.mark.parametrize("lane", ["kafka", "tubemq"])
def test_leaves_within_one_rebalance_are_named_together_with_their_beginning(lane: str):
    lab = at(at(at(lab_of(lane, consumers=4), 20, "leave", "c1"), 20.2, "leave", "c2"), 20.4, "leave", "c3")
    for second in (20.5, 60):
        view = lane_at(lab, second, lane)
        assert covered(view) == [("leave", ["c1", "c2", "c3"], 3)] and view["bill"]["at_us"] == 20 * SECOND
    assert view["bill"]["settled"] and view["hero"]["code"] == "moved"
    assert view["hero"]["part"] == view["bill"]["keys_moved"] > 0.5 * view["hero"]["whole"]


@pytest.mark.parametrize("lane", ["kafka", "tubemq"])
def test_a_join_and_a_leave_that_fall_together_are_both_on_the_bill(lane: str):
    lab = at(at(lab_of(lane), 20, "join", count=10), 20.3, "leave", "c2")
    assert covered(lane_at(lab, 60, lane)) == [("join", ["c4", "c5", "c6"], 10), ("leave", ["c2"], 1)]
    assert covered(lane_at(at(lab, 61, "join"), 90, lane)) == [("join", ["c14"], 1)]


def test_a_crash_amid_a_rebalance_is_on_its_bill_once_although_it_is_found_out_later():
    lab = at(at(lab_of("kafka"), 20, "join"), 20.3, "crash", "c2")
    assert covered(lane_at(lab, 21, "kafka")) == [("join", ["c4"], 1), ("crash", ["c2"], 1)]
    held_up = lane_at(lab, 40, "kafka")
    assert held_up["hero"]["code"] == "dark" and [
        change["kind"] for change in held_up["hero"]["changes"]
    ] == ["join", "crash"]
    assert covered(lane_at(lab, 90, "kafka")) == [("join", ["c4"], 1), ("crash", ["c2"], 1)]


def test_a_crash_that_is_found_out_at_rest_has_a_bill_that_says_so():
    lab = at(lab_of("kafka"), 20, "crash", "c2")
    assert covered(lane_at(lab, 21, "kafka")) == [("crash", ["c2"], 1)]
    assert covered(lane_at(lab, 90, "kafka")) == [("noticed", ["c2"], 1)]


def test_what_came_before_the_first_consumers_had_their_partitions_counts_from_the_start():
    lane = lane_at(at(lab_of("kafka"), 1, "join"), 20, "kafka")
    assert (
        covered(lane) == [("start", ["c1", "c2", "c3"], 3), ("join", ["c4"], 1)]
        and lane["bill"]["at_us"] == 0
    )


def test_a_pause_amid_a_rebalance_is_not_on_its_bill():
    lab = at(at(lab_of("kafka"), 20, "join"), 20.3, "pause", "c1")
    assert covered(lane_at(lab, 40, "kafka")) == [("join", ["c4"], 1)]
    assert covered(lane_at(at(lab, 41, "resume", "c1"), 42, "kafka")) == [("resume", ["c1"], 1)]
