"""Sticky ranges as a person gives them, in a join or later, and the check that a lane's rule makes of them.

sticky, 3.2 and current     [[0, 16383], [32768, 65535]]     both ends are in a range
sticky_document             [[0, 16384], [32768, 65536]]     the end is not: the article's own notation
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.errors import CommandError
from broker_core.pulsar.selectors import make_selector
from broker_core.pulsar.selectors.protocol import AssignRefused, Range
from broker_core.pulsar.selectors.sticky_ranges import check_client_ranges
from broker_core.pulsar.settings import STICKY

RANGES_MAX = 100
DOCUMENT = "sticky_document"


def read_ranges(raw: object, field: str) -> tuple[Range, ...]:
    """Pairs of whole numbers; which of them make sense depends on the lane. Raises CommandError at `field`.

    >>> read_ranges([[0, 9]], "args.ranges")
    ((0, 9),)
    """
    if not isinstance(raw, list) or not len(raw) <= RANGES_MAX:
        raise CommandError(field, "must be a list of at most {high} ranges", high=RANGES_MAX)
    for pair in raw:
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not all(isinstance(end, int) and not isinstance(end, bool) for end in pair)
        ):
            raise CommandError(field, "each range must be [start, end]")
    return tuple((start, end) for start, end in raw)


def check_ranges_of(algorithm: str, ranges: Sequence[Range], field: str) -> None:
    """Raise CommandError where a lane of this algorithm has no sticky ranges, or its client would not even
    send these."""
    if algorithm not in STICKY:
        raise CommandError(field, "only consumers with sticky ranges name their ranges")
    try:
        if (
            algorithm == DOCUMENT
        ):  # the article knows no client; what is wrong with a newcomer's own ranges its rule says itself
            make_selector(algorithm).add("asked", ranges=ranges)
        else:
            check_client_ranges(ranges)
    except AssignRefused as refusal:
        raise CommandError(field, "the client refuses them: {message}", message=refusal.message) from refusal
