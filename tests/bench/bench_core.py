"""The core alone, without view, database or browser: records per second of wall time through four lanes, and
how long a seek takes."""

import time

from broker_core.lab.journal import Cadence, Journal
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

RATE = 2_000
WARM_S, MEASURED_S = 5, 30
GROWN_S = 900
SEEK_SPAN_S, SEEKS = 900, 40


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
    return [*figures, *seek_figures()]


def seek_figures() -> list[tuple[str, float, str, str, str]]:
    """Seeks all over fifteen minutes of the demo, with the checkpoints that its worker takes."""
    scenario = scenario_from_json({})
    lab, journal, cadence = Lab(scenario), Journal(scenario), Cadence()
    for second in range(1, SEEK_SPAN_S + 1):
        lab.advance_to(second * 1_000_000)
        journal.keep(lab, cadence, second)
    took = []
    for place in range(SEEKS):
        at_us = (place * 7_919 % SEEK_SPAN_S) * 1_000_000 + 500_000
        began = time.perf_counter()
        journal.seek(at_us)
        took.append((time.perf_counter() - began) * 1000)
    took.sort()
    return [
        ("core: seek in the demo, median", took[len(took) // 2], "ms", "<= 200", ""),
        ("core: seek in the demo, slowest", took[-1], "ms", "<= 200", f"of {SEEKS}"),
    ]


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what}: {value:,.0f} {unit} (bar {bar}) {note}")
