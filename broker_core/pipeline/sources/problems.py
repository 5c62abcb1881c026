"""What there is to say of a source's rows: how many of each reason, and the first of them. Each task sums up its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.events import Json
from broker_core.pipeline.sources.rows import KEPT, REASONS
from broker_core.pipeline.sources.workload import BAD_ARROW, BAD_SCHEMA

LINES_SHOWN = 3
"""Of each reason."""
SUMMARY_SCHEMA = BAD_SCHEMA + ", more bigint"
_SUMMARY = BAD_ARROW.append(pa.field("more", pa.int64()))


@dataclass(slots=True)
class Problems:
    """counts: by reason. rows: the first of them in order: of those that are set aside bad_kept, of those that count
    LINES_SHOWN a reason."""

    bad_kept: int
    counts: dict[str, int] = field(default_factory=dict)
    rows: list[Json] = field(default_factory=list)

    def add(self, batch: pa.RecordBatch) -> None:
        """batch: rows as BAD_ARROW."""
        wanted = set()
        reasons = batch.column("reason").dictionary_encode()
        for code, reason in enumerate(reasons.dictionary.to_pylist()):
            places = pc.indices_nonzero(pc.equal(reasons.indices, code)).to_pylist()
            limit = LINES_SHOWN if reason in KEPT else self.bad_kept
            wanted |= set(places[: max(0, limit - self.counts.get(reason, 0))])
            self.counts[reason] = self.counts.get(reason, 0) + len(places)
        if wanted:
            self.rows += batch.take(pa.array(sorted(wanted))).cast(BAD_ARROW).to_pylist()

    def join(self, counts: Json, rows: Sequence[Json]) -> None:
        """What a later task found."""
        self.rows += rows
        for reason, count in counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + count

    @property
    def set_aside(self) -> int:
        return sum(count for reason, count in self.counts.items() if reason not in KEPT)

    def bad_rows(self) -> list[Json]:
        """The first of the rows that are set aside."""
        return [row for row in self.rows if row["reason"] not in KEPT][: self.bad_kept]

    def to_json(self) -> list[Json]:
        """`[{"reason", "rows", "kept", "lines": [{"line", "text", "file"}]}]`, those that are set aside first."""
        return [
            {
                "reason": reason,
                "rows": self.counts[reason],
                "kept": reason in KEPT,
                "lines": [
                    {name: row[name] for name in ("line", "text", "file")}
                    for row in self.rows
                    if row["reason"] == reason
                ][:LINES_SHOWN],
            }
            for reason in REASONS
            if reason in self.counts
        ]

    def summary(self) -> pa.RecordBatch:
        """As one table of SUMMARY_SCHEMA: the first rows, then of each reason how many `more` there are."""
        shown = [row | {"more": 0} for row in self.rows]
        for reason, count in self.counts.items():
            more = count - sum(row["reason"] == reason for row in self.rows)
            shown.append({"line": None, "reason": reason, "text": None, "file": None, "more": more})
        return pa.RecordBatch.from_pylist(shown, _SUMMARY)

    def join_summary(self, rows: Iterable[Json]) -> None:
        """Rows of several summaries, in order of the tasks."""
        for row in rows:
            if row["more"] or row["line"] is None:
                self.counts[row["reason"]] = self.counts.get(row["reason"], 0) + row["more"]
            else:
                shown = {name: row[name] for name in BAD_ARROW.names}
                self.join({row["reason"]: 1}, [shown])


def summed_up(bad_kept: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For `mapInArrow`: what a task says of its rows."""
    found = Problems(bad_kept)
    for batch in batches:
        found.add(batch)
    yield found.summary()
