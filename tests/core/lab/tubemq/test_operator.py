"""What the lab itself knows of a TubeMQ group, and its operator, without a world: who reads what, and how the
dead are taken off."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.assignors import custom
from broker_core.lab.tubemq.notes import Notes
from broker_core.lab.tubemq.operator import Connect, Deal, Operator, OperatorState, TakeOff
from broker_core.sim.node import PERSON
from broker_core.tubemq import requests as r
from tests.core.playbook import Played, play

ROOT = Path(__file__).parents[4]
KEYS = [f"1:t:{number}" for number in range(5)]


def test_partition_that_was_never_read_has_not_stopped_when_it_is_read_first() -> None:
    notes = Notes()
    assert notes.begin_reading("a", ["1:t:0"], 10) == {} and notes.stopped == {}


def test_pause_lasts_from_the_last_reader_to_the_next() -> None:
    notes = Notes()
    notes.begin_reading("a", ["1:t:0", "1:t:1"], 10)
    notes.stop_reading("a", 20)
    assert notes.stopped == {"1:t:0": 20, "1:t:1": 20}
    assert notes.begin_reading("b", ["1:t:1"], 35) == {"1:t:1": 20}
    assert notes.stopped == {"1:t:0": 20} and notes.readers == {"1:t:1": "b"}


def test_client_that_reads_fewer_than_before_has_stopped_the_others() -> None:
    notes = Notes()
    notes.begin_reading("a", ["1:t:0", "1:t:1"], 10)
    assert notes.begin_reading("a", ["1:t:1"], 20) == {}
    assert notes.readers == {"1:t:1": "a"} and notes.stopped == {"1:t:0": 20}


def test_second_stop_keeps_the_time_of_the_first_and_one_who_does_not_read_stops_nothing() -> None:
    notes = Notes()
    notes.begin_reading("a", ["1:t:0"], 10)
    notes.stop_reading("b", 15, ["1:t:0"])
    assert notes.stopped == {}
    notes.stop_reading("a", 20, ["1:t:0"])
    notes.stop_reading("a", 30, ["1:t:0"])
    assert notes.stopped == {"1:t:0": 20}


def test_partitions_that_are_named_stop_and_the_others_of_the_client_go_on() -> None:
    notes = Notes()
    notes.begin_reading("a", ["1:t:0", "1:t:1"], 10)
    notes.stop_reading("a", 20, ["1:t:1"])
    assert notes.readers == {"1:t:0": "a"} and notes.stopped == {"1:t:1": 20}
    notes.stop_reading("a", 25, [])
    assert notes.readers == {"1:t:0": "a"}


def test_taking_over_from_one_who_still_reads_ends_no_pause() -> None:
    notes = Notes()
    notes.begin_reading("a", ["1:t:0"], 10)
    assert notes.begin_reading("b", ["1:t:0"], 20) == {} and notes.readers == {"1:t:0": "b"}
    notes.stop_reading("a", 30)
    assert notes.stopped == {}, "it is another's by now"


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.sets(st.sampled_from(KEYS))), max_size=12)
)
def test_what_was_read_once_is_read_or_stopped_and_never_both(
    steps: list[tuple[bool, str, set[str]]],
) -> None:
    notes, ever = Notes(), set[str]()
    for now_us, (begins, client, keys) in enumerate(steps):
        if begins:
            ever |= keys
            notes.begin_reading(client, sorted(keys), now_us)
        else:
            notes.stop_reading(client, now_us)
        assert (
            notes.readers.keys() | notes.stopped.keys() == ever
            and not notes.readers.keys() & notes.stopped.keys()
        )


@pytest.fixture
def operator() -> tuple[Operator, Played]:
    node, out = Operator(OperatorState()), Played("operator")
    play(node, out, PERSON, Connect({1: "b1", 2: "b2"}))
    return node, out


def test_dead_client_is_unregistered_at_each_broker_and_closed_at_the_master(
    operator: tuple[Operator, Played],
) -> None:
    """As the client itself would have sent it at the end of shutdown()."""
    node, out = operator
    assert play(node, out, PERSON, TakeOff("c", "g", ["2:t:0", "1:t:4", "2:t:1"], "m")) == [
        (1, r.RegisterRequestC2B(r.UNREGISTER, "c", "g", "2:t:0")),
        (1, r.RegisterRequestC2B(r.UNREGISTER, "c", "g", "2:t:1")),
        (2, r.RegisterRequestC2B(r.UNREGISTER, "c", "g", "1:t:4")),
        (3, r.CloseRequestC2M("c", "g")),
    ]
    assert out.connected == {1: "b2", 2: "b1", 3: "m"} and out.closed == [1, 2, 3]


def test_client_without_partitions_is_closed_all_the_same(operator: tuple[Operator, Played]) -> None:
    node, out = operator
    assert play(node, out, PERSON, TakeOff("c", "g", [], "m")) == [(1, r.CloseRequestC2M("c", "g"))]


def test_answers_to_the_operator_need_nothing_more(operator: tuple[Operator, Played]) -> None:
    node, out = operator
    assert play(node, out, 1, TakeOff("c", "g", ["1:t:0"], "m")) == []


def deal(rule: str, source: str = "", **previous: str) -> Deal:
    keys = ["1:t:0", "1:t:1", "2:t:0"]
    return Deal(rule, ["a", "b"], keys, dict.fromkeys(keys, "a") | previous, {"2:t:0": 5}, source)


@pytest.mark.parametrize(
    ("rule", "shares"),
    [
        ("sticky", {"a": ["1:t:0", "1:t:1"], "b": ["2:t:0"]}),
        ("by_lag", {"a": ["2:t:0"], "b": ["1:t:0", "1:t:1"]}),
    ],
)
def test_operator_deals_by_the_rule_and_tells_how_many_move(
    operator: tuple[Operator, Played], rule: str, shares: dict[str, list[str]]
) -> None:
    node, out = operator
    play(node, out, PERSON, deal(rule))
    node.wake("deal", 0, out)
    assert node.state.shares == shares and node.state.deal is None
    moved = sum(key not in shares["a"] for key in ("1:t:0", "1:t:1", "2:t:0"))
    assert out.told == [("tubemq.group.dealt", {"moved": moved, "members": 2, "partitions": 3})]


def test_own_rule_is_given_topics_by_broker_and_what_each_member_had(
    operator: tuple[Operator, Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, out = operator
    asked: list[Any] = []

    def runner(source: str, members: dict[str, Any], partitions: dict[str, int]) -> dict[str, Any]:
        asked.append((source, members, partitions))
        return {"assignment": {"a": [], "b": [["1:t", 0], ["1:t", 1], ["2:t", 0]]}}

    monkeypatch.setattr(custom, "_runner", runner)
    play(node, out, PERSON, deal("own", "def assign(members, partitions): ..."))
    node.wake("deal", 0, out)
    ((_, members, partitions),) = asked
    assert partitions == {"1:t": 2, "2:t": 1} and len(members["a"]["owned"]) == 3
    assert node.state.shares == {"a": [], "b": ["1:t:0", "1:t:1", "2:t:0"]}


@pytest.mark.parametrize("takes", [True, False])
def test_own_rule_with_a_third_argument_is_passed_lag_and_what_may_be_subscribed(
    operator: tuple[Operator, Played], monkeypatch: pytest.MonkeyPatch, takes: bool
) -> None:
    node, out = operator
    asked: list[Any] = []

    def runner(source: str, *arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"assignment": {}}

    monkeypatch.setattr(custom, "_runner", runner)
    order = deal("own", f"def assign(members, partitions{', status' if takes else ''}): ...")
    play(node, out, PERSON, msgspec.structs.replace(order, closed=["1:t:1"]))
    node.wake("deal", 0, out)
    ((_, _, *extra),) = asked
    first, second = {"lag": 0, "subscribable": True}, {"lag": 0, "subscribable": False}
    status = {"1:t": [first, second], "2:t": [{"lag": 5, "subscribable": True}]}
    assert extra == ([status] if takes else [])


def test_own_rule_that_fails_leaves_the_shares_as_they_are(
    operator: tuple[Operator, Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, out = operator
    node.state.shares = {"a": ["1:t:0"]}
    monkeypatch.setattr(custom, "_runner", lambda *_: {"error": "KeyError: 'x'", "line": 2})
    play(node, out, PERSON, deal("own", "x"))
    node.wake("deal", 0, out)
    assert node.state.shares == {"a": ["1:t:0"]}
    assert out.told == [
        ("tubemq.group.rule_failed", {"reason": "KeyError: 'x'", "line": 2, "code": "", "params": {}})
    ]


def test_example_of_the_page_is_a_rule_that_levels_what_waits() -> None:
    pane = (ROOT / "static/js/tubemq/example.js").read_text()
    source = pane.split("const EXAMPLE = `")[1].split("`;")[0]
    custom.check_source(source, may_take_status=True)
    with pytest.raises(CommandError):
        custom.check_source(source)  # a Kafka group's has two arguments
    space: dict[str, Any] = {}
    exec(source, space)
    status = {"1:t": [{"lag": lag, "subscribable": True} for lag in (3, 9, 4, 0)]}
    given = space["assign"]({"b": {}, "a": {}}, {"1:t": 4}, status)
    assert given == {"a": [("1:t", 1)], "b": [("1:t", 2), ("1:t", 0), ("1:t", 3)]}
