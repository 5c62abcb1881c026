"""A broker that follows, by playbook: what its fetcher asks the leader, and what it does with each answer. No
leader, no world."""

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.nodes import MS, following, restored

KEY = ("t", 0)
LEADER = 2  # the connection to it: the second that the broker opened
SECOND = 1_000 * MS


def asked(out, kind):
    """The one request of this kind, and nothing else to the leader."""
    (request,) = [message for connection, message in out.take() if connection == LEADER]
    assert type(request) is kind
    return request


def fetched(error=0, offset=3, **more):
    return r.FetchResponse([r.FetchedPartition(*KEY, error, offset, offset, 0, **more)])


def test_it_fetches_from_its_end_with_the_epoch_of_its_last_record():
    _, out = following()
    request = asked(out, r.FetchRequest)
    (part,) = request.partitions
    assert (request.replica_id, request.session_epoch, request.max_wait_ms) == (1, 0, 500)
    assert (part.fetch_offset, part.current_leader_epoch, part.last_fetched_epoch, part.log_start_offset) == (
        3,
        1,
        0,
        0,
    )


def test_it_names_again_only_what_has_changed_and_appends_what_comes():
    node, out = following()
    out.take()
    batch = light_batch(["d"], timestamp=0, base_offset=3, partition_leader_epoch=1)
    node.receive(LEADER, fetched(offset=3, records=(batch,)), 30 * MS, out)
    (part,) = asked(out, r.FetchRequest).partitions
    assert (part.fetch_offset, part.last_fetched_epoch) == (4, 1)
    node.receive(LEADER, fetched(offset=4), 40 * MS, out)
    log = node.state.disk.logs[KEY]
    assert (log.log_end_offset, log.high_watermark) == (4, 4)
    again = asked(out, r.FetchRequest)
    assert (again.session_epoch, again.partitions) == (1, [])


def test_where_the_logs_part_it_cuts_and_goes_on():
    node, out = following()
    out.take()
    node.receive(LEADER, fetched(offset=1, diverging=(0, 1)), 30 * MS, out)
    assert node.state.disk.logs[KEY].log_end_offset == 1
    assert out.told[-1] == ("kafka.replica.truncated", "kafka.replica.diverging_epoch")
    assert asked(out, r.FetchRequest).partitions[0].fetch_offset == 1


@pytest.mark.parametrize("is_restored", [False, True])
def test_before_0_11_2_it_asks_where_its_last_epoch_ends_and_cuts_there(is_restored):
    """Also when a checkpoint was taken while the question was under way."""
    node, out = following(truncation=Truncation.EPOCH_REQUEST)
    (question,) = asked(out, r.OffsetsForLeaderEpochRequest).partitions
    assert (question.current_leader_epoch, question.leader_epoch) == (1, 0)
    node = restored(node) if is_restored else node
    node.receive(LEADER, r.OffsetsForLeaderEpochResponse([r.EpochEnd(*KEY, 0, 0, 1)]), 30 * MS, out)
    assert node.state.disk.logs[KEY].log_end_offset == 1
    assert out.told[-1] == ("kafka.replica.truncated", "kafka.replica.offsets_for_leader_epoch")
    assert asked(out, r.FetchRequest).partitions[0].fetch_offset == 1


@pytest.mark.parametrize("is_restored", [False, True])
def test_out_of_range_it_goes_back_to_the_leaders_end(is_restored):
    node, out = following()
    out.take()
    node.receive(LEADER, fetched(ErrorCode.OFFSET_OUT_OF_RANGE), 30 * MS, out)
    (question,) = asked(out, r.ListOffsetsRequest).partitions
    assert question.timestamp == -1
    node = restored(node) if is_restored else node
    node.receive(LEADER, r.ListOffsetsResponse([r.ListedOffset(*KEY, 0, 1)]), 40 * MS, out)
    assert node.state.disk.logs[KEY].log_end_offset == 1
    assert asked(out, r.FetchRequest).partitions[0].fetch_offset == 1


