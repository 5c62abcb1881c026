"""Records that no consumer owns after a change, because nobody covers their place in the hash space; of a
whole history the worst."""

from collections.abc import Sequence

from broker_core.events import Json
from broker_core.pipeline.measures.base import NUMBER, WHOLE, Facts, Measure, worst


def _row(fact: Facts) -> Json:
    if fact.unowned is None:
        return {"unowned": None, "unowned_share": None}
    records = fact.unowned + sum(share.records for share in fact.shares.values())
    return {"unowned": fact.unowned, "unowned_share": fact.unowned / records if records else None}


def _rows(facts: Sequence[Facts]) -> list[Json]:
    return [_row(fact) for fact in facts]


def _total(_: Sequence[Facts], rows: Sequence[Json]) -> Json:
    return {"unowned_share": worst(rows, "unowned_share")}


MEASURE = Measure({"unowned": WHOLE, "unowned_share": NUMBER}, {"unowned_share": NUMBER}, _rows, _total)
