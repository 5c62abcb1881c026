"""The hash ring as the 3.2 documentation tells it: points name + "1" .. name + "100" on the unsigned 32-bit
ring.

Differs from the real ring (`consistent_hash.py`) in three places: the points count from 1 and not from 0, the
hash keeps its top bit, and several consumers at one point are in arrival order, not by name. A key at such a
point goes to holders[hash mod count].

Source: Pulsar documentation 3.2, "Auto-split Consistent Hashing" (article 000).
"""

from typing import ClassVar

from broker_core.pulsar.selectors.consistent_hash import POINTS, RingRule, RingSelector, SharedPoint


def _point_text(name: str, _: int, index: int) -> str:
    return f"{name}{index}"


RING_DOCUMENT = RingRule("ring_document", 2**32 - 1, None, _point_text, 1, SharedPoint.ARRIVAL_ORDER, False)


class RingDocumentSelector(RingSelector):
    """The documentation's ring.

    >>> selector = RingDocumentSelector()
    >>> selector.add("c1", "orders-aggregator-pod-2345-consumer")
    >>> {1003084738, 373317202, 320276078} <= set(selector.ring.points)
    True
    """

    rules: ClassVar[tuple[RingRule, ...]] = (RING_DOCUMENT,)

    def __init__(self, rule: RingRule = RING_DOCUMENT, point_count: int = POINTS) -> None:
        super().__init__(rule, point_count)
