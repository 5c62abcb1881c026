"""How a log refuses, under the original's names and error codes.

Each class is one outcome of the original; the replication layer answers a request with `code`.
Source: Kafka clients 3.9.2, common/protocol/Errors, common/errors.
"""

from __future__ import annotations

from typing import ClassVar

from broker_core.errors import HighwaterError


class LogError(HighwaterError):
    """The log does not take, or cannot give, what was asked. code: the original's error code on the wire."""

    code: ClassVar[int] = -1


class CorruptRecord(LogError):
    """CORRUPT_MESSAGE: the bytes of a batch are not what was written, or no batch at all."""

    code = 2


class InvalidRecord(LogError):
    """INVALID_RECORD: whole bytes, but records that break the format's or the topic's rules."""

    code = 87


class CodecFailed(LogError):
    """UNKNOWN_SERVER_ERROR: a compressed stream that its codec cannot read (the original's plain
    KafkaException)."""


class UnknownCodec(LogError):
    """The attributes name compression 5, 6 or 7, which do not exist (UNSUPPORTED_COMPRESSION_TYPE)."""

    code = 76


class OutsideMessage(LogError):
    """UNKNOWN_SERVER_ERROR: a length field that points outside its message (the original's
    IndexOutOfBoundsException)."""


class UnexpectedAppendOffset(LogError):
    """UNKNOWN_SERVER_ERROR: a leader's batches begin below the log end (the original's
    UnexpectedAppendOffsetException)."""

    def __init__(self, first_offset: int, last_offset: int, log_end_offset: int) -> None:
        super().__init__(f"offset {first_offset} where {log_end_offset} or more was to come")
        self.first_offset = first_offset
        self.last_offset = last_offset


class OffsetsOutOfOrder(LogError):
    """UNKNOWN_SERVER_ERROR: a leader's batches whose offsets do not rise (the original's
    OffsetsOutOfOrderException)."""


class InvalidTimestamp(LogError):
    """INVALID_TIMESTAMP: outside what the topic accepts, or of a kind that only the broker may set."""

    code = 32


class OffsetOutOfRange(LogError):
    """OFFSET_OUT_OF_RANGE: below the log start offset or above the log end."""

    code = 1


class RecordTooLarge(LogError):
    """MESSAGE_TOO_LARGE: a batch above message.max.bytes."""

    code = 10


class RecordBatchTooLarge(LogError):
    """RECORD_LIST_TOO_LARGE: more bytes at once than a segment can hold."""

    code = 18


class InvalidProducerEpoch(LogError):
    """INVALID_PRODUCER_EPOCH: a newer instance of this producer has written since."""

    code = 47


class OutOfOrderSequence(LogError):
    """OUT_OF_ORDER_SEQUENCE_NUMBER: a batch of this producer is missing before this one."""

    code = 45


class InvalidTxnState(LogError):
    """INVALID_TXN_STATE: a plain write inside an open transaction."""

    code = 48


class TransactionCoordinatorFenced(LogError):
    """TRANSACTION_COORDINATOR_FENCED: a marker by a coordinator that has been replaced."""

    code = 52
