"""One partition's part of a fetch, of an answer to it, and of a question for the end of an epoch.

Source: Kafka 3.9 clients FetchRequest.PartitionData, FetchResponseData.PartitionData, storage LogReadInfo.
"""

from __future__ import annotations

from typing import NamedTuple

from broker_core.kafka.log.leader_epochs import EpochStart
from broker_core.kafka.log.transaction_index import AbortedTransaction

EVERYTHING = 2**31 - 1


class PartitionFetch(NamedTuple):
    """What is wanted. leader_epoch: the reader's idea of it; last_fetched_epoch: of the last batch that it
    has; None: not said.

    log_start_offset: a follower's own.
    """

    offset: int
    leader_epoch: int | None = None
    last_fetched_epoch: int | None = None
    log_start_offset: int = -1
    bytes_max: int = EVERYTHING


class FetchedPartition(NamedTuple):
    """What was read, and the offsets of the log as they were before this fetch changed anything.

    data: whole batches, but the last may be cut off; from a light log a tuple of `LightBatch`
    (replica_log.py).
    diverging: (epoch, its end offset on the leader) where the reader's log is another one; then there are no
    data.
    aborted: for read_committed, else None.
    """

    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    log_end_offset: int
    data: memoryview = memoryview(b"")
    diverging: EpochStart | None = None
    aborted: list[AbortedTransaction] | None = None
