"""The controller and its brokers: registration, fencing and shutdown over several partitions, and what each
leaves behind."""

import pytest

from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.controller.cluster_metadata import RegisteredBroker
from broker_core.kafka.controller.controller import Controller
from broker_core.kafka.controller.records import (
    BrokerChangeRecord,
    PartitionChangeRecord,
    Record,
    UnregisterBrokerRecord,
)
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.replication.election import MetadataVersion
from broker_core.kafka.replication.partition_state import AlterPartitionRequest, LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration

SESSION_MS = 9_000


def cluster(*assignments: list[int], brokers: int = 3, min_isr: int = 1, elr: bool = False) -> Controller:
    """Brokers from 1 on with epochs from 101 on, unfenced at time 0; topics t0, t1 ... of one partition
    each."""
    controller = Controller(
        JavaRandom.seeded(1), MetadataVersion(4) if elr else MetadataVersion(), is_elr_enabled=elr
    )
    for broker in range(1, brokers + 1):
        controller.register_broker(broker, 100 + broker, 0)
        beat(controller, broker)
    for number, replicas in enumerate(assignments):
        controller.create_topic_at(f"t{number}", [replicas], min_insync_replicas=min_isr)
    return controller


def beat(controller: Controller, broker: int, now_ms: int = 0, **wants: bool) -> list[Record]:
    return controller.heartbeat(broker, controller.brokers[broker].epoch, now_ms, **wants)[1]


def parts(controller: Controller) -> list[PartitionRegistration]:
    return [topic.partitions[0] for topic in controller.topics.values()]


def led_and_isr(controller: Controller) -> list[tuple[int, tuple[int, ...]]]:
    return [(part.leader, part.isr) for part in parts(controller)]


def changes(records: list[Record]) -> list[tuple[int, PartitionChange]]:
    return [
        (int(record.partition[0][1:]), record.change)
        for record in records
        if isinstance(record, PartitionChangeRecord)
    ]


def code_of(refused: pytest.ExceptionInfo[Refused]) -> ErrorCode:
    return refused.value.code


# --- registration


def test_a_registered_broker_is_fenced_keeps_its_rack_and_leads_nothing() -> None:
    controller = Controller(JavaRandom.seeded(1))
    assert controller.register_broker(1, 7, 0, "b") == []
    assert controller.brokers == {1: RegisteredBroker(7, "b")} and not controller.is_active(1)
    assert not controller.is_active(2), "nobody knows it"


def test_a_fenced_broker_may_register_again_at_once_and_an_unfenced_one_after_its_session() -> None:
    controller = cluster([1, 2])
    beat(controller, 1, 100, wants_fence=True)
    controller.register_broker(1, 111, 101)
    with pytest.raises(Refused) as refused:
        controller.register_broker(2, 112, SESSION_MS)
    assert code_of(refused) is ErrorCode.DUPLICATE_BROKER_REGISTRATION and controller.brokers[2].epoch == 102
    controller.register_broker(2, 112, SESSION_MS + 1)
    assert (controller.brokers[2].epoch, controller.brokers[2].is_fenced) == (112, True)


def test_registering_again_leaves_isrs_as_they_are_before_4_0_and_from_then_on_leaves_them() -> None:
    for elr, left in ((False, [(1, (1, 2))]), (True, [(2, (2,))])):
        controller = cluster([1, 2], min_isr=2, elr=elr)
        records = controller.register_broker(1, 111, SESSION_MS + 1)
        assert led_and_isr(controller) == left
        assert bool(records) is elr
        assert parts(controller)[0].elr == (), "it may have lost records: it is not eligible"


def test_registering_again_takes_a_broker_out_of_the_eligible_ones() -> None:
    controller = cluster([1, 2, 3], min_isr=3, elr=True)
    beat(controller, 3, wants_fence=True)
    assert parts(controller)[0].elr == (3,)
    records = controller.register_broker(3, 113, 1)
    assert changes(records) == [(0, PartitionChange(elr=()))]


def test_registering_again_after_a_clean_shutdown_changes_no_partition() -> None:
    """Kafka 3.9 with metadata version 4.0: nothing was lost, so it stays eligible, whether or not it had
    asked to shut down."""
    for asks_first in (False, True):
        controller = cluster([1, 2, 3], min_isr=3, elr=True)
        if asks_first:
            beat(controller, 3, wants_shutdown=True)
        else:
            beat(controller, 3, wants_fence=True)
        assert parts(controller)[0].elr == (3,)
        assert controller.register_broker(3, 113, SESSION_MS + 1, after_clean_shutdown=True) == []
        assert parts(controller)[0].elr == (3,)


