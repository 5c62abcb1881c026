"""How a program reads: one batch at a time, its partitions in turn, resting those without news; and what a person may
order meanwhile."""

from __future__ import annotations

import pytest

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Pace, Pause, Resume
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.program_state import Hold, LetGo, MakeCall, Share
from tests.core.playbook import play, wake
from tests.core.tubemq.programs import (
    ONE,
    OTHER,
    OWN,
    READER,
    ask,
    asking,
    batch,
    confirm,
    confirmed,
    reading,
    refusal,
    started,
)

REST_US = 400 * MILLISECOND_US


def test_partitions_are_read_in_turn_and_one_that_was_read_goes_to_the_end() -> None:
    node, out, _ = asking()
    for key, next_key in ((OWN, OTHER), (OTHER, OWN), (OWN, OTHER)):
        assert play(node, out, ONE, batch(key, 41)) == []
        assert wake(node, out, DONE) == [(ONE, confirm(key))]
        assert play(node, out, ONE, confirmed(key)) == [(ONE, ask(next_key))]


def test_batch_is_handled_message_by_message_and_confirmed_with_the_last_one() -> None:
    node, out, counted = reading(41, 42)
    assert counted.received_count == 2 and node.state.first_record_us == 0
    assert wake(node, out, DONE) == [] and node.state.reading == OWN
    assert wake(node, out, DONE) == [(ONE, confirm(OWN))] and node.state.reading == ""
    assert counted.log == [("handled", 41), ("handled", 42)]


def test_resting_partition_is_read_again_after_its_rest_and_not_before() -> None:
    node, out, _ = asking()
    assert play(node, out, ONE, refusal(404, OWN)) == [(ONE, ask(OTHER))]
    assert play(node, out, ONE, refusal(404, OTHER), now_us=7) == []
    assert out.deadlines[READER] == REST_US
    node.wake(READER, REST_US - 1, out)
    assert out.take() == [], "woken before its time"
    node.wake(READER, REST_US, out)
    assert out.take() == [(ONE, ask(OWN))]


def test_partition_under_a_flow_rule_rests_as_long_as_the_broker_says() -> None:
    node, out, _ = asking()
    limited = refusal(r.SERVER_CONSUME_SPEED_LIMIT, OWN)
    limited.min_limit_us = 7 * SECOND_US
    assert play(node, out, ONE, limited) == [(ONE, ask(OTHER))]
    assert node.state.consumer.resting[OWN] == 7 * SECOND_US


@pytest.mark.parametrize("code", [411, 412, 415])
def test_read_that_is_refused_costs_the_partition_and_the_next_one_is_read(code: int) -> None:
    node, out, _ = asking()
    assert play(node, out, ONE, refusal(code, OWN)) == [(ONE, ask(OTHER))]
    assert node.state.registered == [OTHER]
    assert out.told[-1] == (
        "tubemq.client.disconnected",
        {"consumer": "a", "client": "a", "partitions": [OWN]},
    )


def test_read_that_breaks_off_leaves_the_partition_in_turn_and_the_program_waits_a_little() -> None:
    node, out, _ = asking()
    play(node, out, ONE, Closed("reset"))
    assert out.take() == [] and list(node.state.consumer.idle) == [OTHER, OWN]
    assert wake(node, out, "rest") == [(3, ask(OTHER))]


def test_partition_lost_while_its_read_is_under_way_brings_nothing() -> None:
    node, out, counted = asking()
    play(node, out, ONE, r.HeartBeatResponseB2C([(412, OWN)]))
    play(node, out, ONE, batch(OWN, 41))
    assert counted.received_count == 0 and node.state.reading == "", "it came too late"
    assert wake(node, out, "rest") == [(ONE, ask(OTHER))]


def test_partition_lost_with_its_batch_in_hand_leaves_the_turn_to_the_next() -> None:
    node, out, counted = reading(41, 42)
    assert play(node, out, ONE, r.HeartBeatResponseB2C([(412, OWN)])) == [(ONE, ask(OTHER))]
    assert counted.log == [("dropped", 41), ("dropped", 42)] and DONE not in out.deadlines
    play(node, out, ONE, batch(OTHER, 51))
    assert wake(node, out, DONE) == [(ONE, confirm(OTHER))] and counted.log[2:] == [("handled", 51)]


def test_confirmation_that_is_refused_leaves_the_partition_in_turn() -> None:
    node, out, _ = reading(41)
    wake(node, out, DONE)
    assert play(node, out, ONE, confirmed(OWN, 401)) == [(ONE, ask(OTHER))]
    assert list(node.state.consumer.idle) == [OWN]


# -- orders about the program --------------------------------------------------------------------------------


def test_paused_program_reads_nothing_more() -> None:
    node, out, _ = started()
    play(node, out, PERSON, Pause())
    assert READER not in out.deadlines and "reader" not in node.state.consumer.calls
    assert play(node, out, PERSON, Resume(), now_us=REST_US) == [(ONE, ask(OWN))]


def test_batch_that_arrives_at_a_paused_program_waits_whole() -> None:
    node, out, counted = asking()
    play(node, out, PERSON, Pause())
    assert play(node, out, ONE, batch(OWN, 41, 42)) == [] and DONE not in out.deadlines
    assert (list(node.state.batch), node.state.reading, counted.received_count) == ([41, 42], OWN, 2)
    assert play(node, out, PERSON, Resume(), now_us=1_000) == [] and out.deadlines[DONE] == 1_100


