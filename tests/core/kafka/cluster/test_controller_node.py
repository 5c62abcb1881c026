"""The controller's process, by playbook: who reads the metadata log and gets what, when sessions end, and
what each request answers."""

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster.controller_node import ControllerNode
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Closed, Opened
from tests.core.kafka.cluster.controller_desk import ControllerDesk, deltas
from tests.core.kafka.cluster.nodes import MS

THREE = [[1, 2, 3]]


# --- the metadata log


def test_each_record_counts_one_in_the_metadata_log_and_a_registration_is_one() -> None:
    desk = ControllerDesk(2)
    assert desk.epochs == {1: 0, 2: 1} and desk.state.end_offset == 4, (
        "two registrations, two that were unfenced"
    )
    desk.tool(c.CreateTopicsRequest("t", assignments=[[1, 2], [2, 1], [1, 2]]))
    assert desk.state.end_offset == 7
    desk.register(3)
    assert desk.epochs[3] == 7


def test_every_broker_that_is_connected_gets_each_delta_with_what_has_changed_and_nothing_else() -> None:
    desk = ControllerDesk(3, [[1, 2, 3], [2, 3, 1]])
    answer, own = desk.alter(1, 1, 2)
    assert (answer.error_code, answer.leader_id, answer.partition_epoch, answer.isr) == (0, 1, 1, [1, 2])
    for delta in (own, *desk.sent_to(2), *desk.sent_to(3)):
        assert (delta.is_image, delta.brokers, delta.topics, delta.end_offset) == (
            False,
            [],
            [],
            desk.state.end_offset,
        )
        assert [(each.partition, each.registration.isr) for each in delta.partitions] == [(0, (1, 2))]
    assert desk.out.sent == []


def test_a_new_topic_is_told_with_its_minimum_and_its_partitions() -> None:
    desk = ControllerDesk(2)
    desk.tool(c.CreateTopicsRequest("u", assignments=[[2, 1], [1, 2]], min_insync_replicas=2))
    (delta,) = deltas(desk.sent_to(1))
    assert [(each.topic, each.min_insync_replicas) for each in delta.topics] == [("u", 2)]
    assert [
        (each.partition, each.registration.replicas, each.registration.leader) for each in delta.partitions
    ] == [(0, (2, 1), 2), (1, (1, 2), 1)]


def test_a_broker_that_connects_gets_everything_at_once() -> None:
    desk = ControllerDesk(2, [[1, 2], [2, 1]])
    answer, image = desk.register(3, rack="r")
    assert answer == c.BrokerRegistrationResponse(0, desk.epochs[3]) and image.is_image
    assert [(each.broker_id, each.rack, each.is_fenced) for each in image.brokers] == [
        (1, None, False),
        (2, None, False),
        (3, "r", True),
    ]
    assert ([each.topic for each in image.topics], [each.partition for each in image.partitions]) == (
        ["t"],
        [0, 1],
    )
    assert image.end_offset == desk.state.end_offset > desk.epochs[3], (
        "it can read up to its own registration"
    )


def test_the_others_hear_of_a_registration_as_a_fenced_broker() -> None:
    desk = ControllerDesk(2)
    desk.register(3)
    (delta,) = deltas(desk.sent_to(1))
    assert [(each.broker_id, each.broker_epoch, each.is_fenced) for each in delta.brokers] == [
        (3, desk.epochs[3], True)
    ]


def test_a_heartbeat_over_a_new_connection_makes_that_the_one_where_it_reads() -> None:
    desk = ControllerDesk(2, [[1, 2]])
    messages = desk.beat(1, connection=30)
    assert [type(message) for message in messages] == [
        c.MetadataDelta,
        c.BrokerHeartbeatResponse,
    ] and messages[0].is_image
    desk.forget()
    desk.alter(2, 1)  # refused, so no broker hears of it
    desk.tool(c.CreateTopicsRequest("u", assignments=[[2]]))
    assert len(deltas(desk.sent_to(30))) == 1 and desk.sent_to(1) == [], "one connection a broker"
    assert desk.beat(1, connection=30) == [c.BrokerHeartbeatResponse(0, is_fenced=False)], (
        "and no second image"
    )


def test_a_connection_that_has_closed_is_told_nothing_and_its_session_goes_on() -> None:
    desk = ControllerDesk(2, [[1, 2]])
    desk.send(1, Closed("reset"))
    desk.tool(c.CreateTopicsRequest("u", assignments=[[2]]))
    assert desk.sent_to(1) == [] and len(deltas(desk.sent_to(2))) == 1
    assert not desk.state.rules.brokers[1].is_fenced


