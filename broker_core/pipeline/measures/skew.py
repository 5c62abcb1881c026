"""How even the load is after each change: busiest over mean, Gini, 99th percentile; of a whole history the
worst."""

from collections.abc import Sequence

from broker_core.analysis.skew import gini, p99
from broker_core.events import Json
from broker_core.pipeline.measures.base import NUMBER, Facts, Measure, worst


def _row(fact: Facts) -> Json:
    loads = [share.records for share in fact.shares.values()]
    return {
        "skew": None if fact.skew_milli is None else fact.skew_milli / 1000,
        "gini": gini(loads),
        "p99": p99(loads),
    }


def _rows(facts: Sequence[Facts]) -> list[Json]:
    return [_row(fact) for fact in facts]


def _total(_: Sequence[Facts], rows: Sequence[Json]) -> Json:
    return {column: worst(rows, column) for column in _COLUMNS}


_COLUMNS = {"skew": NUMBER, "gini": NUMBER, "p99": NUMBER}
MEASURE = Measure(_COLUMNS, _COLUMNS, _rows, _total)
