"""The large figure speaks of what was done last, in every state that a lane can be in."""

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

pytestmark = pytest.mark.slow

SECOND = 1_000_000
KEYED = ("pulsar", "kafka", "tubemq")


class Story:
    """A lab of four lanes, told in one line a step."""

    def __init__(self, **scenario):
        self.lab = Lab(scenario_from_json(scenario))

    def at(self, second):
        self.lab.advance_to(int(second * SECOND))
        return self

    def do(self, kind, consumer=None, lane="all", **args):
        self.lab.submit(
            {
                "command_id": f"h{self.lab.position}",
                "kind": kind,
                "lane": lane,
                "consumer": consumer,
                "args": args,
            }
        )
        return self

    def heroes(self):
        return {lane_id: lane["hero"] for lane_id, lane in self.lab.view()["lanes"].items()}

    def codes(self):
        return {lane_id: hero["code"] for lane_id, hero in self.heroes().items()}


def test_before_any_change_it_is_what_will_happen_when_one_joins():
    assert [hero["way"] for hero in Story().at(5).heroes().values()] == ["ring", "eager", "restart", "turn"]


def test_join_and_leave_are_told_in_keys_moved():
    story = Story().at(12).do("join").at(30)
    assert story.codes() == {**dict.fromkeys(KEYED, "moved"), "rabbitmq": "keyless"}
    view = story.lab.view()["lanes"]
    for name in KEYED:
        assert (view[name]["hero"]["part"], view[name]["hero"]["whole"]) == (
            view[name]["bill"]["keys_moved"],
            view[name]["bill"]["keys_total"],
        )
    assert story.do("leave", "c1").codes()["kafka"] == "moving"


def test_a_crash_is_told_in_keys_that_nobody_serves_until_somebody_does():
    story = Story().at(20).do("crash", "c2")
    shares = {name: hero["part"] / hero["whole"] for name, hero in story.heroes().items()}
    assert all(0.15 < share < 0.6 for share in shares.values())
    deadline_us = story.lab.view()["lanes"]["pulsar"]["consumers"]["c2"]["deadline_us"]
    later = story.at(200).heroes()
    assert {name: hero["until_us"] is None for name, hero in later.items()} == {
        "pulsar": False, "kafka": False, "tubemq": True, "rabbitmq": False}  # fmt: skip
    assert {name: hero["part"] / hero["whole"] for name, hero in later.items()} == shares
    assert {hero["since_us"] for hero in later.values()} == {20 * SECOND}
    # The keep-alive ticks from when the connection was opened, a little before the lab began.
    assert later["pulsar"]["until_us"] == deadline_us and 59 * SECOND < deadline_us < 60 * SECOND
    # The rebalance that hands the partitions on belongs to the time without service; a heartbeat is 3 s.
    assert 62 * SECOND < later["kafka"]["until_us"] < 69 * SECOND


def test_a_crash_of_somebody_who_serves_nothing_leaves_nothing_without_service():
    story = Story(consumers=14).at(20)
    kafka = story.lab.view()["lanes"]["kafka"]
    idle = next(
        name
        for name in kafka["order"]
        if name not in {part["owner"] for part in kafka["picture"]["partitions"].values()}
    )
    hero = story.do("crash", idle).heroes()["kafka"]
    assert (hero["part"], hero["since_us"], hero["until_us"]) == (0, 20 * SECOND, 20 * SECOND)


@pytest.mark.parametrize("kind", ["pause", "slow", "resume"])
def test_slow_and_pause_are_told_in_records_that_wait(kind):
    story = Story().at(20).do("slow", "c2").at(30)
    if kind != "slow":
        story.do("pause", "c2").at(40)
    if kind == "resume":
        story.do("resume", "c2").at(41)
    view = story.lab.view()["lanes"]
    for lane_id, hero in story.heroes().items():
        assert hero["code"] == ("in_hands" if lane_id == "rabbitmq" else "waits") and hero["consumer"] == "c2"
        assert hero["lag"] == view[lane_id]["lag"] and 0 < hero["part"] <= hero["lag"]


