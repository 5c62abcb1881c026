"""Why is my group stuck: a pure function of what is known of a group, which names the member that everybody
waits for and the timer that ends it.

    who coordinates? ─► is there a member, and does one subscribe? ─► is a rebalance under way, and who is missing? ─► does a member hold
    partitions and not read? ─► has a partition no leader, or is it given to nobody? ─► does a member read too slowly?

Each finding says until when, if nothing changes, by the setting that a user knows: session, heartbeat,
max.poll.interval.ms (which is also the longest that a join, a sync or a revocation may take),
metadata.max.age.ms, broker.session.timeout.ms. docs/kafka/groups.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from broker_core.kafka.group.classic.states import COMPLETING, PREPARING, STABLE
from broker_core.kafka.group.lag import OK

SESSION, INITIAL, METADATA = "session.timeout.ms", "group.initial.rebalance.delay.ms", "metadata.max.age.ms"
MAX_POLL = "max.poll.interval.ms"
"""Also how long a join phase, a sync phase and a revocation may take: a client sends it as
rebalance_timeout_ms."""
CLASSIC_HEARTBEAT = "heartbeat.interval.ms"
HEARTBEAT, BROKER_SESSION = "group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"
"""Of the consumer protocol (KIP-848): both are the broker's there, and a client may not set its own."""
LEADER_SESSION = "broker.session.timeout.ms"
"""Of a broker at the controller: when it is over another one leads, and with a partition of
__consumer_offsets coordinates its groups."""

ALIVE, SILENT, FROZEN, GONE, GHOST = "alive", "silent", "frozen", "gone", "ghost"
"""A member's process: it answers; it is dead; it is frozen; there is none any more: of a static member
that restarts, and of another one, whose name runs again as a new member."""


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """process: as above. is_stuck: its program does not come back from a record; is_overdue: for so long that
    its heartbeats have stopped.
    is_closing: it is in close(), and its coordinator has not heard of it. has_joined, has_synced: of the
    present rebalance; has_heard: it knows that it has to join again. lets_go: it still has partitions that it
    was not given again, or joins next. revokes: partitions that it was told to let go of and has (KIP-848);
    surplus: that it has beyond its target, free: those of its target that nobody has any more; it hears of
    both with its next heartbeat. is_behind: of the new epoch alone, as its partitions stay. partitions: those
    that it owns at the coordinator;
    paused: those that its program has paused; reads_others: it has some of other topics.
    session, beat: which settings are its session's and its heartbeats' lengths. session_us,
    poll_us, rebalance_us, beat_us: when each timer ends, virtual time; None: it does not run."""

    name: str
    process: str = ALIVE
    is_stuck: bool = False
    is_overdue: bool = False
    is_closing: bool = False
    has_heard: bool = True
    lets_go: bool = False
    has_joined: bool = False
    has_synced: bool = True
    is_leader: bool = False
    is_subscribed: bool = True
    revokes: tuple[int, ...] = ()
    surplus: tuple[int, ...] = ()
    free: tuple[int, ...] = ()
    is_behind: bool = False
    partitions: tuple[int, ...] = ()
    paused: tuple[int, ...] = ()
    reads_others: bool = False
    session: str = SESSION
    beat: str = HEARTBEAT
    session_us: int | None = None
    poll_us: int | None = None
    rebalance_us: int | None = None
    beat_us: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """owner: a member's name. leader: the broker, None: nobody leads it. status, rule: as `lag.py` gives
    them. is_left_behind: its owner has had it for two commits at least, or for as long as the window, and
    does not keep up: by `falling` its first record that is not committed was there before the last commit but
    one. takeover_us: when another broker leads it, None: nobody knows. is_read: somebody reads it now."""

    number: int
    owner: str | None
    leader: int | None
    lag: int
    status: str = OK
    rule: str = "no_lag"
    is_left_behind: bool = False
    takeover_us: int | None = None
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """coordinator: the broker, None: nobody coordinates. join_us, sync_us: when the join and the sync phase
    end at the latest. is_first: the join phase is the initial delay. pending, pending_us: ids that were given
    out and not used, and when the last of them is forgotten.
    is_unassigned: the group epoch is ahead of the assignment's; is_server_assigned: the coordinator assigns
    (KIP-848). known: how many partitions the leader assigned by, None: nobody leads; metadata_us: when it
    looks again. takeover_us: when another broker coordinates, None: nobody knows."""

    state: str
    coordinator: int | None
    members: Sequence[MemberFacts] = ()
    partitions: Sequence[PartitionFacts] = ()
    join_us: int | None = None
    sync_us: int | None = None
    is_first: bool = False
    pending: int = 0
    pending_us: int | None = None
    is_unassigned: bool = False
    is_server_assigned: bool = False
    known: int | None = None
    metadata_us: int | None = None
    takeover_us: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """code: the cause. member: the member the group waits for, None where no member holds it up. timer: the
    timeout that resolves it, ends_us: when. partitions: those paused by it. broker, count: where the words
    need them."""

    code: str
    member: str | None = None
    timer: str | None = None
    ends_us: int | None = None
    partitions: tuple[int, ...] = ()
    count: int = field(default=0)


