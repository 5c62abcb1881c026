"""A study without Spark: keys with their counts, through the pipeline's own routing, timed runs and tables, to the
result that `result_json` reads."""

import numpy as np
import pyarrow as pa

from broker_core.lab.workload.weighted_keys import KeysWorkload
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.result import VERSION, result_json, write_result
from broker_core.pipeline.routing import route_counts
from broker_core.pipeline.strategies import strategies_parse
from broker_core.pipeline.study_request import study_check
from broker_core.pipeline.study_tables import study_tables
from broker_core.pipeline.timed import timed_run, timetable
from broker_core.pipeline.timed_tasks import run_of

RECORD_BYTES = 1_000


class Alone:
    """A workload of one task, which runs here: no record of it passes through Spark. counts: of each key."""

    records, bad, tasks = None, None, 1

    def __init__(self, counts):
        self.reading, self._counts = self, counts

    def both_in_arrow(self, work, _schema):
        keys = pa.array([key.encode() for key, _ in self._counts], pa.binary())
        which = np.repeat(np.arange(len(keys)), [count for _, count in self._counts])
        batch = pa.record_batch({"key": keys.take(which), "bytes": np.full(len(which), RECORD_BYTES)})
        self._made = pa.Table.from_batches(work(0, [batch]))
        return self

    def toArrow(self):
        return self._made


def pure_study(folder, keys, strategies, history, *, rate=None, consumer_rate=None, is_timed=False):
    """keys: [(text, records), ...]. is_timed: with the lab's lanes; without, what takes time is not measured."""
    service = {name: value for name, value in (("rate", rate), ("consumer_rate", consumer_rate)) if value}
    request = study_check(
        {
            "source": {"kind": "uniform", "keys": len(keys), "records": 1_000, "seed": 7},
            "strategies": strategies,
            "history": history,
            "service": {**service, "records_max": 3_000},
        }
    )
    steps, chosen = history_steps(history_check(history)), strategies_parse(strategies)
    known = {"seed": request["seed"], "topic": request["topic"]}
    counts = route_counts(Alone(keys), chosen, steps, **known)
    asked = request["service"]
    table = timetable(steps, asked["rate"], asked["consumer_rate"], asked["records_max"])
    workload = KeysWorkload(
        table.rate, request["seed"], "cases", [(key.encode(), count) for key, count in keys], 0
    )
    runs = [
        run_of(strategy, steps, request["seed"], topic=request["topic"], mean_size=RECORD_BYTES)
        for strategy in chosen
    ]
    timed = [
        timed_run(run.spec, run.steps, table, workload, request["seed"], keyless_size=run.keyless_size)
        if is_timed
        else None
        for run in runs
    ]
    tables, described = study_tables(counts, steps, timed, counts.found.profile, is_exact=False, **known)
    manifest = {
        "version": VERSION,
        "name": "case",
        "request": request,
        "workload": {"records": counts.records, "keys": counts.keys, "no_key": counts.no_key},
        "steps": [step.to_json() for step in steps],
        "strategies": described,
    }
    folder.mkdir(exist_ok=True)
    write_result(folder, manifest, tables, {})
    return result_json(folder)