def test_a_lane_that_nobody_consumes_says_so_whatever_came_before():
    story = Story().at(20).do("leave", "c1").do("leave", "c2").do("leave", "c3").at(30)
    assert story.codes() == {**dict.fromkeys(KEYED, "empty"), "rabbitmq": "queued"}
    since_us = {name: hero["since_us"] for name, hero in story.heroes().items()}
    # A lane on its world learns of it one network delay later.
    assert (
        min(since_us.values()) >= 20 * SECOND and max(since_us.values()) <= 20 * SECOND + story.lab.answer_us
    )
    assert story.do("join").at(45).codes() == {**dict.fromkeys(KEYED, "moved"), "rabbitmq": "keyless"}
    assert story.do("crash", "c4").at(50).codes() == {**dict.fromkeys(KEYED, "dark"), "rabbitmq": "queued"}
    assert story.at(400).codes() == {**dict.fromkeys(KEYED, "empty"), "rabbitmq": "queued"}
    assert Story(consumers=0).at(5).codes() == {**dict.fromkeys(KEYED, "empty"), "rabbitmq": "queued"}


def test_a_leave_that_leaves_a_gap_is_told_in_keys_that_nobody_serves():
    story = (
        Story().at(5).do("set_algorithm", lane="pulsar", algorithm="sticky").at(20).do("leave", "c2").at(40)
    )
    hero = story.heroes()["pulsar"]
    assert (hero["code"], hero["until_us"]) == ("dark", None) and 20 * SECOND < hero[
        "since_us"
    ] <= 20 * SECOND + story.lab.answer_us
    assert 0 < hero["part"] < hero["whole"]


def test_what_the_dead_hold_at_rabbitmq_grows_while_they_are_given_more():
    scenario = {"lanes": [{"model": "rabbitmq", "algorithm": "prefetch_unlimited"}]}
    story = Story(**scenario).at(20).do("crash", "c2")
    held = [story.at(second).heroes()["rabbitmq"]["part"] for second in (21, 60, 120)]
    assert held[0] < held[1] < held[2]
    after = story.at(300).heroes()["rabbitmq"]
    assert after["until_us"] is not None and after["part"] > held[2]


def test_a_switch_of_the_rule_keeps_what_was_done_last():
    story = Story().at(12).do("join", count=10).at(30)
    before = story.heroes()
    after = story.do("set_algorithm", lane="kafka", algorithm="sticky").heroes()
    assert after["kafka"]["code"] == "moved"
    assert {name: hero for name, hero in after.items() if name != "kafka"} == {
        name: hero for name, hero in before.items() if name != "kafka"
    }


def test_the_dark_that_two_crashes_leave_names_both_and_counts_from_the_first():
    story = Story(consumers=5).at(20).do("crash", "c2").at(26).do("crash", "c3")
    for lane_id, hero in story.heroes().items():
        assert (
            hero["code"] == ("held" if lane_id == "rabbitmq" else "dark") and hero["since_us"] == 20 * SECOND
        )
        assert hero["changes"] == [{"kind": "crash", "names": ["c2", "c3"], "count": 2}]


def test_a_crash_after_all_was_served_again_stands_alone():
    story = Story(consumers=5).at(20).do("crash", "c2").at(300).do("rejoin", "c2").at(340).do("crash", "c3")
    assert {lane_id: hero["changes"] for lane_id, hero in story.heroes().items()} == {
        lane_id: [{"kind": "crash", "names": ["c3"], "count": 1}] for lane_id in (*KEYED, "rabbitmq")
    }


def test_the_bill_of_a_pause_counts_what_a_crash_has_paused_from_its_own_beginning_on():
    view = Story(consumers=5).at(20).do("crash", "c2").at(30).do("pause", "c3").at(33).lab.view()["lanes"]
    for lane_id in ("kafka", "tubemq"):
        assert view[lane_id]["bill"]["kind"] == "pause" and view[lane_id]["bill"]["pause_us"] == 3 * SECOND


def test_a_crash_amid_a_restart_is_told_in_the_keys_that_stay_without_a_consumer():
    """All clients of TubeMQ are down when one of two crashes; the other one comes up and serves its half."""
    story = Story(consumers=0).at(20).do("join").do("join").at(21).do("crash", "c1")
    assert story.heroes()["tubemq"]["part"] == story.heroes()["tubemq"]["whole"]
    hero = story.at(45).heroes()["tubemq"]
    assert hero["code"] == "dark" and hero["until_us"] is None and 0.25 < hero["part"] / hero["whole"] < 0.75


