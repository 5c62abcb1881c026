"""A broker that follows several partitions of several leaders, by playbook: one fetcher a leader, one request
under way, a session in each."""

from typing import Any

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightBatch, light_batch
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.desk import BrokerDesk, followed, led
from tests.core.kafka.cluster.nodes import MS, restored

TWO, THREE = 2, 3
"""Connections: the first that it opens is to the controller, then to the leaders as it hears of them: here
broker 2, then broker 3."""
BACK_OFF_MS = 1_000


def of_two(*numbers: int, **settings: Any) -> BrokerDesk:
    """It follows these partitions of broker 2."""
    return BrokerDesk(dict.fromkeys(numbers, followed(2)), **settings)


def batch(base_offset: int, *values: str, epoch: int = 0) -> LightBatch:
    return light_batch(values, timestamp=0, base_offset=base_offset, partition_leader_epoch=epoch)


def part(
    number: int,
    *batches: LightBatch,
    high_watermark: int = 0,
    error: int = 0,
    log_start: int = 0,
    **more: Any,
) -> r.FetchedPartition:
    return r.FetchedPartition("t", number, error, high_watermark, high_watermark, log_start, batches, **more)


def answer(desk: BrokerDesk, *parts: r.FetchedPartition, connection: int = TWO) -> list[Any]:
    """Its leader answers; gives what it asks next."""
    desk.take(connection)
    return desk.send(connection, r.FetchResponse(list(parts)))


def asked(requests: list[Any]) -> dict[int, int]:
    """Partition -> offset, of the one fetch that was sent."""
    (request,) = requests
    assert isinstance(request, r.FetchRequest)
    return {each.partition: each.fetch_offset for each in request.partitions}


# --- which requests, and over which connection


def test_one_request_a_leader_names_all_its_partitions() -> None:
    desk = BrokerDesk({0: followed(2), 1: followed(3, (3, 1)), 2: followed(2), 3: led()})
    assert desk.out.opened == ["controller", "broker-2", "broker-3"]
    desk.delta({4: followed(2)})
    desk.delta({5: followed(4, (4, 1))}, brokers=(4,))
    assert desk.out.opened[3:] == ["broker-4"] and asked(desk.take(4)) == {5: 0}
    assert asked(answer(desk, part(0, batch(0, "a")))) == {4: 0, 0: 1}, (
        "what it heard of meanwhile, and what has changed"
    )


def test_a_request_says_who_asks_how_long_it_waits_and_how_much_it_takes() -> None:
    desk = BrokerDesk(
        replica_fetch_wait_max_ms=700,
        replica_fetch_min_bytes=5,
        replica_fetch_max_bytes=1_000,
        replica_fetch_response_max_bytes=9_000,
    )
    desk.delta({0: followed(epoch=1, partition_epoch=1)})
    (request,) = desk.take(TWO)
    assert (
        request.max_wait_ms,
        request.min_bytes,
        request.max_bytes,
        request.partitions[0].partition_max_bytes,
    ) == (700, 5, 9_000, 1_000)
    assert (request.replica_id, request.replica_epoch, request.session_epoch) == (1, 3, 0)


def test_while_a_request_is_under_way_nothing_else_is_sent() -> None:
    desk = of_two(0)
    desk.take(TWO)
    desk.delta({1: followed(2), 2: followed(2)})
    assert desk.take(TWO) == []
    assert asked(answer(desk)) == {1: 0, 2: 0}


def test_an_answer_without_news_is_followed_by_the_same_session_unchanged() -> None:
    desk = of_two(0, 1)
    (request,) = answer(desk, part(0), part(1))
    assert (request.partitions, request.forgotten, request.session_epoch) == ([], [], 1)


def test_only_what_has_changed_is_named_again_and_the_log_start_is_a_change() -> None:
    desk = of_two(0, 1)
    assert asked(answer(desk, part(0, batch(0, "a", "b")), part(1))) == {0: 2}
    (request,) = answer(desk, part(0, high_watermark=2, log_start=1))
    assert [(each.partition, each.fetch_offset, each.log_start_offset) for each in request.partitions] == [
        (0, 2, 1)
    ]


def test_records_are_appended_and_the_high_watermark_follows_as_far_as_they_reach() -> None:
    desk = of_two(0, 1)
    answer(desk, part(0, batch(0, "a"), batch(1, "b", "c"), high_watermark=9), part(1, high_watermark=4))
    assert (desk.values(0), desk.ends(0), desk.ends(1)) == (["a", "b", "c"], (3, 3), (0, 0))
    answer(desk, part(1, batch(0, "x"), high_watermark=0))
    assert desk.ends(1) == (1, 0)
    answer(desk, part(1, high_watermark=1))
    assert desk.ends(1) == (1, 1), "an answer without records tells it, too"


