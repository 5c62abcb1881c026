"""What a consumer does when a connection breaks: to the master, to a broker, with a call or a batch under
way."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.consumer_state import Shutdown
from tests.core.playbook import play, wake
from tests.core.tubemq.test_balance_consumer import OTHER, OWN, booted, started

MASTER, BROKER, AGAIN = (
    1,
    2,
    3,
)  # connections: to the master, to the broker, and the one after the first that broke
META = r.GetPartMetaResponseM2C(200, 1, ["t#1:1:2:1"], [1])


def connect(key: str) -> r.RegisterRequestC2B:
    return r.RegisterRequestC2B(r.REGISTER, "a", "g", key)


def reading(*numbers: int) -> tuple[Any, Any, Any]:
    node, out, counted = started()
    node.read(0, out)
    play(node, out, BROKER, r.GetMessageResponseB2C(200, OWN, list(numbers), 0, len(numbers)))
    return node, out, counted


def test_broken_connection_takes_all_that_the_broker_gave_and_a_new_one_is_opened() -> None:
    node, out, counted = reading(41, 42)
    assert play(node, out, BROKER, Closed("reset")) == []
    assert node.state.connections == {1: AGAIN} and out.connected[AGAIN] == "b1"
    assert node.state.registered == [] and not node.state.idle and DONE not in out.deadlines
    assert counted.log == [("dropped", 41), ("dropped", 42)]
    assert out.told[-1] == (
        "tubemq.client.disconnected",
        {"consumer": "a", "client": "a", "partitions": [OWN, OTHER]},
    )
    assert out.rules[-1] is None


def test_next_pass_connects_again_and_reads_go_to_the_new_connection() -> None:
    node, out, _ = reading(41)
    play(node, out, BROKER, Closed("reset"))
    assert wake(node, out, "pass") == [(MASTER, r.GetPartMetaRequestC2M("a", "g", 1))]
    assert play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, [], [])) == [(AGAIN, connect(OWN))]
    assert play(node, out, AGAIN, r.RegisterResponseB2C(200, r.REGISTER, OWN, 0, 0)) == [
        (AGAIN, connect(OTHER)), (AGAIN, r.GetMessageRequestC2B("a", "g", OWN)),
    ]  # fmt: skip


def test_answer_of_a_read_that_was_under_way_when_it_broke_is_not_taken() -> None:
    node, out, counted = started()
    node.read(0, out)
    play(node, out, BROKER, Closed("reset"), r.GetMessageResponseB2C(200, OWN, [41], 0, 1))
    assert counted.log == [] and counted.received_count == 0 and DONE not in out.deadlines


def test_broken_connection_to_the_master_is_opened_again_and_costs_no_partition() -> None:
    node, out, _ = started()
    assert play(node, out, MASTER, Closed("reset")) == []
    assert node.state.master == AGAIN and node.state.registered == [OWN, OTHER]
    assert wake(node, out, "heartbeat")[0] == (AGAIN, r.HeartRequestC2MV2("a", "g", [OWN, OTHER]))
    assert wake(node, out, "pass") == [(AGAIN, r.GetPartMetaRequestC2M("a", "g", 1))]


def test_broken_connection_that_is_nobodys_any_more_changes_nothing() -> None:
    node, out, _ = started()
    assert (
        play(node, out, 99, Closed("reset")) == []
        and node.state.registered == [OWN, OTHER]
        and len(out.connected) == 2
    )


@pytest.mark.parametrize("is_asked_twice", [False, True])
def test_connect_that_is_out_when_the_broker_breaks_off_is_made_again(is_asked_twice: bool) -> None:
    node, out, _ = booted()
    play(node, out, MASTER, r.RegisterResponseM2C(200), META)
    if is_asked_twice:
        play(node, out, BROKER, r.RegisterResponseB2C(410, r.REGISTER, OWN, 0, 0))
        wake(node, out, "call")
    play(node, out, BROKER, Closed("reset"), now_us=5 * SECOND_US)
    assert out.deadlines["call"] == 6 * SECOND_US, "its answer will never come"
    assert wake(node, out, "call") == [(AGAIN, connect(OWN))]
    play(node, out, AGAIN, r.RegisterResponseB2C(200, r.REGISTER, OWN, 0, 0))
    assert node.state.registered == [OWN] and node.state.calls[0].key == OTHER


def test_call_to_another_broker_waits_on_for_its_answer() -> None:
    node, out, _ = booted()
    node.state.broker_names[2] = "b2"
    play(node, out, MASTER, r.RegisterResponseM2C(200), META)
    play(node, out, 3, Closed("reset"))
    assert "call" not in out.deadlines and node.state.connections == {1: BROKER, 2: 4}
    play(node, out, BROKER, r.RegisterResponseB2C(200, r.REGISTER, OWN, 0, 0))
    assert node.state.registered == [OWN]


def test_start_that_is_out_when_the_master_breaks_off_is_made_again() -> None:
    node, out, _ = booted()
    play(node, out, MASTER, Closed("reset"), now_us=5 * SECOND_US)
    assert node.state.master == 2 and out.deadlines["boot"] == 6 * SECOND_US
    assert wake(node, out, "boot") == [(2, r.RegisterRequestC2MV2("a", "g", 1, 0))]


def test_connection_that_breaks_while_it_shuts_down_does_not_hold_it_up() -> None:
    node, out, _ = started()
    play(node, out, PERSON, Shutdown())
    play(node, out, BROKER, Closed("reset"))
    assert wake(node, out, "shutdown") == [(MASTER, r.CloseRequestC2M("a", "g"))]
    assert out.closed == [MASTER, AGAIN] and node.state.phase == "stopped" and "call" not in out.deadlines