def test_a_partition_without_a_leader_waits_until_its_eligible_broker_is_unfenced() -> None:
    controller = cluster([3], min_isr=2, elr=True)
    beat(controller, 3, wants_fence=True)
    assert (led_and_isr(controller), parts(controller)[0].elr) == ([(-1, ())], (3,))
    assert controller.register_broker(3, 113, SESSION_MS + 1, after_clean_shutdown=True) == []
    assert (led_and_isr(controller), parts(controller)[0].elr) == ([(-1, ())], (3,))
    _, records = controller.heartbeat(3, 113, SESSION_MS + 1)
    assert changes(records) == [(0, PartitionChange(leader=3, isr=(3,), elr=(), last_known_elr=()))]
    assert parts(controller)[0].leader_recovery_state is LeaderRecoveryState.RECOVERED


def test_the_epoch_of_the_registration_is_asked_of_every_request() -> None:
    controller = cluster([1, 2])
    for act in (
        lambda: controller.heartbeat(1, 100, 0),
        lambda: controller.heartbeat(9, 101, 0),
        lambda: controller.alter_partition(1, 100, ("t0", 0), AlterPartitionRequest(0, 0, ((1, 101),)), 0),
        lambda: controller.alter_partition(9, 101, ("x", 0), AlterPartitionRequest(0, 0, ((1, 101),)), 0),
    ):
        with pytest.raises(Refused) as refused:
            act()
        assert code_of(refused) is ErrorCode.STALE_BROKER_EPOCH, (
            "before it is asked whether there is such a topic"
        )


# --- fenced, and back


def test_a_fenced_broker_leaves_every_isr_and_what_it_led_goes_to_the_next_in_line() -> None:
    controller = cluster([1, 2, 3], [2, 1, 3], [3, 2, 1], [1])
    records = beat(controller, 1, wants_fence=True)
    assert changes(records) == [
        (0, PartitionChange(leader=2, isr=(2, 3))),
        (1, PartitionChange(isr=(2, 3))),
        (2, PartitionChange(isr=(3, 2))),
        (3, PartitionChange(leader=-1)),
    ]
    assert records[-1] == BrokerChangeRecord(1, is_fenced=True), "the partitions first, then the broker"
    assert [part.leader_epoch for part in parts(controller)] == [1, 0, 0, 1]


def test_fenced_twice_it_is_fenced_once() -> None:
    controller = cluster([1, 2])
    assert beat(controller, 1, wants_fence=True) != []
    assert beat(controller, 1, wants_fence=True) == [] == beat(controller, 1, wants_fence=True)


def test_who_comes_back_leads_what_nobody_leads_and_only_where_it_is_in_the_isr() -> None:
    controller = cluster([1, 2], [1], [2, 1])
    beat(controller, 1, wants_fence=True)
    beat(controller, 2, wants_fence=True)
    assert led_and_isr(controller) == [(-1, (2,)), (-1, (1,)), (-1, (2,))]
    assert changes(beat(controller, 1)) == [(1, PartitionChange(leader=1))]
    assert changes(beat(controller, 2)) == [(0, PartitionChange(leader=2)), (2, PartitionChange(leader=2))]


def test_a_heartbeat_of_a_broker_that_is_unfenced_already_writes_nothing() -> None:
    controller = cluster([1, 2])
    assert beat(controller, 1) == []
    reply, _ = controller.heartbeat(1, 101, 5)
    assert (reply.is_fenced, reply.is_in_controlled_shutdown, reply.should_shut_down) == (False, False, False)
    assert controller.sessions.last_contact_ms[1] == 5


def test_silent_brokers_are_fenced_one_a_pass_the_most_silent_first() -> None:
    controller = cluster([1, 2, 3])
    beat(controller, 1, 500)
    late_ms = SESSION_MS + 600
    fenced = [
        record.broker
        for _ in range(4)
        for record in controller.fence_stale_broker(late_ms)
        if isinstance(record, BrokerChangeRecord)
    ]
    assert fenced == [2, 3, 1] and led_and_isr(controller) == [(-1, (1,))]


