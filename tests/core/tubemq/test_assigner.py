"""A program's passes, played call by call: what it asks the master, what it releases and connects, and when it asks
again."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.plain import to_plain
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.program_state import Share
from tests.core.playbook import play, wake
from tests.core.tubemq.programs import (
    ASSIGNER,
    FOUR,
    MASTER,
    ONE,
    OTHER,
    OWN,
    TWO,
    answered,
    booted,
    calls,
    confirmed,
    connect,
    queried,
    query,
    reading,
    release,
    started,
)

OFFLINE = ["t#1:1:2:1,2:1:2:0"]


def pass_at(node: Any, out: Any, second: int, meta: list[str] | None = None, meta_id: int = 2) -> list[Any]:
    """A pass begins then; the master's answer has this map, or the one that it has."""
    node.wake("pass", second * SECOND_US, out)
    out.take()
    answer = r.GetPartMetaResponseM2C(200, meta_id if meta else 1, meta or [], [1, 2] if meta else [])
    return calls(play(node, out, MASTER, answer, now_us=second * SECOND_US))


def test_each_partition_is_connected_after_the_answer_for_the_one_before() -> None:
    node, out, _ = queried()
    assert node.state.last_pass is not None and node.state.last_pass.registers == [OWN, OTHER]
    assert calls(play(node, out, ONE, answered(OWN))) == [connect(OTHER)]
    assert calls(play(node, out, ONE, answered(OTHER))) == [] and node.state.registered == [OWN, OTHER]
    assert out.told[-1] == (
        "tubemq.client.connected",
        {"consumer": "a", "client": "a", "partitions": [OWN, OTHER]},
    )


def test_pass_that_finds_nothing_to_do_makes_no_call_and_tells_nothing() -> None:
    node, out, _ = started()
    out.told.clear()
    assert pass_at(node, out, 10) == [] and out.deadlines["pass"] == 20 * SECOND_US and out.told == []
    assert node.state.map_us == 10 * SECOND_US


@pytest.mark.parametrize(
    "answer", [r.GetPartMetaResponseM2C(411, -2, [], []), r.GetPartMetaResponseM2C(400, 2, FOUR, [1, 2])]
)
def test_refused_query_ends_the_pass(answer: r.GetPartMetaResponseM2C) -> None:
    node, out, _ = started()
    node.wake("pass", 10 * SECOND_US, out)
    last = to_plain(node.state.last_pass)
    assert play(node, out, MASTER, answer)[1:] == [] and to_plain(node.state.last_pass) == last


def test_next_pass_waits_for_the_calls_of_the_one_before() -> None:
    node, out, _ = queried()
    assert wake(node, out, "pass") == [], "the first connect has no answer yet"
    assert out.deadlines["pass"] == node.state.next_pass_us == 20 * SECOND_US
    play(node, out, ONE, answered(OWN), answered(OTHER))
    node.wake("pass", 20 * SECOND_US, out)
    assert (MASTER, query(1)) in out.take()


def test_partition_that_is_not_subscribable_now_is_released_and_connected_again_when_it_is() -> None:
    node, out, _ = started(FOUR)
    # The client releases at once what its new map does not call subscribable: the pass finds it done.
    assert pass_at(node, out, 10, OFFLINE) == [release("2:t:0"), release("2:t:1")]
    assert node.state.registered == ["1:t:0", "1:t:1"]
    assert [kind.rpartition(".")[2] for kind, _ in out.told[-2:]] == ["disconnected", "map_changed"]
    assert out.told[-1][1] == {"consumer": "a", "client": "a", "configured": 4, "subscribable": 2}
    assert pass_at(node, out, 20, FOUR, 3) == [connect("2:t:0")]
    assert calls(play(node, out, TWO, answered("2:t:0"))) == [connect("2:t:1")]


def test_partition_that_falls_to_another_is_released_before_anything_is_connected() -> None:
    node, out, _ = started(FOUR)
    assert play(node, out, PERSON, Share(["1:t:1", "2:t:1"])) == [(ONE, release("1:t:0"))]
    assert out.told[-1][0] == "tubemq.client.released" and out.told[-1][1]["partitions"] == ["1:t:0", "2:t:0"]
    assert calls(play(node, out, ONE, answered("1:t:0", op_type=r.UNREGISTER))) == [release("2:t:0")]
    play(node, out, TWO, answered("2:t:0", op_type=r.UNREGISTER))
    assert node.state.registered == ["1:t:1", "2:t:1"]


def test_release_that_the_broker_refuses_ends_all_the_same() -> None:
    node, out, _ = started()
    play(node, out, PERSON, Share([]))
    assert calls(play(node, out, ONE, answered(OWN, 412, r.UNREGISTER))) == [release(OTHER)]