def test_paused_in_its_last_message_it_confirms_the_batch_and_reads_no_other() -> None:
    node, out, _ = reading(41)
    play(node, out, PERSON, Pause())
    assert wake(node, out, DONE) == [(ONE, confirm(OWN))]
    assert play(node, out, ONE, confirmed(OWN)) == []
    assert play(node, out, PERSON, Resume()) == [(ONE, ask(OTHER))]


def test_order_while_a_read_is_under_way_starts_no_second_one() -> None:
    node, out, _ = asking()
    assert play(node, out, PERSON, Pace(7), Resume()) == []
    play(node, out, ONE, batch(OWN, 41), now_us=50)
    assert out.deadlines[DONE] == 57


# -- a batch that is held back -------------------------------------------------------------------------------


@pytest.mark.parametrize("partition", ["", OWN])
def test_batch_that_is_held_back_blocks_its_partition_alone(partition: str) -> None:
    node, out, counted = reading(41)
    play(node, out, PERSON, Hold(partition))
    assert wake(node, out, DONE) == [(ONE, ask(OTHER))] and counted.log == [("handled", 41)]
    assert list(node.state.unconfirmed) == [OWN] and node.state.holds is None
    play(node, out, ONE, refusal(404, OTHER), now_us=SECOND_US)
    node.wake(READER, 2 * SECOND_US, out)
    assert out.take() == [(ONE, ask(OTHER))], "its own partition is not read"
    assert play(node, out, PERSON, LetGo(True)) == [(ONE, confirm(OWN))]
    play(node, out, ONE, confirmed(OWN))
    assert node.state.unconfirmed == {} and list(node.state.consumer.idle) == [OWN]


def test_batch_of_another_partition_than_the_one_to_hold_is_confirmed() -> None:
    node, out, _ = reading(41)
    play(node, out, PERSON, Hold(OTHER))
    assert wake(node, out, DONE) == [(ONE, confirm(OWN))] and node.state.holds == OTHER


def test_batch_that_is_let_go_unconsumed_comes_again() -> None:
    node, out, _ = reading(41)
    play(node, out, PERSON, Hold(""))
    wake(node, out, DONE)
    assert play(node, out, PERSON, LetGo(False)) == [(ONE, r.CommitOffsetRequestC2B("a", "g", OWN, False))]


def test_batch_held_back_is_forgotten_with_its_partition() -> None:
    node, out, _ = reading(41)
    play(node, out, PERSON, Hold(""))
    wake(node, out, DONE)
    play(node, out, ONE, r.HeartBeatResponseB2C([(411, OWN)]))
    assert node.state.unconfirmed == {}


# -- calls by a person ---------------------------------------------------------------------------------------


def last_code(node: object, name: str) -> int:
    code: int = node.state.consumer.last[name].code  # type: ignore[attr-defined]
    return code


def test_person_calls_beside_the_program_and_the_refusal_is_the_originals() -> None:
    node, out, _ = started()
    for call, code in (
        (MakeCall("connect2Partition", "9:t:0"), 404), (MakeCall("connect2Partition", OWN, 56), 200),
        (MakeCall("connect2Partition", " "), 400), (MakeCall("confirmConsume", f"{OWN}:77"), 400),
        (MakeCall("confirmConsume", f"{OWN}:x"), 0), (MakeCall("start", "t", 1, 0), 400),
        (MakeCall("getSourceCount"), 200), (MakeCall("getPartitionMetaInfo"), 200),
    ):  # fmt: skip
        play(node, out, PERSON, call)
        assert last_code(node, call.name) == code, call
    assert node.state.consumer.calls.keys() == {"reader"}


def test_two_calls_of_a_person_wait_side_by_side() -> None:
    node, out, _ = started()
    play(node, out, PERSON, Share([OTHER]))
    play(node, out, ONE, r.RegisterResponseB2C(200, r.UNREGISTER, OWN, 0, 0))
    play(node, out, PERSON, MakeCall("connect2Partition", OWN, -1), MakeCall("isPartitionsReady", "", 1_000))
    assert sorted(node.state.consumer.calls) == ["person-1", "reader"]
    play(node, out, ONE, r.RegisterResponseB2C(200, r.REGISTER, OWN, 0, 0))
    assert last_code(node, "connect2Partition") == 200 and OWN in node.state.registered
    assert [data["partitions"] for kind, data in out.told if kind.endswith("connected")][-1] == [OTHER, OWN]


def test_message_that_a_person_gets_is_held_until_it_is_confirmed() -> None:
    node, out, counted = reading(41)
    assert play(node, out, PERSON, MakeCall("getMessage")) == [(ONE, ask(OTHER))]
    play(node, out, ONE, batch(OTHER, 51))
    assert counted.log == [("handled", 51)] and list(node.state.unconfirmed) == [OTHER]
    context = node.state.unconfirmed[OTHER]
    assert play(node, out, PERSON, MakeCall("confirmConsume", context, 1)) == [(ONE, confirm(OTHER))]
    play(node, out, ONE, confirmed(OTHER))
    assert node.state.unconfirmed == {} and last_code(node, "confirmConsume") == 200


def test_shutdown_by_a_person_stops_the_program_and_start_leaves_the_object_starting_for_ever() -> None:
    node, out, _ = started()
    play(node, out, PERSON, MakeCall("shutdown"))
    wake(node, out, "call:person-1")
    assert node.state.phase == "stopped" and out.told[-1][0] == "tubemq.client.stopped"
    play(node, out, PERSON, MakeCall("getMessage"))
    assert last_code(node, "getMessage") == r.CLIENT_SHUTDOWN
    play(node, out, PERSON, MakeCall("start", "t", 1, 0))
    play(node, out, node.state.consumer.masters.connection, r.RegisterResponseM2C(200))
    assert last_code(node, "start") == 0 and node.state.phase == "stopped"
