"""Sticky: who had a partition keeps it, unless that makes it too many.

quota: partitions div members, the first of those who have most get one more, until the rest is used up
keep up to the quota, in partition order ─► what is free goes to those below theirs, in member order
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def assign_sticky(
    members: Sequence[str], partitions: Sequence[str], previous: Mapping[str, str], lags: Mapping[str, int]
) -> dict[str, list[str]]:
    """Share the partitions so that as few as possible move and no member has two more than another.

    members: in the group's order. previous: partition -> the member that had it. lags: not looked at.
    Returns member -> partitions, in partition order; {} without members.

    >>> assign_sticky(["a", "b"], ["1:t:0", "1:t:1", "1:t:2"], {"1:t:0": "a", "1:t:1": "a", "1:t:2": "a"}, {})
    {'a': ['1:t:0', '1:t:1'], 'b': ['1:t:2']}
    """
    if not members:
        return {}
    had = {member: sum(previous.get(key) == member for key in partitions) for member in members}
    each, rest = divmod(len(partitions), len(members))
    # The members with most keep one more: then fewest move.
    by_most = sorted(members, key=lambda member: -had[member])
    quota = {member: each + (place < rest) for place, member in enumerate(by_most)}
    owner: dict[str, str] = {}
    count = dict.fromkeys(members, 0)
    for key in partitions:
        member = previous.get(key, "")
        if member in count and count[member] < quota[member]:
            owner[key] = member
            count[member] += 1
    takers = (member for member in members for _ in range(quota[member] - count[member]))
    for key in partitions:
        if key not in owner:
            owner[key] = next(takers)
    shares: dict[str, list[str]] = {member: [] for member in members}
    for key in partitions:
        shares[owner[key]].append(key)
    return shares