def test_the_same_process_that_registers_again_reads_from_its_new_connection_under_its_old_epoch() -> None:
    desk = ControllerDesk(2, [[1, 2]])
    epoch = desk.epochs[1]
    answer, image = desk.register(1, connection=30)
    assert answer.broker_epoch == epoch and image.is_image and desk.state.end_offset == image.end_offset
    assert 1 not in desk.state.readers and desk.state.readers[30] == 1
    assert desk.facts("kafka.broker.registered") == [], "it is no new registration"


def test_another_process_may_register_when_the_session_of_the_one_before_is_over() -> None:
    desk = ControllerDesk(2, [[1, 2]])
    desk.now_us += 5_000 * MS
    desk.beat(2)
    desk.now_us += 4_010 * MS
    desk.wake("sessions")
    assert desk.state.rules.brokers[1].is_fenced
    answer, _ = desk.register(1, incarnation=77, connection=30)
    assert answer.error_code == 0 and answer.broker_epoch > desk.epochs[2]
    assert [data for _, data in desk.facts("kafka.broker.registered")] == [{"broker": 1}]


def test_a_removed_broker_is_told_as_one_that_is_not_registered() -> None:
    desk = ControllerDesk(3, THREE)
    assert desk.tool(c.UnregisterBrokerRequest(3)).error_code == 0
    (delta,) = deltas(desk.sent_to(1))
    assert [(each.broker_id, each.is_registered) for each in delta.brokers] == [(3, False)]
    assert [each.registration.isr for each in delta.partitions] == [(1, 2)]
    (image,) = deltas(desk.beat(1, connection=30))
    assert [each.broker_id for each in image.brokers] == [1, 2]


def test_what_changes_nothing_is_told_to_nobody() -> None:
    desk = ControllerDesk(3, THREE)
    (answer,) = desk.alter(1, 1, 2, 3)
    assert (answer.error_code, answer.partition_epoch, answer.isr) == (0, 0, [1, 2, 3])
    assert desk.out.sent == [] and desk.out.facts == []


def test_a_restored_controller_knows_what_it_has_told_before() -> None:
    desk = ControllerDesk(3, THREE)
    desk.node = ControllerNode(desk.state)
    desk.alter(1, 1, 2)
    ((inputs, data),) = desk.facts("kafka.partition.isr_changed")
    assert (inputs["isr"], data["left"]) == ([1, 2, 3], [3]), "and so what this is a change of"


# --- sessions


def test_the_timer_is_that_of_the_broker_that_is_silent_for_the_longest_time() -> None:
    desk = ControllerDesk(3)
    first_us = desk.out.deadlines["sessions"]
    for broker in (1, 2):
        desk.beat(broker, after_ms=1_000)
    assert desk.out.deadlines["sessions"] == first_us + 2 * MS, "3 was heard of two ms after 1"
    desk.beat(3, after_ms=1_000)
    assert desk.out.deadlines["sessions"] == desk.now_us - 2_000 * MS + 9_001 * MS, "now it is 1 again"


def test_exactly_a_session_ago_is_in_time() -> None:
    desk = ControllerDesk(1, [[1]])
    desk.out.deadlines["sessions"] -= 1 * MS
    desk.wake("sessions")
    assert desk.facts("kafka.broker.fenced") == []
    desk.wake("sessions")
    ((inputs, data),) = desk.facts("kafka.broker.fenced")
    assert (inputs, data) == ({"silent_ms": 9_001, "session_timeout_ms": 9_000}, {"broker": 1})


def test_two_that_are_silent_are_fenced_one_after_the_other() -> None:
    desk = ControllerDesk(3, THREE)
    desk.beat(3, after_ms=8_000)
    desk.now_us += 2_000 * MS
    desk.out.deadlines["sessions"] = desk.now_us
    desk.wake("sessions")
    assert [data["broker"] for _, data in desk.facts("kafka.broker.fenced")] == [1]
    assert desk.out.deadlines["sessions"] == desk.now_us + 1 * MS, "at once, but in a step of its own"
    desk.wake("sessions")
    assert [data["broker"] for _, data in desk.facts("kafka.broker.fenced")] == [1, 2]
    assert (desk.known().leader, desk.known().isr, desk.known().leader_epoch) == (3, (3,), 2)
    assert desk.out.blamed == [1, 2], "each by its own connection"


