"""Fetch sessions (KIP-227), by playbook: a request names what has changed, an answer what is new, and a
broker looks at nothing else."""

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.sim.node import Closed, Opened
from tests.core.kafka.cluster.desk import (
    CLIENT,
    CONTROL,
    EPOCH,
    FOLLOWER,
    OTHER,
    BrokerDesk,
    batches_of,
    followed,
    led,
    marks_of,
)
from tests.core.kafka.cluster.nodes import restored

ALONE = led(isr=(1,), replicas=(1,))
TWO = {0: led(), 1: led()}
THREE = {number: led() for number in (0, 1, 2)}


def write(desk: BrokerDesk, value: str, part: int = 0) -> None:
    desk.produce(value, acks=1, part=part, connection=OTHER)


# --- what an answer names


def test_the_first_answer_names_every_partition_and_a_later_one_only_what_is_new() -> None:
    desk = BrokerDesk(dict.fromkeys((0, 1, 2), ALONE))
    (first,) = desk.fetch({0: 0, 1: 0, 2: 0}, max_wait_ms=0)
    assert sorted(marks_of(first)) == [0, 1, 2]
    write(desk, "a", part=1)
    (second,) = desk.fetch({}, session=1, max_wait_ms=0)
    assert batches_of(second) == {1: ["a"]}
    (third,) = desk.fetch({1: 1}, session=1, max_wait_ms=0)
    assert batches_of(third) == {}


def test_what_a_request_does_not_name_is_wanted_as_it_was() -> None:
    desk = BrokerDesk(dict.fromkeys((0, 1), ALONE))
    desk.fetch({0: 0, 1: 0}, max_wait_ms=0)
    write(desk, "a", part=0)
    write(desk, "b", part=1)
    (answer,) = desk.fetch({1: 1}, session=1, max_wait_ms=0)
    assert batches_of(answer) == {0: ["a"], 1: []}, (
        "of 1 it has said that it is at the end: only its high watermark is new"
    )


def test_a_partition_that_is_forgotten_is_not_told_of_again() -> None:
    desk = BrokerDesk(dict.fromkeys((0, 1), ALONE))
    desk.fetch({0: 0, 1: 0}, max_wait_ms=0)
    desk.fetch({}, session=1, forgotten=[("t", 0)], max_wait_ms=500)
    write(desk, "a", part=0)
    assert desk.take(CLIENT) == []
    write(desk, "b", part=1)
    (answer,) = desk.take(CLIENT)
    assert batches_of(answer) == {1: ["b"]}
    assert list(desk.node.host.watchers) == [("t", 1)], "nobody watches the other"


def test_a_session_that_wants_nothing_any_more_is_answered_at_once() -> None:
    desk = BrokerDesk({0: ALONE})
    desk.fetch({0: 0}, max_wait_ms=0)
    (answer,) = desk.fetch({}, session=1, forgotten=[("t", 0)])
    assert answer.partitions == []


def test_a_new_session_takes_the_place_of_the_one_before() -> None:
    desk = BrokerDesk(dict.fromkeys((0, 1), ALONE))
    desk.fetch({0: 0}, max_wait_ms=0)
    write(desk, "a", part=0)
    (answer,) = desk.fetch({1: 0}, max_wait_ms=0)
    assert batches_of(answer) == {1: []}
    assert list(desk.node.host.watchers) == [("t", 1)]


def test_a_fetch_without_a_session_leaves_none() -> None:
    desk = BrokerDesk({0: ALONE})
    (answer,) = desk.fetch({0: 0}, session=-1, max_wait_ms=0)
    assert marks_of(answer) == {0: 0}, "it names what it was asked for, whether new or not"
    assert desk.state.sessions == {} and desk.node.host.watchers == {}
    (again,) = desk.fetch({}, session=3, max_wait_ms=0)
    assert again.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_a_waiting_fetch_without_a_session_leaves_none_when_it_is_answered() -> None:
    desk = BrokerDesk({0: ALONE})
    assert desk.fetch({0: 0}, session=-1) == []
    write(desk, "a")
    (answer,) = desk.take(CLIENT)
    assert batches_of(answer) == {0: ["a"]} and desk.state.sessions == {}


def test_a_session_belongs_to_its_connection_and_goes_with_it() -> None:
    desk = BrokerDesk({0: ALONE})
    desk.fetch({0: 0}, max_wait_ms=0)
    (other,) = desk.fetch({0: 0}, session=1, connection=OTHER, max_wait_ms=0)
    assert other.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    desk.send(CLIENT, Closed("reset"))
    desk.send(CLIENT, Opened("peer"))
    (again,) = desk.fetch({}, session=1, max_wait_ms=0)
    assert again.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_an_error_is_told_again_with_each_answer_until_it_is_over() -> None:
    desk = BrokerDesk({0: ALONE, 1: followed()})
    for _ in range(2):
        (answer,) = desk.fetch({1: 5}, replica=2, session=0, epoch=0, max_wait_ms=0)
        assert answer.partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        (answer,) = desk.fetch({}, replica=2, session=1, max_wait_ms=0)
        assert answer.partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    desk.delta({1: led(replicas=(2, 1), epoch=1, partition_epoch=1)})
    (answer,) = desk.fetch({1: 0}, replica=2, session=1, max_wait_ms=0)
    assert [(part.partition, part.error_code) for part in answer.partitions] == [(1, 0)], (
        "and then what it had not been told of for so long"
    )


def test_a_high_watermark_that_was_told_is_not_told_again() -> None:
    desk = BrokerDesk({0: ALONE})
    write(desk, "a")
    (first,) = desk.fetch({0: 0}, max_wait_ms=0)
    (second,) = desk.fetch({0: 1}, session=1, max_wait_ms=0)
    assert (marks_of(first), marks_of(second)) == ({0: 1}, {})


