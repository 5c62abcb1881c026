"""A consumer's connections: one a broker and one to the coordinator, what is in flight on them, and what a
time-out takes with it."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.network import (
    COORDINATOR,
    RECONNECT_BACKOFF_US,
    Network,
    NetworkState,
)
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import messages as m
from tests.core.playbook import Played

SECOND = 1_000_000
BEAT, BEATEN = m.HeartbeatRequest("g", 1, "m"), m.HeartbeatResponse(0)
JOINED = m.JoinGroupResponse("m")


class Ear:
    """Who listens to what a consumer says and hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def sent(self, client_id: str, connection: int, request: Any) -> None:
        self.heard.append(("sent", client_id, connection, request))

    def received(self, connection: int, response: Any) -> None:
        self.heard.append(("received", connection, response))

    def lost(self, connection: int) -> None:
        self.heard.append(("lost", connection))


class Wire:
    """A network with a time-out of 30 s. Requests are what they answer: a heartbeat, or metadata."""

    def __init__(self) -> None:
        ear: Any = Ear()
        self.state, self.ear = NetworkState(), ear
        self.network = Network(self.state, 30_000, "c1", ear)
        self.out: Any = Played("c1")

    def ask(
        self, broker: int, what: str, now_us: int = 0, answer: type = m.HeartbeatResponse, **options: Any
    ) -> int:
        """Ask, and give the connection that it went over."""
        self.network.ask(broker, BEAT, answer, what, now_us, self.out, **options)
        return self.state.connections[broker]

    def due(self, connection: int) -> int | None:
        at_us = self.out.deadlines.get(f"request:{connection}")
        return None if at_us is None else int(at_us)


# --- connections


def test_each_broker_has_a_connection_and_the_coordinator_one_of_its_own_though_it_is_the_same_broker() -> (
    None
):
    wire = Wire()
    connections = [
        wire.ask(3, "a"),
        wire.ask(3, "b"),
        wire.ask(COORDINATOR, "c", node="broker-3"),
        wire.ask(4, "d"),
    ]
    assert connections == [1, 1, 2, 3] and wire.out.connected == {1: "broker-3", 2: "broker-3", 3: "broker-4"}
    assert wire.state.broker_of == {1: 3, 2: COORDINATOR, 3: 4}


def test_after_a_connection_is_lost_the_next_question_opens_another() -> None:
    wire = Wire()
    first = wire.ask(3, "a")
    assert wire.network.lost(first) == ["a"] and wire.network.lost(first) == [], "only once"
    second = wire.ask(3, "b")
    assert second != first and wire.state.connections == {3: second} and first not in wire.state.in_flight


def test_an_old_connection_that_is_lost_late_leaves_the_new_one_alone() -> None:
    wire = Wire()
    old = wire.ask(3, "a")
    del wire.state.connections[3]  # given up for another one, before its end was heard of
    new = wire.ask(3, "b")
    assert wire.network.lost(old) == ["a"] and wire.state.connections == {3: new}
    assert wire.network.answered(new, BEATEN) == "b"


def test_closing_gives_what_was_in_flight_and_closing_nothing_gives_nothing() -> None:
    wire = Wire()
    connection = wire.ask(3, "a")
    wire.ask(3, "b")
    assert wire.network.close(3, wire.out) == ["a", "b"] and wire.out.closed == [connection]
    assert wire.network.close(3, wire.out) == [] and wire.out.closed == [connection]


# --- answers


def test_an_answer_goes_to_the_oldest_request_that_it_can_belong_to() -> None:
    """A JoinGroup that waits at the broker is answered after the heartbeats that were sent later."""
    wire = Wire()
    connection = wire.ask(COORDINATOR, "join", answer=m.JoinGroupResponse, node="broker-1")
    for what in ("first", "second"):
        wire.ask(COORDINATOR, what)
    answers: list[Any] = [BEATEN, JOINED, BEATEN]
    assert [wire.network.answered(connection, answer) for answer in answers] == ["first", "join", "second"]
    assert not wire.state.in_flight[connection]


def test_an_answer_to_nothing_and_one_on_a_connection_that_is_no_more_say_nothing() -> None:
    wire = Wire()
    connection = wire.ask(3, "a")
    assert wire.network.answered(connection, JOINED) is None and wire.network.answered(77, BEATEN) is None
    wire.network.lost(connection)
    assert wire.network.answered(connection, BEATEN) is None


