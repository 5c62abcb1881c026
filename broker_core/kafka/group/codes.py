"""Kafka's error codes, as far as the group coordinator answers with them, and the exception by which a step
refuses.

Source: Kafka 3.9 org.apache.kafka.common.protocol.Errors, GroupCoordinatorService.handleOperationException.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

UNKNOWN_SERVER_ERROR, NONE = -1, 0
UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, REQUEST_TIMED_OUT = 3, 6, 7
INVALID_FETCH_SIZE, MESSAGE_TOO_LARGE, OFFSET_METADATA_TOO_LARGE = 4, 10, 12
COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, RECORD_LIST_TOO_LARGE, NOT_ENOUGH_REPLICAS = 15, 16, 18, 19
NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL, INVALID_GROUP_ID, UNKNOWN_MEMBER_ID = 22, 23, 24, 25
INVALID_SESSION_TIMEOUT, REBALANCE_IN_PROGRESS, INVALID_COMMIT_OFFSET_SIZE = 26, 27, 28
UNSUPPORTED_VERSION, INVALID_REQUEST, KAFKA_STORAGE_ERROR = 35, 42, 56
NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND = 68, 69
MEMBER_ID_REQUIRED, GROUP_MAX_SIZE_REACHED, FENCED_INSTANCE_ID = 79, 81, 82
GROUP_SUBSCRIBED_TO_TOPIC, UNSTABLE_OFFSET_COMMIT = 86, 88
FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, UNSUPPORTED_ASSIGNOR, STALE_MEMBER_EPOCH = 110, 111, 112, 113

APPEND_ERRORS: Mapping[str, int] = MappingProxyType({
    "UNKNOWN_SERVER_ERROR": UNKNOWN_SERVER_ERROR,
    "UNKNOWN_TOPIC_OR_PARTITION": UNKNOWN_TOPIC_OR_PARTITION,
    "NOT_LEADER_OR_FOLLOWER": NOT_LEADER_OR_FOLLOWER,
    "REQUEST_TIMED_OUT": REQUEST_TIMED_OUT,
    "INVALID_FETCH_SIZE": INVALID_FETCH_SIZE,
    "MESSAGE_TOO_LARGE": MESSAGE_TOO_LARGE,
    "RECORD_LIST_TOO_LARGE": RECORD_LIST_TOO_LARGE,
    "NOT_ENOUGH_REPLICAS": NOT_ENOUGH_REPLICAS,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    "KAFKA_STORAGE_ERROR": KAFKA_STORAGE_ERROR,
})  # fmt: skip
"""What the log of the offsets topic may refuse an append with, by name."""

_ANSWERED_AS: Mapping[int, int] = MappingProxyType({
    UNKNOWN_TOPIC_OR_PARTITION: COORDINATOR_NOT_AVAILABLE,
    NOT_ENOUGH_REPLICAS: COORDINATOR_NOT_AVAILABLE,
    REQUEST_TIMED_OUT: COORDINATOR_NOT_AVAILABLE,
    NOT_LEADER_OR_FOLLOWER: NOT_COORDINATOR,
    KAFKA_STORAGE_ERROR: NOT_COORDINATOR,
    MESSAGE_TOO_LARGE: UNKNOWN_SERVER_ERROR,
    RECORD_LIST_TOO_LARGE: UNKNOWN_SERVER_ERROR,
    INVALID_FETCH_SIZE: UNKNOWN_SERVER_ERROR,
})  # fmt: skip


class Refused(Exception):
    """A step refuses the request as a whole; the coordinator answers it with `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class AppendFailed(Exception):
    """The log of the offsets topic did not take the records; code: the log's own error."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def answered_as(code: int) -> int:
    """What a client is answered when an operation failed with `code`: the log's errors turn into the
    coordinator's.

    >>> answered_as(NOT_ENOUGH_REPLICAS), answered_as(UNKNOWN_MEMBER_ID)
    (15, 25)
    """
    return _ANSWERED_AS.get(code, code)


def group_answered_as(code: int, is_old: bool) -> int:
    """The same for a group that could not be stored; after a time-out the old coordinator lets its members
    rejoin.

    Source: Kafka 3.9 GroupMetadataManager.scala storeGroup.
    """
    return REBALANCE_IN_PROGRESS if is_old and code == REQUEST_TIMED_OUT else _answered_as(code, is_old)


def commit_answered_as(code: int, is_old: bool) -> int:
    """The same for offsets that could not be stored; the old coordinator says what is too large, and passes a
    time-out on.

    Source: Kafka 3.9 GroupMetadataManager.scala createPutCacheCallback.
    """
    if is_old and code in (MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_FETCH_SIZE):
        return INVALID_COMMIT_OFFSET_SIZE
    return code if is_old and code == REQUEST_TIMED_OUT else _answered_as(code, is_old)


def _answered_as(code: int, is_old: bool) -> int:
    """Only the old coordinator hides that the replicas became too few behind the append; the new one passes
    it on."""
    if is_old and code == NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        return COORDINATOR_NOT_AVAILABLE
    return answered_as(code)
