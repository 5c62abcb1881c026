"""Long polls of a leader, by playbook: when a fetch is answered, with what, and when it goes on waiting. No
world."""

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import ControlType
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.desk import (
    CLIENT,
    CONTROL,
    FOLLOWER,
    OTHER,
    BrokerDesk,
    batches_of,
    followed,
    led,
    marks_of,
)

ALONE = led(isr=(1,), replicas=(1,))
"""Nobody follows: the high watermark moves with each append."""
SIZE = 100


def alone(*numbers: int, **settings: object) -> BrokerDesk:
    return BrokerDesk(dict.fromkeys(numbers or (0,), ALONE), **settings)  # type: ignore[arg-type]


def write(desk: BrokerDesk, *values: str, part: int = 0) -> None:
    """Each value in a batch of 100 bytes, from another client."""
    for value in values:
        desk.produce(value, acks=1, part=part, connection=OTHER, size_in_bytes=SIZE)


# --- consumers


def test_a_consumer_that_finds_nothing_waits_as_long_as_it_said_and_no_longer() -> None:
    desk = alone()
    assert desk.fetch({0: 0}, max_wait_ms=700) == []
    assert desk.due_ms("fetch:10") == 700
    desk.wake("fetch:10")
    (answer,) = desk.take(CLIENT)
    assert (batches_of(answer), marks_of(answer)) == ({0: []}, {0: 0})


def test_a_consumer_is_answered_at_once_where_there_is_something_and_asks_for_nothing_more() -> None:
    desk = alone()
    write(desk, "a", "b")
    (answer,) = desk.fetch({0: 1})
    assert (batches_of(answer), marks_of(answer)) == ({0: ["b"]}, {0: 2})
    assert "fetch:10" not in desk.out.deadlines


@pytest.mark.parametrize("max_wait_ms", [0, -1])
def test_who_does_not_want_to_wait_is_answered_with_nothing(max_wait_ms: int) -> None:
    desk = alone()
    (answer,) = desk.fetch({0: 0}, max_wait_ms=max_wait_ms)
    assert batches_of(answer) == {0: []}


def test_the_bytes_of_all_partitions_are_added_up_to_the_minimum() -> None:
    desk = alone(0, 1, 2)
    assert desk.fetch({0: 0, 1: 0, 2: 0}, min_bytes=2 * SIZE) == []
    write(desk, "a", part=0)
    assert desk.take(CLIENT) == [], "a hundred bytes of two hundred"
    write(desk, "b", part=2)
    (answer,) = desk.take(CLIENT)
    assert {number: values for number, values in batches_of(answer).items() if values} == {0: ["a"], 2: ["b"]}


def test_one_byte_too_few_waits_and_exactly_the_minimum_does_not() -> None:
    for min_bytes, is_answered in ((SIZE, True), (SIZE + 1, False)):
        desk = alone()
        write(desk, "a")
        assert bool(desk.fetch({0: 0}, min_bytes=min_bytes)) is is_answered


def test_a_consumer_waits_for_the_high_watermark_and_not_for_the_append() -> None:
    desk = BrokerDesk()
    assert desk.fetch({0: 0}) == []
    desk.produce("a", acks=1, connection=OTHER)
    assert desk.take(CLIENT) == []
    desk.fetch({0: 1}, replica=2)
    (answer,) = desk.take(CLIENT)
    assert (batches_of(answer), marks_of(answer)) == ({0: ["a"]}, {0: 1})


