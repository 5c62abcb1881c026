"""The records of a lane whose log is derived: which of the workload goes to which partition, and in which batches.

    virtual time   0        250 ms     500 ms        a batch holds what one partition got within 250 ms (linger.ms),
    records        r r  r   | r    r r |             and no more than batch.size
    partition 3    [0,   1] | [2]      |

The workload is asked for the records, and the partition is what the lane's producer chooses (`Placement`, with the
same draws of the seed). As long as nothing but the workload acts on the topic's logs (`derivable.py`), the offsets
here are those that the lane's consumers read; retries, records by hand and truncations are not here. The batches are
made for the page: the lane's producer waits for no linger, so the brokers' batches are others.

A second topic, "<topic>-latest", is the table of what is known about each key: each keyed record once more,
to be compacted. A key that has not been seen for RETIRE_AFTER_US is taken out of the table with a tombstone:
an aircraft, say, that has not flown for as long.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.producer.partitioner import BATCH_SIZE
from broker_core.kafka.producer.placement import Placement
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.lab.workload.parse import Workload
from broker_core.rng import SeededRandom

EPOCH_MS = 1_356_998_400_000
"""Virtual time 0 as a timestamp: 2013-01-01 00:00 UTC, the first day of the flights."""
LINGER_US = 250_000
RETIRE_AFTER_US = 60 * SECOND_US
BATCH_OVERHEAD = 61
RECORD_FRAME_MAX = 32
"""More than length fields, attributes and differences take: a batch is closed before it could be too large,
as the original's estimate does."""


def latest_topic(topic: str) -> str:
    """The topic that keeps each key's newest record."""
    return f"{topic}-latest"


class LaneRecord(NamedTuple):
    """One record on its way. key: None for none; value: None for a tombstone."""

    timestamp: int
    key: bytes | None
    value: bytes | None


class Window(NamedTuple):
    """What was sent within one linger, by partition, in order: the topic's records, and those of the
    table."""

    records: dict[int, list[LaneRecord]]
    latest: dict[int, list[LaneRecord]]


class LaneProducer:
    """The records of a lab in order, a linger at a time.

    first_record: where the lane's offsets begin; above 0 after a change of algorithm late in a long lab, when
    the lane restarts its count.
    """

    def __init__(self, workload: Workload, seed: int, partition_count: int, first_record: int = 0) -> None:
        self.partition_count = partition_count
        self.now_us = 0
        self._workload = workload
        self._first_record = first_record
        self._next_record = first_record
        self._placement = Placement(partition_count)
        self._random = SeededRandom(seed)
        self._partitions: dict[int, int] = {}
        self._seen_us: OrderedDict[int, int] = (
            OrderedDict()
        )  # key code -> when it was last seen; the longest ago first

    @property
    def record_count(self) -> int:
        """Records of the lab that have been sent, from the lane's first one on."""
        return self._next_record - self._first_record

    def next_window(self, *, with_content: frozenset[int]) -> Window:
        """Go one linger further. with_content: the partitions whose records are wanted; of others only the
        number is right."""
        self.now_us += LINGER_US
        workload, partitions = self._workload, self._partitions
        stop = max(self._next_record, workload.count_until(self.now_us))
        window = Window({}, {})
        for index, code in enumerate(workload.key_codes(self._next_record, stop), self._next_record):
            at_us = workload.arrival_us(index)
            if code == NO_KEY:
                number = self._placement.of_keyless(len(workload.payload(index).encode()), self._random.below)
            else:
                number = partitions.get(code, -1)
                if number < 0:
                    number = partitions[code] = self._placement.of_key(workload.key_bytes(code))
                self._seen_us[code] = at_us
                self._seen_us.move_to_end(code)
            sent = _NOTHING if number not in with_content else self._sent(index, code, at_us)
            window.records.setdefault(number, []).append(sent)
            if code != NO_KEY:
                window.latest.setdefault(number, []).append(sent)
        self._next_record = stop
        self._retire(window, with_content)
        return window

    def _sent(self, index: int, code: int, at_us: int) -> LaneRecord:
        key = None if code == NO_KEY else self._workload.key_bytes(code)
        return LaneRecord(EPOCH_MS + at_us // MILLISECOND_US, key, self._workload.payload(index).encode())

    def _retire(self, window: Window, with_content: frozenset[int]) -> None:
        """Tombstones of the keys that nobody has seen for long, at the end of the linger."""
        while self._seen_us:
            code, seen_us = next(iter(self._seen_us.items()))
            if seen_us > self.now_us - RETIRE_AFTER_US:
                return
            del self._seen_us[code]
            number = self._partitions[code]
            sent = _NOTHING
            if number in with_content:
                sent = LaneRecord(
                    EPOCH_MS + self.now_us // MILLISECOND_US, self._workload.key_bytes(code), None
                )
            window.latest.setdefault(number, []).append(sent)


_NOTHING = LaneRecord(-1, None, None)


def batches_of(sent: Sequence[LaneRecord], bytes_max: int) -> Iterator[bytes]:
    """Encode what one partition got within a linger: one batch, or several where batch.size or `bytes_max` is
    reached.

    A producer numbers the records of each batch from 0; the broker gives the batch its offset.
    """
    limit = min(BATCH_SIZE, bytes_max)
    records: list[Record] = []
    size = BATCH_OVERHEAD
    for timestamp, key, value in sent:
        added = len(key or b"") + len(value or b"") + RECORD_FRAME_MAX
        if records and size + added > limit:
            yield bytes(encode_batch(records).data)
            records, size = [], BATCH_OVERHEAD
        records.append(Record(len(records), timestamp, key, value))
        size += added
    if records:
        yield bytes(encode_batch(records).data)