def test_who_listens_hears_what_was_sent_what_came_and_what_was_lost_and_nothing_else() -> None:
    wire = Wire()
    connection = wire.ask(3, "a")
    wire.network.answered(connection, JOINED)
    wire.network.answered(connection, BEATEN)
    wire.network.lost(connection)
    wire.network.lost(connection)
    assert wire.ear.heard == [
        ("sent", "c1", connection, BEAT),
        ("received", connection, BEATEN),
        ("lost", connection),
    ]


# --- time-outs


def test_a_connection_is_watched_from_its_first_request_and_looked_at_again_for_the_next_one() -> None:
    wire = Wire()
    connection = wire.ask(3, "a", now_us=SECOND)
    wire.ask(3, "b", now_us=5 * SECOND)
    assert wire.due(connection) == 31 * SECOND, "one deadline, of the oldest"
    wire.network.answered(connection, BEATEN)
    assert wire.network.wake(connection, 31 * SECOND, wire.out) == [] and wire.due(connection) == 35 * SECOND
    assert wire.network.wake(connection, 35 * SECOND - 1, wire.out) == [] and wire.out.closed == []
    assert wire.network.wake(connection, 35 * SECOND, wire.out) == ["b"] and wire.out.closed == [connection]


def test_with_nothing_in_flight_no_deadline_is_set_again() -> None:
    wire = Wire()
    connection = wire.ask(3, "a")
    wire.network.answered(connection, BEATEN)
    del wire.out.deadlines[f"request:{connection}"]
    assert (
        wire.network.wake(connection, 30 * SECOND, wire.out) == []
        and wire.out.deadlines == {}
        and wire.out.closed == []
    )
    assert wire.network.wake(99, 30 * SECOND, wire.out) == []
    wire.ask(3, "b", now_us=40 * SECOND)
    assert wire.due(connection) == 70 * SECOND


def test_a_request_with_a_longer_time_out_does_not_hide_a_shorter_one_behind_it() -> None:
    """A JoinGroup may take minutes; a heartbeat behind it on the same connection still has its 30 s."""
    wire = Wire()
    connection = wire.ask(
        COORDINATOR, "join", answer=m.JoinGroupResponse, node="broker-1", longer_us=275 * SECOND
    )
    assert wire.due(connection) == 305 * SECOND
    wire.ask(COORDINATOR, "beat", now_us=SECOND)
    assert wire.network.wake(connection, 31 * SECOND, wire.out) == ["join", "beat"]


# --- whom it asks


@pytest.mark.parametrize(
    ("after_us", "waits"), [(RECONNECT_BACKOFF_US - 1, True), (RECONNECT_BACKOFF_US, False)]
)
def test_a_broker_whose_connection_broke_is_left_alone_for_the_back_off(after_us: int, waits: bool) -> None:
    wire = Wire()
    wire.state.broken_us[3] = SECOND
    assert wire.network.is_backing_off(3, SECOND + after_us) is waits and not wire.network.is_backing_off(
        4, SECOND + after_us
    )
    assert wire.network.least_loaded([3, 4], SECOND + after_us) == (4 if waits else 3)
    assert wire.network.least_loaded([3], SECOND + after_us) == (None if waits else 3)


def test_the_back_off_may_be_another_one() -> None:
    wire = Wire()
    wire.state.broken_us[COORDINATOR] = SECOND
    assert [
        wire.network.is_backing_off(COORDINATOR, SECOND + after_us, 100_000) for after_us in (99_999, 100_000)
    ] == [True, False]


def test_of_those_it_is_connected_to_the_least_busy_is_asked_and_the_first_of_equals() -> None:
    wire = Wire()
    for broker in (3, 3, 4, 5):
        wire.ask(broker, "a")
    assert wire.network.least_loaded([3, 4, 5, 6], 0) == 4 and wire.network.least_loaded([5, 4, 3], 0) == 5
    assert wire.network.least_loaded([6, 3], 0) == 3, "connected, though busy"
    assert wire.network.least_loaded([7, 6], 0) == 7 and wire.network.least_loaded([], 0) is None


def test_a_kind_of_answer_is_known_by_its_name_also_after_a_restore() -> None:
    wire = Wire()
    connection = wire.ask(3, "metadata", answer=r.MetadataResponse)
    restored = Network(wire.state, 30_000)
    assert restored.answered(connection, r.MetadataResponse([], -1, [])) == "metadata"
