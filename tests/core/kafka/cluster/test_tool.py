"""An operator's tool, by playbook: what it sends when, what it tries again, and what it tells of a
refusal."""

from typing import Any

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster.tool import RETRIES_MAX, Order, Tool, ToolState
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.nodes import MS, Out

PERSON = 0
NEW_TOPIC = c.CreateTopicsRequest("t", 1, 3)
MOVE = c.AlterPartitionReassignmentsRequest("t", 0, [1])
ELECTION = c.ElectLeadersRequest(0)


def tool() -> tuple[Tool, Any]:
    return Tool(ToolState()), Out()


def refusal(code: ErrorCode, words: str = "because") -> c.ControlResponse:
    return c.ControlResponse(code, words)


def test_it_connects_to_the_controller_with_its_first_order_and_keeps_that_connection() -> None:
    node, out = tool()
    for request in (MOVE, ELECTION):
        node.receive(PERSON, Order(request), 0, out)
    assert out.opened == ["controller"] and out.take() == [(1, MOVE), (1, ELECTION)]


def test_an_order_for_later_is_sent_when_its_time_has_come() -> None:
    node, out = tool()
    node.receive(PERSON, Order(MOVE, 200), 5 * MS, out)
    assert (out.opened, out.take(), out.deadlines) == ([], [], {"again": 205 * MS})
    node.wake("again", 205 * MS, out)
    assert out.take() == [(1, MOVE)]
    node.wake("again", 206 * MS, out)
    assert out.take() == [], "once"


def test_answers_belong_to_the_requests_in_their_order() -> None:
    node, out = tool()
    for request in (ELECTION, MOVE):
        node.receive(PERSON, Order(request), 0, out)
    node.receive(1, c.ControlResponse(0), 1 * MS, out)
    node.receive(1, refusal(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS), 2 * MS, out)
    ((kind, _, data),) = out.facts
    assert kind == "kafka.controller.refused"
    assert data == {
        "request": "AlterPartitionReassignmentsRequest",
        "error": "NO_REASSIGNMENT_IN_PROGRESS",
        "message": "because",
    }


@pytest.mark.parametrize(
    "error", [ErrorCode.INVALID_REPLICATION_FACTOR, ErrorCode.INVALID_REPLICA_ASSIGNMENT]
)
def test_a_topic_that_cannot_be_placed_yet_is_tried_again_a_tenth_of_a_second_later(error: ErrorCode) -> None:
    """The brokers are not there yet; a person who starts a cluster with its topics does not wait for them."""
    node, out = tool()
    node.receive(PERSON, Order(NEW_TOPIC), 0, out)
    out.take()
    node.receive(1, refusal(error), 7 * MS, out)
    assert (out.facts, out.deadlines) == ([], {"again": 107 * MS})
    node.wake("again", 107 * MS, out)
    assert out.take() == [(1, NEW_TOPIC)]
    node.receive(1, c.ControlResponse(0), 108 * MS, out)
    assert out.facts == [] and not node.state.asked and not node.state.again


def test_it_does_not_try_for_ever() -> None:
    node, out = tool()
    node.receive(PERSON, Order(NEW_TOPIC), 0, out)
    for attempt in range(RETRIES_MAX):
        node.receive(1, refusal(ErrorCode.INVALID_REPLICATION_FACTOR), attempt * MS, out)
        assert out.facts == []
        node.wake("again", attempt * MS, out)
    node.receive(1, refusal(ErrorCode.INVALID_REPLICATION_FACTOR), RETRIES_MAX * MS, out)
    assert [data["error"] for _, _, data in out.facts] == ["INVALID_REPLICATION_FACTOR"]
    assert len(out.take()) == 1 + RETRIES_MAX


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (NEW_TOPIC, ErrorCode.TOPIC_ALREADY_EXISTS),
        (MOVE, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (c.CreatePartitionsRequest("t", 1), ErrorCode.INVALID_PARTITIONS),
    ],
)
def test_any_other_refusal_is_told_at_once_and_not_tried_again(
    request_: c.ToolRequest, error: ErrorCode
) -> None:
    node, out = tool()
    node.receive(PERSON, Order(request_), 0, out)
    node.receive(1, refusal(error, "why"), 1 * MS, out)
    assert [(data["request"], data["error"], data["message"]) for _, _, data in out.facts] == [
        (type(request_).__name__, error.name, "why")
    ]
    assert out.deadlines == {}


def test_of_an_election_each_partition_that_was_refused_is_told_by_itself() -> None:
    node, out = tool()
    node.receive(PERSON, Order(ELECTION), 0, out)
    results = [
        ("t", 0, 0),
        ("t", 1, int(ErrorCode.ELECTION_NOT_NEEDED)),
        ("u", 0, int(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)),
    ]
    node.receive(1, c.ControlResponse(0, "", results), 1 * MS, out)
    assert [data for _, _, data in out.facts] == [
        {"request": "ElectLeadersRequest", "error": "ELECTION_NOT_NEEDED", "topic": "t", "partition": 1},
        {
            "request": "ElectLeadersRequest",
            "error": "PREFERRED_LEADER_NOT_AVAILABLE",
            "topic": "u",
            "partition": 0,
        },
    ]


def test_what_was_under_way_on_a_connection_that_broke_is_forgotten_and_the_next_order_opens_another() -> (
    None
):
    node, out = tool()
    node.receive(PERSON, Order(MOVE), 0, out)
    node.receive(1, Closed("reset"), 1 * MS, out)
    node.receive(PERSON, Order(ELECTION), 2 * MS, out)
    assert out.opened == ["controller", "controller"] and out.take() == [(1, MOVE), (2, ELECTION)]
    node.receive(2, refusal(ErrorCode.NOT_CONTROLLER), 3 * MS, out)
    assert [data["request"] for _, _, data in out.facts] == ["ElectLeadersRequest"], (
        "its answer, not that of the move"
    )
