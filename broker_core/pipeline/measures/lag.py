"""Records that wait after a change in the timed run: how many at the most, and how long until no more wait
than before it.

drain_s is null for a change whose backlog was not worked off within its step; `undrained` counts those.
"""

from collections.abc import Sequence

from broker_core.events import Json
from broker_core.pipeline.measures.base import NUMBER, WHOLE, Facts, Measure, worst


def _row(fact: Facts) -> Json:
    timed = fact.timed
    if timed is None:
        return {"lag_before": None, "lag_peak": None, "drain_s": None}
    # Before the start there is no level to come back to.
    return {
        "lag_before": timed.lag_before,
        "lag_peak": timed.lag_peak,
        "drain_s": timed.drain_s if fact.step else None,
    }


def _rows(facts: Sequence[Facts]) -> list[Json]:
    return [_row(fact) for fact in facts]


def _total(_: Sequence[Facts], rows: Sequence[Json]) -> Json:
    measured = [row for row in rows[1:] if row["lag_peak"] is not None]
    return {
        "lag_peak": worst(measured, "lag_peak"), "drain_s": worst(measured, "drain_s"),
        "undrained": sum(row["drain_s"] is None for row in measured) if measured else None,
    }  # fmt: skip


MEASURE = Measure(
    columns={"lag_before": WHOLE, "lag_peak": WHOLE, "drain_s": NUMBER},
    totals={"lag_peak": WHOLE, "drain_s": NUMBER, "undrained": WHOLE},
    rows=_rows,
    total=_total,
)
