"""A consumer's start and its passes, played call by call: what it asks the master, what it releases and
connects, and when it asks again."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import PERSON
from broker_core.sim.program import Program
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import Connect, Disconnect
from broker_core.tubemq.client.balance_consumer import BalanceConsumer
from broker_core.tubemq.client.consumer_state import ConsumerState, Start
from tests.core.playbook import Counted, Played, play, wake

FOUR = ["t#1:1:2:1,2:1:2:1"]
KEYS = ["1:t:0", "1:t:1", "2:t:0", "2:t:1"]
MASTER, ONE, TWO = 1, 2, 3  # connections
QUERY = r.GetPartMetaRequestC2M("c-1", "g", 1)


def booted(source_count: int = 1, node_id: int = 0) -> tuple[BalanceConsumer, Any]:
    node, out = (
        BalanceConsumer(ConsumerState("c-1", "g", source_count, node_id, Program(100)), Counted()),
        Played("c-1"),
    )
    play(node, out, PERSON, Start("master", {1: "b1", 2: "b2"}, 500))
    wake(node, out, "boot")
    return node, out


def holding(*keys: str, now_us: int = 0) -> tuple[BalanceConsumer, Any]:
    """Started, and registered for these of the four; its reads rest."""
    node, out = booted()
    play(node, out, MASTER, r.RegisterResponseM2C(200), now_us=now_us)
    node.state.metadata = node.state.metadata.updated(1, FOUR, [1, 2])
    node.state.registered.extend(keys)
    return node, out


def answered(
    node: BalanceConsumer, out: Any, request: r.RegisterRequestC2B, code: int = 200, now_us: int = 0
) -> list[Any]:
    """The broker's answer to a call, and what the client does then but for its reads."""
    connection = ONE if request.partition.startswith("1:") else TWO
    sent = play(
        node,
        out,
        connection,
        r.RegisterResponseB2C(code, request.op_type, request.partition, 0, 0),
        now_us=now_us,
    )
    return [each for each in sent if type(each[1]) is not r.GetMessageRequestC2B]


def connect(key: str, offset: int = -1) -> r.RegisterRequestC2B:
    return r.RegisterRequestC2B(r.REGISTER, "c-1", "g", key, offset)


def release(key: str) -> r.RegisterRequestC2B:
    return r.RegisterRequestC2B(r.UNREGISTER, "c-1", "g", key)


# -- start ---------------------------------------------------------------------------------------------------


def test_it_knows_no_broker_before_the_master_has_taken_it() -> None:
    node, out = booted()
    assert out.connected == {MASTER: "master"} and node.state.phase == "starting"
    assert play(node, out, MASTER, r.RegisterResponseM2C(200)) == [
        (MASTER, r.GetPartMetaRequestC2M("c-1", "g", -2))
    ]
    assert out.connected == {MASTER: "master", ONE: "b1", TWO: "b2"} and node.state.connections == {
        1: ONE,
        2: TWO,
    }
    assert out.told == [("tubemq.client.started", {"consumer": "c", "client": "c-1", "node_id": 0})]
    assert out.deadlines == {"heartbeat": 13 * SECOND_US, "pass": 10 * SECOND_US}


def test_another_refusal_is_told_and_a_start_that_succeeds_begins_with_nothing_refused() -> None:
    node, out = booted(2, 0)
    for code in (429, 429, 430, 429):
        play(node, out, MASTER, r.RegisterResponseM2C(code))
        assert wake(node, out, "boot") == [(MASTER, r.RegisterRequestC2MV2("c-1", "g", 2, 0))]
    assert [(kind, data["code"]) for kind, data in out.told] == [
        ("tubemq.client.refused", code) for code in (429, 430, 429)
    ]
    assert out.rules == ["tubemq.master.429", "tubemq.master.430", "tubemq.master.429"] and out.connected == {
        MASTER: "master"
    }
    play(node, out, MASTER, r.RegisterResponseM2C(200))
    assert node.state.refused_code == 0 and "boot" not in out.deadlines


@pytest.mark.parametrize("phase", ["booting", "started", "refused", "stopping", "stopped"])
def test_masters_answer_that_nobody_waits_for_changes_nothing(phase: str) -> None:
    node, out = booted()
    node.state.phase = phase
    before = to_plain(node.state)
    assert (
        play(node, out, MASTER, r.RegisterResponseM2C(200)) == []
        and to_plain(node.state) == before
        and out.told == []
    )


# -- heartbeats ----------------------------------------------------------------------------------------------


def test_each_broker_hears_only_of_its_own_partitions_and_one_without_any_hears_nothing() -> None:
    node, out = holding("1:t:1", "1:t:0")
    assert wake(node, out, "heartbeat") == [
        (MASTER, r.HeartRequestC2MV2("c-1", "g", ["1:t:1", "1:t:0"])), (ONE, r.HeartBeatRequestC2B("c-1", "g", ["1:t:1", "1:t:0"])),
    ]  # fmt: skip
    assert out.deadlines["heartbeat"] == 26 * SECOND_US


# -- passes --------------------------------------------------------------------------------------------------


def test_pass_releases_before_it_connects_each_by_key() -> None:
    node, out = holding("2:t:1", "9:gone:0", "1:t:1")
    node.state.connections[9] = 4
    sent = play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 2, ["t#1:1:2:1,2:1:1:1,2:1:2:0"], [1, 2]))
    assert sent == [(TWO, release("2:t:1"))] and list(node.state.calls) == [
        Disconnect("2:t:1"), Disconnect("9:gone:0"), Connect("1:t:0", -1),
    ]  # fmt: skip


