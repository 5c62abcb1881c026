"""The operator's tool at a cluster's brokers: a connection to each that it speaks to, and what a broken one
changes."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.client.operator import Ask, Operator, OperatorState
from broker_core.kafka.cluster.requests import DeletedRecords, DeleteRecordsRequest, DeleteRecordsResponse
from broker_core.kafka.group.messages import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from broker_core.sim.node import PERSON, Closed
from tests.core.playbook import Played, play

DELETE = DeleteRecordsRequest(30_000, [("t", 0, 5)])


def leave(name: str) -> LeaveGroupRequest:
    return LeaveGroupRequest("g", members=[MemberIdentity(name)])


def tool() -> tuple[Operator, Any]:
    return Operator(OperatorState()), Played("operator")


def test_it_connects_to_each_broker_once_and_sends_what_it_was_told() -> None:
    node, out = tool()
    orders = [Ask("broker-1", leave("a")), Ask("broker-2", DELETE), Ask("broker-1", leave("b"))]
    assert play(node, out, PERSON, *orders) == [(1, leave("a")), (2, DELETE), (1, leave("b"))]
    assert out.connected == {1: "broker-1", 2: "broker-2"}


def test_answers_change_nothing() -> None:
    node, out = tool()
    play(node, out, PERSON, Ask("broker-1", leave("a")))
    assert (
        play(node, out, 1, LeaveGroupResponse(), DeleteRecordsResponse([DeletedRecords("t", 0, 0, 5)])) == []
    )
    node.wake("anything", 5, out)
    assert node.state == OperatorState({"broker-1": 1}) and out.deadlines == {}


def test_after_one_connection_broke_only_that_broker_is_connected_to_again() -> None:
    node, out = tool()
    play(node, out, PERSON, Ask("broker-1", leave("a")), Ask("broker-2", DELETE))
    play(node, out, 1, Closed("reset"))
    play(node, out, 9, Closed("reset"))
    assert node.state.connections == {"broker-2": 2}
    assert play(node, out, PERSON, Ask("broker-2", DELETE), Ask("broker-1", leave("a"))) == [
        (2, DELETE),
        (3, leave("a")),
    ]
