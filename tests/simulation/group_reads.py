"""What the programs of a group did with the records: who began with which, which are handled, and which were
begun again."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from broker_core.kafka.client.group_consumer.subscription import PartitionState, TopicPartition


class Reads:
    """handled_count: value -> how often it was handled. begun: (partition, offset) -> how often a program
    began with it. handled_up_to: partition -> the first offset that nobody has handled. beginnings: where
    each reader began with a partition that it was given."""

    def __init__(self) -> None:
        self.handled_count: Counter[int] = Counter()
        self.begun: Counter[tuple[TopicPartition, int]] = Counter()
        self.handled_up_to: dict[TopicPartition, int] = {}
        self.beginnings: list[tuple[TopicPartition, int]] = []
        self._now: tuple[TopicPartition, int]
        self._place: dict[int, tuple[TopicPartition, int]] = {}
        self._handled: dict[TopicPartition, set[int]] = defaultdict(set)
        self._readers: dict[tuple[str, TopicPartition], tuple[PartitionState, int]] = {}

    @property
    def begun_again(self) -> int:
        """Records that programs began with once more, counted one by one."""
        return sum(count - 1 for count in self.begun.values())

    def begins(
        self, client: str, known: PartitionState | None, partition: TopicPartition, offset: int
    ) -> None:
        """A program begins with a record. known: its position; None: it has lost the partition since it
        polled.

        A reader begins where the group has committed, else at the log start, and then takes one offset after
        another.
        """
        self.begun[partition, offset] += 1
        self._now = (partition, offset)
        if known is None:
            return
        before, last = self._readers.get((client, partition), (None, -1))
        if before is known:
            assert offset == last + 1, f"{client} goes from {last} to {offset} of {partition}"
        else:
            assert offset == max(known.committed, 0), (
                f"{client} begins with {partition} at {offset}, where {known.committed} is committed"
            )
            self.beginnings.append((partition, offset))
        self._readers[client, partition] = (known, offset)

    def received(self, program: str, message: int, now_us: int) -> None:
        """Called right after `begins`: the record's value."""
        self._place[message] = self._now

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.handled_count[message] += 1
        partition, offset = self._place[message]
        handled = self._handled[partition]
        handled.add(offset)
        up_to = self.handled_up_to.get(partition, 0)
        while up_to in handled:
            up_to += 1
        self.handled_up_to[partition] = up_to

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """A record was let go of, unhandled."""


class NotHeard(Reads):
    """For a world whose past was heard elsewhere."""

    def begins(
        self, client: str, known: PartitionState | None, partition: TopicPartition, offset: int
    ) -> None:
        """Nothing is noted."""

    def received(self, program: str, message: int, now_us: int) -> None:
        """Nothing is noted."""

    def handled(self, program: str, message: int, now_us: int) -> None:
        """Nothing is noted."""


class Deliveries:
    """confirmed: the values that the cluster has promised to keep."""

    def __init__(self) -> None:
        self.confirmed: set[int] = set()

    def acked(
        self, producer: str, partition: Any, base_offset: int, values: list[int], attempts: int, now_us: int
    ) -> None:
        self.confirmed.update(values)

    def failed(self, producer: str, partition: Any, error: Any, values: list[int], now_us: int) -> None:
        """Nobody promised anything about these."""
