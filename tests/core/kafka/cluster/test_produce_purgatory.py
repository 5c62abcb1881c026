"""Produces that wait for the ISR, by playbook: who is answered when, with what; a lost lead, a time-out, a
closed connection."""

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.desk import CLIENT, CONTROL, OTHER, BrokerDesk, followed, led, to
from tests.core.kafka.cluster.nodes import MS, restored

TWO = {0: led(), 1: led()}


def part(number: int, value: str) -> r.ProducePartition:
    return r.ProducePartition("t", number, light_batch([value], timestamp=0))


def answered(desk: BrokerDesk, connection: int = CLIENT) -> list[list[tuple[int, int, int]]]:
    """(partition, error, base offset) of each answer."""
    return [
        [(each.index, each.error_code, each.base_offset) for each in answer.partitions]
        for answer in desk.take(connection)
    ]


def caught_up(desk: BrokerDesk, *numbers: int, session: int = 0) -> None:
    """The follower asks for what comes next in these partitions."""
    desk.fetch(
        {number: desk.log(number).log_end_offset for number in numbers or (0,)},
        replica=2,
        session=session,
        max_wait_ms=0,
    )


# --- the ISR has it


def test_a_produce_to_two_partitions_is_answered_when_the_last_of_them_is_replicated() -> None:
    desk = BrokerDesk(TWO)
    assert desk.send(CLIENT, to(part(0, "a"), part(1, "b"))) == []
    caught_up(desk, 1)
    assert answered(desk) == [], "one of two"
    caught_up(desk, 0, session=1)
    assert answered(desk) == [[(0, 0, 0), (1, 0, 0)]]


def test_an_isr_of_one_is_answered_at_once() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    (answer,) = desk.produce("a")
    assert answer.partitions[0].base_offset == 0 and desk.state.produces == {} and desk.state.held == {}


def test_produces_of_several_clients_are_answered_in_the_order_in_which_they_came() -> None:
    desk = BrokerDesk()
    desk.produce("a", connection=OTHER)
    desk.produce("b", connection=CLIENT)
    desk.fetch({0: 1}, replica=2, max_wait_ms=0)
    assert (answered(desk, OTHER), answered(desk)) == ([[(0, 0, 0)]], []), "the follower has one of the two"
    desk.fetch({0: 2}, replica=2, session=1, max_wait_ms=0)
    assert answered(desk) == [[(0, 0, 1)]]


def test_a_partition_that_is_refused_does_not_keep_the_others_from_being_written() -> None:
    desk = BrokerDesk({0: led(), 1: followed()})
    assert desk.send(CLIENT, to(part(0, "a"), part(1, "b"), part(7, "c"))) == []
    caught_up(desk)
    assert answered(desk) == [
        [(0, 0, 0), (1, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1), (7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)]
    ]


def test_a_produce_of_which_everything_is_refused_waits_for_nobody() -> None:
    desk = BrokerDesk({0: followed()})
    (answer,) = desk.produce("a")
    assert answer.partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER and desk.state.produces == {}


def test_a_batch_that_was_written_before_waits_for_the_isr_as_the_first_did() -> None:
    """The answer of a duplicate must not come before its record counts."""
    desk = BrokerDesk()
    for connection in (OTHER, CLIENT):
        assert (
            desk.produce("a", connection=connection, producer_id=7, producer_epoch=0, base_sequence=0) == []
        )
    assert desk.values() == ["a"]
    caught_up(desk)
    assert answered(desk, OTHER) == answered(desk) == [[(0, 0, 0)]]


# --- acks 0 and 1


def test_acks_1_is_answered_before_anybody_has_it_with_the_log_start() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.produce("a", "b", acks=1)
    desk.send(OTHER, r.DeleteRecordsRequest(1_000, [("t", 0, 1)]))
    (answer,) = desk.produce("c", acks=1)
    assert (answer.partitions[0].base_offset, answer.partitions[0].log_start_offset) == (2, 1)


def test_acks_0_has_no_answer_and_what_comes_next_is_read_at_once() -> None:
    desk = BrokerDesk()
    assert desk.produce("a", acks=0) == []
    (answer,) = desk.produce("b", acks=1)
    assert answer.partitions[0].base_offset == 1 and desk.out.closed == []


