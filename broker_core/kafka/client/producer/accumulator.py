"""Where records wait to be sent: a queue of batches for each partition, within `buffer.memory`.

    append ─► last batch of the partition, or a new one         full when a second one stands behind it, or batch.size is reached
    due    ─► full, lingered long enough, memory is short, or a transaction is being ended
    drain  ─► the first batch of EVERY partition of a broker that has one due, so one produce carries many

A batch that comes back goes to the front of its queue; with sequences, to its place among those that come
back.
Source: Kafka 3.9 clients RecordAccumulator, BufferPool.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.log.record_batch import HEADER_SIZE


@dataclass(slots=True)
class Accumulator:
    """batches: all that are not decided, by number, oldest first; those in flight, too. queues: of each
    partition that has some waiting.

    muted: partitions with a batch in flight where only one may be (max_in_flight 1). seen: partitions that
    ever had a batch, by topic.
    free: bytes of the buffer. last_number: of the newest batch.
    """

    free: int
    batches: dict[int, Batch] = field(default_factory=dict)
    queues: dict[TopicPartition, deque[int]] = field(default_factory=dict)
    muted: dict[TopicPartition, None] = field(default_factory=dict)
    seen: dict[str, dict[int, None]] = field(default_factory=dict)
    last_number: int = 0

    @property
    def has_incomplete(self) -> bool:
        return bool(self.batches)

    def append(
        self, partition: TopicPartition, value: int, size: int, now_us: int, settings: ProducerSettings
    ) -> Batch | None:
        """Put a record into its partition's last batch, or a new one. size: bytes. Returns the batch; None:
        the buffer has no room for one."""
        queue = self.queues.get(partition)
        last = self.batches[queue[-1]] if queue else None
        if last is None or not last.has_room(size, settings.batch_size):
            reserved = max(settings.batch_size, HEADER_SIZE + size)
            if reserved > self.free:
                return None
            if last is not None:
                last.is_closed = True
            if queue is None:
                queue = self.queues[partition] = deque()
                self.seen.setdefault(partition[0], {})[partition[1]] = None
            self.free -= reserved
            self.last_number += 1
            last = self.batches[self.last_number] = Batch(self.last_number, partition, now_us, reserved)
            queue.append(last.number)
        last.append(value, size)
        return last

    def may_switch(self, partition: TopicPartition, batch_size: int) -> bool:
        """Whether keyless records may turn to another partition without cutting a batch short here."""
        queue = self.queues.get(partition)
        return not queue or self.batches[queue[-1]].is_full(batch_size)

    def due_us(
        self, partition: TopicPartition, settings: ProducerSettings, leader_epoch: int, *, at_once: bool
    ) -> int:
        """When the first batch of a partition is to go; 0: now. at_once: nobody waits for more records."""
        queue = self.queues[partition]
        batch = self.batches[queue[0]]
        if batch.attempts and batch.retry_at_us and leader_epoch <= batch.sent_epoch:
            return batch.retry_at_us
        if at_once or batch.attempts or len(queue) > 1 or batch.is_full(settings.batch_size):
            return 0
        return batch.created_us + settings.linger_us

    def take(self, partition: TopicPartition) -> Batch:
        """The first batch leaves its queue."""
        queue = self.queues[partition]
        batch = self.batches[queue.popleft()]
        if not queue:
            del self.queues[partition]
        batch.is_closed = batch.is_drained = True
        return batch

    def put_back(self, batch: Batch, in_flight: list[int] | None) -> None:
        """A batch is to be sent again: to the front, or, with sequences, before the first waiting one with a
        higher sequence.

        in_flight: numbers of the partition's numbered batches, in the order of their sequences; None: without
        idempotence.
        """
        queue = self.queues.setdefault(batch.topic_partition, deque())
        if in_flight is None or batch.number not in in_flight:
            queue.appendleft(batch.number)
            return
        before = in_flight[: in_flight.index(batch.number)]
        place = 0
        while place < len(queue) and queue[place] in before:
            place += 1
        queue.insert(place, batch.number)

    def release(self, batch: Batch) -> None:
        """It is decided: forget it, and give its bytes back."""
        if self.batches.pop(batch.number, None) is None:
            return
        self.free += batch.reserved
        queue = self.queues.get(batch.topic_partition)
        if queue is not None and batch.number in queue:
            queue.remove(batch.number)
            if not queue:
                del self.queues[batch.topic_partition]

    def expired(self, now_us: int, delivery_timeout_us: int) -> list[Batch]:
        """Those whose time is over, waiting or in flight, oldest first."""
        late: list[Batch] = []
        for batch in self.batches.values():
            if now_us - batch.created_us < delivery_timeout_us:
                break
            late.append(batch)
        return late

    def queue_sizes(
        self, topic: str, leaders: Mapping[int, int], slow: Mapping[int, object]
    ) -> tuple[list[int], list[int], int] | None:
        """What the adaptive partitioner weighs: (queue sizes, partitions, how many at the front are usable);
        None: not every partition has had a batch yet. leaders: partition -> broker of those that have one.
        slow: brokers that have not taken a batch for too long."""
        if len(self.seen.get(topic, ())) < len(leaders):
            return None
        usable = [number for number, leader in leaders.items() if leader not in slow]
        excluded = [number for number, leader in leaders.items() if leader in slow]
        partitions = usable + excluded
        return [len(self.queues.get((topic, number), ())) for number in partitions], partitions, len(usable)
