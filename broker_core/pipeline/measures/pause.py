"""How long partitions were paused: partition-seconds and the longest single one, from the timed run.

Null where nothing is shared by partition. The start is not a change: a group that forms itself pauses nobody.
"""

from collections.abc import Sequence

from broker_core.events import Json
from broker_core.pipeline.measures.base import NUMBER, Facts, Measure, summed, worst


def _row(fact: Facts) -> Json:
    timed = fact.timed
    if timed is None or fact.step == 0 or fact.partitions_total is None:
        return {"pause_partition_s": None, "pause_longest_s": None}
    return {
        "pause_partition_s": timed.pause_partition_us / 1_000_000,
        "pause_longest_s": timed.pause_longest_us / 1_000_000,
    }


def _rows(facts: Sequence[Facts]) -> list[Json]:
    return [_row(fact) for fact in facts]


def _total(_: Sequence[Facts], rows: Sequence[Json]) -> Json:
    return {
        "pause_partition_s": summed(rows, "pause_partition_s"),
        "pause_longest_s": worst(rows, "pause_longest_s"),
    }


_COLUMNS = {"pause_partition_s": NUMBER, "pause_longest_s": NUMBER}
MEASURE = Measure(_COLUMNS, _COLUMNS, _rows, _total)
