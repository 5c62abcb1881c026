"""Three replicas of one partition, record by record and in batches of 100: the light log beside the
byte-exact one in the same run.

A turn is what a record costs the model on the Stage: the producer's batch, the leader's append, a fetch by
each of two followers and its append there, the high watermark that these fetches move, and a consumer's
fetch. Requests, connections and clocks are not in it.
"""

import time
from typing import Any

from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.brokers import KnownBroker
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.fetcher import Fetcher, Truncation
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.partition_state import LeaderAndIsr
from broker_core.kafka.replication.replica_log import LightLog, light_batch
from broker_core.plain import to_plain

IDS = (1, 2, 3)
PRODUCER_ID = 7
TURNS = 4_000
ROUNDS = 3


def run() -> list[tuple[str, float, str, str, str]]:
    """(what, value, unit, bar, note) per figure. Processor time, and the best of a few rounds: others use the
    machine."""
    figures: list[tuple[str, float, str, str, str]] = []
    for size, bar in ((100, ">= 50,000"), (1, ">= 20,000")):
        light = min(_seconds(size, TURNS, (LightLog.begin(now_ms=0) for _ in IDS)) for _ in range(ROUNDS))
        exact = min(_seconds(size, TURNS // 4, (_byte_log() for _ in IDS)) * 4 for _ in range(ROUNDS))
        what = f"three replicas, batches of {size}"
        figures.append(
            (what, TURNS * size / light, "records/s", bar, f"{light / TURNS * 1e6:.0f} us a batch")
        )
        figures.append((f"{what}: the byte log's time over the light log's", exact / light, "times", "", ""))
    log = LightLog.begin(now_ms=0)
    for number in range(10_000):
        log.append(light_batch([number], timestamp=number), now_ms=number)
    began = time.process_time()
    to_plain(log)
    figures.append(
        (
            "a light log of 10,000 batches as plain data, for a checkpoint",
            (time.process_time() - began) * 1000,
            "ms",
            "",
            "",
        )
    )
    return figures


def _seconds(size: int, turns: int, logs: Any) -> float:
    """Processor time of so many turns."""
    known = {broker: KnownBroker(100 + broker) for broker in IDS}
    leader, *others = (Partition(broker, known, 100 + broker, 2) for broker in IDS)
    for partition, log in zip((leader, *others), logs, strict=True):
        partition.log = log
    batch = _light if isinstance(leader.log, LightLog) else _exact
    leader.make_leader(LeaderAndIsr(1, 0, 0, IDS, IDS), 0)
    fetchers = [Fetcher(partition, Truncation.FETCH) for partition in others]
    for fetcher in fetchers:
        fetcher.partition.make_follower(LeaderAndIsr(1, 0, 0, IDS))
        fetcher.start()
        fetcher.truncate_to_high_watermark(0)
    read_to = 0
    began = time.process_time()
    for number in range(turns):
        leader.append_as_leader(batch(number, size), -1, number)
        for fetcher in fetchers:
            request: Any = fetcher.next_request()
            answer = leader.fetch_as_follower(
                fetcher.partition.broker_id, fetcher.partition.broker_epoch, request, number
            )
            fetcher.fetch_answered(request, answer, number)
        leader.fetch_as_consumer(PartitionFetch(read_to, 0), Isolation.HIGH_WATERMARK)
        read_to = leader.log.high_watermark if leader.log is not None else 0
    seconds = time.process_time() - began
    if read_to < (turns - 1) * size:
        raise RuntimeError(f"the high watermark is {read_to} after {turns} batches of {size}")
    return seconds


def _light(number: int, size: int) -> Any:
    return light_batch(
        range(size), timestamp=number, producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=number * size
    )


def _exact(number: int, size: int) -> Any:
    records = [Record(offset, number, None, b"v") for offset in range(size)]
    return encode_batch(records, producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=number * size).data


def _byte_log() -> PartitionLog:
    return PartitionLog.open(MemoryFolder(), now_ms=0, high_watermark=0)


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what}: {value:,.0f} {unit} {bar} {note}")
