"""What a newcomer's points or ranges took, and from whom; what a leaver's keys became. The facts behind the
Pulsar lane's number of moved keys.

            c1      c4      c2                 c4's point cuts off the end of c2's slice: the keys in it were c2's
    ────────┴───────┴───────┴────────          before, because a slot belongs to the next point clockwise
                └ taken ┘

Lists are cut to the largest entries and say how many more there are, so that a turning point stays small.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from broker_core.events import Json, capped
from broker_core.hashing.hash_range import Owner
from broker_core.lab.shared.bill import Space

GIVERS_MAX = 8
LARGEST_MAX = 4
EXPLAINED_MAX = 4
"""Turning points of one change that carry such facts: of ten newcomers the first four."""
KEYS_MAX = 50_000
"""More live keys are counted by the bill alone."""


def holds(owner: Owner, name: str) -> bool:
    """Whether a slice is that consumer's, alone or among others who share its point."""
    return name in owner if isinstance(owner, tuple) else owner == name


def first_of(owner: Owner) -> str | None:
    """The consumer that is named where several share a point."""
    return owner[0] if isinstance(owner, tuple) else owner


def owner_before(before: Space, slot: int) -> str | None:
    """Whose slot this was: of the first bound at or after it, else the ring's first."""
    bounds, owners = before[0], before[1]
    at = bisect_left(bounds, slot)
    return first_of(owners[at if at < len(bounds) else 0]) if bounds else None


def taken_facts(
    name: str,
    before: Space,
    after: Space,
    moved: Sequence[tuple[int, str | None]],
    keys_total: int,
    is_ring: bool,
) -> Json:
    """What `name` took.

    before, after: the hash space. moved: (slot, former owner) of each live key that is the newcomer's now and
    was not. Returns {points or slices, taken: [{consumer, slices, keys}], largest: [{start, end, consumer,
    keys}], keys_moved, keys_total}: `slices` counts the newcomer's slices that were cut off that consumer's,
    `keys` those that moved from it; consumer None was nobody.
    """
    bounds, owners = after[0], after[1]
    mine = {owner for owner in set(owners) if holds(owner, name)}
    own = [index for index, owner in enumerate(owners) if owner in mine]
    slices = Counter(owner_before(before, bounds[index]) for index in own)
    keys = Counter(owner for _, owner in moved)
    givers = sorted(
        slices.keys() | keys.keys(), key=lambda giver: (-keys[giver], -slices[giver], giver or "")
    )
    taken = [
        {"consumer": giver, "slices": slices[giver], "keys": keys[giver]}
        for giver in givers
        if giver != name or keys[giver]
    ]
    here: dict[int, Counter[str | None]] = {}
    for slot, owner in moved:
        at = bisect_left(bounds, slot)
        here.setdefault(at if at < len(bounds) else 0, Counter())[owner] += 1
    order = sorted(here, key=lambda index: (-here[index].total(), index))
    largest = [_slice(index, bounds, after, here[index]) for index in order]
    return {
        "points" if is_ring else "slices": len(own),
        **capped("taken", taken, GIVERS_MAX),
        **capped("largest", largest, LARGEST_MAX),
        "keys_moved": len(moved),
        "keys_total": keys_total,
    }


def _slice(index: int, bounds: Sequence[int], after: Space, givers: Counter[str | None]) -> Json:
    """A slice with its keys; start > end where it wraps around the top of the ring."""
    space, first_slot = after[2], after[3]
    wraps = index == 0 and bounds[-1] < space - 1
    start = bounds[-1] + 1 if wraps else bounds[index - 1] + 1 if index else first_slot
    return {
        "start": start,
        "end": bounds[index],
        "consumer": givers.most_common(1)[0][0],
        "keys": givers.total(),
    }


def given_facts(receivers: Sequence[str | None], keys_total: int) -> Json:
    """Who has a leaver's keys now. receivers: the new owner of each, None for nobody."""
    counts = Counter(receivers)
    order = sorted(counts, key=lambda name: (-counts[name], name or ""))
    given = [{"consumer": name, "keys": counts[name]} for name in order]
    return {**capped("given", given, GIVERS_MAX), "keys_moved": len(receivers), "keys_total": keys_total}