# --- a shutdown in order


def test_a_broker_that_wants_to_go_gives_its_leaderships_and_its_places_in_isrs_away() -> None:
    controller = cluster([1, 2], [2, 1], [1])
    records = beat(controller, 1, wants_shutdown=True)
    assert records[0] == BrokerChangeRecord(1, is_in_controlled_shutdown=True), "the broker first"
    assert led_and_isr(controller) == [(2, (2,)), (2, (2,)), (-1, (1,))]
    assert not controller.is_active(1) and not controller.brokers[1].is_fenced


def test_at_the_second_word_it_leads_nothing_and_is_fenced_with_that() -> None:
    controller = cluster([1, 2])
    reply, _ = controller.heartbeat(1, 101, 0, wants_shutdown=True)
    assert (reply.is_fenced, reply.is_in_controlled_shutdown, reply.should_shut_down) == (False, True, False)
    reply, records = controller.heartbeat(1, 101, 1, wants_shutdown=True)
    assert (reply.is_fenced, reply.is_in_controlled_shutdown, reply.should_shut_down) == (True, False, True)
    assert records == [BrokerChangeRecord(1, is_fenced=True)]


def test_a_broker_that_was_leaving_leads_again_what_only_it_can_lead_when_it_is_unfenced() -> None:
    """A broker that is being unfenced may lead whatever else is known of it
    (ReplicationControlManager.generateLeaderAndIsrUpdates, brokerToAdd)."""
    controller = cluster([1])
    beat(controller, 1, wants_shutdown=True)
    beat(controller, 1, wants_fence=True)
    assert led_and_isr(controller) == [(-1, (1,))]
    assert changes(beat(controller, 1)) == [(0, PartitionChange(leader=1))]
    assert not controller.is_active(1), "it may still come into no ISR, until it registers again"


def test_a_broker_that_leads_nothing_may_go_at_its_first_word() -> None:
    controller = cluster([2, 1])
    reply, _ = controller.heartbeat(1, 101, 0, wants_shutdown=True)
    assert reply.should_shut_down and led_and_isr(controller) == [(2, (2,))]


def test_a_fenced_broker_may_go_at_once() -> None:
    controller = cluster([1])
    beat(controller, 1, wants_fence=True)
    reply, records = controller.heartbeat(1, 101, 1, wants_shutdown=True)
    assert (
        reply.should_shut_down
        and [record for record in records if isinstance(record, PartitionChangeRecord)] == []
    )


def test_a_broker_that_is_shutting_down_gets_no_new_replicas() -> None:
    controller = cluster([1, 2])
    beat(controller, 1, wants_shutdown=True)
    controller.create_topic("u", 4, 2)
    assert {broker for part in controller.topics["u"].partitions for broker in part.replicas} == {2, 3}
    with pytest.raises(Refused) as refused:
        controller.create_topic("v", 1, 3)
    assert code_of(refused) is ErrorCode.INVALID_REPLICATION_FACTOR


# --- removed


def test_an_unregistered_broker_leaves_isrs_and_the_eligible_ones_and_keeps_its_places_in_assignments() -> (
    None
):
    controller = cluster([1, 2, 3], [3, 1], min_isr=3, elr=True)
    beat(controller, 3, wants_fence=True)
    assert [part.elr for part in parts(controller)] == [(3,), (3,)]
    records = controller.unregister_broker(3, 0)
    assert records[-1] == UnregisterBrokerRecord(3)
    assert [(part.leader, part.isr, part.replicas) for part in parts(controller)] == [
        (1, (1, 2), (1, 2, 3)),
        (1, (1,), (3, 1)),
    ]
    with pytest.raises(Refused) as refused:
        controller.heartbeat(3, 103, 0)
    assert code_of(refused) is ErrorCode.STALE_BROKER_EPOCH


def test_an_unregistered_broker_has_no_session_that_could_end() -> None:
    controller = cluster([1, 2])
    controller.unregister_broker(3, 0)
    assert 3 not in controller.sessions.last_contact_ms
    for _ in range(3):
        controller.fence_stale_broker(SESSION_MS + 1)
    assert all(broker.is_fenced for broker in controller.brokers.values())
    controller.register_broker(3, 200, SESSION_MS + 2)
    assert controller.brokers[3].epoch == 200
