"""The measures of a study. Each module of this package with a MEASURE adds its columns: a new measure is one
small file.

>>> "skew" in step_columns() and "churn" in total_columns()
True
"""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.pipeline.measures.base import Facts, Measure

__all__ = ["MEASURES", "Facts", "Measure", "measure", "step_columns", "total_columns"]


def _collect() -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for module in sorted(module.name for module in iter_modules(__path__)):
        measure = getattr(import_module(f"{__name__}.{module}"), "MEASURE", None)
        if measure is not None:
            found[module] = measure
    return found


MEASURES = MappingProxyType(_collect())
"""Name of the module -> its measure."""


def step_columns() -> dict[str, str]:
    """Column of a step -> its kind, of all measures."""
    return _columns([measure.columns for measure in MEASURES.values()])


def total_columns() -> dict[str, str]:
    """Column of a strategy's totals -> its kind."""
    return _columns([measure.totals for measure in MEASURES.values()])


def _columns(parts: Sequence[dict[str, str]]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for part in parts:
        if clash := set(columns) & set(part):
            raise InvariantError(f"two measures have a column {min(clash)}")
        columns |= part
    return columns


def measure(facts: Sequence[Facts]) -> tuple[list[Json], Json]:
    """All columns of a strategy's steps, and of its totals. facts: step by step, the start first."""
    rows: list[Json] = [{"step": fact.step} for fact in facts]
    totals: Json = {}
    for each in MEASURES.values():
        mine = each.rows(facts)
        for row, more in zip(rows, mine, strict=True):
            row |= more
        totals |= each.total(facts, mine)
    return rows, totals