def test_an_error_with_acks_0_closes_the_connection_though_another_partition_was_written() -> None:
    desk = BrokerDesk({0: led(), 1: followed()})
    assert desk.send(CLIENT, to(part(0, "a"), part(1, "b"), acks=0)) == []
    assert desk.out.closed == [CLIENT] and desk.values() == ["a"]


# --- too few in sync


def test_what_was_appended_while_there_were_enough_waits_on_when_there_are_too_few() -> None:
    """The high watermark does not advance below min.insync.replicas: the produce ends by its time."""
    desk = BrokerDesk(min_isr=2)
    desk.produce("a", timeout_ms=60_000)
    desk.delta({0: led(isr=(1,), partition_epoch=1)})
    assert answered(desk) == [] and desk.ends() == (1, 0)
    desk.wake("produces")
    assert answered(desk) == [[(0, ErrorCode.REQUEST_TIMED_OUT, -1)]]


def test_a_refusal_for_too_few_is_told_once_until_there_are_enough_again() -> None:
    desk = BrokerDesk(min_isr=2)
    desk.delta({0: led(isr=(1,), partition_epoch=1)})

    def told() -> int:
        return sum(kind == "kafka.partition.writes_refused" for kind, _ in desk.out.told)

    for _ in range(3):
        (answer,) = desk.produce("a")
        assert answer.partitions[0].error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    desk.produce("b", acks=1)
    desk.produce("c")
    assert told() == 1, "a produce that does not ask for the minimum changes nothing in that"
    _, inputs, data = desk.out.facts[-1]
    assert (inputs["isr"], inputs["min_insync_replicas"], data["broker"], data["partition"]) == ([1], 2, 1, 0)
    desk.delta({0: led(partition_epoch=2)})
    desk.produce("d", timeout_ms=1)
    desk.wake("produces")
    desk.delta({0: led(isr=(1,), partition_epoch=3)})
    desk.produce("e")
    assert told() == 2


# --- the lead is lost


@pytest.mark.parametrize("replicas", [(2, 1), (2, 3)], ids=["follows", "moved"])
def test_who_waits_at_a_leader_that_is_none_any_more_is_told_so(replicas: tuple[int, ...]) -> None:
    desk = BrokerDesk()
    desk.produce("a")
    desk.delta({0: followed(replicas=replicas, epoch=1, partition_epoch=1)})
    (answer,) = desk.take(CLIENT)
    (told,) = answer.partitions
    assert (told.error_code, told.base_offset) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)


def test_the_new_leader_is_named_with_its_epoch() -> None:
    desk = BrokerDesk()
    desk.produce("a")
    desk.delta({0: followed(epoch=4, partition_epoch=1)})
    (told,) = desk.take(CLIENT)[0].partitions
    assert (told.current_leader, told.current_leader_epoch) == (2, 4)


def test_of_two_partitions_one_may_be_lost_and_the_other_written() -> None:
    desk = BrokerDesk(TWO)
    desk.send(CLIENT, to(part(0, "a"), part(1, "b")))
    desk.delta({0: followed(epoch=1, partition_epoch=1)})
    assert answered(desk) == []
    caught_up(desk, 1)
    assert answered(desk) == [[(0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1), (1, 0, 0)]]


def test_elected_again_a_leader_goes_on_with_the_produces_that_wait() -> None:
    desk = BrokerDesk()
    desk.produce("a")
    desk.delta({0: led(epoch=1, partition_epoch=1)})
    assert answered(desk) == []
    desk.fetch({0: 1}, replica=2, max_wait_ms=0, epoch=1)
    assert answered(desk) == [[(0, 0, 0)]]


def test_a_shrink_that_the_controller_grants_answers_who_waited_for_the_late_member() -> None:
    desk = BrokerDesk()
    desk.produce("a", timeout_ms=60_000)
    desk.now_us += 30_000 * MS
    desk.wake("isr")
    assert [each.isr for each in desk.taken(CONTROL, c.AlterPartitionRequest)] == [[(1, 3)]]
    assert answered(desk) == []
    desk.send(CONTROL, c.AlterPartitionResponse("t", 0, 0, 1, 0, 1, [1]))
    assert answered(desk) == [[(0, 0, 0)]] and desk.ends() == (1, 1)


