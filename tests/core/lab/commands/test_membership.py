"""Join, leave, crash and rejoin against a page: who may, who may not, and what a join may ask for."""

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.limits import Limits
from tests.core.lab.commands.pages import STATES, made, misread, of_model, page, pulsar, refused

ALL_STATES = of_model("rabbitmq", *STATES)
TAKEN = {
    "leave": {"live", "paused", "crashed", "gone", "stuck"},
    "crash": {"live", "paused", "frozen", "stuck"},
    "rejoin": {"crashed", "gone"},
}  # fmt: skip


@pytest.mark.parametrize("kind", TAKEN)
@pytest.mark.parametrize("state", STATES)
def test_who_may_leave_crash_and_come_back(kind: str, state: str) -> None:
    answer = refused(page(one=ALL_STATES), kind, state)
    assert (answer is None) == (state in TAKEN[kind])
    assert answer is None or (answer[0] == "consumer" and state in answer[1])


@pytest.mark.parametrize(
    ("kind", "state", "reason"),
    [
        ("leave", "frozen", "frozen is frozen; resume or crash it"),
        ("crash", "gone", "gone has crashed; it can rejoin or leave"),
        ("rejoin", "paused", "paused has not crashed"),
    ],
)
def test_refusal_says_what_can_be_done_instead(kind: str, state: str, reason: str) -> None:
    assert refused(page(one=ALL_STATES), kind, state) == ("consumer", reason)


def test_consumer_that_is_in_no_lane_and_one_that_is_not_in_the_lane_that_was_named() -> None:
    facts = page(one=of_model("rabbitmq", "c1"), two=of_model("tubemq", "c2"))
    assert refused(facts, "leave", "c9") == ("consumer", "there is no consumer c9")
    assert refused(facts, "leave", "c2", "one") == ("consumer", "there is no consumer c2 in one")
    assert refused(facts, "leave", "c2", "three") == ("lane", "there is no lane three in this lab")
    assert refused(facts, "leave", "c2") is None, "one lane that has it is enough"


def test_lane_in_which_it_makes_no_sense_refuses_for_all() -> None:
    """The order is for both lanes, and in one of them it has crashed."""
    facts = page(one=of_model("rabbitmq", "paused"), two=of_model("tubemq", "paused"))
    assert refused(facts, "rejoin", "paused") == ("consumer", "paused has not crashed")


@pytest.mark.parametrize(
    ("there", "count", "field"), [(2, 1, None), (2, 2, "args.count"), (3, 1, "args.count"), (0, 3, None)]
)
def test_as_many_may_join_as_the_lane_has_room_for(there: int, count: int, field: str | None) -> None:
    facts = page(
        Limits(consumers_max=3), one=of_model("rabbitmq", *(f"c{number}" for number in range(there)))
    )
    answer = refused(facts, "join", count=count)
    assert answer == (None if field is None else (field, f"at most 3 consumers; one has {there}"))


def test_those_that_are_gone_take_room_as_well() -> None:
    assert refused(page(Limits(consumers_max=2), one=of_model("rabbitmq", "c1", "gone")), "join") == (
        "args.count",
        "at most 2 consumers; one has 2",
    )


def test_the_fullest_lane_decides_and_an_order_for_another_lane_does_not_ask_it() -> None:
    facts = page(Limits(consumers_max=2), one=of_model("rabbitmq", "c1"), two=of_model("tubemq", "c1", "c2"))
    assert refused(facts, "join") == ("args.count", "at most 2 consumers; two has 2")
    assert refused(facts, "join", lane="one") is None


def test_name_that_is_taken_in_one_lane_is_free_in_another() -> None:
    facts = page(one=of_model("rabbitmq", "c1"), two=of_model("tubemq", "c2"))
    assert refused(facts, "join", "c1") == ("consumer", "c1 is already in one")
    assert refused(facts, "join", "c1", "two") is None


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"count": 0}, "args.count"),
        ({"count": 4}, "args.count"),
        ({"priority": -1}, "args.priority"),
        ({"ranges": 3}, "args.ranges"),
    ],
)
def test_what_a_join_cannot_ask_for(args: dict[str, Any], field: str) -> None:
    with pytest.raises(CommandError) as caught:
        made("join", limits=Limits(consumers_max=3), **args)
    assert caught.value.field == field


def test_one_that_has_a_name_or_ranges_of_its_own_comes_alone() -> None:
    assert misread("join", "c7", count=2) == ("args.count", "must be 1 when the consumer has a name")
    assert misread("join", count=2, ranges=[[0, 9]]) == (
        "args.count",
        "must be 1 when the consumer has ranges of its own",
    )
    assert misread("join", "c7", count=1, ranges=[[0, 9]]) is None


@pytest.mark.parametrize("asked", [{"priority": 1}, {"ranges": [[0, 9]]}])
def test_what_only_pulsar_knows_is_refused_where_there_is_no_pulsar_lane(asked: dict[str, Any]) -> None:
    facts = page(one=of_model("rabbitmq", "c1"), two=pulsar("c1", algorithm="sticky"))
    (name,) = asked
    assert refused(facts, "join", lane="one", **asked) == (
        f"args.{name}",
        "is for a consumer of a Pulsar lane",
    )
    assert refused(facts, "join", lane="two", **asked) is None and refused(facts, "join", **asked) is None


def test_ranges_are_checked_by_the_rule_of_each_pulsar_lane_and_before_the_room() -> None:
    facts = page(Limits(consumers_max=1), one=pulsar("c1", algorithm="shared"))
    assert refused(facts, "join", ranges=[[0, 9]]) == (
        "args.ranges",
        "only consumers with sticky ranges name their ranges",
    )
    facts = page(one=pulsar("c1", algorithm="sticky"), two=of_model("tubemq", "c1"))
    answer = refused(facts, "join", ranges=[[0, 9], [5, 20]])
    assert (
        answer is not None
        and answer[0] == "args.ranges"
        and answer[1].startswith("the client refuses them: ")
    )


def test_only_what_was_asked_for_is_in_the_journal_and_no_caption_speaks_of_it() -> None:
    assert made("join").args() == {"count": 1}
    asked = made("join", priority=0, ranges=[[0, 9]])
    assert asked.args() == {"count": 1, "priority": 0, "ranges": [[0, 9]]} and asked.said() == {"count": 1}
