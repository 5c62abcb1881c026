"""By lag: the partitions in which most messages wait are given out first, each to the member for which least wait; those
in which none wait go to the member with fewest partitions.

Lag changes while nobody joins or leaves, so the shares are worked out again where it pays: a look every 10 s compares what
waits for the member with most as things are with what would wait for it by shares of now. Three looks in a row at which
that is 100 messages or more, and would be less by a quarter at least, bring new shares; after that nothing is looked at for a
minute. So a burst moves nothing, one hot partition that no shares could split moves nothing, and shares do not swing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

LOOK_S, LOOKS, QUIET_LOOKS = 10, 3, 6
WAITING_LEAST = 100


def assign_by_lag(
    members: Sequence[str], partitions: Sequence[str], previous: Mapping[str, str], lags: Mapping[str, int]
) -> dict[str, list[str]]:
    """Share the partitions so that what waits is shared evenly, and, where nothing waits, the partitions.

    members: in the group's order, which decides between equals. previous: not looked at. lags: partition -> messages
    that wait, 0 for one that is left out.
    Returns member -> partitions, in partition order; {} without members.

    >>> assign_by_lag(["a", "b"], ["1:t:0", "1:t:1", "1:t:2"], {}, {"1:t:0": 3, "1:t:1": 9, "1:t:2": 4})
    {'a': ['1:t:1'], 'b': ['1:t:0', '1:t:2']}
    >>> assign_by_lag(["a", "b"], ["1:t:0", "1:t:1", "1:t:2"], {}, {"1:t:0": 3})
    {'a': ['1:t:0'], 'b': ['1:t:1', '1:t:2']}
    """
    if not members:
        return {}
    place = {key: number for number, key in enumerate(partitions)}
    waiting = dict.fromkeys(members, 0)
    shares: dict[str, list[str]] = {member: [] for member in members}

    def by_waiting(member: str) -> tuple[int, int]:
        return waiting[member], len(shares[member])

    def by_count(member: str) -> tuple[int, int]:
        return len(shares[member]), waiting[member]

    for key in sorted(partitions, key=lambda key: (-lags.get(key, 0), place[key])):
        lag = lags.get(key, 0)
        member = min(members, key=by_waiting if lag > 0 else by_count)
        waiting[member] += lag
        shares[member].append(key)
    return {member: sorted(keys, key=place.__getitem__) for member, keys in shares.items()}


def is_uneven(
    shares: Mapping[str, Collection[str]], partitions: Sequence[str], lags: Mapping[str, int]
) -> bool:
    """Whether shares worked out now would leave a quarter less, at least, to the member for which most waits.

    shares: member -> partitions, in the group's order. partitions: all that are shared out.

    >>> is_uneven({"a": ["1:t:0", "1:t:1"], "b": []}, ["1:t:0", "1:t:1"], {"1:t:0": 90, "1:t:1": 60})
    True
    >>> is_uneven({"a": ["1:t:0"], "b": ["1:t:1"]}, ["1:t:0", "1:t:1"], {"1:t:0": 900})
    False
    """
    most = _most(shares, lags)
    fresh = _most(assign_by_lag([*shares], partitions, {}, lags), lags)
    return most >= WAITING_LEAST and 4 * fresh <= 3 * most


def _most(shares: Mapping[str, Collection[str]], lags: Mapping[str, int]) -> int:
    return max((sum(lags.get(key, 0) for key in keys) for keys in shares.values()), default=0)