# --- time


def test_each_produce_has_its_own_time_and_the_timer_is_that_of_the_next_one() -> None:
    desk = BrokerDesk()
    desk.produce("slow", timeout_ms=900)
    assert desk.due_ms("produces") == 900
    desk.produce("quick", connection=OTHER, timeout_ms=300)
    assert desk.due_ms("produces") == 300, "it comes earlier"
    desk.wake("produces")
    assert (answered(desk, OTHER), answered(desk)) == ([[(0, ErrorCode.REQUEST_TIMED_OUT, -1)]], [])
    assert desk.due_ms("produces") == 599
    desk.wake("produces")
    assert answered(desk) == [[(0, ErrorCode.REQUEST_TIMED_OUT, -1)]]
    assert "produces" not in desk.out.deadlines and desk.values() == ["slow", "quick"]


def test_of_those_that_wait_in_several_partitions_the_earliest_sets_the_timer_again() -> None:
    desk = BrokerDesk({0: led(), 1: led(), 2: led()})
    for number, timeout_ms in ((0, 100), (1, 700), (2, 400)):
        desk.send(10 + number, to(part(number, "v"), timeout_ms=timeout_ms))
    began_us = desk.now_us
    desk.wake("produces")
    assert (desk.out.deadlines["produces"] - began_us) // MS == 400


def test_the_timer_is_set_anew_for_a_produce_after_the_last_one_was_answered() -> None:
    desk = BrokerDesk()
    desk.produce("a", timeout_ms=500)
    caught_up(desk)
    assert len(answered(desk)) == 1
    desk.produce("b", timeout_ms=900)
    desk.wake("produces")  # that of the first
    assert answered(desk) == [] and desk.due_ms("produces") > 300
    desk.wake("produces")
    assert answered(desk) == [[(0, ErrorCode.REQUEST_TIMED_OUT, -1)]]


def test_of_two_partitions_only_the_one_that_is_late_is_timed_out() -> None:
    desk = BrokerDesk(TWO)
    desk.send(CLIENT, to(part(0, "a"), part(1, "b"), timeout_ms=800))
    caught_up(desk, 0)
    desk.wake("produces")
    assert answered(desk) == [[(0, 0, 0), (1, ErrorCode.REQUEST_TIMED_OUT, -1)]]


def test_with_no_time_at_all_it_is_over_when_the_timer_comes() -> None:
    desk = BrokerDesk()
    assert desk.produce("a", timeout_ms=0) == [] and desk.due_ms("produces") == 0
    desk.wake("produces")
    assert answered(desk) == [[(0, ErrorCode.REQUEST_TIMED_OUT, -1)]]


# --- connections


def test_what_a_client_sends_behind_a_produce_that_waits_is_read_afterwards() -> None:
    desk = BrokerDesk()
    desk.produce("a")
    assert desk.produce("b", acks=1) == [] and desk.values() == ["a"], "it is not even appended"
    caught_up(desk)
    assert answered(desk) == [[(0, 0, 0)]]
    desk.wake("held:10")
    assert answered(desk) == [[(0, 0, 1)]] and desk.state.held == {}


def test_a_client_that_has_gone_gets_no_answer_and_its_records_stay() -> None:
    desk = BrokerDesk()
    desk.produce("a")
    desk.produce("b")
    desk.send(CLIENT, Closed("reset"))
    caught_up(desk)
    assert desk.take(CLIENT) == [] and desk.ends() == (1, 1) and desk.state.produces == {}
    assert desk.values() == ["a"], "what it had sent behind it is never read"


def test_a_restored_broker_answers_what_waited_when_the_checkpoint_was_taken() -> None:
    desk = BrokerDesk(TWO)
    desk.send(CLIENT, to(part(0, "a"), part(1, "b")))
    caught_up(desk, 0)
    desk.node = restored(desk.node)
    desk.fetch({1: 1}, replica=2, session=1, max_wait_ms=0)
    assert answered(desk) == [[(0, 0, 0), (1, 0, 0)]]
