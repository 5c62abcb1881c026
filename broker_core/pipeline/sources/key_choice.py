"""Which column of a source is likely its key, from the first rows, and why.

A key decides which consumer gets a record, so it must come more than once (else there is no order to keep and
nothing to be skewed) and have enough values to share out. So a column is judged by its values first; its name
decides only between columns whose values are as good.
"""

import re
from collections.abc import Sequence

from broker_core.events import Json

ROWS_LOOKED_AT = 10_000
DECIMALS_LOOKED_AT = 100
FEW_VALUES = 16
"""Fewer than that cannot be shared evenly among a handful of consumers."""
RECORDS_PER_KEY = 2
"""From so many records a value on in the mean, values repeat as those of a key do, not by accident."""
_KEY_LIKE = re.compile(
    r"(^|_|\b)(key|id)$|key|tail|user|customer|account|device|session|tenant", re.IGNORECASE
)
_TIME_LIKE = re.compile(r"time|date|_at$|(^|\.)ts(_ms|_us|_ns)?$", re.IGNORECASE)
_FORMER = re.compile(r"(^|\.)(before|old|previous)\.", re.IGNORECASE)
"""What a record was before a change: it lacks the new ones."""


def column_use(values: Sequence[str | bytes | None]) -> Json:
    """`{"code", "params": {"rows", "values", "per_value"}, "is_decimal"}` of a column's first values; None
    and empty ones are left out.

    code: unique (no value comes twice), constant (one value alone), empty, few (too few to share out), rare
    (hardly any comes twice), repeats.
    is_decimal: they are numbers with a point, or a comma, so measured rather than named.

    >>> column_use(["a", "b", "a", None])["code"], column_use(["a", "b"])["code"]
    ('few', 'unique')
    """
    given = [value for value in values if value]
    distinct = len(set(given))
    params = {
        "rows": len(given),
        "values": distinct,
        "per_value": round(len(given) / distinct, 1) if distinct else 0.0,
    }
    is_decimal = bool(given) and all(_is_decimal(value) for value in given[:DECIMALS_LOOKED_AT])
    return {"code": _code(len(given), distinct), "params": params, "is_decimal": is_decimal}


def key_proposed(columns: Sequence[Json]) -> str | None:
    """The name of the column to propose as the key; None where none repeats.

    columns: `{"name", "type", "use"}` as a preview has them, use None where nobody looked.
    """
    fitting = [column for column in columns if column.get("use") and column["use"]["code"] in _RANKS]
    best = min(fitting, key=_rank, default=None)
    return None if best is None else str(best["name"])


def time_proposed(columns: Sequence[Json]) -> str | None:
    """The name of the column to propose as the time of a record; None where none looks like one. columns: as above."""
    timed = [
        column["name"]
        for column in columns
        if column["type"].startswith(_TIMES) or _TIME_LIKE.search(column["name"])
    ]
    return next(iter(timed), None)


_TIMES = ("time", "date")
_FIGURES = (*_TIMES, "double", "float", "decimal")
_RANKS = {"repeats": 0, "few": 1, "rare": 2}


def _rank(column: Json) -> tuple[bool, int, bool, bool, int]:
    use, name = column["use"], column["name"]
    # A moment and a measured figure repeat too, and name nothing.
    is_figure = use["is_decimal"] or column["type"].startswith(_FIGURES) or bool(_TIME_LIKE.search(name))
    return (
        is_figure, _RANKS[use["code"]], bool(_FORMER.search(name)), not _KEY_LIKE.search(name),
        -use["params"]["values"],
    )  # fmt: skip


def _code(rows: int, distinct: int) -> str:
    if not rows:
        return "empty"
    if distinct == 1:
        return "constant"
    if distinct == rows:
        return "unique"
    if distinct < FEW_VALUES:
        return "few"
    return "repeats" if rows >= RECORDS_PER_KEY * distinct else "rare"


def _is_decimal(value: str | bytes) -> bool:
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    return re.fullmatch(r"[-+]?\d*[.,]\d+", text) is not None
