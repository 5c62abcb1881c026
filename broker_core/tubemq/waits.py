"""How long a member of a server-balanced group has waited for its first partitions, as its master sees it: until a cycle
gave it some, the loser heard of it, the loser reported it done, and the member itself heard. What we note; TubeMQ does not.

    start() ─cycle─► planned ─loser─► heard ─report─► done ─gainer─► gained          no loser: planned ─gainer─► gained
"""

from __future__ import annotations

from broker_core.tubemq import requests as r
from broker_core.tubemq.balancing import is_loss
from broker_core.tubemq.group import Group, Member


def note_plan(group: Group, now_us: int) -> None:
    """A cycle of the group is over."""
    for member in group.members.values():
        if member.wait.planned_us < 0 and any(not is_loss(event) for event in member.events):
            member.wait.planned_us = now_us


def note_report(group: Group, member: Member, event: r.ConsumerEvent | None, now_us: int) -> None:
    """A member has sent its heartbeat, and was given this event."""
    if event is not None and not is_loss(event) and member.wait.gained_us < 0:
        member.wait.gained_us = now_us
    waiting = [
        each.wait for each in group.members.values() if each.wait.planned_us >= 0 > each.wait.gained_us
    ]
    if not waiting:
        return
    is_open = any(is_loss(each) for other in group.members.values() for each in other.events)
    for wait in waiting:
        if event is not None and is_loss(event):
            wait.heard_us = now_us  # of several losers the last one counts
        if wait.heard_us >= 0 > wait.done_us and not is_open:
            wait.done_us = now_us