def test_pass_that_finds_nothing_to_do_makes_no_call_and_tells_nothing() -> None:
    node, out = holding(*KEYS)
    out.told.clear()
    assert wake(node, out, "pass") == [(MASTER, QUERY)] and out.deadlines["pass"] == 20 * SECOND_US
    assert play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, [], [])) == [] and out.told == []


@pytest.mark.parametrize(
    "answer", [r.GetPartMetaResponseM2C(411, -2, [], []), r.GetPartMetaResponseM2C(400, 2, FOUR, [1, 2])]
)
def test_refused_query_ends_the_pass(answer: r.GetPartMetaResponseM2C) -> None:
    node, out = holding()
    before = to_plain(node.state)
    assert play(node, out, MASTER, answer) == [] and to_plain(node.state) == before


def test_next_pass_waits_for_the_calls_of_the_one_before() -> None:
    node, out = holding()
    play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, [], []))
    assert wake(node, out, "pass") == [], "the first connect has no answer yet"
    assert out.deadlines["pass"] == node.state.next_pass_us == 20 * SECOND_US
    for key in KEYS:
        answered(node, out, connect(key))
    assert wake(node, out, "pass") == [(MASTER, QUERY)]


def test_partition_that_is_not_subscribable_now_is_released_and_connected_again_when_it_is() -> None:
    node, out = holding(*KEYS)
    offline = ["t#1:1:2:1,2:1:2:0"]
    assert play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 2, offline, [1, 2])) == [
        (TWO, release("2:t:0"))
    ]
    assert answered(node, out, release("2:t:0")) == [(TWO, release("2:t:1"))]
    assert answered(node, out, release("2:t:1")) == [] and node.state.registered == ["1:t:0", "1:t:1"]
    assert out.told[-1] == (
        "tubemq.client.connected",
        {"consumer": "c", "client": "c-1", "partitions": ["1:t:0", "1:t:1"]},
    )
    assert play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 3, FOUR, [1, 2])) == [
        (TWO, connect("2:t:0"))
    ]


def test_release_that_the_broker_refuses_ends_all_the_same() -> None:
    node, out = holding("2:t:1", "9:gone:0")
    node.state.calls.append(Disconnect("2:t:1"))
    node.make_call(0, out)
    assert out.take() == [(TWO, release("2:t:1"))]
    assert answered(node, out, release("2:t:1"), code=412) == [] and not node.state.calls
    assert node.state.registered == ["9:gone:0"]


def test_refused_connect_is_asked_again_after_a_second_then_the_next_one_a_second_later() -> None:
    node, out = holding("1:t:1", "2:t:0", "2:t:1")
    node.state.registered.remove("2:t:1")
    play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, [], []))
    assert (
        answered(node, out, connect("1:t:0"), 410, now_us=7) == [] and out.deadlines["call"] == 7 + SECOND_US
    )
    assert wake(node, out, "call") == [(ONE, connect("1:t:0"))]
    assert answered(node, out, connect("1:t:0"), 410, now_us=SECOND_US) == []
    assert node.state.guarded == {"1:t:0": 6 * SECOND_US} and out.deadlines["call"] == 2 * SECOND_US
    assert wake(node, out, "call") == [(TWO, connect("2:t:1"))]
    answered(node, out, connect("2:t:1"), now_us=2 * SECOND_US)
    assert node.state.refused_code == 410, "it does not have all that it asked for"
    assert [kind for kind, _ in out.told].count("tubemq.client.refused") == 1


def test_guarded_partition_is_tried_again_by_the_first_pass_after_its_five_seconds() -> None:
    node, out = holding("1:t:1", "2:t:0", "2:t:1")
    node.state.guarded, node.state.refused_code = {"1:t:0": 6 * SECOND_US}, 410
    same = r.GetPartMetaResponseM2C(200, 1, [], [])
    assert play(node, out, MASTER, same, now_us=6 * SECOND_US - 1) == []
    assert play(node, out, MASTER, same, now_us=6 * SECOND_US) == [(ONE, connect("1:t:0"))]
    answered(node, out, connect("1:t:0"), now_us=6 * SECOND_US)
    assert (node.state.guarded, node.state.refused_code) == ({}, 0)


def test_answer_for_another_partition_than_the_call_that_is_out_registers_nothing() -> None:
    node, out = holding()
    play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, [], []))
    assert answered(node, out, connect("2:t:1")) == [] and node.state.registered == []
    assert answered(node, out, connect("1:t:0")) == [(ONE, connect("1:t:1"))]


def test_restored_in_the_middle_of_a_pass_it_makes_the_same_calls() -> None:
    node, out = holding("2:t:1")
    play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, [], []))
    twin, again = BalanceConsumer(from_plain(to_plain(node.state), ConsumerState), Counted()), Played("c-1")
    for key, code in (("1:t:0", 200), ("1:t:1", 410), ("1:t:1", 410)):
        assert answered(twin, again, connect(key), code) == answered(node, out, connect(key), code)
        if code != r.SUCCESS:
            assert wake(twin, again, "call") == wake(node, out, "call")
    assert to_plain(twin.state) == to_plain(node.state)


def test_master_hears_what_is_held_when_that_changed_and_with_each_sixtieth_heartbeat() -> None:
    node, out = holding("1:t:1")
    reports = [wake(node, out, "heartbeat")[0][1].partitions for _ in range(62)]
    assert reports == [["1:t:1"], *[None] * 59, ["1:t:1"], None]
    node.state.registered.append("1:t:0")
    assert wake(node, out, "heartbeat")[0][1].partitions == ["1:t:1", "1:t:0"]
