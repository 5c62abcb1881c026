"""A broker's life with its controller, by playbook: registration, heartbeats, a controller that is silent or
lost, and the end in order."""

from typing import Any

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import DOWN, RECOVERING, RUNNING, SHUTTING_DOWN, STARTING, BrokerState
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.checkpoints import CLEAN_SHUTDOWN, REPLICATION, read_offsets
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.sim.node import Closed, Opened
from tests.core.kafka.cluster.desk import CLIENT, CONTROL, FOLLOWER, OTHER, BrokerDesk, followed, led
from tests.core.kafka.cluster.nodes import MS, Out

MIN_MS = 60_000


def newborn(**settings: Any) -> tuple[Broker, Any]:
    """Broker 7 in rack r, whose process has just been started."""
    node, out = Broker(BrokerState(7, ClusterSettings(**settings), rack="r")), Out()
    node.receive(0, lifecycle.Start(), 0, out)  # type: ignore[arg-type]
    return node, out


def image(*offsets: int) -> c.MetadataDelta:
    return c.MetadataDelta(offsets[0], [], [], [], is_image=True)


def beats(out: Any) -> list[tuple[int, bool, bool]]:
    """(metadata offset, wants to be fenced, wants to shut down) of each heartbeat that was sent."""
    return [
        (message.current_metadata_offset, message.want_fence, message.want_shut_down)
        for _, message in out.take() if isinstance(message, c.BrokerHeartbeatRequest)
    ]  # fmt: skip


# --- it starts


def test_it_registers_first_and_sets_its_timers_going() -> None:
    _, out = newborn(replica_lag_time_max_ms=10_000, high_watermark_checkpoint_interval_ms=3_000)
    assert out.take() == [(CONTROL, c.BrokerRegistrationRequest(7, "r", 5))], (
        "5: the process, as its world has drawn it"
    )
    assert out.deadlines == {"heartbeat": 4_500 * MS, "isr": 5_000 * MS, "checkpoint": 3_000 * MS}


def test_registered_it_wants_to_stay_fenced_until_it_has_read_its_own_registration() -> None:
    node, out = newborn()
    out.take()
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 8), 1 * MS, out)
    assert beats(out) == [(-1, True, False)] and node.state.stage == RECOVERING
    node.receive(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=True), 2 * MS, out)
    assert out.deadlines["heartbeat"] == 12 * MS, "it hurries while it catches up"
    node.receive(CONTROL, image(7), 3 * MS, out)
    node.wake("heartbeat", 12 * MS, out)
    assert beats(out) == [(7, True, False)]
    node.receive(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=True), 13 * MS, out)
    node.receive(CONTROL, image(9), 14 * MS, out)
    node.wake("heartbeat", 23 * MS, out)
    assert beats(out) == [(9, False, False)]
    node.receive(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False), 24 * MS, out)
    assert (node.state.stage, node.state.is_fenced, out.deadlines["heartbeat"]) == (
        RUNNING,
        False,
        2_024 * MS,
    )


def test_the_offset_of_its_own_registration_is_enough() -> None:
    node, out = newborn()
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 8), 1 * MS, out)
    node.receive(CONTROL, image(8), 2 * MS, out)
    out.take()
    node.receive(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=True), 2 * MS, out)
    node.wake("heartbeat", 12 * MS, out)
    assert beats(out) == [(8, False, False)]


def test_a_controller_that_cannot_be_reached_is_tried_again_with_the_same_registration() -> None:
    node, out = newborn()
    first = out.take()
    node.receive(CONTROL, Closed("reset"), 7 * MS, out)
    assert out.deadlines["heartbeat"] == 107 * MS
    node.wake("heartbeat", 107 * MS, out)
    assert out.opened == ["controller", "controller"] and out.take() == [(2, first[0][1])]


def test_an_answer_to_a_registration_on_a_connection_from_before_is_passed_over() -> None:
    node, out = newborn()
    node.receive(CONTROL, Closed("reset"), 7 * MS, out)
    node.wake("heartbeat", 107 * MS, out)
    out.take()
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 8), 108 * MS, out)
    assert (node.state.stage, out.take()) == (STARTING, [])
    node.receive(2, c.BrokerRegistrationResponse(0, 9), 109 * MS, out)
    assert (node.state.stage, node.state.broker_epoch) == (RECOVERING, 9)
    node.receive(2, c.BrokerRegistrationResponse(0, 12), 110 * MS, out)
    assert node.state.broker_epoch == 9, "once is enough"


