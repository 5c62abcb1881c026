"""Selectors by algorithm id: a key's hash -> consumer. `*_document` are the rules as the documentation tells
them."""

from collections.abc import Callable, Mapping
from typing import Any

from broker_core.pulsar.selectors.auto_split import AutoSplitSelector
from broker_core.pulsar.selectors.auto_split_document import AutoSplitDocumentSelector
from broker_core.pulsar.selectors.consistent_hash import RING_3_2_0, RING_3_2_1, RING_CURRENT, RingSelector
from broker_core.pulsar.selectors.protocol import AssignRefused, Selector
from broker_core.pulsar.selectors.ring_document import RingDocumentSelector
from broker_core.pulsar.selectors.sticky_document import StickyDocumentSelector
from broker_core.pulsar.selectors.sticky_ranges import StickyCurrentSelector, StickySelector

__all__ = ["POINTS_MAX", "SELECTORS", "AssignRefused", "Selector", "make_selector", "selector_from_json"]

POINTS_MAX = 1_000
"""Points per consumer that we let anybody ask for; upstream has no limit."""

SELECTORS: dict[str, Callable[[], Selector]] = {
    # The first is the default: broker.conf switches consistent hashing on, in 3.2 and in current.
    "consistent_hash": lambda: RingSelector(RING_3_2_1),
    "consistent_hash_3_2_0": lambda: RingSelector(RING_3_2_0),
    "consistent_hash_current": lambda: RingSelector(RING_CURRENT),
    "auto_split": AutoSplitSelector,
    "sticky": StickySelector,
    "ring_document": RingDocumentSelector,
    "auto_split_document": AutoSplitDocumentSelector,
    "sticky_document": StickyDocumentSelector,
}

_MAKERS: dict[str, Callable[[], Selector]] = {**SELECTORS, "sticky_current": StickyCurrentSelector}
"""With the one that nobody names: it runs in place of `sticky` where current's rule of order does
(`settings.selector_of`)."""

_CLASSES: dict[str, type[Selector]] = {
    "consistent_hash": RingSelector,
    "consistent_hash_3_2_0": RingSelector,
    "consistent_hash_current": RingSelector,
    "auto_split": AutoSplitSelector,
    "sticky": StickySelector,
    "sticky_current": StickyCurrentSelector,
    "ring_document": RingDocumentSelector,
    "auto_split_document": AutoSplitDocumentSelector,
    "sticky_document": StickyDocumentSelector,
}


def make_selector(algorithm: str, points: int | None = None) -> Selector:
    """An empty selector. points: per consumer, for rings alone; None: upstream's 100.

    >>> make_selector("consistent_hash", points=10).to_json()["points"]
    10
    """
    selector = _MAKERS[algorithm]()
    if points is None or not isinstance(selector, RingSelector):
        return selector
    return type(selector)(selector.rule, points)


def selector_from_json(state: Mapping[str, Any]) -> Selector:
    """Read back what any selector's `to_json` wrote.

    >>> selector_from_json(SELECTORS["auto_split"]().to_json()).select(7) is None
    True
    """
    return _CLASSES[state["algorithm"]].from_json(state)
