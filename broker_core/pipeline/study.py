"""A what-if study: one workload, many strategies, one membership history, and what each of them would cost.

    read ──► group: hottest keys, a sample ──► route: who gets what in each step, all strategies at once ──► lab: timed runs ──► write

Everything about load and moves is counted over all records (`routing.py`); what takes time (waits, pauses,
order, lag) comes from the lab's own lanes (`timed.py`), over the very records where the history says at which
of them it changes and they are few enough, else over a sample by key. A result appears whole or not at all:
tables are written aside, moved into place, and the manifest comes last.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from broker_core.analysis.churn import churn_least
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.workload.base import Workload
from broker_core.lab.workload.weighted_keys import KEY_BYTES_MAX, KeysWorkload
from broker_core.pipeline import result
from broker_core.pipeline.members import STOP, Step, has_records, history_steps
from broker_core.pipeline.sources.problems import Problems
from broker_core.pipeline.sources.rows import BAD_SIZE, BAD_TIME
from broker_core.pipeline.strategies import Strategy, strategies_parse
from broker_core.pipeline.study_errors import IsCancelled, StudyCancelled, StudyFailed, explained
from broker_core.pipeline.study_request import study_check
from broker_core.pipeline.study_tables import study_tables
from broker_core.pipeline.timed import TimedStep, Timetable, timetable, timetable_at_records
from broker_core.pipeline.timed_tasks import run_of, timed_runs
from broker_core.pipeline.timed_workload import SequenceWorkload, sampled_workload

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

    from broker_core.pipeline.routing import RouteCounts

__all__ = ["StudyCancelled", "StudyFailed", "study_check", "study_run"]

BAD_ROWS_KEPT = 1_000
BAD_TEXT_CHARACTERS = 80
PART = ".part"

OnProgress = Callable[[Json], None]


def study_run(
    spark: "SparkSession", request: Json, out: Path, on_progress: OnProgress, is_cancelled: IsCancelled
) -> None:
    """Run a study into the folder `out`, which is made if missing; what it held of an earlier result is
    replaced.

    request: as `study_check` gives it. on_progress: called from time to time with `{"stage", "done", "total",
    "rows", "rows_now", "done_now"}`; stage is reading, grouping, routing, lab or writing; rows_now and
    done_now, if there are any, may be asked in the meantime how many rows this pass has read, of the tasks
    that are done, and how much of the stage is done. is_cancelled: asked between the stages; to break off a
    Spark job, which all of them but the last consist of, the caller cancels its job group (the jobs run in
    the calling thread).
    Raises StudyCancelled, StudyFailed, and CommandError at the request's field for a source that turns out
    wrong (a column that is not there). After any of them `out` holds no new result.
    """
    part = out / PART
    run = _Run(spark, study_check(request), part, on_progress, is_cancelled)
    with explained(is_cancelled):
        try:
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            run.all()
            _publish(part, out)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _publish(part: Path, out: Path) -> None:
    """Move the tables into place, the manifest last: without it the folder holds no result."""
    (out / result.MANIFEST).unlink(missing_ok=True)
    for path in sorted(part.iterdir(), key=lambda path: path.name == result.MANIFEST):
        path.replace(out / path.name)


@dataclass
class _Run:
    spark: "SparkSession"
    request: Json
    folder: Path
    on_progress: OnProgress
    is_cancelled: IsCancelled
    rows: int = 0
    counter: "Accumulator[int] | None" = None

    def at(
        self,
        stage: str,
        done: int = 0,
        total: int = 1,
        rows_now: Callable[[], int] | None = None,
        done_now: Callable[[], int] | None = None,
    ) -> None:
        """Say how far it is; stop here if nobody wants it any more."""
        if self.is_cancelled():
            raise StudyCancelled("the study was cancelled")
        self.on_progress(
            {
                "stage": stage,
                "done": done,
                "total": total,
                "rows": self.rows,
                "rows_now": rows_now,
                "done_now": done_now,
            }
        )

    def reading(self, stage: str) -> None:
        """A pass over all records begins."""
        self.rows, counter = 0, self.counter
        before = 0 if counter is None else counter.value
        self.at(stage, rows_now=None if counter is None else lambda: counter.value - before)

    def all(self) -> None:
        from broker_core.pipeline.routing import route_counts
        from broker_core.pipeline.session import row_counter
        from broker_core.pipeline.sources.read import source_read

        request = self.request
        steps = history_steps(request["history"])
        strategies = strategies_parse(request["strategies"])
        self.at("reading")
        self.counter = row_counter(self.spark)
        workload = source_read(
            self.spark, request["source"], ordinals=has_records(steps), counter=self.counter
        )
        records = workload.records
        self.reading("grouping")
        counts = route_counts(
            workload, strategies, steps, seed=request["seed"], topic=request["topic"], bad_kept=BAD_ROWS_KEPT
        )
        self.rows = counts.records
        self.at("routing", 1)
        found = counts.found
        profile, problems = found.profile, found.problems
        _refuse_unread(problems, counts.records)
        _check_places(steps, counts.records, request["history"]["kind"])
        sample = sampled_workload(
            profile.sample(counts.records, counts.no_key), request["service"]["rate"], request["seed"]
        )
        timed, timed_sample = self.timed(strategies, steps, records, counts, sample)
        self.at("writing")
        tables, described = study_tables(
            counts,
            steps,
            timed,
            profile,
            is_exact=timed_sample["exact"],
            seed=request["seed"],
            topic=request["topic"],
        )
        manifest = {
            "version": result.VERSION,
            "name": request["name"],
            "request": request,
            "workload": {
                "records": counts.records,
                "keys": counts.keys,
                "no_key": counts.no_key,
                "empty_key": counts.empty_key,
                "bytes": counts.bytes,
                "bad_rows": problems.set_aside,
                "problems": problems.to_json(),
                "first_at_us": found.first_us,
                "last_at_us": found.last_us,
                "keyless_exact": counts.keyless_exact,
            },
            "steps": [step.to_json() for step in steps],
            "strategies": described,
            "churn_least": churn_least([step.members for step in steps if step.kind != STOP]),
            "limits": {"timed_sample": timed_sample},
        }
        result.write_result(
            self.folder,
            manifest,
            tables | {"bad_rows": problems.bad_rows()},
            sample.to_json() | {"name": request["name"]},
        )
        self.at("writing", 1)

    def timed(
        self,
        strategies: Sequence[Strategy],
        steps: Sequence[Step],
        records: "DataFrame",
        counts: "RouteCounts",
        sample: KeysWorkload,
    ) -> tuple[list[list[TimedStep]], Json]:
        """The timed runs of all strategies, and what they ran on."""
        from broker_core.pipeline.session import row_counter

        seed = self.request["seed"]
        workload, table = self.timed_records(steps, records, counts, sample)
        counter = row_counter(self.spark)
        self.at("lab", 0, len(strategies), done_now=None if counter is None else lambda: counter.value)
        topic, mean = self.request["topic"], counts.bytes // max(1, counts.records)
        runs = [run_of(strategy, steps, seed, topic=topic, mean_size=mean) for strategy in strategies]
        timed = timed_runs(self.spark, runs, table, workload, seed, counter)
        self.at("lab", len(strategies), len(strategies))
        arrived = workload.count_until(table.starts_us[-1])
        keys = len(workload.distinct_until(arrived)[0])
        return timed, {
            "records": arrived,
            "keys": keys,
            "rate": table.rate,
            "exact": isinstance(workload, SequenceWorkload),
        }

    def timed_records(
        self,
        steps: Sequence[Step],
        records: "DataFrame",
        counts: "RouteCounts",
        sample: KeysWorkload,
    ) -> tuple[Workload, Timetable]:
        """The very records, if the history names them and they are few enough; else a sample of their
        keys."""
        service = self.request["service"]
        rate, consumer_rate, records_max = service["rate"], service["consumer_rate"], service["records_max"]
        is_short = counts.records <= records_max and counts.found.key_bytes_max <= KEY_BYTES_MAX
        if has_records(steps) and is_short:
            sequence = _sequence(records, rate)
            return sequence, timetable_at_records(steps, sequence, counts.records, consumer_rate)
        table = timetable(steps, rate, consumer_rate, records_max)
        return sampled_workload_at(sample, table.rate), table


def sampled_workload_at(sample: KeysWorkload, rate: int) -> KeysWorkload:
    """The same keys with the same weights at another rate."""
    return KeysWorkload(rate, sample.seed, sample.name, sample.weighted, sample.keyless)


def _sequence(records: "DataFrame", rate: int) -> SequenceWorkload:
    """All records in their order."""
    # They are few: sorted here, not by Spark, which would read them twice for it.
    table = records.select("ordinal", "key", "bytes").toArrow().sort_by("ordinal")
    encoded = table["key"].combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    sizes = table["bytes"].fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return SequenceWorkload(
        rate, [bytes(key) for key in encoded.dictionary.to_pylist()], codes, sizes, ends=True
    )


def _refuse_unread(problems: Problems, records: int) -> None:
    """Raise why there is no result: of nothing every strategy would be the best, and a column in which no value can be
    read is another one."""
    if not records and not problems.set_aside:
        raise StudyFailed("this source has no records")
    for reason, field, template in _UNREAD:
        if records and problems.counts.get(reason, 0) >= records:
            raise CommandError(field, template, **_first_of(problems, reason))
    if not records:
        first = min(problems.bad_rows(), key=lambda row: row["line"] or 0)
        raise StudyFailed(
            "none of the {count} rows can be read; line {line} is: {text}",
            count=problems.set_aside, **_first_of(problems, first["reason"]),
        )  # fmt: skip


_UNREAD = (
    (BAD_TIME, "source.time", "the time column cannot be read in any row; line {line} is: {text}"),
    (BAD_SIZE, "source.size", "the size is not a number of 0 or more in any row; line {line} is: {text}"),
)


def _first_of(problems: Problems, reason: str) -> Json:
    rows = [row for row in problems.rows if row["reason"] == reason]
    first = min(rows, key=lambda row: row["line"] or 0)
    return {"line": first["line"] or 0, "text": (first["text"] or "")[:BAD_TEXT_CHARACTERS]}


def _check_places(steps: Sequence[Step], records: int, kind: str) -> None:
    """A change after the last record never happens; its moves must not be measured."""
    late = next((step for step in steps[1:] if step.at is not None and step.at > records), None)
    if late is not None:
        field = f"history.changes.{late.step - 1}.at" if kind == "given" else "history"
        raise CommandError(
            field,
            "change {number} comes at record {at}, but there are only {records}",
            number=late.step,
            at=late.at,
            records=records,
        )
