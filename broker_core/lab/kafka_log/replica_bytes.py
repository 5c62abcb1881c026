"""The bytes of a light log's batch: what a broker would have written where a lab's broker keeps a descriptor.

    a message of the lab    its key and payload (`lab/messages.py`)
    __consumer_offsets      the very key and value, which the light log keeps in hexadecimal

Offsets, epochs, producers, sequences and times are the descriptor's own. The lab's time 0 is 2013-01-01, so every
time is moved by as much, also the times inside the values of `__consumer_offsets`.

Source: Kafka 3.9 clients DefaultRecordBatch, DefaultRecord.
"""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.errors import InvariantError
from broker_core.kafka.group import records as r
from broker_core.kafka.group.record_bytes import value_bytes
from broker_core.kafka.group.record_reading import UnknownRecord, read_key, read_value
from broker_core.kafka.log.record import Record, encode_record
from broker_core.kafka.log.record_batch import encode_control_batch, seal
from broker_core.kafka.replication.light_batch import LightBatch
from broker_core.lab.messages import Messages
from broker_core.lab.workload.live_keys import NO_KEY

EPOCH_MS = 1_356_998_400_000
"""Virtual time 0 as a timestamp: 2013-01-01 00:00 UTC, the first day of the flights."""
Pair = tuple[bytes | None, bytes | None]


class BatchWriter:
    """Writes the batches of one lab. shift_ms: what a node's time lacks to the log's."""

    def __init__(self, messages: Messages, shift_ms: int) -> None:
        self.messages, self.shift_ms = messages, shift_ms

    def data_of(self, batch: LightBatch) -> bytes:
        """The batch as it is on disk, with the gaps that compaction has left."""
        header = batch.header
        base_time, time = self._time(header.base_timestamp), self._time(header.max_timestamp)
        if not header.record_count:
            pairs: list[Pair | None] = []
        elif header.is_control:
            pairs = [_marker(batch)]
        else:
            pairs = [None if value is None else self._pair(value) for value in batch.values]
        records = [
            encode_record(Record(delta, time, *pair), 0, base_time)
            for delta, pair in enumerate(pairs)
            if pair is not None
        ]
        if len(records) != header.record_count:
            raise InvariantError(
                f"the batch at offset {header.base_offset} has {len(records)} records and says "
                f"{header.record_count}"
            )
        return seal(
            b"".join(records),
            header.base_offset,
            header.partition_leader_epoch,
            header.attributes,
            header.last_offset_delta,
            base_time,
            time,
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
            header.record_count,
        )

    def _time(self, node_ms: int) -> int:
        return node_ms + self.shift_ms if node_ms >= 0 else node_ms

    def _pair(self, value: Any) -> Pair:
        if not isinstance(value, int):
            key_hex, value_hex = value
            key = bytes.fromhex(key_hex)
            return key, None if value_hex is None else self._on_lab_clock(key, bytes.fromhex(value_hex))
        messages = self.messages
        code = messages.key_code(value)
        content = messages.payload(value).encode() if messages.has_value(value) else None
        return None if code == NO_KEY else messages.key_bytes(code), content

    def _on_lab_clock(self, key: bytes, value: bytes) -> bytes:
        """A value of the offsets topic with its times moved: of a commit, and of a classic group's state."""
        try:
            stored = read_value(read_key(key), value)
        except UnknownRecord:
            return value
        match stored:
            case r.OffsetCommitValue(expire_timestamp=expire):
                moved = None if expire is None else self._time(expire)
                return value_bytes(
                    msgspec.structs.replace(
                        stored, commit_timestamp=self._time(stored.commit_timestamp), expire_timestamp=moved
                    )
                )
            case r.GroupMetadataValue():
                return value_bytes(
                    msgspec.structs.replace(
                        stored, current_state_timestamp=self._time(stored.current_state_timestamp)
                    )
                )
        return value


def _marker(batch: LightBatch) -> Pair:
    """Key and value of the record that ends a transaction."""
    control_type, coordinator_epoch = batch.control_type()
    marker = encode_control_batch(
        control_type,
        base_offset=0,
        timestamp=0,
        producer_id=0,
        producer_epoch=0,
        coordinator_epoch=coordinator_epoch,
    )
    (record,) = marker.records()
    return record.key, record.value
