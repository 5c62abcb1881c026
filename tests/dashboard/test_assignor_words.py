"""What a lane says of its own assignor: the sentence, each consumer's state, who shares out, and what stands
at a member, as time goes on."""

from __future__ import annotations

from typing import Any

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.kafka.test_group_commands import LANE, SECOND, lane_of, order
from tests.dashboard.test_assignors import EVEN, lab_of

MISSPELT = "def assign(members, partitions):\n    return memberz\n"
FAILS_FOR_THREE = EVEN.replace("    names", "    assert len(members) < 3, 'too many for me'\n    names")
FAULT = {"line": 2, "reason": "name 'memberz' is not defined", "code": "", "params": {}}


def states_of(lab: Lab) -> set[str]:
    return {consumer["state"] for consumer in lane_of(lab)["consumers"].values()}


def faults_of(lab: Lab) -> dict[str, Any]:
    return {member["consumer"]: member["fault"] for member in lane_of(lab)["group"]["members"].values()}


def test_a_function_that_raises_is_what_the_lane_says_and_still_says_ten_minutes_later() -> None:
    lab = lab_of()
    order(lab, "group_assignor", 1, args={"source": MISSPELT})
    assert lane_of(lab)["sentence"]["code"] == "kafka.restarting"
    for seconds in (12, 600):
        lab.advance_to(lab.now_us + seconds * SECOND)
        code, params = lane_of(lab)["sentence"]["code"], lane_of(lab)["sentence"]["params"]
        assert (
            code == "kafka.assignor_failed"
            and params["line"] == 2
            and params["reason"] == "name 'memberz' is not defined"
        )
        assert (
            params["consumer"] in ("c1", "c2", "c3")
            and states_of(lab) == {"failed"}
            and lane_of(lab)["group"]["is_own"]
        )
        assert faults_of(lab) == dict.fromkeys(("c1", "c2", "c3"), FAULT) and lane_of(lab)["idle"] is None
    other = Lab.restore(lab.scenario, lab.checkpoint())
    assert other.view() == lab.view()
    order(lab, "group_assignor", 20, args={"source": EVEN})
    assert lane_of(lab)["sentence"]["code"] in ("kafka.formed", "kafka.rebalanced") and states_of(lab) == {
        "live"
    }
    assert set(faults_of(lab).values()) == {None} and lane_of(lab)["group"]["is_own"]
    order(lab, "group_assignor", 20, args={"source": None})
    assert not lane_of(lab)["group"]["is_own"] and lab.view()["caption"] == {
        "code": "group_assignor",
        "params": {"own": 0, "count": 1},
    }


def test_one_that_ended_only_one_leader_is_said_while_the_others_share_its_part() -> None:
    lab = lab_of()
    order(lab, "group_assignor", 30, args={"source": FAILS_FOR_THREE})
    view = lane_of(lab)
    assert view["group"]["state"] == "Stable" and view["sentence"]["code"] == "kafka.assignor_failed"
    failed = view["sentence"]["params"]["consumer"]
    assert (view["consumers"][failed]["state"], view["sentence"]["params"]["reason"]) == (
        "failed",
        "too many for me",
    )
    assert {each["state"] for name, each in view["consumers"].items() if name != failed} == {"live"}
    order(lab, "group_restart", 30, consumer=failed)
    assert lane_of(lab)["sentence"]["code"] == "kafka.assignor_failed", (
        "three again: another leader, or the same, fails"
    )


def test_a_limit_is_named_by_its_code_so_that_each_language_has_words() -> None:
    lab = lab_of()
    order(
        lab,
        "group_assignor",
        15,
        args={"source": "def assign(members, partitions):\n    while True:\n        pass\n"},
    )
    params = lane_of(lab)["sentence"]["params"]
    assert (params["limit"], params["steps"], params["line"] in (2, 3)) == ("steps", 300_000, True)


def test_a_restart_is_said_until_the_process_is_up() -> None:
    """Ten minutes later it is no longer "joins after 2 s", whatever became of the group: here nobody
    coordinates it."""
    lab = Lab(scenario_from_json({"lanes": [LANE | {"brokers": 1, "replication_factor": 1}], "consumers": 2}))
    lab.advance_to(12 * SECOND)
    order(lab, "group_restart", 1, consumer="c2")
    assert lane_of(lab)["sentence"]["code"] == "kafka.restarting"
    order(lab, "cluster_crash", args={"broker": 1})
    lab.advance_to(lab.now_us + 600 * SECOND)
    assert not lane_of(lab)["sentence"]["code"].startswith("kafka.restarting")
