"""The worker's side of a live study: a lab's rows of each virtual second, left in a folder while somebody
wants them.

Nobody watches: one look at a file's age a second, nothing else. Somebody watches: a small Parquet file for
the whole seconds since the last one, at most four a second however fast the lab runs. What cannot be written
is dropped and logged: a live study is not worth a lab.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.consumer import Consumer
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.shared.in_flight import BUCKETS_KEPT_S
from broker_core.lab.shared.lane import Lane
from broker_core.pipeline.chunks import WANTED_FOR_S, chunk_write, last_second, wanted_mark

log = logging.getLogger(__name__)

LOOK_S = 1.0  # between two looks whether rows are wanted
WRITE_S = 0.25  # between two chunks


class ChunkWriter:
    """Writes one lab's chunks. Called after each step of the lab; cheap when nobody wants them."""

    def __init__(self, lab_id: str) -> None:
        self.lab_id = lab_id
        self.folder = Path(settings.RUN_DIR) / "chunks" / lab_id
        self._looked_s = self._written_s = -1e9
        self._wanted = False
        self._mark: int | None = None
        self._marked_s = -1e9
        self._next_second: int | None = None
        self._settled: dict[str, int] = {}  # lane -> place of the last reported change

    def write(self, core: CoreLab, wall_s: float) -> None:
        """Leave the whole seconds since the last call. wall_s: from anywhere, never backwards. Raises
        nothing."""
        try:
            self._write(core, wall_s)
        except Exception as error:  # a full disk, Arrow's own errors, a folder full of something else
            log.warning("lab %s: lost rows for live studies: %s", self.lab_id, error)

    def _write(self, core: CoreLab, wall_s: float) -> None:
        if wall_s - self._looked_s >= LOOK_S:
            self._looked_s = wall_s
            self._look(core, wall_s)
        if not self._wanted or wall_s - self._written_s < WRITE_S:
            return
        last = core.now_us // SECOND_US - 1
        if self._next_second is None or last < self._next_second:
            return
        self._written_s = wall_s
        # The lanes do not remember anything earlier by the second.
        first = max(self._next_second, last - BUCKETS_KEPT_S + 2, 0)
        self._next_second = last + 1
        chunk_write(self.folder, first, last, self._rows(core, first, last))

    def _look(self, core: CoreLab, wall_s: float) -> None:
        mark = wanted_mark(self.folder)
        if mark is not None and mark != self._mark:
            self._mark, self._marked_s = mark, wall_s
        wanted = wall_s - self._marked_s < WANTED_FOR_S
        if wanted and not self._wanted:
            # A second is written once, also by the worker that takes over from a dead one.
            self._next_second = max(last_second(self.folder) + 1, core.now_us // SECOND_US)
            bills = {lane_id: lane.ledger.bill for lane_id, lane in core.lanes.items()}
            self._settled = {
                lane_id: bill.position for lane_id, bill in bills.items() if bill is not None and bill.settled
            }
        self._wanted = wanted

    def _rows(self, core: CoreLab, first: int, last: int) -> Iterator[Json]:
        for lane_id, lane in core.lanes.items():
            consumers = list(lane.consumers.values())
            lag = lane.reads.lag()
            for second in range(first, last + 1):
                end_us = (second + 1) * SECOND_US
                arrived_after = core.record_count - core.workload.count_until(end_us - 1)
                finished_after = sum(_finished(each, from_second=second + 1) for each in consumers)
                arrived = core.workload.count_until(end_us - 1) - core.workload.count_until(
                    second * SECOND_US - 1
                )
                skew = lane.history.get(second + 1)
                yield self._row(
                    lane_id,
                    "lane",
                    second,
                    arrived=arrived,
                    finished=sum(each.acked.get(second, 0) for each in consumers),
                    lag=max(0, lag - arrived_after + finished_after),
                    skew=None if skew is None else skew / 1000,
                )
                for each in consumers:
                    yield self._row(
                        lane_id, "owner", second, owner=each.name, finished=each.acked.get(second, 0)
                    )
            yield from self._turning(lane_id, lane, last)

    def _turning(self, lane_id: str, lane: Lane, second: int) -> Iterator[Json]:
        """The last change, once, when it has come to rest."""
        bill = lane.ledger.bill
        if (
            bill is None
            or not bill.settled
            or bill.position == 0
            or self._settled.get(lane_id) == bill.position
        ):
            return
        self._settled[lane_id] = bill.position
        yield self._row(
            lane_id, "turning", second, owner=bill.consumer, units_moved=bill.partitions_moved,
            # TubeMQ stops only what it moves, and counts that alone.
            stopped_us=bill.pause_us * (bill.partitions_stopped or bill.partitions_moved or 0),
        )  # fmt: skip

    def _row(self, lane: str, kind: str, second: int, **values: Any) -> Json:
        return {"lab": self.lab_id, "lane": lane, "kind": kind, "at_us": second * SECOND_US, **values}


def _finished(consumer: Consumer, from_second: int) -> int:
    return sum(count for second, count in consumer.acked.items() if second >= from_second)
