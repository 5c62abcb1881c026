"""What a member is answered when the offsets topic does not take its records: every error of the log, in both
coordinators."""

import pytest

from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import APPEND_ERRORS
from tests.core.kafka.group.desk import Desk, join, sync

# Error of the log -> what a leader's sync and what a commit are answered, by the new coordinator and by the
# old one.
TOLD = {
    "UNKNOWN_SERVER_ERROR": ((-1, -1), (-1, -1)),
    "UNKNOWN_TOPIC_OR_PARTITION": ((15, 15), (15, 15)),
    "NOT_ENOUGH_REPLICAS": ((15, 15), (15, 15)),
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": ((20, 20), (15, 15)),
    "REQUEST_TIMED_OUT": ((15, 15), (27, 7)),
    "NOT_LEADER_OR_FOLLOWER": ((16, 16), (16, 16)),
    "KAFKA_STORAGE_ERROR": ((16, 16), (16, 16)),
    "MESSAGE_TOO_LARGE": ((-1, -1), (-1, 28)),
    "RECORD_LIST_TOO_LARGE": ((-1, -1), (-1, 28)),
    "INVALID_FETCH_SIZE": ((-1, -1), (-1, 28)),
}


def test_no_error_is_left_out():
    assert TOLD.keys() == APPEND_ERRORS.keys()


@pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
@pytest.mark.parametrize("error", TOLD)
def test_what_the_log_refuses_is_told_in_the_coordinators_words(error, is_old):
    to_sync, to_commit = TOLD[error][is_old]
    desk = Desk(is_old=is_old)
    desk.next_error = APPEND_ERRORS[error]
    commit = m.OffsetCommitRequest("g", -1, "", [m.CommittedTopic("t", [m.CommittedPartition(0, 5)])])
    assert desk.send(commit).topics[0].partitions[0].error_code == to_commit
    desk.send(join(), 3, "a")
    desk.pass_until(3_000)
    (member,) = desk.group().members
    desk.next_error = APPEND_ERRORS[error]
    assert desk.send(sync(1, member, {member: b"x"})).error_code == to_sync
    assert desk.group().members[member].assignment == b"", "what is not in the log is not assigned"
