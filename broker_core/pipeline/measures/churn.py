"""What each change moves: keys, their bytes, partitions, hash space; of a whole history the sum, in
workloads."""

from collections.abc import Sequence

from broker_core.analysis.churn import churn_so_far, moved_share
from broker_core.events import Json
from broker_core.pipeline.measures.base import NUMBER, WHOLE, Facts, Measure, summed


def _rows(facts: Sequence[Facts]) -> list[Json]:
    shares = [
        None if fact.keys_moved is None else moved_share(fact.keys_moved, fact.keys_total or 0)
        for fact in facts
    ]
    return [
        {
            "keys_moved": fact.keys_moved,
            "keys_total": fact.keys_total,
            "keys_moved_share": share,
            "churn_so_far": so_far,
            "bytes_moved": fact.bytes_moved,
            "partitions_moved": fact.partitions_moved,
            "partitions_total": fact.partitions_total,
            "space_moved": None if fact.space_moved is None else fact.space_moved / 1_000_000,
        }
        for fact, share, so_far in zip(facts, shares, churn_so_far(shares), strict=True)
    ]


def _total(_: Sequence[Facts], rows: Sequence[Json]) -> Json:
    return {
        "churn": rows[-1]["churn_so_far"],
        "bytes_moved": summed(rows, "bytes_moved"),
        "partitions_moved": summed(rows, "partitions_moved"),
    }


MEASURE = Measure(
    columns={
        "keys_moved": WHOLE,
        "keys_total": WHOLE,
        "keys_moved_share": NUMBER,
        "churn_so_far": NUMBER,
        "bytes_moved": WHOLE,
        "partitions_moved": WHOLE,
        "partitions_total": WHOLE,
        "space_moved": NUMBER,
    },
    totals={"churn": NUMBER, "bytes_moved": WHOLE, "partitions_moved": WHOLE},
    rows=_rows,
    total=_total,
)