def test_behind_the_leaders_log_start_it_begins_anew_there():
    node, out = following()
    out.take()
    node.receive(LEADER, fetched(ErrorCode.OFFSET_OUT_OF_RANGE), 30 * MS, out)
    asked(out, r.ListOffsetsRequest)
    node.receive(LEADER, r.ListOffsetsResponse([r.ListedOffset(*KEY, 0, 20)]), 40 * MS, out)
    (question,) = asked(out, r.ListOffsetsRequest).partitions
    assert question.timestamp == -2, "its end lies before the leader's: where does the leader begin?"
    node.receive(LEADER, r.ListOffsetsResponse([r.ListedOffset(*KEY, 0, 10)]), 50 * MS, out)
    log = node.state.disk.logs[KEY]
    assert (log.log_start_offset, log.log_end_offset) == (10, 10)
    assert out.told[-1] == ("kafka.replica.truncated", "kafka.replica.out_of_range")
    assert asked(out, r.FetchRequest).partitions[0].fetch_offset == 10


RETRIED = [
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.KAFKA_STORAGE_ERROR,
]


@pytest.mark.parametrize("error", RETRIED)
def test_a_partition_that_is_refused_is_tried_again_after_the_back_off(error):
    node, out = following()
    out.take()
    node.receive(LEADER, fetched(error), 30 * MS, out)
    assert out.take() == [] and out.deadlines["fetcher:2"] == 30 * MS + SECOND
    node.wake("fetcher:2", 30 * MS + SECOND, out)
    assert asked(out, r.FetchRequest).partitions[0].fetch_offset == 3


@pytest.mark.parametrize(
    "kind, answer",
    [
        (
            r.OffsetsForLeaderEpochRequest,
            r.OffsetsForLeaderEpochResponse([r.EpochEnd(*KEY, ErrorCode.NOT_LEADER_OR_FOLLOWER)]),
        ),
        (
            r.ListOffsetsRequest,
            r.ListOffsetsResponse([r.ListedOffset(*KEY, ErrorCode.NOT_LEADER_OR_FOLLOWER)]),
        ),
    ],
)
def test_a_question_that_is_refused_is_asked_again_after_the_back_off(kind, answer):
    node, out = following(
        truncation=Truncation.EPOCH_REQUEST if kind is r.OffsetsForLeaderEpochRequest else Truncation.FETCH
    )
    if kind is r.ListOffsetsRequest:
        out.take()
        node.receive(LEADER, fetched(ErrorCode.OFFSET_OUT_OF_RANGE), 30 * MS, out)
    asked(out, kind)
    node.receive(LEADER, answer, 40 * MS, out)
    assert out.take() == [] and out.deadlines["fetcher:2"] == 40 * MS + SECOND
    node.wake("fetcher:2", 40 * MS + SECOND, out)
    assert out.take(), "a question, or a fetch that will be out of range again"
    assert node.state.disk.logs[KEY].log_end_offset == 3


def test_fenced_by_the_epoch_that_holds_it_gives_up_until_there_is_another_leader():
    node, out = following()
    out.take()
    node.receive(LEADER, fetched(ErrorCode.FENCED_LEADER_EPOCH), 30 * MS, out)
    assert node.state.replicas[KEY].fetcher.is_failed
    node.wake("fetcher:2", 30 * MS + SECOND, out)
    assert not [message for connection, message in out.take() if connection == LEADER and message.partitions]


def test_a_broken_connection_is_opened_again_after_the_back_off_with_a_new_session():
    node, out = following()
    out.take()
    node.receive(LEADER, Closed("reset"), 30 * MS, out)
    assert out.opened.count("broker-2") == 1
    node.wake("fetcher:2", 30 * MS + SECOND, out)
    assert out.opened.count("broker-2") == 2
    ((connection, request),) = out.take()
    assert (connection, request.session_epoch, len(request.partitions)) == (3, 0, 1)


def test_a_leader_that_says_nothing_for_thirty_seconds_is_left():
    node, out = following()
    out.take()
    at_us = out.deadlines["fetcher:2"]
    assert at_us == 20 * MS + 30 * SECOND
    node.wake("fetcher:2", at_us, out)
    assert out.closed == [LEADER] and out.deadlines["fetcher:2"] == at_us + SECOND


def test_an_answer_on_a_connection_that_it_has_left_changes_nothing():
    node, out = following()
    out.take()
    batch = light_batch(["x"], timestamp=0, base_offset=3, partition_leader_epoch=1)
    for answer in (
        fetched(records=(batch,)),
        r.OffsetsForLeaderEpochResponse([r.EpochEnd(*KEY, 0, 0, 0)]),
        r.ListOffsetsResponse([r.ListedOffset(*KEY, 0, 0)]),
    ):
        node.receive(99, answer, 30 * MS, out)
    assert out.take() == [] and node.state.disk.logs[KEY].log_end_offset == 3
