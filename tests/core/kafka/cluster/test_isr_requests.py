"""A leader and its ISR, by playbook: when it asks the controller, what it asks for, and what it does with
each answer."""

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.desk import CLIENT, CONTROL, EPOCH, OTHER, BrokerDesk, followed, led
from tests.core.kafka.cluster.nodes import MS, restored

LAG_MS = 30_000


def asked(desk: BrokerDesk) -> list[tuple[int, list[int]]]:
    """(partition, members) of each AlterPartition since somebody looked."""
    return [
        (each.partition, [member for member, _ in each.isr])
        for each in desk.taken(CONTROL, c.AlterPartitionRequest)
    ]


def answer(
    desk: BrokerDesk,
    *isr: int,
    error: int = 0,
    part: int = 0,
    epoch: int = 0,
    partition_epoch: int = 1,
    connection: int = CONTROL,
) -> None:
    altered = (
        c.AlterPartitionResponse("t", part, error)
        if error
        else c.AlterPartitionResponse("t", part, 0, 1, epoch, partition_epoch, list(isr))
    )
    desk.tell(connection, altered)


def joining() -> BrokerDesk:
    """Broker 2 has caught up, and the controller was asked to let it in."""
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.produce("a", acks=1)
    desk.fetch({0: 1}, replica=2, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2])]
    return desk


# --- who is late


def test_late_members_are_looked_for_each_half_of_the_lag_time() -> None:
    desk = BrokerDesk(replica_lag_time_max_ms=8_000)
    assert desk.out.deadlines["isr"] == 4_000 * MS
    desk.wake("isr")
    assert desk.out.deadlines["isr"] == 8_000 * MS


def test_all_late_members_leave_together_and_only_where_this_broker_leads() -> None:
    desk = BrokerDesk({0: led(isr=(1, 2, 3), replicas=(1, 2, 3)), 1: led(), 2: followed()})
    for part in (0, 1):
        desk.produce("a", acks=1, part=part)
    desk.fetch({1: 1}, replica=2, max_wait_ms=0)
    desk.now_us = (LAG_MS + 10) * MS
    desk.wake("isr")
    assert asked(desk) == [(0, [1])], "in 1 nobody is behind"


def test_a_member_that_reached_the_end_of_its_fetch_before_in_time_stays() -> None:
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    desk.fetch({0: 0}, replica=2)
    began_ms = desk.now_ms
    desk.produce("b", acks=1)
    desk.fetch({0: 1}, replica=2, session=1, after_ms=LAG_MS - 10)
    desk.now_us = (began_ms + LAG_MS) * MS
    desk.wake("isr")
    assert asked(desk) == [], "by its second fetch it had what there was at its first"
    desk.now_us += 2 * MS
    desk.out.deadlines["isr"] = desk.now_us
    desk.wake("isr")
    assert asked(desk) == [(0, [1])]


def test_by_the_old_rule_a_burst_is_enough_and_the_timer_still_decides_when() -> None:
    desk = BrokerDesk(lag_messages_max=2)
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    for value in "abc":
        desk.produce(value, acks=1)
    assert asked(desk) == []
    desk.wake("isr")
    assert asked(desk) == [(0, [1])]


def test_by_the_old_rule_who_goes_on_asking_quietly_is_not_stuck() -> None:
    desk = BrokerDesk(lag_messages_max=2)
    for _ in range(2):
        desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    desk.fetch({}, replica=2, session=1, max_wait_ms=0, after_ms=LAG_MS)
    desk.now_us += 10_000 * MS
    desk.wake("isr")
    assert asked(desk) == [], "its session said so ten seconds ago"


# --- one request at a time


def test_while_a_request_is_on_its_way_nothing_else_is_asked_of_that_partition() -> None:
    desk = BrokerDesk({0: led(isr=(1,), replicas=(1, 2, 3)), 1: led(isr=(1,))})
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2])]
    desk.fetch({0: 0, 1: 0}, replica=3, connection=OTHER, max_wait_ms=0)
    desk.fetch({1: 0}, replica=2, session=1, max_wait_ms=0)
    assert asked(desk) == [(1, [1, 2])], "another partition has a request of its own"
    answer(desk, 1, 2)
    desk.fetch({}, replica=3, session=1, connection=OTHER, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2, 3])]


def test_the_request_says_under_which_epochs_it_was_made() -> None:
    desk = BrokerDesk({0: led(isr=(1,), epoch=4, partition_epoch=7)})
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    (request,) = desk.taken(CONTROL, c.AlterPartitionRequest)
    assert (request.broker_id, request.broker_epoch, request.leader_epoch, request.partition_epoch) == (
        1,
        EPOCH,
        4,
        7,
    )


# --- what the controller answers