def diagnose(group: GroupFacts) -> list[Finding]:
    """What holds the group up, what matters most first: who holds something and does nothing, the longest
    first; what cannot be read; what the living have to do; what they hear with their next heartbeat; who is
    slow. [] where nothing does.

    >>> diagnose(GroupFacts("Stable", 1, [MemberFacts("c1", is_stuck=True, partitions=(0, 1), poll_us=9)]))[0].timer
    'max.poll.interval.ms'
    """
    if group.coordinator is None:
        numbers = tuple(part.number for part in group.partitions)
        return [
            Finding("no_coordinator", None, *_takeover([group.takeover_us]), numbers),
            *_leaderless(group),
        ]
    if not group.members:
        return [
            Finding(
                "no_members",
                partitions=tuple(part.number for part in group.partitions),
                count=sum(part.lag for part in group.partitions),
            )
        ]
    found = [
        *_rebalance(group),
        *_idle_owners(group),
        *_leaderless(group),
        *_unowned(group),
        *_slow(group),
        *_surplus(group),
    ]
    inert = {member.name for member in group.members if member.process != ALIVE or member.is_stuck}
    held = {
        finding.member: _ends(finding)
        for finding in sorted(found, key=_ends, reverse=True)
        if _is_of_inert(finding, inert)
    }
    return sorted(
        found,
        key=lambda finding: (
            (0, -held[finding.member]) if _is_of_inert(finding, inert) else (_rank(finding.code), 0.0)
        ),
    )


def _ends(finding: Finding) -> float:
    return inf if finding.ends_us is None else finding.ends_us


def _is_of_inert(finding: Finding, inert: Collection[str]) -> bool:
    """Whether it is of a member that holds something and does nothing. Such members stand in the order of the
    timer that ends each of them."""
    return finding.code in _OF_INERT or (finding.code.endswith("_waits") and finding.member in inert)


def _rank(code: str) -> int:
    return next((rank for rank, codes in _RANKS if code in codes), 3 if code.endswith("_unheard") else 2)


_OF_INERT = (
    "silent_owner",
    "frozen_owner",
    "gone_owner",
    "ghost_owner",
    "stuck_owner",
    "overdue_owner",
    "ghost_waits",
)
_RANKS = (
    (1, ("no_leader", "nobody_subscribed", "new_partitions", "left_out")), (4, ("epoch_unheard",)),
    (5, ("slow_owner", "more_members_than_partitions")),
)  # fmt: skip


def _rebalance(group: GroupFacts) -> Iterator[Finding]:
    """The members that are missing in the phase that is under way."""
    if group.state == PREPARING and group.is_first:
        yield Finding("gathering", timer=INITIAL, ends_us=group.join_us, count=len(group.members))
    elif group.state == PREPARING:
        for member in group.members:
            if member.process == GHOST:
                yield _missing("ghost_waits", member, group.join_us)
            elif not member.has_joined and not member.has_heard and _beats(member) and not member.is_stuck:
                yield Finding("join_unheard", member.name, member.beat, member.beat_us, member.partitions)
            elif not member.has_joined:
                what = "join" if member.process == ALIVE else member.process
                yield _missing(f"{what}_waits", member, group.join_us)
        if group.pending:
            yield Finding("pending_waits", timer=SESSION, ends_us=group.pending_us, count=group.pending)
    elif group.state == COMPLETING:
        for member in group.members:
            if member.is_leader and not member.has_synced:
                yield _missing("sync_waits", member, group.sync_us)
    beating = [member for member in group.members if _beats(member)]
    if beating and (group.is_unassigned or (group.is_server_assigned and unowned(group))):
        first = min(beating, key=lambda member: member.beat_us or 0)
        yield Finding("assign_waits", first.name, first.beat, first.beat_us)
    for member in group.members:
        if member.revokes:
            yield _missing("revoke_waits", member, member.rebalance_us, member.revokes)
        elif member.surplus and member.process == ALIVE:
            yield Finding("revoke_unheard", member.name, member.beat, member.beat_us, member.surplus)
        elif member.free and member.process == ALIVE:
            yield Finding("free_unheard", member.name, member.beat, member.beat_us, member.free)
        elif member.is_behind and _beats(member) and not member.is_stuck:
            yield Finding("epoch_unheard", member.name, member.beat, member.beat_us)


def _beats(member: MemberFacts) -> bool:
    return member.process == ALIVE and member.beat_us is not None


def _missing(
    code: str, member: MemberFacts, phase_us: int | None, partitions: tuple[int, ...] = ()
) -> Finding:
    """A phase waits for this member: until it comes, its session is over, or the phase is, whichever is
    first."""
    timer, ends_us = MAX_POLL, phase_us
    if (
        (member.process != ALIVE or member.is_overdue)
        and member.session_us is not None
        and (phase_us is None or member.session_us < phase_us)
    ):
        timer, ends_us = member.session, member.session_us
    elif (
        member.is_stuck
        and not member.is_overdue
        and member.poll_us is not None
        and (phase_us is None or member.poll_us <= phase_us)
    ):
        ends_us = member.poll_us
    return Finding(code, member.name, timer, ends_us, partitions or member.partitions)