def test_taken_for_another_process_it_waits_longer_each_time_and_begins_short_again_later() -> None:
    node, out = newborn()
    for at_ms in (0, 500):
        node.receive(
            CONTROL, c.BrokerRegistrationResponse(ErrorCode.DUPLICATE_BROKER_REGISTRATION), at_ms * MS, out
        )
    assert out.deadlines["heartbeat"] == 700 * MS
    out.take()
    node.wake("heartbeat", 700 * MS, out)
    assert out.take() == [(CONTROL, c.BrokerRegistrationRequest(7, "r", 5))] and out.opened == [
        "controller"
    ], "over the same connection"
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 8), 701 * MS, out)
    assert node.state.attempts == 0


def test_what_a_leader_would_ask_before_it_is_unfenced_it_asks_when_it_is() -> None:
    node, out = newborn()
    node.receive(CONTROL, c.BrokerRegistrationResponse(0, 8), 1 * MS, out)
    brokers = [c.MetadataBrokerState(7, 8, "r", True, False), c.MetadataBrokerState(2, 3, None, False, False)]
    registration = PartitionRegistration((7, 2), (7,), 7)
    state = [c.MetadataPartitionState("t", 0, registration)]
    node.receive(
        CONTROL,
        c.MetadataDelta(9, brokers, [c.MetadataTopicState("t", 1)], state, is_image=True),
        2 * MS,
        out,
    )
    node.receive(FOLLOWER, Opened("broker-2"), 3 * MS, out)
    fetch = r.FetchPartition("t", 0, 0, 0, -1, 0)
    node.receive(
        FOLLOWER, r.FetchRequest(0, [fetch], replica_id=2, replica_epoch=3, session_epoch=0), 4 * MS, out
    )
    assert not [message for _, message in out.take() if isinstance(message, c.AlterPartitionRequest)]
    node.receive(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False), 5 * MS, out)
    assert [message.isr for _, message in out.take()] == [[(2, 3), (7, 8)]]


# --- it lives


def test_a_heartbeat_every_two_seconds_and_another_one_only_when_that_was_answered() -> None:
    desk = BrokerDesk()
    desk.take(CONTROL)
    assert desk.due_ms("heartbeat") == 1_997
    desk.wake("heartbeat")
    assert len(desk.taken(CONTROL, c.BrokerHeartbeatRequest)) == 1 and desk.due_ms("heartbeat") == 4_500
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False))
    assert desk.due_ms("heartbeat") == 2_000


def test_an_error_of_a_heartbeat_changes_nothing_and_the_next_one_comes_in_time() -> None:
    desk = BrokerDesk()
    desk.send(CONTROL, c.BrokerHeartbeatResponse(ErrorCode.STALE_BROKER_EPOCH))
    assert (desk.state.stage, desk.state.is_fenced, desk.due_ms("heartbeat")) == (RUNNING, False, 2_000)


def test_it_knows_when_it_was_fenced() -> None:
    desk = BrokerDesk()
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=True))
    assert desk.state.is_fenced and desk.state.stage == RUNNING and desk.due_ms("heartbeat") == 2_000


def test_a_silent_controller_is_left_after_half_a_session_and_asked_again_at_once() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    assert len(desk.taken(CONTROL, c.AlterPartitionRequest)) == 1
    desk.wake("heartbeat")
    desk.wake("heartbeat")
    assert (desk.out.closed, desk.out.blamed, desk.out.opened[-1]) == ([CONTROL], [CONTROL], "controller")
    again = desk.take(2)
    assert [type(message) for message in again] == [c.BrokerHeartbeatRequest, c.AlterPartitionRequest], (
        "what was on its way may be lost"
    )


def test_what_the_controller_says_on_the_connection_that_was_left_is_passed_over() -> None:
    desk = BrokerDesk()
    desk.wake("heartbeat")
    desk.wake("heartbeat")
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=True))
    assert not desk.state.is_fenced and desk.state.asked_us == desk.now_us - MS


def test_a_lost_controller_is_called_again_a_tenth_of_a_second_later() -> None:
    desk = BrokerDesk()
    desk.send(CONTROL, Closed("reset"))
    assert desk.due_ms("heartbeat") == 100 and desk.state.control == 0
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    desk.wake("heartbeat")
    assert [type(message) for message in desk.take(2)] == [c.BrokerHeartbeatRequest]
    assert desk.out.closed == [] == desk.out.blamed