def test_granted_it_holds_and_answers_produces_that_waited_for_enough() -> None:
    desk = BrokerDesk({0: led(isr=(1,), replicas=(1, 2))}, min_isr=2)
    desk.produce("a", acks=1)
    assert desk.fetch({0: 0}, connection=CLIENT) == [], "below the minimum nobody may read it"
    desk.fetch({0: 1}, replica=2, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2])]
    answer(desk, 1, 2)
    assert (desk.isr(), desk.ends(), desk.replica().partition.partition_epoch) == ([1, 2], (1, 1), 1)
    assert len(desk.take(CLIENT)) == 1


@pytest.mark.parametrize(
    "error", [ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.UNKNOWN_SERVER_ERROR]
)
def test_an_error_that_says_nothing_of_the_isr_is_asked_again_at_once(error: ErrorCode) -> None:
    desk = joining()
    answer(desk, error=error)
    assert asked(desk) == [(0, [1, 2])]
    answer(desk, 1, 2)
    assert desk.isr() == [1, 2] and asked(desk) == []


@pytest.mark.parametrize(
    "error", [ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.NEW_LEADER_ELECTED]
)
def test_a_leader_that_has_missed_something_waits_for_metadata_with_its_change_pending(
    error: ErrorCode,
) -> None:
    desk = joining()
    answer(desk, error=error)
    desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    assert asked(desk) == [] and desk.replica().partition.isr_state.is_pending
    desk.delta({0: led(isr=(1,), epoch=1, partition_epoch=2)})
    desk.fetch({0: 1}, replica=2, session=1, epoch=1, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2])], "and then asks by what it knows now"


@pytest.mark.parametrize("error", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED])
def test_what_was_not_done_is_forgotten_and_the_next_fetch_asks_again(error: ErrorCode) -> None:
    desk = joining()
    answer(desk, error=error)
    assert not desk.replica().partition.isr_state.is_pending and asked(desk) == []
    desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2])]


@pytest.mark.parametrize(("epoch", "partition_epoch"), [(1, 1), (0, -1)])
def test_an_answer_under_other_epochs_is_passed_over(epoch: int, partition_epoch: int) -> None:
    desk = joining()
    answer(desk, 1, 2, epoch=epoch, partition_epoch=partition_epoch)
    assert (desk.isr(), desk.replica().partition.isr_state.is_pending) == ([1], True)


def test_an_answer_to_what_was_overtaken_makes_room_for_the_next_request() -> None:
    desk = joining()
    desk.delta({0: led(isr=(1,), partition_epoch=1)})
    desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    assert asked(desk) == [], "the first one is still on its way"
    answer(desk, 1, 2)
    assert desk.isr() == [1]
    desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2])]


def test_an_answer_for_a_partition_that_is_gone_or_on_another_connection_changes_nothing() -> None:
    desk = joining()
    answer(desk, 1, 2, part=9)
    answer(desk, 1, 2, connection=99)
    assert desk.isr() == [1] and desk.replica().partition.isr_state.is_pending


# --- the controller is away


def test_a_new_connection_sends_again_what_was_on_its_way() -> None:
    desk = joining()
    desk.send(CONTROL, Closed("reset"))
    desk.wake("heartbeat")
    (again,) = desk.taken(2, c.AlterPartitionRequest)
    assert [member for member, _ in again.isr] == [1, 2]


def test_a_back_off_does_not_send_twice_what_a_new_connection_has_sent() -> None:
    desk = joining()
    answer(desk, error=ErrorCode.STALE_BROKER_EPOCH)
    assert desk.due_ms("alter:t:0") == 50
    desk.send(CONTROL, Closed("reset"))
    desk.wake("heartbeat")
    assert len(desk.taken(2, c.AlterPartitionRequest)) == 1 and "alter:t:0" not in desk.out.deadlines


def test_a_stale_epoch_where_nothing_is_on_its_way_sets_no_back_off() -> None:
    desk = BrokerDesk()
    answer(desk, error=ErrorCode.STALE_BROKER_EPOCH)
    assert "alter:t:0" not in desk.out.deadlines


def test_back_offs_of_two_partitions_are_each_for_their_own() -> None:
    desk = BrokerDesk({0: led(isr=(1,)), 1: led(isr=(1,))})
    desk.fetch({0: 0, 1: 0}, replica=2, max_wait_ms=0)
    assert asked(desk) == [(0, [1, 2]), (1, [1, 2])]
    for part in (0, 1):
        answer(desk, error=ErrorCode.STALE_BROKER_EPOCH, part=part)
    desk.wake("alter:t:1")
    assert asked(desk) == [(1, [1, 2])]
    desk.wake("alter:t:0")
    assert asked(desk) == [(0, [1, 2])]


def test_a_broker_that_shuts_down_asks_for_nothing_more() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.send(0, lifecycle.Stop())
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    assert asked(desk) == []


def test_a_restored_leader_takes_the_answer_to_what_it_had_asked() -> None:
    desk = joining()
    desk.node = restored(desk.node)
    answer(desk, 1, 2)
    assert desk.isr() == [1, 2] and desk.ends() == (1, 1)
