"""What the timed runs of a study cost: Kafka's strategies on a cluster of one, beside the other models'. CPU
seconds of one process; each strategy goes through the same history, 4 to 16 consumers in twelve joins.

Run alone: python -m tests.bench cluster_of_one
"""

import time

import numpy as np

from broker_core.pipeline.members import Step, history_check, history_steps
from broker_core.pipeline.strategies import strategies_default
from broker_core.pipeline.strategies.base import Strategy
from broker_core.pipeline.study_request import DEFAULT_TIMED_RECORDS
from broker_core.pipeline.timed import timed_run, timetable
from broker_core.pipeline.timed_workload import SequenceWorkload

RECORDS = (DEFAULT_TIMED_RECORDS, 50_000)
RATE, CONSUMER_RATE, KEYS = 200, 60, 2_000
JOINS = 12

Figure = tuple[str, float, str, str, str]


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    steps = history_steps(history_check({"kind": "given", "start": 4, "changes": [{"kind": "join"}] * JOINS}))
    figures: list[Figure] = []
    for records in RECORDS:
        used = {strategy.id: cpu_s(strategy, steps, records) for strategy in strategies_default()}
        kafka = [seconds for name, seconds in used.items() if name.startswith("kafka.")]
        what = f"timed runs of at most {records:,} records"
        figures += [
            (f"{what}: all {len(used)} strategies", sum(used.values()), "s of CPU", "", ""),
            (f"{what}: one of Kafka's", max(kafka), "s of CPU", "", "the dearest"),
        ]
    return figures


def cpu_s(strategy: Strategy, steps: list[Step], records: int) -> float:
    """What one strategy's timed run takes."""
    table = timetable(steps, RATE, CONSUMER_RATE, records)
    codes = (np.arange(records) * 7_919 % 1_000_003 % (KEYS + 1)).astype(np.int64) - 1  # -1: without a key
    keys = [b"key-%d" % key for key in range(KEYS)]
    workload = SequenceWorkload(table.rate, keys, codes, np.full(records, 900), False)
    began = time.process_time()
    timed_run(strategy.lane_spec(), steps, table, workload, 7)
    return time.process_time() - began


if __name__ == "__main__":
    for what, value, unit, _, _ in run():
        print(f"{what}: {value:.2f} {unit}")
