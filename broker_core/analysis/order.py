"""Order at risk: records of one key that are in flight at two consumers at once, so that the later one may be
done first.

    c1   |---- record 7 of key k ----|
    c2             |-- record 9 of key k --|      record 9 is at risk: it was sent while c1 still had a record of k

In flight means: given to a consumer and neither acknowledged nor taken back. What a dead consumer held is in
flight no longer; it comes again. Records without a key have no order to lose.
"""

from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple


class Flight(NamedTuple):
    """One record on its way: its key's code, who had it, and from when to when (end exclusive), in
    microseconds."""

    key: int
    consumer: str
    sent_us: int
    gone_us: int


_SENT = attrgetter("sent_us")


def at_risk(flights: Iterable[Flight]) -> list[Flight]:
    """The records that were sent while another consumer had one of the same key in flight, by the time they
    were sent.

    >>> a, b, c = Flight(1, "c1", 0, 50), Flight(1, "c2", 20, 60), Flight(1, "c2", 55, 70)
    >>> at_risk([a, b, c]) == [b]
    True
    """
    by_key: dict[int, list[Flight]] = defaultdict(list)
    for flight in flights:
        by_key[flight.key].append(flight)
    found: list[Flight] = []
    for same in by_key.values():
        if len({flight.consumer for flight in same}) == 1:
            continue
        same.sort(key=_SENT)
        # Until when somebody has one of the key, and until when somebody else than that one has.
        longest, longest_us, others_us = "", 0, 0
        for flight in same:
            _, consumer, sent_us, gone_us = flight
            if (others_us if consumer == longest else longest_us) > sent_us:
                found.append(flight)
            if consumer == longest:
                longest_us = max(longest_us, gone_us)
            elif gone_us > longest_us:
                longest, longest_us, others_us = consumer, gone_us, longest_us
            elif gone_us > others_us:
                others_us = gone_us
    return sorted(found, key=_SENT)