def test_without_a_controller_a_change_of_the_isr_waits_for_one() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.send(CONTROL, Closed("reset"))
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    assert desk.inbox.keys() <= {FOLLOWER}
    desk.wake("heartbeat")
    assert [each.isr for each in desk.taken(2, c.AlterPartitionRequest)] == [[(1, 3), (2, 3)]]


# --- it ends in order


def test_asked_to_stop_it_says_so_with_each_heartbeat_until_it_may_go() -> None:
    desk = BrokerDesk()
    desk.take(CONTROL)
    (beat,) = [
        message
        for message in desk.send(0, lifecycle.Stop()) + desk.take(CONTROL)
        if isinstance(message, c.BrokerHeartbeatRequest)
    ]
    assert beat.want_shut_down and desk.state.stage == SHUTTING_DOWN
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False))
    assert desk.due_ms("heartbeat") == 10, "it asks again soon"
    desk.wake("heartbeat")
    (beat,) = desk.taken(CONTROL, c.BrokerHeartbeatRequest)
    assert beat.want_shut_down
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=True, should_shut_down=True))
    assert desk.state.stage == DOWN


def test_told_to_go_without_having_asked_it_stays() -> None:
    desk = BrokerDesk()
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False, should_shut_down=True))
    assert desk.state.stage == RUNNING


def test_asked_to_stop_twice_it_stops_once() -> None:
    desk = BrokerDesk()
    desk.send(0, lifecycle.Stop())
    until_us = desk.state.stopping_until_us
    desk.send(0, lifecycle.Stop(), after_ms=1_000)
    assert desk.state.stopping_until_us == until_us


def test_a_broker_that_has_no_registration_goes_at_once() -> None:
    node, out = newborn()
    node.receive(0, lifecycle.Stop(), 5 * MS, out)
    assert node.state.stage == DOWN and out.closed == [CONTROL]


def test_a_controller_that_does_not_let_it_go_is_not_waited_for_longer_than_five_minutes() -> None:
    desk = BrokerDesk()
    desk.send(0, lifecycle.Stop())
    stopped_us = desk.now_us
    desk.now_us += 5 * MIN_MS * MS - 1_000
    desk.out.deadlines["heartbeat"] = desk.now_us
    desk.wake("heartbeat")
    assert desk.state.stage == SHUTTING_DOWN
    desk.out.deadlines["heartbeat"] = stopped_us + 5 * MIN_MS * MS
    desk.wake("heartbeat")
    assert desk.state.stage == DOWN


def gone() -> BrokerDesk:
    """It led 0, where a produce and a consumer wait, and followed 1; now it is down."""
    desk = BrokerDesk({0: led(), 1: followed()})
    desk.produce("a", acks=1)
    desk.fetch({0: 1}, replica=2, max_wait_ms=0)
    desk.produce("b", connection=OTHER)
    desk.fetch({0: 1})
    desk.send(0, lifecycle.Stop())
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, should_shut_down=True))
    return desk


def test_when_it_goes_it_closes_every_connection_and_forgets_who_waited() -> None:
    desk = gone()
    assert sorted(desk.out.closed) == [CONTROL, 2, CLIENT, OTHER, FOLLOWER]
    state = desk.state
    assert (state.clients, state.sessions, state.produces, state.held, state.fetchers, state.control) == (
        {},
        {},
        {},
        {},
        {},
        0,
    )


def test_when_it_goes_its_logs_are_flushed_and_a_file_says_that_it_was_in_order() -> None:
    desk = gone()
    disk = desk.state.disk
    assert CLEAN_SHUTDOWN in disk.folder.names()
    assert read_offsets(disk.folder, REPLICATION) == {("t", 0): 1, ("t", 1): 0}
    assert disk.logs["t", 0].recovery_point == 2


def test_when_it_is_down_no_timer_of_its_is_left_and_a_late_one_does_nothing() -> None:
    desk = gone()
    assert not desk.out.deadlines.keys() & {"heartbeat", "isr", "checkpoint", "produces", "fetcher:2"}
    desk.inbox.clear()
    desk.node.wake("heartbeat", desk.now_us + MS, desk.out)  # type: ignore[arg-type]
    desk.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False))
    assert desk.inbox == {} and "heartbeat" not in desk.out.deadlines


@pytest.mark.parametrize("stage", [DOWN, STARTING])
def test_who_connects_to_a_broker_that_does_not_serve_is_turned_away(stage: str) -> None:
    desk = BrokerDesk()
    desk.state.stage = stage
    desk.send(50, Opened("late"))
    assert desk.out.closed == [50] and 50 not in desk.state.clients