def test_a_log_start_that_moved_is_news() -> None:
    desk = BrokerDesk({0: ALONE})
    write(desk, "a")
    desk.fetch({0: 1}, max_wait_ms=0)
    desk.send(OTHER, r.DeleteRecordsRequest(1_000, [("t", 0, 1)]))
    (answer,) = desk.fetch({}, session=1, max_wait_ms=0)
    assert [(part.log_start_offset, part.records) for part in answer.partitions] == [(1, ())]


# --- what a follower's session says without naming a partition


def test_a_follower_that_keeps_asking_stays_caught_up_in_partitions_that_it_does_not_name() -> None:
    """Its session says with each fetch that it has everything: noted before the next change, so it is never
    late by silence."""
    desk = BrokerDesk(TWO)
    for _ in range(2):
        desk.fetch({0: 0, 1: 0}, replica=2, max_wait_ms=0)
    for _ in range(4):
        desk.fetch({}, replica=2, session=1, max_wait_ms=0, after_ms=10_000)
    last_ms = desk.now_ms
    desk.produce("a", acks=1, part=1)
    follower = desk.replica(1).partition.followers[2]
    assert (follower.last_caught_up_ms, follower.log_end_offset) == (last_ms, 0)
    desk.now_us += 30_000_000 - 1_000
    desk.wake("isr")
    assert desk.take(CONTROL) == [], "thirty seconds after its last fetch it is not late"


def test_a_follower_that_has_stopped_asking_is_late_by_its_last_fetch() -> None:
    desk = BrokerDesk(TWO)
    desk.fetch({0: 0, 1: 0}, replica=2, max_wait_ms=0)
    desk.fetch({}, replica=2, session=1, max_wait_ms=0, after_ms=5_000)
    desk.produce("a", acks=1, part=1)
    desk.now_us += 30_001_000
    desk.wake("isr")
    assert [(each.partition, each.isr) for each in desk.take(CONTROL)] == [(1, [(1, EPOCH)])], (
        "of partition 0 it has everything"
    )


def test_a_follower_learns_of_a_high_watermark_that_moved_while_it_did_not_wait() -> None:
    desk = BrokerDesk({0: led(isr=(1, 2, 3), replicas=(1, 2, 3))})
    desk.produce("a", acks=1)
    desk.fetch({0: 0}, replica=2)
    desk.fetch({0: 1}, replica=2, session=1, max_wait_ms=0)
    desk.fetch({0: 1}, replica=3, connection=OTHER, max_wait_ms=0)
    assert desk.ends() == (1, 1)
    (answer,) = desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    assert marks_of(answer) == {0: 1}
    (again,) = desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    assert marks_of(again) == {}


def test_a_follower_that_names_a_partition_again_is_told_of_a_high_watermark_that_another_one_has_moved() -> (
    None
):
    desk = BrokerDesk({0: led(isr=(1, 2, 3), replicas=(1, 2, 3))})
    desk.produce("a", acks=1)
    desk.fetch({0: 0}, replica=2)
    desk.fetch({0: 1}, replica=2, session=1, max_wait_ms=0)
    desk.fetch({0: 1}, replica=3, connection=OTHER, max_wait_ms=0)
    (answer,) = desk.fetch({0: 1}, replica=2, session=1, max_wait_ms=0)
    assert marks_of(answer) == {0: 1}


def test_a_quiet_high_watermark_goes_along_with_an_answer_that_has_records_of_another_partition() -> None:
    desk = BrokerDesk(TWO)
    desk.produce("a", acks=1, part=0)
    desk.fetch({0: 0, 1: 0}, replica=2)
    desk.fetch({0: 1}, replica=2, session=1)
    assert desk.ends(0) == (1, 1) and desk.take(FOLLOWER) == []
    desk.produce("b", acks=1, part=1)
    (answer,) = desk.take(FOLLOWER)
    assert (batches_of(answer), marks_of(answer)) == ({1: ["b"], 0: []}, {1: 0, 0: 1})


def test_a_member_outside_the_isr_is_looked_at_with_each_fetch_though_it_names_nothing() -> None:
    """It may join as soon as it is eligible, with whichever fetch comes next."""
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.delta(fenced=(2,))
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    assert desk.take(CONTROL) == []
    desk.delta(brokers=(2,))
    desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    assert [each.isr for each in desk.take(CONTROL)] == [[(1, EPOCH), (2, EPOCH)]]


@pytest.mark.parametrize("epoch", [EPOCH - 1, -1])
def test_a_fetch_of_a_process_from_before_the_brokers_restart_is_refused_where_it_says_its_epoch(
    epoch: int,
) -> None:
    desk = BrokerDesk()
    part = r.FetchPartition("t", 0, 0, 0, -1, 0)
    (answer,) = desk.send(
        FOLLOWER, r.FetchRequest(0, [part], replica_id=2, replica_epoch=epoch, session_epoch=0)
    )
    expected = 0 if epoch == -1 else ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert answer.partitions[0].error_code == expected


# --- after a restart from a checkpoint


def test_a_restored_broker_goes_on_with_the_sessions_and_polls_that_it_had() -> None:
    desk = BrokerDesk(THREE)
    desk.fetch({0: 0, 1: 0}, replica=2)
    desk.fetch({2: 0}, connection=OTHER)
    desk.node = restored(desk.node)
    desk.produce("a", acks=1, part=1)
    (answer,) = desk.take(FOLLOWER)
    assert batches_of(answer)[1] == ["a"]
    assert desk.take(OTHER) == [] and sorted(desk.state.sessions) == [OTHER, FOLLOWER]
