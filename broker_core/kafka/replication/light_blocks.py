"""The batches of a light segment in a checkpoint: columns as bytes, in blocks that replicas and checkpoints
share.

    [a][b][c] of one record each     base 7, step 1    count 1, step 0    times 40, +0, +15    values 11, +3, +1

A block ends where the offset passes a multiple of BLOCK_OFFSETS. So one that is full is the same bytes in each
replica and in each later checkpoint: it is packed against the older one, and its batches, which nobody changes,
are made once for all replicas.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise, repeat
from operator import eq, sub
from typing import Any, NamedTuple

import msgspec

from broker_core.kafka.log.record_batch import LOG_OVERHEAD, MAGIC, BatchHeader
from broker_core.kafka.replication.light_batch import LightBatch, Payload
from broker_core.plain import from_steps, to_plain, to_steps

BLOCK_OFFSETS = 128
BLOCKS_KEPT = 2_048
"""Of those read last: about as many as a lab's leaders have, whose followers come next."""
_new_tuple = tuple.__new__  # a named tuple in half the time
Column = list[Any]
"""[first number, even step], or [steps] where they differ."""


class Block(NamedTuple):
    """Batches that follow one another. ends: next offset behind each. sizes: in bytes."""

    batches: list[LightBatch]
    ends: list[int]
    sizes: list[int]


class Blocks:
    """A segment's batches as blocks. What has not grown is encoded once; whoever changes batches says `forget`."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        # number of the block -> next offset behind its first batch, how many batches, their bytes
        self._known: dict[int, tuple[int, int, bytes]] = {}

    def forget(self) -> None:
        self._known.clear()

    def encode(self, held: Sequence[LightBatch], ends: Sequence[int]) -> list[bytes]:
        """The batches, each block as bytes. ends: next offset behind each batch."""
        encoded: list[bytes] = []
        first = 0
        while first < len(held):
            number = (ends[first] - 1) // BLOCK_OFFSETS
            stop = bisect_right(ends, (number + 1) * BLOCK_OFFSETS, first)
            end, count, block = self._known.get(number, (0, 0, b""))
            if (end, count) != (ends[first], stop - first):
                block = encode_block(held[first:stop])
                self._known[number] = ends[first], stop - first, block
            encoded.append(block)
            first = stop
        return encoded


def encode_block(batches: Sequence[LightBatch]) -> bytes:
    """One or more batches as bytes."""
    base, length, epoch, _, _, attributes, last, first_time, time, *rest = zip(
        *(header for header, _ in batches), strict=True
    )
    # Of a batch that was compacted the base time may be the delete horizon; else, here, it is the time.
    earlier = list(map(sub, time, first_time))
    columns = [_shortened(column) for column in (base, length, epoch, attributes, last, time, earlier, *rest)]
    values = [batch.values for batch in batches]
    flat = [value for held in values for value in held]
    # A marker's kind is an enum here, and a number in a log that was taken back: both are the same bytes.
    are_numbers = all(isinstance(value, int) and type(value) is not bool for value in flat)
    if are_numbers:
        kept = [_shortened([len(held) for held in values]), len(flat), _shortened(flat)]
    else:
        kept = to_plain(values)
    return msgspec.msgpack.encode([len(batches), columns, are_numbers, kept])


@lru_cache(maxsize=BLOCKS_KEPT)
def decode_block(encoded: bytes) -> Block:
    """What `encode_block` was given. Values are plain data now: what was a tuple inside one is a list."""
    count, columns, are_numbers, kept = msgspec.msgpack.decode(encoded)
    if are_numbers:
        flat = _lengthened(kept[2], kept[1])
        ends = list(accumulate(_lengthened(kept[0], count), initial=0))
        values = [tuple(flat[start:end]) for start, end in pairwise(ends)]
    else:
        values = [tuple(held) for held in kept]
    rows = zip(*(_lengthened(column, count) for column in columns), values, strict=True)
    block = Block([], [], [])
    for (
        base,
        length,
        epoch,
        attributes,
        last,
        time,
        earlier,
        producer_id,
        producer_epoch,
        sequence,
        records,
        held,
    ) in rows:
        size = length + LOG_OVERHEAD
        fields = (
            base, length, epoch, MAGIC, 0, attributes, last, time - earlier, time, producer_id, producer_epoch,
            sequence, records,
        )  # fmt: skip
        header = _new_tuple(BatchHeader, fields)
        block.batches.append(_new_tuple(LightBatch, (header, Payload(held, size))))
        block.ends.append(base + last + 1)
        block.sizes.append(size)
    return block


def _shortened(column: Sequence[int]) -> Column:
    """>>> _shortened([7, 9, 11]), _shortened([7, 9, 12])
    ([7, 2], [[7, 2, 3]])
    """
    if len(column) < 2:
        return [column[0], 0] if column else [0, 0]
    first, step = column[0], column[1] - column[0]
    if all(map(eq, column, range(first, first + step * len(column), step) if step else repeat(first))):
        return [first, step]
    return [to_steps(column)]


def _lengthened(column: Column, count: int) -> Sequence[int]:
    """What `_shortened` was given. count: how many there are."""
    if len(column) == 1:
        return from_steps(column[0])
    first, step = column
    return range(first, first + step * count, step) if step else [first] * count