def test_a_consumer_that_waits_at_a_follower_is_answered_when_the_high_watermark_reaches_it() -> None:
    desk = of_two(0)
    answer(desk, part(0, batch(0, "a"), high_watermark=0))
    assert desk.fetch({0: 0}) == []
    answer(desk, part(0, high_watermark=1))
    (fetched,) = desk.take(10)
    assert [each.values for each in fetched.partitions[0].records] == [("a",)]


# --- roles change


def test_a_partition_that_another_broker_leads_now_leaves_one_session_and_enters_another() -> None:
    desk = of_two(0, 1)
    desk.delta({0: followed(3, (2, 3, 1), epoch=1, partition_epoch=1)})
    assert desk.out.opened[-1] == "broker-3" and asked(desk.take(THREE)) == {0: 0}
    (request,) = answer(desk, part(1, batch(0, "b")))
    assert (request.forgotten, [each.partition for each in request.partitions]) == ([("t", 0)], [1])


def test_what_the_old_leader_still_answers_for_it_is_passed_over() -> None:
    desk = of_two(0, 1)
    desk.delta({0: followed(3, (2, 3, 1), epoch=1, partition_epoch=1)})
    answer(desk, part(0, batch(0, "x")), part(1, batch(0, "b")))
    assert (desk.values(0), desk.values(1)) == ([], ["b"])


def test_a_leader_of_nothing_any_more_is_left() -> None:
    desk = of_two(0, 1)
    desk.delta({0: led(replicas=(2, 1), epoch=1, partition_epoch=1)})
    assert desk.out.closed == [], "1 is still followed there"
    desk.delta({1: followed(3, (3, 2), epoch=1, partition_epoch=1)})
    assert desk.out.closed == [TWO] and "fetcher:2" not in desk.out.deadlines and desk.state.fetchers == {}


def test_the_same_leader_in_a_new_epoch_is_asked_anew_under_that_epoch() -> None:
    desk = of_two(0)
    desk.take(TWO)
    desk.delta({0: followed(epoch=2, partition_epoch=1)})
    (request,) = answer(desk, part(0, batch(0, "late")))
    assert desk.values() == [], "it was asked under the epoch before"
    assert [(each.fetch_offset, each.current_leader_epoch) for each in request.partitions] == [(0, 2)]


def test_a_smaller_isr_of_the_same_leader_changes_nothing_in_what_is_asked() -> None:
    desk = of_two(0)
    desk.take(TWO)
    desk.delta({0: followed(isr=(2,), partition_epoch=1)})
    (request,) = answer(desk, part(0))
    assert request.partitions == []


def test_without_a_leader_nobody_is_asked_until_there_is_one_again() -> None:
    desk = of_two(0)
    desk.delta({0: followed(-1, isr=(2,), epoch=1, partition_epoch=1)})
    assert desk.out.closed == [TWO] and not desk.state.fetchers
    desk.delta({0: followed(2, epoch=2, partition_epoch=2)})
    assert desk.out.opened.count("broker-2") == 2 and asked(desk.take(THREE)) == {0: 0}


# --- one partition fails, the others go on


def test_while_one_partition_waits_for_its_back_off_the_session_goes_on_without_it() -> None:
    desk = of_two(0, 1)
    (request,) = answer(desk, part(0, error=ErrorCode.NOT_LEADER_OR_FOLLOWER), part(1, batch(0, "b")))
    assert (request.forgotten, asked([request])) == ([("t", 0)], {1: 1})
    assert asked(answer(desk, part(1, batch(1, "c")))) == {1: 2}
    desk.wake("fetcher:2")
    assert desk.take(TWO) == [], "a request is under way"
    assert asked(answer(desk, part(1))) == {0: 0}, "and with the next one it is wanted again"


