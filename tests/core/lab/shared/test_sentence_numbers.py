"""Numbers of a sentence at the moment of a view: those that stand beside it as figures are the bill's, the
others stay as said at first."""

from typing import Any

import pytest

from broker_core.events import Json
from broker_core.lab.shared.sentence import OF_THE_BILL, sentence_view
from tests.core.lab.small import consumer, paper

BILL = {
    "keys_moved": 11,
    "keys_total": 12,
    "partitions_moved": 13,
    "partitions_total": 14,
    "pause_us": 15,
    "redelivered": 16,
}


def seen(
    code: str, bill: Json | None, *consumers: Any, held: int = 7, units: Any = None, **params: Any
) -> Json:
    lane = paper(*consumers, held=held, units=units)
    lane.say(code, **params)
    return sentence_view(lane, bill)


@pytest.mark.parametrize("number", OF_THE_BILL)
def test_number_that_the_bill_has_too_is_the_bills(number: str) -> None:
    assert seen("kafka.rebalanced", BILL, **{number: 1})["params"] == {number: BILL[number]}


def test_bill_adds_no_number_that_the_sentence_did_not_say() -> None:
    assert seen("kafka.rebalanced", BILL, moved=1)["params"] == {"moved": 1}


def test_before_the_first_change_numbers_are_as_they_were_said() -> None:
    assert seen("kafka.rebalanced", None, keys_moved=1, read_again=2)["params"] == {
        "keys_moved": 1,
        "read_again": 2,
    }


@pytest.mark.parametrize(("read_again", "redelivered"), [(5, 5), (16, 16), (40, 16)])
def test_of_what_will_be_read_again_so_much_has_come_as_the_bill_says_and_never_more_than_this_crash_left(
    read_again: int, redelivered: int
) -> None:
    assert seen("kafka.crash_noticed", BILL, read_again=read_again)["params"]["redelivered"] == redelivered


def test_looking_leaves_what_was_said_as_it_was() -> None:
    lane = paper(consumer("c1"), held=7)
    lane.say("kafka.paused", consumer="c1", keys_moved=1)
    sentence_view(lane, BILL)
    assert lane.sentence["params"] == {"consumer": "c1", "keys_moved": 1}


def test_of_a_consumer_that_has_left_nothing_is_asked_again() -> None:
    assert seen("rabbitmq.crash_pending", None, consumer="c1", unacked=3)["params"] == {
        "consumer": "c1",
        "unacked": 3,
    }


@pytest.mark.parametrize("kind", ["exclusive", "failover", "shared"])
def test_each_subscription_type_tells_what_a_silent_one_holds_now(kind: str) -> None:
    assert (
        seen(f"pulsar.{kind}.crash_pending", None, consumer("c1"), consumer="c1", unacked=1)["params"][
            "unacked"
        ]
        == 7
    )
    assert seen(f"pulsar.{kind}.paused", None, consumer("c1"), consumer="c1")["params"] == {
        "consumer": "c1",
        "held": 7,
        "partitions": 0,
    }


@pytest.mark.parametrize(
    ("units", "code"), [({"0": "c1"}, "kafka.paused"), ({"0": "c2"}, "kafka.paused_idle")]
)
def test_paused_one_that_has_no_partition_now_is_idle_and_the_sentence_says_so(
    units: Json, code: str
) -> None:
    assert seen("kafka.paused", None, consumer("c1"), units=units, consumer="c1")["code"] == code


def test_sentence_that_names_nobody_is_left_as_it_is() -> None:
    assert seen("none", BILL) == {"code": "none", "params": {}}