def test_list_of_partitions_connects_at_the_offsets_that_are_given_with_it_and_once() -> None:
    node, out, _ = started()
    play(node, out, PERSON, Share([OTHER]))
    play(node, out, ONE, answered(OWN, op_type=r.UNREGISTER))
    assert calls(play(node, out, PERSON, Share([OWN, OTHER], {OWN: 56}))) == [connect(OWN, 56)]
    play(node, out, ONE, answered(OWN))
    assert node.state.bootstrap == {}
    play(node, out, PERSON, Share(None))
    assert node.state.registered == [OTHER, OWN] and node.state.todo == type(node.state.todo)()


def test_refused_connect_is_asked_again_after_a_second_then_the_next_one_a_second_later() -> None:
    node, out, _ = queried()
    assert (
        play(node, out, ONE, answered(OWN, 410), now_us=7) == [] and out.deadlines[ASSIGNER] == 7 + SECOND_US
    )
    assert wake(node, out, ASSIGNER) == [(ONE, connect(OWN))]
    assert play(node, out, ONE, answered(OWN, 410), now_us=SECOND_US) == []
    assert node.state.consumer.guarded == {OWN: 6 * SECOND_US}
    assert out.deadlines.pop(ASSIGNER) == 2 * SECOND_US
    node.wake(ASSIGNER, 2 * SECOND_US, out)
    assert out.take() == [(ONE, connect(OTHER))]
    assert out.told[-1] == ("tubemq.client.refused", {"consumer": "a", "client": "a", "code": 410})
    play(node, out, ONE, answered(OTHER), now_us=2 * SECOND_US)
    assert node.state.refused_code == 410, "it does not have all that it asked for"
    assert node.state.last_pass is not None and node.state.last_pass.refused == {OWN: 410}
    assert [kind for kind, _ in out.told].count("tubemq.client.refused") == 1


def test_guarded_partition_is_tried_again_by_the_first_pass_after_its_five_seconds() -> None:
    node, out, _ = started()
    play(node, out, ONE, r.HeartBeatResponseB2C([(412, OWN)]))
    node.state.consumer.guarded, node.state.refused_code = {OWN: 15 * SECOND_US}, 410
    assert pass_at(node, out, 10) == []
    assert pass_at(node, out, 20) == [connect(OWN)]
    play(node, out, ONE, answered(OWN), now_us=20 * SECOND_US)
    assert (node.state.consumer.guarded, node.state.refused_code) == ({}, 0)


def test_answer_for_another_partition_than_the_call_that_is_out_registers_nothing() -> None:
    node, out, _ = queried()
    assert play(node, out, ONE, answered(OTHER)) == [] and node.state.registered == []
    assert calls(play(node, out, ONE, answered(OWN))) == [connect(OTHER)]


def test_source_count_that_is_not_used_gives_nothing_to_anyone() -> None:
    node, out, _ = booted(-1, 0)
    play(node, out, MASTER, r.RegisterResponseM2C(200))
    assert play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, FOUR, [1, 2])) == []
    assert node.state.registered == [] and node.state.consumer.source_count == -2


# -- releases and batches ------------------------------------------------------------------------------------


def test_partition_whose_batch_is_in_use_is_released_after_it_and_not_read_again_meanwhile() -> None:
    node, out, counted = reading(41)
    assert play(node, out, PERSON, Share([OTHER]), now_us=50) == [] and out.deadlines[ASSIGNER] == 200_050
    assert calls(wake(node, out, DONE)) == [r.CommitOffsetRequestC2B("a", "g", OWN, True)]
    assert play(node, out, ONE, confirmed(OWN)) == [], "nothing is read while a release waits"
    node.wake(ASSIGNER, 200_050, out)
    assert out.take()[0] == (ONE, release(OWN)) and counted.log == [("handled", 41)]


def test_release_does_not_wait_for_ever() -> None:
    node, out, counted = reading(41, 42)
    play(node, out, PERSON, Share([OTHER]))
    for step in range(1, 15):
        node.wake(ASSIGNER, step * 200_000, out)
        assert out.take() == []
    node.wake(ASSIGNER, 3 * SECOND_US, out)
    assert calls(out.take()) == [release(OWN)]
    assert counted.log == [("dropped", 41), ("dropped", 42)] and node.state.reading == ""


def test_another_partition_is_released_at_once() -> None:
    node, out, counted = reading(41)
    assert play(node, out, PERSON, Share([OWN])) == [(ONE, release(OTHER))] and counted.log == []
    assert node.state.registered == [OWN] and OTHER not in node.state.consumer.idle