def _idle_owners(group: GroupFacts) -> Iterator[Finding]:
    """Members that hold partitions and do not read them. To a dead one its target is kept, too, though it had
    not heard that it may read. One that lives has just been given them, or is about to leave."""
    if group.state in (PREPARING, COMPLETING):
        return
    unread = {part.number for part in group.partitions if not part.is_read and part.leader is not None}
    for member in group.members:
        kept = tuple(sorted({*member.partitions, *member.free}))
        if member.process != ALIVE and kept:
            yield Finding(f"{member.process}_owner", member.name, member.session, member.session_us, kept)
        elif member.is_overdue and member.partitions:
            yield Finding("overdue_owner", member.name, member.session, member.session_us, member.partitions)
        elif member.is_stuck and member.partitions:
            yield Finding("stuck_owner", member.name, MAX_POLL, member.poll_us, member.partitions)
        elif waiting := tuple(number for number in member.partitions if number in unread):
            told = (
                Finding("closing_owner", member.name)
                if member.is_closing
                else Finding("taking_owner", member.name)
            )
            yield replace(told, partitions=waiting)
        if member.paused and member.process == ALIVE and not member.is_stuck:
            yield Finding("paused_owner", member.name, partitions=member.paused)


def _leaderless(group: GroupFacts) -> Iterator[Finding]:
    lost = [part for part in group.partitions if part.leader is None]
    if lost:
        yield Finding(
            "no_leader",
            None,
            *_takeover([part.takeover_us for part in lost]),
            tuple(part.number for part in lost),
        )


def _takeover(ends_us: Sequence[int | None]) -> tuple[str | None, int | None]:
    """The timer that ends it, and when the last of them is over; none where one of them has no end in
    sight."""
    known = [end_us for end_us in ends_us if end_us is not None]
    return (LEADER_SESSION, max(known)) if len(known) == len(ends_us) else (None, None)


def unowned(group: GroupFacts) -> tuple[int, ...]:
    """Partitions that are nobody's and in nobody's target, though somebody subscribes and no rebalance is
    under way."""
    is_settled = group.is_server_assigned or group.state == STABLE
    if not is_settled or not any(member.is_subscribed for member in group.members):
        return ()
    had = {
        number
        for member in group.members
        for numbers in (member.partitions, member.free, member.revokes)
        for number in numbers
    }
    return tuple(part.number for part in group.partitions if part.number not in had)


def _unowned(group: GroupFacts) -> Iterator[Finding]:
    """Of a group whose leader assigns: it does not know of them yet, they come in a second rebalance
    (cooperative), or it has left them out."""
    numbers = unowned(group)
    if not numbers or group.is_server_assigned:
        return
    new = tuple(number for number in numbers if group.known is not None and number >= group.known)
    leader = next((member.name for member in group.members if member.is_leader), None)
    rest = tuple(number for number in numbers if number not in new)
    if new:
        yield Finding("new_partitions", leader, METADATA, group.metadata_us, new)
    if rest:
        is_second = any(member.lets_go for member in group.members)
        yield Finding("second_waits" if is_second else "left_out", partitions=rest)


def _slow(group: GroupFacts) -> Iterator[Finding]:
    """Members that read, and fall behind. A member that keeps up has some records in hand at each commit,
    too, and one that took a dead member's partitions has not committed there yet: neither is slow, though the
    status of the partition is not ok."""
    if group.state in (PREPARING, COMPLETING):
        return
    held_up = {member.name for member in group.members if member.process != ALIVE or member.is_stuck}
    paused = {number for member in group.members for number in member.paused}
    by_owner: dict[str, list[PartitionFacts]] = {}
    for part in group.partitions:
        if (
            part.number not in paused
            and part.status != OK
            and part.is_left_behind
            and part.owner is not None
            and part.owner not in held_up
        ):
            by_owner.setdefault(part.owner, []).append(part)
    for name, parts in by_owner.items():
        yield Finding(
            "slow_owner",
            name,
            partitions=tuple(part.number for part in parts),
            count=sum(part.lag for part in parts),
        )


def _has_any(member: MemberFacts) -> bool:
    return bool(member.partitions or member.free or member.reads_others)


def _surplus(group: GroupFacts) -> Iterator[Finding]:
    if not any(member.is_subscribed for member in group.members):
        yield Finding("nobody_subscribed", partitions=tuple(part.number for part in group.partitions))
    elif group.state not in (PREPARING, COMPLETING):
        idle = [
            member
            for member in group.members
            if member.is_subscribed and member.process == ALIVE and not _has_any(member)
        ]
        if idle and len(group.members) > len(group.partitions):
            yield Finding("more_members_than_partitions", count=len(idle))
