"""The in-sync replicas as their leader sees them: committed by the controller, or with a change under way.

                    committed [1 2]
            expand by 3 │        │ shrink by 2
                        v        v
     pending, ISR [1 2], maximal [1 2 3]     pending, ISR [1 2], maximal [1 2]

The maximal ISR holds everybody who may be a member, whatever the controller decides: the high watermark waits
for all of them.

Source: Kafka 3.9 core Partition (PartitionState, CommittedPartitionState, PendingExpandIsr,
PendingShrinkIsr), AlterPartitionManager.
Vectors: kafka/replication/partition.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import msgspec

from broker_core.kafka.error_codes import ErrorCode


class LeaderAndIsr(NamedTuple):
    """What the controller has decided on a partition, as its replicas learn it. isr: of no interest to a
    follower."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Sequence[int]
    isr: Sequence[int] = ()
    adding: Sequence[int] = ()
    removing: Sequence[int] = ()


class LeaderRecoveryState(Enum):
    """RECOVERING: the leader was elected outside the ISR, records may be lost, and it has not said yet that
    it knows."""

    RECOVERED = 0
    RECOVERING = 1


class AlterPartitionRequest(NamedTuple):
    """A leader asks the controller for another ISR. isr: (broker, broker epoch), by broker; epoch -1: none
    known."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[tuple[int, int], ...]
    leader_recovery_state: LeaderRecoveryState = LeaderRecoveryState.RECOVERED

    @property
    def members(self) -> frozenset[int]:
        return frozenset(broker for broker, _ in self.isr)


class CommittedIsr(msgspec.Struct, frozen=True, tag="committed"):
    """What the controller has decided."""

    isr: frozenset[int] = frozenset()

    @property
    def is_pending(self) -> bool:
        return False

    @property
    def maximal_isr(self) -> frozenset[int]:
        return self.isr


class PendingIsr(msgspec.Struct, frozen=True, tag="pending"):
    """A change that the controller was asked for. added: the new member; None: a shrink. number: of the
    change among those of its partition, so that one that is alike is not taken for it."""

    committed: CommittedIsr
    request: AlterPartitionRequest
    added: int | None = None
    number: int = 0

    @property
    def is_pending(self) -> bool:
        return True

    @property
    def isr(self) -> frozenset[int]:
        return self.committed.isr

    @property
    def maximal_isr(self) -> frozenset[int]:
        return self.isr if self.added is None else self.isr | {self.added}


IsrState = CommittedIsr | PendingIsr

TO_COMMITTED = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
"""The controller says that it did not do it, and that the partition epoch was right: back to what is
committed."""
STAYS_PENDING = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NEW_LEADER_ELECTED,
    }
)
"""The leader has missed something: it waits for new metadata. After any other error it asks again at once."""


@dataclass(slots=True)
class AlterPartitionSlot:
    """A broker has at most one request per partition on its way, even when the change that it is for has been
    overtaken. proposed: how many changes there were."""

    in_flight: PendingIsr | None = None
    is_sent: bool = False
    proposed: int = 0

    def submit(self, change: PendingIsr) -> bool:
        """Take a change to be sent; False while another is on its way."""
        if self.in_flight is not None:
            return False
        self.in_flight, self.is_sent = change, False
        return True

    def take_request(self) -> AlterPartitionRequest | None:
        """Give the request once, to be sent; None: there is nothing to send."""
        if self.in_flight is None or self.is_sent:
            return None
        self.is_sent = True
        return self.in_flight.request

    def answered(self) -> PendingIsr | None:
        """The answer has come: give what was asked for, and be free for the next; None: nothing was on its
        way."""
        change, self.in_flight = self.in_flight, None
        return change