def test_with_nobody_unfenced_no_timer_is_set() -> None:
    desk = ControllerDesk(1)
    desk.wake("sessions")
    assert desk.state.rules.brokers[1].is_fenced and "sessions" not in desk.out.deadlines


def test_a_heartbeat_after_the_fence_brings_a_broker_back() -> None:
    desk = ControllerDesk(2, [[1, 2]])
    desk.beat(2, after_ms=8_000)
    desk.wake("sessions")
    assert (desk.known().leader, desk.known().isr) == (2, (2,))
    answer = desk.beat(1)[-1]
    assert answer == c.BrokerHeartbeatResponse(0, is_fenced=False)
    assert (desk.known().leader, desk.known().isr) == (2, (2,)), "and gives nothing back"


# --- heartbeats


def test_what_a_broker_learns_when_it_wants_to_go() -> None:
    desk = ControllerDesk(2, [[1, 2], [2, 1]])
    delta, answer = desk.beat(1, shut_down=True)
    assert answer == c.BrokerHeartbeatResponse(0, is_fenced=False, should_shut_down=False)
    assert [
        (each.partition, each.registration.leader, each.registration.isr) for each in delta.partitions
    ] == [(0, 2, (2,)), (1, 2, (2,))]
    assert delta.brokers[0].is_in_controlled_shutdown
    delta, answer = desk.beat(1, shut_down=True)
    assert answer == c.BrokerHeartbeatResponse(0, is_fenced=True, should_shut_down=True)
    assert [rule for _, rule in desk.out.told if rule] and [
        kind.rpartition(".")[2] for kind, _ in desk.out.told
    ] == [
        "shutting_down",
        "leader_changed",
        "isr_changed",
        "isr_changed",
        "fenced",
    ]


def test_a_broker_that_stays_what_it_was_is_no_turning_point() -> None:
    desk = ControllerDesk(2, [[1, 2]])
    for _ in range(3):
        desk.beat(1)
    desk.beat(2, fence=True)
    desk.beat(2, fence=True)
    assert [kind for kind, _ in desk.out.told if kind.startswith("kafka.broker")] == ["kafka.broker.fenced"]


def test_a_refused_heartbeat_is_answered_and_makes_nobody_a_reader() -> None:
    desk = ControllerDesk(1)
    (answer,) = desk.send(30, c.BrokerHeartbeatRequest(1, 99, 0))
    assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH and answer.is_fenced
    assert 30 not in desk.state.readers and desk.out.sent == []


# --- producer ids, the automatic round


def test_blocks_of_producer_ids_follow_one_another_whoever_asks() -> None:
    desk = ControllerDesk(2)
    before = desk.state.end_offset
    got = [
        desk.send(broker, c.AllocateProducerIdsRequest(broker, desk.epochs[broker]))[0]
        for broker in (1, 2, 1)
    ]
    assert [(each.error_code, each.producer_id_start, each.producer_id_len) for each in got] == [
        (0, 0, 1_000),
        (0, 1_000, 1_000),
        (0, 2_000, 1_000),
    ]
    assert desk.state.end_offset == before + 3, "each is a record, that no broker reads"
    assert deltas(desk.sent_to(2)) == []


def test_the_automatic_round_begins_with_the_first_connection_and_comes_again() -> None:
    desk = ControllerDesk(2, [[1, 2]], leader_imbalance_check_interval_ms=60_000)
    assert desk.out.deadlines["balance"] == 60_000 * MS
    desk.send(40, Opened("late"), after_ms=30_000)
    assert desk.out.deadlines["balance"] == 60_000 * MS, "a later connection does not put it off"
    desk.wake("balance")
    assert desk.out.deadlines["balance"] == 120_000 * MS and desk.out.facts == []


@pytest.mark.parametrize("is_on", [True, False])
def test_the_automatic_round_elects_who_is_preferred_unless_it_is_switched_off(is_on: bool) -> None:
    desk = ControllerDesk(2, [[1, 2]], auto_leader_rebalance=is_on)
    desk.beat(1, fence=True)
    desk.beat(1)
    desk.alter(2, 2, 1)
    desk.forget()
    desk.wake("balance")
    assert desk.known().leader == (1 if is_on else 2)
    assert [rule for _, rule in desk.out.told] == (["kafka.election.preferred"] if is_on else [])
