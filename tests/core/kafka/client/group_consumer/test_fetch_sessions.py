"""Fetch requests and sessions: who is asked for what, what a session names again, and what each answer does
to it. No program, no group."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.consumer_metadata import ClusterView, Leader
from broker_core.kafka.client.group_consumer.fetches import Fetcher, FetchState
from broker_core.kafka.client.group_consumer.network import Network, NetworkState
from broker_core.kafka.client.group_consumer.settings import ConsumerSettings
from broker_core.kafka.client.group_consumer.subscription import (
    AWAIT_RESET,
    AWAIT_VALIDATION,
    INITIALIZING,
    Subscribed,
)
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.replication.replica_log import light_batch
from tests.core.playbook import Played

P, Q, R = ("t", 0), ("t", 1), ("t", 2)
SECOND = 1_000_000


class Fetching:
    """A fetcher that reads partition i of topic t, led by broker leaders[i], from offset 0 in leader epoch
    0."""

    def __init__(self, *leaders: int, **settings: Any) -> None:
        self.subscribed, self.cluster, self.network = (
            Subscribed(),
            ClusterView(is_stale=False),
            NetworkState(),
        )
        self.state = FetchState()
        self.cluster.brokers = [1, 2, 3]
        self.cluster.leaders["t"] = [Leader(leader, 0) for leader in leaders]
        self.subscribed.assign([("t", number) for number in range(len(leaders))])
        for known in self.subscribed.assigned.values():
            known.seek(0)
            known.leader_epoch = 0
        made = ConsumerSettings("g", "c1", [1], ["t"], **settings)
        self.fetcher = Fetcher(self.state, made, self.subscribed, self.cluster, Network(self.network, 30_000))
        self.out: Any = Played("c1")

    def known(self, partition: tuple[str, int] = P) -> Any:
        return self.subscribed.assigned[partition]

    def sent(self, now_us: int = 0) -> dict[int, r.FetchRequest]:
        """What it asks now, by broker."""
        self.fetcher.send(now_us, self.out)
        return {self.network.broker_of[connection]: message for connection, message in self.out.take()}

    def answer(
        self, *parts: r.FetchedPartition, broker: int = 1, code: int = 0, now_us: int = 0
    ) -> list[tuple[str, int]]:
        return self.fetcher.answered(broker, r.FetchResponse(list(parts), code), now_us)


def named(request: r.FetchRequest) -> list[tuple[int, int]]:
    return [(part.partition, part.fetch_offset) for part in request.partitions]


def part(
    number: int = 0, *values: int, offset: int = 0, code: int = 0, prefers: int = -1, **fields: Any
) -> r.FetchedPartition:
    batches = (
        (light_batch(values, timestamp=0, base_offset=offset, partition_leader_epoch=4),) if values else ()
    )
    return r.FetchedPartition(
        "t", number, code, 90, 80, 10, batches, preferred_read_replica=prefers, **fields
    )


# --- who is asked for what


def test_each_leader_is_asked_once_for_all_that_it_leads_and_not_again_before_its_answer() -> None:
    reading = Fetching(1, 2, 1)
    assert {broker: named(request) for broker, request in reading.sent().items()} == {
        1: [(0, 0), (2, 0)],
        2: [(1, 0)],
    }
    assert reading.sent() == {} and list(reading.state.pending) == [1, 2]
    reading.answer(broker=2)
    assert list(reading.sent()) == [2]


def test_a_request_says_how_much_how_long_and_for_whom() -> None:
    reading = Fetching(
        1,
        fetch_max_wait_ms=250,
        fetch_min_bytes=7,
        fetch_max_bytes=900,
        max_partition_fetch_bytes=300,
        isolation_level=1,
        client_rack="b",
    )
    (request,) = reading.sent().values()
    expected = r.FetchRequest(
        250,
        [r.FetchPartition("t", 0, 0, 0, partition_max_bytes=300)],
        7,
        900,
        1,
        session_epoch=0,
        rack_id="b",
    )
    assert request == expected and request.replica_id == -1


@pytest.mark.parametrize(
    "why", [INITIALIZING, AWAIT_RESET, AWAIT_VALIDATION, "paused", "revoking", "retry", "buffered"]
)
def test_what_is_not_to_be_read_now_is_not_asked_for(why: str) -> None:
    reading = Fetching(1, 1)
    known = reading.known()
    if why in (INITIALIZING, AWAIT_RESET, AWAIT_VALIDATION):
        known.state = why
    elif why == "buffered":
        reading.sent()
        reading.answer(part(0, 5))
        assert named(reading.sent()[1]) == [] and reading.state.sessions[1].sent == {Q: (0, 0)}
        return
    known.is_paused, known.is_revoking, known.retry_us = (
        why == "paused",
        why == "revoking",
        10 if why == "retry" else 0,
    )
    assert named(reading.sent(9)[1]) == [(1, 0)]


@pytest.mark.parametrize(("now_us", "asks"), [(9, False), (10, True)])
def test_a_partition_that_was_refused_is_asked_for_again_after_the_back_off(now_us: int, asks: bool) -> None:
    reading = Fetching(1)
    reading.known().retry_us = 10
    assert bool(reading.sent(now_us)) is asks


def test_without_a_leader_newer_metadata_are_wanted_and_the_others_are_read() -> None:
    reading = Fetching(-1, 1)
    assert named(reading.sent()[1]) == [(1, 0)] and reading.cluster.is_stale


def test_a_broker_whose_connection_broke_just_now_is_left_alone() -> None:
    reading = Fetching(1, 2)
    reading.network.broken_us[1] = 0
    assert list(reading.sent(49_999)) == [2] and list(reading.sent(50_000)) == [1]


# --- sessions


def test_a_session_begins_with_everything_and_then_names_what_has_changed() -> None:
    reading = Fetching(1, 1, 1)
    first = reading.sent()[1]
    assert (first.session_epoch, len(first.partitions), first.forgotten) == (0, 3, [])
    reading.answer()
    second = reading.sent()[1]
    assert (second.session_epoch, second.partitions, second.forgotten) == (1, [], [])
    reading.answer()
    reading.known(Q).seek(7)
    reading.known(Q).leader_epoch = 0
    third = reading.sent()[1]
    assert (third.session_epoch, named(third), third.forgotten) == (2, [(1, 7)], [])


def test_what_is_read_no_more_is_forgotten_once_and_named_when_it_comes_back() -> None:
    reading = Fetching(1, 1)
    reading.sent()
    reading.answer()
    reading.known().is_paused = True
    assert reading.sent()[1].forgotten == [P]
    reading.answer()
    assert reading.sent()[1].forgotten == []
    reading.answer()
    reading.known().is_paused = False
    back = reading.sent()[1]
    assert (named(back), back.forgotten, back.session_epoch) == ([(0, 0)], [], 3)


def test_a_new_leader_epoch_is_a_change() -> None:
    reading = Fetching(1, 1)
    reading.sent()
    reading.answer()
    reading.known().leader_epoch = 1
    request = reading.sent()[1]
    assert [(each.partition, each.current_leader_epoch) for each in request.partitions] == [(0, 1)]


def test_a_partition_that_moves_to_another_broker_is_forgotten_by_one_session_and_named_by_the_other() -> (
    None
):
    reading = Fetching(1, 1, 2)
    reading.sent()
    reading.answer(broker=1)
    reading.answer(broker=2)
    reading.cluster.leaders["t"][0] = Leader(2, 0)
    requests = reading.sent()
    assert requests[1].forgotten == [P] and requests[1].partitions == []
    assert named(requests[2]) == [(0, 0)] and requests[2].forgotten == []


def test_an_error_of_the_whole_request_begins_a_new_session_and_nothing_of_the_answer_counts() -> None:
    reading = Fetching(1)
    reading.sent()
    reading.answer()
    reading.sent()
    assert (
        reading.answer(part(0, 5), code=E.INVALID_FETCH_SESSION_EPOCH) == [] and not reading.state.completed
    )
    again = reading.sent()[1]
    assert (again.session_epoch, named(again)) == (0, [(0, 0)])


def test_a_lost_connection_ends_the_session_and_an_answer_of_the_old_one_is_nobody_s() -> None:
    reading = Fetching(1, 2)
    reading.sent()
    reading.fetcher.lost(1)
    assert list(reading.state.pending) == [2] and list(reading.state.sessions) == [2]
    assert reading.answer(part(0, 5), broker=1) == [] and not reading.state.completed
    reading.network.broken_us.clear()
    assert reading.sent()[1].session_epoch == 0
    reading.fetcher.lost(3)
    assert list(reading.state.sessions) == [2, 1], "of a broker that nothing was read from nothing ends"


# --- what an answer says of a partition


def test_an_answer_tells_how_far_the_partition_goes_and_its_records_wait_with_their_epoch() -> None:
    reading = Fetching(1)
    reading.sent()
    reading.answer(part(0, 5, 6, offset=0))
    known, (completed,) = reading.known(), reading.state.completed
    assert (known.high_watermark, known.last_stable, known.log_start, known.position) == (90, 80, 10, 0)
    assert (completed.partition, list(completed.records)) == (P, [(0, 5), (1, 6)])
    assert (completed.next_offset, completed.end_offset, completed.epoch) == (0, 2, 4)


def test_a_batch_that_begins_before_the_position_gives_only_what_is_at_or_after_it() -> None:
    reading = Fetching(1)
    reading.known().seek(2)
    reading.sent()
    reading.answer(part(0, 5, 6, 7, 8, offset=0))
    (completed,) = reading.state.completed
    assert list(completed.records) == [(2, 7), (3, 8)] and completed.next_offset == 2


@pytest.mark.parametrize("change", ["revoked", "seek", "reset", "not asked"])
def test_what_was_asked_before_a_change_is_thrown_away(change: str) -> None:
    reading = Fetching(1, 2)
    reading.sent()
    if change == "revoked":
        reading.subscribed.give_up([P])
    elif change == "seek":
        reading.known().seek(9)
    elif change == "reset":
        reading.known().request_reset("earliest")
    number = 1 if change == "not asked" else 0
    assert reading.answer(part(number, 5), broker=1) == [] and not reading.state.completed
    assert reading.answer(part(number, code=E.OFFSET_OUT_OF_RANGE), broker=1) == []


@pytest.mark.parametrize(
    "code",
    [E.NOT_LEADER_OR_FOLLOWER, E.FENCED_LEADER_EPOCH, E.UNKNOWN_TOPIC_OR_PARTITION, E.KAFKA_STORAGE_ERROR],
)
def test_an_error_of_a_partition_means_newer_metadata_and_a_back_off_for_it_alone(code: E) -> None:
    reading = Fetching(1, 1, retry_backoff_ms=200)
    reading.sent()
    assert reading.answer(part(0, code=code), part(1, 5), now_us=SECOND) == []
    assert (
        reading.cluster.is_stale
        and reading.known().retry_us == SECOND + 200_000
        and reading.known(Q).retry_us == 0
    )
    assert [completed.partition for completed in reading.state.completed] == [Q]


def test_out_of_range_is_reported_and_only_there() -> None:
    reading = Fetching(1, 1)
    reading.sent()
    assert reading.answer(part(0, code=E.OFFSET_OUT_OF_RANGE), part(1, code=E.NOT_LEADER_OR_FOLLOWER)) == [P]
    assert reading.known().retry_us == 0


# --- a replica that is nearer (KIP-392)


def test_a_preferred_replica_is_read_from_until_metadata_would_be_old_and_counts_as_the_leader_then() -> None:
    reading = Fetching(1, metadata_max_age_ms=1_000)
    reading.sent()
    reading.answer(part(prefers=3), now_us=5)
    assert list(reading.sent(6)) == [3]
    reading.answer(broker=3)
    assert list(reading.sent(SECOND + 5)) == [3]
    reading.answer(broker=3)
    assert (
        list(reading.sent(SECOND + 6)) == [1]
        and reading.known().preferred_replica == -1
        and not reading.cluster.is_stale
    )


def test_one_that_is_no_broker_any_more_is_given_up_with_a_question_for_metadata() -> None:
    reading = Fetching(1)
    reading.known().preferred_replica, reading.known().preferred_until_us = 7, SECOND
    assert (
        list(reading.sent()) == [1] and reading.cluster.is_stale and reading.known().preferred_replica == -1
    )


def test_out_of_range_at_a_follower_means_to_ask_the_leader_before_anything_is_reset() -> None:
    reading = Fetching(1)
    reading.known().preferred_replica, reading.known().preferred_until_us = 3, SECOND
    reading.sent()
    assert reading.answer(part(code=E.OFFSET_OUT_OF_RANGE), broker=3) == []
    assert list(reading.sent()) == [1]
    assert reading.answer(part(code=E.OFFSET_OUT_OF_RANGE), broker=1) == [P]


def test_when_its_connection_breaks_what_was_read_there_is_read_from_the_leader() -> None:
    reading = Fetching(1, 2)
    for partition in (P, Q):
        reading.known(partition).preferred_replica, reading.known(partition).preferred_until_us = 3, SECOND
    reading.sent()
    reading.subscribed.give_up([Q])
    reading.fetcher.lost(3)
    assert reading.known().preferred_replica == -1 and list(reading.sent()) == [1]