def test_back_offs_end_one_by_one_at_their_own_time() -> None:
    desk = of_two(0, 1)
    answer(desk, part(0, error=ErrorCode.UNKNOWN_LEADER_EPOCH), part(1, batch(0, "b")))
    first_us = desk.now_us
    answer(desk, part(1, error=ErrorCode.UNKNOWN_LEADER_EPOCH))
    second_us = desk.now_us
    assert desk.out.deadlines["fetcher:2"] == second_us + BACK_OFF_MS * MS
    desk.now_us = first_us + BACK_OFF_MS * MS
    desk.out.deadlines["fetcher:2"] = desk.now_us
    desk.wake("fetcher:2")
    assert asked(desk.take(TWO)) == {0: 0}
    assert desk.out.deadlines["fetcher:2"] == second_us + BACK_OFF_MS * MS


@pytest.mark.parametrize(
    "records", [(batch(5, "gap"), batch(4, "back")), (batch(0, "a", epoch=0), batch(0, "a", epoch=0))]
)
def test_what_cannot_be_appended_fails_that_partition_alone(records: tuple[LightBatch, ...]) -> None:
    desk = of_two(0, 1)
    (request,) = answer(desk, part(0, *records), part(1, batch(0, "b")))
    assert (request.forgotten, asked([request])) == ([("t", 0)], {1: 1})
    assert desk.replica(0).fetcher.is_failed and not desk.replica(1).fetcher.is_failed
    desk.delta({0: followed(epoch=1, partition_epoch=1)})
    assert asked(answer(desk, part(1))) == {0: 0}, "until the controller's next word"


def test_an_answer_that_names_what_was_never_asked_for_changes_nothing() -> None:
    desk = BrokerDesk({0: followed(2), 1: followed(3, (3, 1)), 2: led()})
    answer(desk, part(1, batch(0, "x")), part(2, batch(0, "x")), part(7, batch(0, "x")))
    assert (desk.values(1), desk.values(2)) == ([], [])


def test_a_leader_that_is_lost_is_tried_again_with_all_its_partitions_and_another_one_is_not_touched() -> (
    None
):
    desk = BrokerDesk({0: followed(2), 1: followed(2), 2: followed(3, (3, 1))})
    answer(desk, part(0, batch(0, "a")))
    desk.send(TWO, Closed("reset"))
    assert asked(answer(desk, part(2, batch(0, "c")), connection=THREE)) == {2: 1}
    desk.wake("fetcher:2")
    assert desk.out.opened[-1] == "broker-2"
    (request,) = desk.take(4)
    assert (request.session_epoch, asked([request])) == (0, {0: 1, 1: 0})


def test_a_lost_leader_is_called_when_the_back_off_is_over_whatever_else_is_heard_meanwhile() -> None:
    """A delta that comes within the back-off must neither open a connection for nothing nor put the next
    fetch off."""
    desk = of_two(0, 1)
    desk.send(TWO, Closed("reset"))
    lost_us = desk.now_us
    desk.delta(brokers=(4,))
    desk.delta({1: followed(isr=(2,), partition_epoch=1)})
    assert (
        desk.out.opened == ["controller", "broker-2"]
        and desk.out.deadlines["fetcher:2"] == lost_us + BACK_OFF_MS * MS
    )
    desk.wake("fetcher:2")
    assert desk.out.opened[2:] == ["broker-2"] and asked(desk.take(THREE)) == {0: 0, 1: 0}


def test_a_partition_that_comes_within_the_back_off_of_others_is_fetched_at_once_and_they_at_their_time() -> (
    None
):
    desk = of_two(0, 1)
    desk.send(TWO, Closed("reset"))
    lost_us = desk.now_us
    desk.delta({2: followed(2)})
    assert asked(desk.take(THREE)) == {2: 0}
    assert desk.out.deadlines["fetcher:2"] == lost_us + BACK_OFF_MS * MS
    answer(desk, part(2), connection=THREE)
    desk.wake("fetcher:2")
    (request,) = answer(desk, part(2), connection=THREE)
    assert {each.partition for each in request.partitions} == {0, 1}


def test_a_timer_of_a_request_that_was_answered_is_set_again_for_the_next_one() -> None:
    desk = of_two(0)
    first_us = desk.out.deadlines["fetcher:2"]
    desk.now_us += 20_000 * MS
    answer(desk, part(0, batch(0, "a")))
    sent_us = desk.now_us
    assert desk.out.deadlines["fetcher:2"] == first_us
    desk.wake("fetcher:2")
    assert desk.out.closed == [] and desk.out.deadlines["fetcher:2"] == sent_us + 30_000 * MS
    desk.wake("fetcher:2")
    assert desk.out.closed == [TWO] == desk.out.blamed


# --- truncation over several partitions


