"""Order at risk: records of the timed run that were sent while another consumer had one of the same key in
flight.

The start counts too: where keys have no owner, no change is needed to put order at risk.
"""

from collections.abc import Sequence

from broker_core.events import Json
from broker_core.pipeline.measures.base import NUMBER, WHOLE, Facts, Measure


def _of(facts: Sequence[Facts]) -> Json:
    """How many, and which share of all records."""
    timed = [fact.timed for fact in facts if fact.timed is not None]
    risks, records = sum(step.order_at_risk for step in timed), sum(step.records for step in timed)
    return {"order_at_risk": risks if timed else None, "order_share": risks / records if records else None}


def _rows(facts: Sequence[Facts]) -> list[Json]:
    return [_of([fact]) for fact in facts]


def _total(facts: Sequence[Facts], _: Sequence[Json]) -> Json:
    return _of(facts)


_COLUMNS = {"order_at_risk": WHOLE, "order_share": NUMBER}
MEASURE = Measure(_COLUMNS, _COLUMNS, _rows, _total)
