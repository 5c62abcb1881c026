"""How fast the log is, beside kafka-python and aiokafka in the same run.

10-byte keys, 100-byte values. Times are of the processor (`process_time`), the best of many short runs in
turn: what else the machine did only adds, and a machine in a cloud has slow seconds. Prints a table when run
as a script; `make bench` calls `run()`. Needs 4.5 GiB of disk for the figures at 1 and 2 GiB; set
HIGHWATER_BENCH_LOG_MIB to a smaller size for a quick look.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiokafka.record.default_records import DefaultRecordBatchBuilder as AioBuilder
from kafka.record.default_records import DefaultRecordBatch as PythonBatch
from kafka.record.default_records import DefaultRecordBatchBuilder as PythonBuilder

from broker_core.kafka.log.batch_reader import records_only
from broker_core.kafka.log.compaction import clean, log_to_clean
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.offset_map import OffsetMap
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import encode_pairs_batch
from broker_core.kafka.log.settings import LogSettings

Figure = tuple[str, float, str, str, str]

NOW = 1_700_000_000_000
KEY, VALUE = b"k" * 10, b"v" * 100
THOUSAND = [(KEY, VALUE)] * 1000
BATCH_16K = bytes(encode_pairs_batch([(KEY, VALUE)] * 136, timestamp=NOW).data)
MIB = 1 << 20
LARGE_MIB = int(os.environ.get("HIGHWATER_BENCH_LOG_MIB", "2048"))
ROUNDS = 50


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as path:
        folder = Path(path)
        return [
            *_single_records(folder / "single-0"),
            *_batches_of_1000(folder / "batches-0"),
            *_encoded_batches(folder / "encoded-0"),
            *_reads(folder / "reads-0"),
            *_sizes(folder),
            *_compaction(folder / "compacted-0"),
        ]


def _single_records(path: Path) -> list[Figure]:
    log = _open(path)
    one = [(KEY, VALUE)]
    ours, theirs = _in_turn(
        (lambda: log.append_pairs(one, now_ms=NOW), 5000), (lambda: _build(PythonBuilder, 1), 3000)
    )
    log.close(NOW)
    return [
        ("append, one record per batch, full path", round(1 / ours), "records/s", "at least 100,000", ""),
        (
            "append, one record per batch: kafka-python's bare builder's time over ours",
            round(theirs / ours, 2),
            "times",
            "at least 0.5",
            f"ours {ours * 1e6:.1f} µs, kafka-python {theirs * 1e6:.1f} µs",
        ),
    ]  # fmt: skip


def _batches_of_1000(path: Path) -> list[Figure]:
    log = _open(path)
    ours, python, aio = _in_turn(
        (lambda: log.append_pairs(THOUSAND, now_ms=NOW), 20),
        (lambda: _build(PythonBuilder, 1000), 5),
        (lambda: _build(AioBuilder, 1000), 20),
    )
    log.close(NOW)
    note = (
        f"per record: ours {ours * 1e3:.2f} µs, kafka-python {python * 1e3:.2f} µs, aiokafka {aio * 1e3:.2f} "
        f"µs"
    )
    return [
        (
            "append, batches of 1,000: kafka-python's builder's time over ours",
            round(python / ours, 2),
            "times",
            "at least 3",
            note,
        ),
        (
            "append, batches of 1,000: aiokafka's (Cython) time over ours",
            round(aio / ours, 2),
            "times",
            "at least 0.3",
            note,
        ),
    ]


def _encoded_batches(path: Path) -> list[Figure]:
    log = _open(path)
    (ours,) = _in_turn((lambda: log.append(BATCH_16K, now_ms=NOW), 100))
    log.close(NOW)
    rate = len(BATCH_16K) / ours / 1e6
    return [
        (
            "append, encoded batches of 16 KiB",
            round(rate),
            "MB/s",
            "at least 500",
            f"{ours * 1e6:.1f} µs each",
        )
    ]


def _reads(path: Path) -> list[Figure]:
    log = _open(path)
    for _ in range(200):
        log.append_pairs(THOUSAND, now_ms=NOW)
    data = bytes(encode_pairs_batch(THOUSAND, timestamp=NOW).data)

    def ours_reads() -> None:
        for batch in records_only(data):
            for _ in batch.records():
                pass

    def theirs_reads() -> None:
        batch = PythonBatch(data)
        if not batch.validate_crc():
            raise AssertionError("a sound batch")
        for _ in batch:
            pass

    ours, theirs = _in_turn((ours_reads, 10), (theirs_reads, 5))
    size = 0

    def slices() -> None:
        nonlocal size
        offset = size = 0
        while offset < log.log_end_offset:
            fetched = log.read(offset, MIB)
            size += len(fetched.data)
            offset = fetched.base_offset + (len(fetched.data) + len(data) - 1) // len(data) * 1000

    (seconds,) = _in_turn((slices, 3))
    log.close(NOW)
    return [
        (
            "read with CRC check, batches of 1,000: kafka-python's time over ours",
            round(theirs / ours, 2),
            "times",
            "at least 2",
            f"per record: ours {ours * 1e3:.2f} µs, kafka-python {theirs * 1e3:.2f} µs",
        ),
        (
            "slice reads by offset, 1 MiB each, nothing copied",
            round(size / seconds / 1e6),
            "MB/s",
            "at least 1,000",
            "",
        ),
    ]


def _sizes(folder: Path) -> list[Figure]:
    """Append and read at 20 MiB and at 2 GiB; then read one segment of 1 GiB as after a crash."""
    small, large = _open(folder / "small-0"), _open(folder / "large-0")
    _fill(small, 20)
    _fill(large, LARGE_MIB)
    steps = {id(small): 0, id(large): 0}

    def reads(log: PartitionLog) -> Callable[[], None]:
        def read() -> None:
            steps[id(log)] = (steps[id(log)] + 7_654_321) % log.log_end_offset
            log.read(steps[id(log)], 16 * 1024)

        return read

    append_small, append_large, read_small, read_large = _in_turn(
        (lambda: small.append(BATCH_16K, now_ms=NOW), 100),
        (lambda: large.append(BATCH_16K, now_ms=NOW), 100),
        (reads(small), 300),
        (reads(large), 300),
    )
    small.close(NOW)
    large.close(NOW)
    where = f"{LARGE_MIB} MiB against 20 MiB"
    figures = [
        (
            f"append at {where}",
            round(append_large / append_small, 2),
            "times",
            "at most 1.2",
            f"{append_large * 1e6:.1f} µs",
        ),
        (
            f"indexed read at {where}",
            round(read_large / read_small, 2),
            "times",
            "at most 1.2",
            f"{read_large * 1e6:.1f} µs",
        ),
    ]
    # What lies behind the recovery point is read: here the last 1 GiB (or half of it all).
    point = large.segments[len(large.segments) // 2].base_offset
    start = time.process_time()
    again = PartitionLog.open(DiskFolder(folder / "large-0"), now_ms=NOW, recovery_point=point)
    seconds = time.process_time() - start
    size = sum(segment.size for segment in again.segments if segment.base_offset >= point)
    per_gib = seconds * (1 << 30) / size
    figures.append(
        (
            "recovery of 1 GiB of 16 KiB batches",
            round(per_gib, 2),
            "s",
            "at most 10",
            f"{size // MIB} MiB in {seconds:.2f} s",
        )
    )
    again.close(NOW)
    return figures


def _compaction(path: Path) -> list[Figure]:
    """Each key twice: half the records are superseded. The first attempt may compile the cleaner's loops, the
    others do not."""
    best = 0.0
    for attempt in range(3):
        log = _open(path / str(attempt), LogSettings(segment_bytes=8 * MIB, cleanup_delete=False))
        for _ in range(2):
            for start in range(0, 50_000, 1000):
                log.append_pairs(
                    [(b"key%07d" % number, VALUE) for number in range(start, start + 1000)], now_ms=NOW
                )
        log.roll(NOW)
        offsets = OffsetMap(2 * MIB)
        start_s = time.process_time()
        cleaned = clean(log, log_to_clean(log, None, NOW), offsets, NOW)
        best = max(best, cleaned.bytes_read / (time.process_time() - start_s))
        log.close(NOW)
    note = (
        f"{cleaned.records_kept:,} of {cleaned.records_read:,} records kept, offset map "
        f"{offsets.memory_bytes / MIB:.1f} of 2 MiB"
    )
    return [("compaction, batches of 1,000, half superseded", round(best / 1e6), "MB/s", "at least 25", note)]


def _open(path: Path, settings: LogSettings | None = None) -> PartitionLog:
    return PartitionLog.open(DiskFolder(path), settings or LogSettings(), now_ms=NOW)


def _fill(log: PartitionLog, mib: int) -> None:
    for _ in range(mib * MIB // len(BATCH_16K)):
        log.append(BATCH_16K, now_ms=NOW)


def _build(builder: Any, count: int) -> object:
    made = builder(
        magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=-1,
        batch_size=1 << 20,
    )  # fmt: skip
    for offset in range(count):
        made.append(offset, timestamp=NOW, key=KEY, value=VALUE, headers=[])
    return made.build()


def _in_turn(*measured: tuple[Callable[[], object], int]) -> list[float]:
    """Give the shortest time of one call of each, in seconds. In turn, so that a busy moment meets all of
    them."""
    best = [float("inf")] * len(measured)
    for _ in range(ROUNDS):
        for index, (call, repeats) in enumerate(measured):
            start = time.process_time()
            for _ in range(repeats):
                call()
            best[index] = min(best[index], (time.process_time() - start) / repeats)
    return best


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what}: {value:,} {unit} ({bar}{'; ' if note else ''}{note})")
