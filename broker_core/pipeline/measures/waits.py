"""Records of the timed run that would wait, because nobody could take them when they came, or would be given
out twice."""

from collections.abc import Sequence

from broker_core.events import Json
from broker_core.pipeline.measures.base import NUMBER, WHOLE, Facts, Measure, summed


def _row(fact: Facts) -> Json:
    timed = fact.timed
    if timed is None:
        return {"timed_records": None, "waited": None, "redelivered": None}
    return {"timed_records": timed.records, "waited": timed.waited, "redelivered": timed.redelivered}


def _rows(facts: Sequence[Facts]) -> list[Json]:
    return [_row(fact) for fact in facts]


def _total(_: Sequence[Facts], rows: Sequence[Json]) -> Json:
    records, waited = summed(rows, "timed_records"), summed(rows, "waited")
    return {
        "timed_records": records,
        "waited": waited,
        "waited_share": waited / records if waited is not None and records else None,
        "redelivered": summed(rows, "redelivered"),
    }


MEASURE = Measure(
    columns={"timed_records": WHOLE, "waited": WHOLE, "redelivered": WHOLE},
    totals={"timed_records": WHOLE, "waited": WHOLE, "waited_share": NUMBER, "redelivered": WHOLE},
    rows=_rows,
    total=_total,
)