@pytest.mark.parametrize("is_clustered", [True, False])
def test_all_that_a_rebalance_pauses_while_it_waits_for_the_dead_is_without_a_consumer(is_clustered):
    kafka = [{"model": "kafka", "cluster": is_clustered}]
    left = Story(lanes=kafka).at(20).do("leave", "c1").at(20.3).do("crash", "c2")
    again = Story(lanes=kafka).at(20).do("crash", "c2").at(25).do("rejoin", "c2").at(26).do("crash", "c2")
    for story in (left, again):
        hero = story.at(50).heroes()["kafka"]
        assert (
            hero["code"] == "dark"
            and hero["part"] == hero["whole"]
            and (hero["since_us"], hero["until_us"]) == (20 * SECOND, None)
        )
    hero = left.at(90).heroes()["kafka"]
    assert hero["part"] == hero["whole"] and hero["until_us"] > 60 * SECOND


def test_once_all_is_served_again_the_share_is_what_was_dark_longest():
    """A switch of Failover takes a second, in which all that it moves is dark; the crash leaves only what was
    c4's."""
    story = (
        Story(lanes=[{"model": "pulsar", "algorithm": "failover", "partitions": 12}])
        .at(20)
        .do("join")
        .at(20.3)
        .do("crash", "c4")
    )
    at_once, amid, after = (story.at(second).heroes()["pulsar"] for second in (20.4, 60, 100))
    assert at_once["part"] / at_once["whole"] > 0.6 and 0.2 < amid["part"] / amid["whole"] < 0.4
    assert after["until_us"] > 80 * SECOND and 0.2 < after["part"] / after["whole"] < 0.4
    # Two crashes: that the others waited, too, for the second one was the shorter time.
    story = Story(lanes=[{"model": "kafka"}]).at(20).do("crash", "c2").at(40).do("crash", "c3")
    during, after = (story.at(second).heroes()["kafka"] for second in (70, 100))
    assert during["part"] == during["whole"] and 0.6 < after["part"] / after["whole"] < 0.8


@pytest.mark.parametrize("rule", ["range", "sticky", "cooperative-sticky"])
def test_what_a_newcomer_is_assigned_that_crashed_amid_its_rebalance_has_no_consumer(rule):
    story = Story(lanes=[{"model": "kafka", "algorithm": rule}]).at(20).do("join").at(20.4).do("crash", "c4")
    assert story.heroes()["kafka"]["part"] == 0
    for second, lasts in ((29, True), (60, True), (90, False)):
        hero = story.at(second).heroes()["kafka"]
        assert (
            hero["code"] == "dark"
            and 0.15 < hero["part"] / hero["whole"] < 0.35
            and (hero["until_us"] is None) == lasts
        )
        assert 20.4 * SECOND < hero["since_us"] < 24 * SECOND
        assert hero["changes"] == [
            {"kind": "join", "names": ["c4"], "count": 1},
            {"kind": "crash", "names": ["c4"], "count": 1},
        ]


def test_a_lane_without_consumers_names_those_who_were_there_when_it_went_dark():
    story = Story().at(60).do("crash", "c1").at(62).do("crash", "c2").at(64).do("crash", "c3")
    crashed, last = (
        [{"kind": "crash", "names": names, "count": len(names)}] for names in (["c1", "c2", "c3"], ["c3"])
    )
    timed_out = story.at(280).heroes()
    for heroes in (timed_out, story.do("leave", "c1").at(300).heroes()):  # the row's consumer was gone before
        assert {name: hero["changes"] for name, hero in heroes.items()} == {
            **dict.fromkeys(KEYED, crashed),
            "rabbitmq": last,
        }
        assert {name: hero["since_us"] for name, hero in heroes.items()} == {
            **dict.fromkeys(KEYED, 60 * SECOND),
            "rabbitmq": 64 * SECOND,
        }
    all_left = Story().at(20).do("leave", "c1").do("leave", "c2").do("leave", "c3").at(60)
    left = [{"kind": "leave", "names": ["c1", "c2", "c3"], "count": 3}]
    assert {name: hero["changes"] for name, hero in all_left.heroes().items()} == dict.fromkeys(
        (*KEYED, "rabbitmq"), left
    )
    assert all(hero["changes"] == [] for hero in Story(consumers=0).at(5).heroes().values())
