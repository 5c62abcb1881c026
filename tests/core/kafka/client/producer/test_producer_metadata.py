"""How a producer learns who leads: when it asks, what it believes, and how it waits while answers bring
nothing new (KIP-580)."""

from __future__ import annotations

import pytest

from broker_core.kafka.client.producer.state import Metadata
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from tests.core.kafka.client.producer.producer_bench import MILLISECOND, SECOND, Bench

AGE = 300 * SECOND


def ask(bench: Bench, now_us: int) -> bool:
    """It wants metadata: whether it asks at this time."""
    bench.state.metadata.is_wanted = True
    bench.wake(now_us)
    return bool(bench.waiting(r.MetadataRequest))


# --- when it asks


@pytest.mark.parametrize(("now_us", "asks"), [(AGE - 1, False), (AGE, True)])
def test_it_asks_again_when_what_it_knows_is_of_metadata_max_age(now_us: int, asks: bool) -> None:
    bench = Bench((0,))
    bench.wake(now_us)
    assert bool(bench.waiting(r.MetadataRequest)) is asks


def test_it_asks_once_until_the_answer_comes_and_about_all_its_topics() -> None:
    bench = Bench((0,))
    bench.state.topics["u"] = None
    assert ask(bench, SECOND) and ask(bench, 2 * SECOND)
    assert [request.topics for request in bench.waiting(r.MetadataRequest)] == [["t", "u"]]


@pytest.mark.parametrize(("now_us", "asks"), [(100 * MILLISECOND - 1, False), (100 * MILLISECOND, True)])
def test_not_twice_within_the_back_off(now_us: int, asks: bool) -> None:
    assert ask(Bench((0,)), now_us) is asks


def test_answers_that_bring_nothing_new_are_waited_for_longer_each_time_and_news_ends_that() -> None:
    bench, now_us, waits = Bench((0,), retry_backoff_max_us=300 * MILLISECOND), SECOND, []
    for _ in range(5):
        assert ask(bench, now_us)
        bench.refresh(now_us)
        waits.append((bench.state.metadata.allowed_us - now_us) // MILLISECOND)
        now_us = bench.state.metadata.allowed_us
    assert waits == [100, 200, 300, 300, 300]
    bench.epoch = 1
    assert ask(bench, now_us)
    bench.refresh(now_us)
    assert bench.state.metadata.allowed_us - now_us == 100 * MILLISECOND


@pytest.mark.parametrize("news", ["leader", "partitions"])
def test_another_leader_and_another_partition_are_news(news: str) -> None:
    bench = Bench((0,))
    bench.state.metadata.unchanged = 4
    bench.leaders, bench.epoch = ((1,), 1) if news == "leader" else ((0, 0), 0)
    assert ask(bench, SECOND)
    bench.refresh(SECOND)
    assert bench.state.metadata.unchanged == 0 and bench.state.metadata.refreshed_us == SECOND


def test_a_question_that_gets_no_answer_counts_as_one_that_brought_nothing() -> None:
    bench = Bench((0,))
    assert ask(bench, SECOND)
    bench.breaks(0, 2 * SECOND)
    metadata = bench.state.metadata
    assert (metadata.is_asked, metadata.is_wanted, metadata.unchanged) == (False, True, 1)
    assert metadata.allowed_us == 2 * SECOND + 100 * MILLISECOND


def test_an_old_picture_is_asked_for_again_only_a_max_age_after_a_failure() -> None:
    """Without anybody to ask, a producer that needs nothing does not ask as fast as its back-off allows."""
    bench = Bench((0,))
    bench.wake(AGE)
    bench.breaks(0, AGE + SECOND)
    bench.state.metadata.is_wanted = False
    bench.wake(AGE + 3 * SECOND)
    assert not bench.waiting(r.MetadataRequest)


# --- what it believes


def test_an_answer_with_a_topic_that_the_broker_does_not_know_keeps_what_was_known_and_is_asked_again() -> (
    None
):
    bench = Bench((0, 1))
    assert ask(bench, SECOND)
    bench.answer(r.MetadataRequest, bench.metadata(is_error=True), SECOND)
    metadata = bench.state.metadata
    assert metadata.is_wanted and metadata.counts == {"t": 2} and metadata.leader(("t", 1)) == (1, 0)
    assert metadata.brokers == [0, 1], "a list of no brokers is of no use either"


def test_an_error_of_one_partition_means_to_ask_again_and_the_others_are_taken() -> None:
    bench = Bench((0, 0))
    bench.leaders, bench.epoch = (-1, 1), 1
    assert ask(bench, SECOND)
    bench.refresh(SECOND)
    metadata = bench.state.metadata
    assert metadata.is_wanted and metadata.leader(("t", 0)) is None and metadata.leader(("t", 1)) == (1, 1)


def test_brokers_are_those_of_the_last_answer() -> None:
    bench = Bench((0, 1))
    bench.leaders = (0, 0)
    assert ask(bench, SECOND)
    bench.refresh(SECOND)
    assert bench.state.metadata.brokers == [0]


def test_an_older_leader_epoch_is_of_a_broker_that_is_behind() -> None:
    metadata = Metadata()
    told = [(1, 5), (2, 4), (1, 5), (-1, 4), (-1, 6), (1, 5), (3, 6)]
    assert [metadata.learn_leader(("t", 0), leader, epoch) for leader, epoch in told] == [
        True,
        False,
        False,
        False,
        True,
        False,
        True,
    ]
    assert metadata.leader(("t", 0)) == (3, 6)


def test_nobody_leads_a_partition_that_nobody_has_told_of() -> None:
    metadata = Metadata()
    assert metadata.leader(("t", 0)) is None
    metadata.learn_leader(("t", 0), 1, 0)
    assert metadata.leader(("t", 1)) is None and metadata.leader(("u", 0)) is None


def test_that_nobody_leads_is_remembered_with_its_epoch() -> None:
    metadata = Metadata()
    metadata.learn_leader(("t", 0), -1, 5)
    assert not metadata.learn_leader(("t", 0), 2, 4) and metadata.leader(("t", 0)) is None


# --- what it does with news


def test_a_batch_goes_to_the_new_leader_as_soon_as_the_answer_is_there() -> None:
    bench = Bench((0,))
    bench.send(1)
    bench.produced(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    bench.leaders, bench.epoch = (1,), 1
    bench.wake(100 * MILLISECOND)
    assert bench.produces() == [(0, {0: [1]})], "its back-off was over first, and nobody knew better"
    bench.produced(ErrorCode.NOT_LEADER_OR_FOLLOWER, now_us=101 * MILLISECOND)
    bench.refresh(102 * MILLISECOND)
    assert bench.produces() == [(1, {0: [1]})], "the second back-off is not waited for"


def test_new_partitions_take_part_from_the_answer_on() -> None:
    bench = Bench((0,), batch_size=161)
    bench.leaders = (0, 0, 0)
    bench.send(*range(3), partition=-1)
    assert {part for _, parts in bench.produces() for part in parts} == {0}
    bench.wake(100 * MILLISECOND)
    bench.state.metadata.is_wanted = True
    for _ in range(3):
        bench.produced(now_us=100 * MILLISECOND)
    bench.refresh(200 * MILLISECOND)
    bench.send(*range(3), partition=-1, now_us=SECOND)
    assert {part for _, parts in bench.produces() for part in parts} - {0}