def rewritten(truncation: Truncation) -> BrokerDesk:
    """It led 0 and 1, wrote two records to each and one to 2, and follows broker 2 in all of them since; 2
    has all of 2's."""
    desk = BrokerDesk({0: led(), 1: led(), 2: led()}, truncation=truncation)
    for number, values in ((0, "ab"), (1, "cd"), (2, "e")):
        for value in values:
            desk.produce(value, acks=1, part=number)
    desk.fetch({2: 1}, replica=2, max_wait_ms=0)
    moved = PartitionRegistration((1, 2), (2, 1), 2, 1, 1)
    desk.delta(dict.fromkeys((0, 1, 2), moved))
    return desk


def test_by_epochs_all_are_asked_for_in_one_question_and_each_is_cut_by_its_own_answer() -> None:
    desk = rewritten(Truncation.EPOCH_REQUEST)
    (question,) = desk.take(TWO)
    assert [
        (each.partition, each.current_leader_epoch, each.leader_epoch) for each in question.partitions
    ] == [(0, 1, 0), (1, 1, 0), (2, 1, 0)]
    ends = [
        r.EpochEnd("t", 0, 0, 0, 1),
        r.EpochEnd("t", 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
        r.EpochEnd("t", 2, 0, 0, 1),
    ]
    (fetch,) = desk.send(TWO, r.OffsetsForLeaderEpochResponse(ends))
    assert asked([fetch]) == {0: 1, 2: 1}, "1 waits for its back-off"
    assert (desk.values(0), desk.values(1), desk.values(2)) == (["a"], ["c", "d"], ["e"])
    told = [
        (data["partition"], data["offset"], data["cut_count"])
        for kind, _, data in desk.out.facts
        if kind == "kafka.replica.truncated"
    ]
    assert told == [(0, 1, 1)], "nothing is told of a log that lost nothing"


def test_by_high_watermarks_each_is_cut_without_a_question() -> None:
    desk = rewritten(Truncation.HIGH_WATERMARK)
    assert asked(desk.take(TWO)) == {0: 0, 1: 0, 2: 1}
    cuts = [(inputs, data) for kind, inputs, data in desk.out.facts if kind == "kafka.replica.truncated"]
    assert [(data["partition"], data["cut_count"], inputs["log_end_offset"]) for inputs, data in cuts] == [
        (0, 2, 2),
        (1, 2, 2),
    ]
    assert desk.out.told[-1][1] == "kafka.replica.truncate_to_high_watermark"


def test_by_the_fetch_itself_the_answer_says_where_the_logs_part() -> None:
    desk = rewritten(Truncation.FETCH)
    assert asked(desk.take(TWO)) == {0: 2, 1: 2, 2: 1}
    follow_up = answer(desk, part(0, diverging=(0, 1)), part(1, diverging=(0, 0)), part(2))
    assert asked(follow_up) == {0: 1, 1: 0}
    assert (desk.values(0), desk.values(1), desk.values(2)) == (["a"], [], ["e"])
    kind, inputs, data = desk.out.facts[-1]
    assert (kind, inputs, data["offset"], data["cut_count"]) == (
        "kafka.replica.truncated",
        {"log_end_offset": 2, "leader": 2, "leader_epoch": 0, "leader_end_offset": 0},
        0,
        2,
    )


@pytest.mark.parametrize("is_restored", [False, True])
def test_of_several_that_are_out_of_range_each_goes_its_own_way(is_restored: bool) -> None:
    desk = rewritten(Truncation.FETCH)
    (question,) = answer(
        desk,
        part(0, error=ErrorCode.OFFSET_OUT_OF_RANGE),
        part(1, error=ErrorCode.OFFSET_OUT_OF_RANGE),
        part(2),
    )
    assert [(each.partition, each.timestamp, each.current_leader_epoch) for each in question.partitions] == [
        (0, -1, 1),
        (1, -1, 1),
    ]
    if is_restored:
        desk.node = restored(desk.node)
    (question,) = desk.send(
        TWO, r.ListOffsetsResponse([r.ListedOffset("t", 0, 0, 1), r.ListedOffset("t", 1, 0, 50)])
    )
    assert [(each.partition, each.timestamp) for each in question.partitions] == [(1, -2)]
    assert desk.ends(0)[0] == 1
    (fetch,) = desk.send(TWO, r.ListOffsetsResponse([r.ListedOffset("t", 1, 0, 40)]))
    assert asked([fetch]) == {0: 1, 1: 40}
    assert (desk.log(1).log_start_offset, desk.ends(1)[0]) == (40, 40)