@pytest.mark.parametrize(("isolation", "seen"), [(r.READ_UNCOMMITTED, ["t", "n"]), (r.READ_COMMITTED, [])])
def test_who_reads_committed_records_stops_at_the_oldest_open_transaction(
    isolation: int, seen: list[str]
) -> None:
    desk = alone(verifies_transactions=False)
    desk.produce("t", acks=1, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    write(desk, "n")
    (answer,) = desk.fetch({0: 0}, isolation_level=isolation, max_wait_ms=0)
    assert batches_of(answer) == {0: seen}
    assert (answer.partitions[0].high_watermark, answer.partitions[0].last_stable_offset) == (2, 0)


def test_the_end_of_a_transaction_answers_who_reads_committed_records_and_names_what_was_aborted() -> None:
    desk = alone(verifies_transactions=False)
    desk.produce("t", acks=1, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    assert desk.fetch({0: 0}, isolation_level=r.READ_COMMITTED) == []
    partition = desk.replica().partition
    partition.append_marker(ControlType.ABORT, 7, 0, 0, desk.now_ms)
    write(desk, "n")  # whoever waits is looked at when the high watermark moves
    (answer,) = desk.take(CLIENT)
    (part,) = answer.partitions
    assert (part.last_stable_offset, [(each.producer_id, each.first_offset) for each in part.aborted]) == (
        3,
        [(7, 0)],
    )
    (plain,) = desk.fetch({0: 0}, session=-1, connection=OTHER)
    assert plain.partitions[0].aborted is None, "nobody else is told"


def test_an_answer_stops_at_its_bytes_and_what_is_left_comes_with_the_next_fetch() -> None:
    desk = alone(0, 1, 2)
    for number in (0, 1, 2):
        write(desk, f"a{number}", f"b{number}", part=number)
    (first,) = desk.fetch({0: 0, 1: 0, 2: 0}, max_bytes=2 * SIZE)
    assert batches_of(first) == {0: ["a0", "b0"]}
    (second,) = desk.fetch({0: 2}, session=1, max_bytes=3 * SIZE)
    assert batches_of(second) == {1: ["a1", "b1"], 2: ["a2"]}, (
        "what has been answered least lately has its turn"
    )


def test_of_a_partition_that_does_not_fit_a_first_batch_comes_all_the_same() -> None:
    desk = alone(0, 1)
    write(desk, "a", "b")
    (answer,) = desk.fetch({0: 0}, max_bytes=1)
    assert batches_of(answer) == {0: ["a"]}


def test_a_partition_of_another_reader_wakes_nobody() -> None:
    desk = alone(0, 1)
    desk.fetch({0: 0})
    write(desk, "x", part=1)
    assert desk.take(CLIENT) == []


# --- followers


def test_a_follower_is_answered_when_a_record_comes_but_not_for_a_high_watermark_alone() -> None:
    desk = BrokerDesk({0: led(isr=(1, 2, 3), replicas=(1, 2, 3))})
    assert desk.fetch({0: 0}, replica=2) == []
    desk.fetch({0: 0}, replica=3, connection=OTHER)
    desk.produce("a", acks=1)
    (told,) = desk.take(FOLLOWER)
    assert (batches_of(told), marks_of(told)) == ({0: ["a"]}, {0: 0})
    desk.fetch({0: 1}, replica=2, session=1)
    desk.take(OTHER)
    desk.fetch({0: 1}, replica=3, session=1, connection=OTHER)
    assert desk.ends() == (1, 1) and desk.take(FOLLOWER) == [], (
        "2 waits on: it learns of it with the next record or when its time is over"
    )
    desk.wake("fetch:20")  # of the fetch before
    desk.wake("fetch:20")
    (later,) = desk.take(FOLLOWER)
    assert (batches_of(later), marks_of(later)) == ({0: []}, {0: 1})


def test_a_follower_gets_what_the_high_watermark_has_not_passed_and_a_consumer_does_not() -> None:
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    (mine,) = desk.fetch({0: 0}, replica=2)
    (theirs,) = desk.fetch({0: 0}, max_wait_ms=0, connection=OTHER)
    assert (batches_of(mine), batches_of(theirs)) == ({0: ["a"]}, {0: []})


def test_what_a_follower_has_is_noted_when_it_asks_and_not_again_when_it_is_answered() -> None:
    desk = BrokerDesk()
    desk.fetch({0: 0}, replica=2)
    asked_ms = desk.now_ms
    desk.produce("a", acks=1)
    follower = desk.replica().partition.followers[2]
    assert (follower.log_end_offset, follower.last_fetch_ms) == (0, asked_ms)


def test_a_broker_outside_the_isr_that_has_caught_up_is_asked_for_at_the_controller() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.produce("a", acks=1)
    desk.fetch({0: 0}, replica=2)
    assert desk.take(CONTROL) == [], "it lacks a record"
    desk.fetch({0: 1}, replica=2, session=1)
    (asked,) = desk.take(CONTROL)
    assert (asked.topic, asked.partition, asked.isr) == ("t", 0, [(1, 3), (2, 3)])


def test_a_follower_whose_log_is_another_one_is_told_at_once_where_they_part() -> None:
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    desk.delta({0: led(epoch=2, partition_epoch=1)})
    desk.produce("b", acks=1)
    part = r.FetchPartition("t", 0, 2, 2, last_fetched_epoch=0, log_start_offset=0)
    (answer,) = desk.send(
        FOLLOWER, r.FetchRequest(500, [part], replica_id=2, replica_epoch=3, session_epoch=0)
    )
    assert (answer.partitions[0].diverging, answer.partitions[0].records) == ((0, 1), ())
    assert desk.replica().partition.followers[2].log_end_offset == -1, "of its offsets nothing is noted"


# --- what ends a wait before its time


@pytest.mark.parametrize("replica", [r.CONSUMER, 2])
def test_another_leader_ends_the_wait_with_who_it_is(replica: int) -> None:
    desk = BrokerDesk()
    where = FOLLOWER if replica >= 0 else CLIENT
    assert desk.fetch({0: 0}, replica=replica, epoch=0) == []
    desk.delta({0: followed(epoch=1, partition_epoch=1)})
    (answer,) = desk.take(where)
    (part,) = answer.partitions
    assert (part.error_code, part.current_leader, part.current_leader_epoch) == (
        ErrorCode.FENCED_LEADER_EPOCH,
        2,
        1,
    )


def test_a_consumer_that_named_no_epoch_goes_on_waiting_at_a_broker_that_follows_now() -> None:
    """Since 2.4 (KIP-392) a consumer may read from a follower: nothing tells it that this one is not the
    leader any more."""
    desk = BrokerDesk()
    assert desk.fetch({0: 0}) == []
    desk.delta({0: followed(epoch=1, partition_epoch=1)})
    assert desk.take(CLIENT) == []


def test_a_replica_that_is_moved_away_ends_the_wait() -> None:
    desk = BrokerDesk()
    desk.fetch({0: 0})
    desk.delta({0: followed(replicas=(2, 3), epoch=1, partition_epoch=1)})
    (answer,) = desk.take(CLIENT)
    assert (answer.partitions[0].error_code, answer.partitions[0].current_leader) == (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        2,
    )


def test_a_change_of_the_isr_alone_ends_no_wait() -> None:
    desk = BrokerDesk()
    desk.fetch({0: 0})
    desk.delta({0: led(isr=(1,), partition_epoch=1)})
    assert desk.take(CLIENT) == []


def test_records_that_are_deleted_under_a_reader_end_its_wait() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    write(desk, "a", "b", "c")
    desk.fetch({0: 3})
    assert desk.take(CLIENT) == []
    (deleted,) = desk.send(OTHER, r.DeleteRecordsRequest(1_000, [("t", 0, 2)]))
    assert deleted.partitions[0].error_code == 0
    desk.wake("fetch:10")
    (answer,) = desk.take(CLIENT)
    assert answer.partitions[0].log_start_offset == 2


def test_an_error_of_one_partition_answers_for_all_at_once() -> None:
    desk = alone(0, 1)
    write(desk, "a")
    (answer,) = desk.fetch({0: 0, 1: 9}, min_bytes=10_000)
    assert [(part.partition, part.error_code) for part in answer.partitions] == [
        (0, 0),
        (1, ErrorCode.OFFSET_OUT_OF_RANGE),
    ]


# --- deadlines


def test_the_deadline_of_a_fetch_that_was_answered_in_time_does_not_end_the_next_one() -> None:
    desk = alone()
    desk.fetch({0: 0})
    first_us = desk.out.deadlines["fetch:10"]
    write(desk, "a")
    assert len(desk.take(CLIENT)) == 1
    assert desk.fetch({0: 1}, session=1, after_ms=300) == []
    assert desk.out.deadlines["fetch:10"] == first_us, "one timer a connection: it is set again when it comes"
    desk.wake("fetch:10")
    assert desk.take(CLIENT) == [] and desk.now_us == first_us
    desk.wake("fetch:10")
    (answer,) = desk.take(CLIENT)
    assert marks_of(answer) == {} and desk.now_us > first_us, "there is no news"


def test_a_deadline_with_nobody_waiting_does_nothing() -> None:
    desk = alone()
    desk.fetch({0: 0})
    write(desk, "a")
    desk.take(CLIENT)
    desk.wake("fetch:10")
    assert desk.take(CLIENT) == [] and "fetch:10" not in desk.out.deadlines
    assert desk.fetch({0: 1}, session=1) == [] and desk.due_ms("fetch:10") == 500, (
        "and the next wait sets a new one"
    )


def test_a_deadline_of_a_connection_that_has_gone_does_nothing() -> None:
    desk = alone()
    desk.fetch({0: 0})
    desk.send(CLIENT, Closed("reset"))
    desk.wake("fetch:10")
    assert desk.inbox == {}
    write(desk, "a")
    assert desk.take(CLIENT) == []


# --- one request at a time


def test_what_a_connection_sends_while_its_fetch_waits_is_read_when_that_is_answered() -> None:
    desk = alone()
    desk.fetch({0: 0})
    assert desk.send(CLIENT, r.MetadataRequest()) == []
    assert desk.send(CLIENT, r.ListOffsetsRequest([r.ListOffsetsPartition("t", 0, -1)])) == []
    write(desk, "a")
    assert [type(each) for each in desk.take(CLIENT)] == [r.FetchResponse]
    desk.wake("held:10")
    metadata, offsets = desk.take(CLIENT)
    assert isinstance(metadata, r.MetadataResponse) and offsets.partitions[0].offset == 1


def test_of_two_fetches_that_wait_the_second_begins_when_the_first_is_answered() -> None:
    desk = alone()
    desk.fetch({0: 0})
    desk.fetch({0: 1}, session=1)
    desk.send(CLIENT, r.MetadataRequest())
    write(desk, "a")
    assert len(desk.take(CLIENT)) == 1
    desk.wake("held:10")
    assert desk.take(CLIENT) == [], "the second fetch waits, and the question for metadata behind it"
    write(desk, "b")
    assert [type(each) for each in desk.take(CLIENT)] == [r.FetchResponse]
    desk.wake("held:10")
    assert [type(each) for each in desk.take(CLIENT)] == [r.MetadataResponse]


def test_a_write_to_one_partition_answers_each_connection_that_waits_for_it_once() -> None:
    desk = alone(0, 1)
    desk.fetch({0: 0, 1: 0})
    desk.fetch({0: 0}, connection=FOLLOWER)
    desk.produce("a", acks=1, connection=OTHER)
    assert (len(desk.take(CLIENT)), len(desk.take(FOLLOWER))) == (1, 1)
