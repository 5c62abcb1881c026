"""What a consumer reads, and how far it is in each partition.

    position   the next offset that poll() gives to the program
    committed  the last one that it told its group

A partition whose position is not known asks for the committed offset, then for a reset by
`auto.offset.reset`; one whose leader has changed asks where its last epoch ends, and goes back if its own
position lies beyond.

Source: Kafka 3.9 clients SubscriptionState, OffsetsForLeaderEpochClient.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.kafka.cluster.requests import NO_EPOCH

TopicPartition = tuple[str, int]


def named(partitions: list[TopicPartition]) -> dict[str, object]:
    """Partitions as a turning point has them: numbers where there is one topic, as all but few groups have;
    else with their topics.

    >>> named([("t", 1), ("t", 2)]), named([("t", 1), ("u", 0)])
    ({'topic': 't', 'partitions': [1, 2]}, {'partitions': ['t-1', 'u-0']})
    """
    if len({topic for topic, _ in partitions}) == 1:
        return {"topic": partitions[0][0], "partitions": [number for _, number in partitions]}
    return {"partitions": [f"{topic}-{number}" for topic, number in partitions]}


FETCHING, INITIALIZING, AWAIT_RESET, AWAIT_VALIDATION = (
    "fetching",
    "initializing",
    "await_reset",
    "await_validation",
)


@dataclass(slots=True)
class PartitionState:
    """position: -1 until it is known. offset_epoch: leader epoch of the last record before it; leader_epoch:
    by which the position was checked. reset: where to, in AWAIT_RESET; reset_from: the position before, -1
    for none. is_sought: a person has sought the position, and poll() has given nothing since. is_asked: the
    answer that its state waits for is under way; retry_us: not before. is_paused: by the program's own
    pause(). is_revoking: about to be given up. committed: -1 for none. high_watermark, last_stable,
    log_start: as the last answer told. preferred_replica: the follower to fetch from, -1 for none;
    preferred_until_us: for so long."""

    state: str = INITIALIZING
    position: int = -1
    offset_epoch: int = NO_EPOCH
    leader_epoch: int = NO_EPOCH
    reset: str = ""
    reset_from: int = -1
    is_sought: bool = False
    is_asked: bool = False
    retry_us: int = 0
    is_paused: bool = False
    is_revoking: bool = False
    committed: int = -1
    high_watermark: int = -1
    last_stable: int = -1
    log_start: int = -1
    preferred_replica: int = -1
    preferred_until_us: int = 0

    def seek(self, offset: int, epoch: int = NO_EPOCH) -> None:
        """Go on at an offset. epoch: of the record before it, if it is known."""
        self.state, self.position, self.offset_epoch = FETCHING, offset, epoch
        self.is_asked = False

    def request_reset(self, where: str, *, is_sought: bool = False) -> None:
        """From now on there is no position: nothing is polled or committed until a leader has said where that
        is."""
        self.state, self.reset, self.is_asked = AWAIT_RESET, where, False
        self.reset_from, self.position, self.is_sought = self.position, -1, is_sought


@dataclass(slots=True)
class Subscribed:
    """topics: names, those that match the pattern where there is one. assigned: in the order of the
    assignment. is_settled: every position is known and checked, so poll() need not look."""

    topics: list[str] = field(default_factory=list)
    assigned: dict[TopicPartition, PartitionState] = field(default_factory=dict)
    is_settled: bool = False

    def assign(self, partitions: list[TopicPartition]) -> None:
        """These from now on; those that were there keep their position."""
        self.assigned = {
            partition: self.assigned.get(partition) or PartitionState() for partition in partitions
        }
        self.is_settled = False

    def give_up(self, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            self.assigned.pop(partition, None)
