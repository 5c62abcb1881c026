"""Changes that fall together, and dead sessions that outlive their programs: the sentence counts what its figures count."""

from itertools import pairwise
from typing import Any

import pytest

from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.rig import WHY_MAX
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.lives import SECOND, order


def lab_of(**scenario: Any) -> Lab:
    return Lab(scenario_from_json({"seed": 7, **scenario}))


def at(lab: Lab, second: float, kind: str, consumer: str | None = None, **args: Any) -> Lab:
    lab.advance_to(int(second * SECOND))
    assert order(lab, kind, consumer, **args)
    return lab


def rig_at(lab: Lab, second: float, rig: str) -> Json:
    lab.advance_to(int(second * SECOND))
    view: Json = lab.view()["rigs"][rig]
    return view


def test_a_restart_that_another_one_overtakes_compares_with_the_count_that_its_figures_compare_with():
    lab = at(at(lab_of(), 20, "join", count=10), 20.5, "join")
    assert rig_at(lab, 20.5, "tubemq")["sentence"]["params"] == {"from_count": 13, "to_count": 14}
    settled = rig_at(lab, 40, "tubemq")
    assert settled["sentence"]["code"] == "tubemq.restarted"
    assert (settled["sentence"]["params"]["from_count"], settled["sentence"]["params"]["to_count"]) == (3, 14)
    assert {part["before"] for part in settled["picture"]["partitions"].values()} == {"c1", "c2", "c3"}


def test_clients_of_an_empty_group_start_and_do_not_stop():
    lab = at(at(lab_of(consumers=1), 20, "leave", "c1"), 30, "join")
    assert rig_at(lab, 20, "tubemq")["why"][0]["kind"] == "tubemq.group.starting"
    rig = rig_at(lab, 30, "tubemq")
    assert rig["sentence"]["code"] == "tubemq.starting" and rig["why"][0]["kind"] == "tubemq.group.starting"
    assert rig_at(lab, 60, "tubemq")["sentence"]["code"] == "tubemq.first"


def test_nobody_is_left_although_the_queue_still_counts_a_dead_connection():
    lab = at(at(at(lab_of(consumers=1), 20, "crash", "c1"), 25, "rejoin", "c1"), 30, "leave", "c1")
    assert rig_at(lab, 31, "rabbitmq")["sentence"]["code"] == "rabbitmq.leave_last"
    at(lab, 35, "join")
    joined = rig_at(lab, 35, "rabbitmq")
    assert joined["sentence"]["code"] == "rabbitmq.join_first"
    assert [entry.get("dead", False) for entry in joined["why"][0]["data"]["skipped"]] == [True, False]


@pytest.mark.parametrize("rig", ["pulsar", "kafka", "rabbitmq"])
def test_the_dead_session_of_one_who_came_back_and_left_is_a_former_one(rig: str):
    lab = at(at(at(lab_of(), 20, "crash", "c3"), 25, "rejoin", "c3"), 30, "leave", "c3")
    codes = {rig_at(lab, second, rig)["sentence"]["code"] for second in range(31, 260)}
    assert f"{rig}.ghost_noticed" in codes and not any(code.startswith(f"{rig}.crash_noticed") for code in codes)


def test_a_crash_that_is_noticed_is_explained_from_the_crash_on():
    lab = at(lab_of(), 20, "crash", "c3")
    for rig, crash in (("pulsar", "pulsar.consumer"), ("kafka", "kafka.member"), ("tubemq", "tubemq.client"), ("rabbitmq", "rabbitmq.consumer")):
        why = rig_at(lab, 300, rig)["why"]
        assert why[0]["kind"] == f"{crash}.crashed" and len(why) > 1
    assert [event["kind"] for event in rig_at(at(lab, 310, "join"), 310, "pulsar")["why"]] == ["pulsar.consumer.connected"]


def test_a_long_chain_keeps_how_it_began_and_how_it_came_to_rest():
    lab = at(lab_of(), 20, "join", count=60)
    for rig, last in (("kafka", "kafka.group.partitions_resumed"), ("tubemq", "tubemq.group.partitions_resumed")):
        why = rig_at(lab, 60, rig)["why"]
        seqs = [event["seq"] for event in why]
        assert len(why) == WHY_MAX and why[0]["at_us"] == 20 * SECOND and last in [event["kind"] for event in why]
        assert seqs == sorted(seqs) and max(later - event for event, later in pairwise(seqs)) > 1


def test_a_rebalance_for_ten_newcomers_counts_them():
    rig = rig_at(at(lab_of(), 20, "join", count=10), 20, "kafka")
    assert rig["sentence"]["code"] == "kafka.announced" and rig["sentence"]["params"]["count"] == 10


def test_a_rebalance_at_one_moment_pauses_nothing():
    lab = at(lab_of(consumers=1), 20, "join", count=10)
    rig = rig_at(lab, 40, "kafka")
    assert rig["bill"]["pause_us"] == 0 and rig["sentence"]["code"] == "kafka.at_once"
