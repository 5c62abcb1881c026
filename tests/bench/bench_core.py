"""The core alone, without view, database or browser: records per second of wall time through four
lanes."""

import time

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

RATE = 2_000
WARM_S, MEASURED_S = 5, 30
GROWN_S = 900


def run() -> list[tuple[str, float, str, str, str]]:
    """(what, value, unit, bar, note) per figure."""
    figures = []
    for what, scenario in {
        "served as they come, 2,000 a second, 12 consumers": {
            "consumers": 12,
            "consumer_rate": 200,
            "workload": {"rate": RATE},
        },
        "the demo: 36 a second, 3 consumers, a growing backlog": {},
    }.items():
        lab = Lab(scenario_from_json(scenario))
        warm_us = (WARM_S if scenario else 60) * 1_000_000
        lab.advance_to(warm_us)
        first, began = lab.record_count, time.perf_counter()
        lab.advance_to(warm_us + (MEASURED_S if scenario else GROWN_S) * 1_000_000)
        seconds = time.perf_counter() - began
        figures.append(
            (f"core, four lanes: {what}", (lab.record_count - first) / seconds, "records/s", ">= 20,000", "")
        )
    return figures


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what}: {value:,.0f} {unit} (bar {bar}) {note}")
