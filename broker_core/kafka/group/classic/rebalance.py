"""How a classic group rebalances: prepares, waits for its members, begins the next generation, waits for
their SyncGroup.

    prepare ──► all have joined, or the rebalance timeout ──► next generation ──► all have synced, or the sync timeout ──► (prepare)
       └─ from Empty: the initial delay, again as long as somebody new arrives, up to the largest rebalance timeout

Source: Kafka 3.9 GroupMetadataManager.prepareRebalance, completeClassicGroupJoin,
tryCompleteInitialRebalanceElseSchedule, expirePendingSync.
"""

from __future__ import annotations

from broker_core.hashing.java_map import java_order
from broker_core.kafka.group.classic.group import ClassicGroup, ClassicMember
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, REBALANCE, STABLE
from broker_core.kafka.group.codes import NONE, REBALANCE_IN_PROGRESS, Refused
from broker_core.kafka.group.coordinator_result import CoordinatorResult
from broker_core.kafka.group.messages import JoinGroupResponse, RequestContext, SyncGroupResponse
from broker_core.kafka.group.runtime import CoordinatorRuntime


def session_name(group_id: str, member_id: str) -> str:
    """The timer at which a member's session, or a pending id, is over."""
    return f"heartbeat-{group_id}-{member_id}"


def join_name(group_id: str) -> str:
    """The timer at which the join phase ends, even if members are missing."""
    return f"join-{group_id}"


def sync_name(group_id: str) -> str:
    """The timer until which everybody must have synced."""
    return f"sync-{group_id}"


def restart_session(
    c: CoordinatorRuntime, group: ClassicGroup, member: ClassicMember, timeout_ms: int | None = None
) -> None:
    """Something was heard of a member. timeout_ms: None for its session timeout."""
    if c.settings.is_old and member.is_waiting:
        # Who waits for us needs no timer at all; the new coordinator lets one run and passes over its end.
        c.cancel(session_name(group.group_id, member.member_id))
        return
    start_session(c, group, member.member_id, member.session_timeout_ms if timeout_ms is None else timeout_ms)


def start_session(c: CoordinatorRuntime, group: ClassicGroup, member_id: str, timeout_ms: int) -> None:
    c.schedule(
        session_name(group.group_id, member_id),
        timeout_ms,
        c.timer("session_over", group.group_id, member_id),
    )


def rebalance_or_complete_join(c: CoordinatorRuntime, group: ClassicGroup, rule: str) -> CoordinatorResult:
    """Begin a rebalance; if one is being prepared, see whether it now has everybody. rule: why, for the
    lesson."""
    return complete_if_all_joined(c, group) if group.state == PREPARING else prepare_rebalance(c, group, rule)


def prepare_rebalance(c: CoordinatorRuntime, group: ClassicGroup, rule: str) -> CoordinatorResult:
    """The group prepares a rebalance. Members learn it from the answers to their heartbeats; who waits in
    SyncGroup, at once."""
    if group.state == COMPLETING:
        clear_assignments(c, group, REBALANCE_IN_PROGRESS)
    group.pending_syncs.clear()
    c.cancel(sync_name(group.group_id))
    is_initial = group.state == EMPTY
    if is_initial:
        group.initial_delay_ms = c.settings.initial_rebalance_delay_ms
        group.initial_left_ms = max(group.rebalance_timeout_ms() - group.initial_delay_ms, 0)
        c.schedule(
            join_name(group.group_id), group.initial_delay_ms, c.timer("initial_delay_over", group.group_id)
        )
    group.enter(REBALANCE, c.now_ms)
    inputs = (
        {"initial_delay_ms": group.initial_delay_ms}
        if is_initial
        else {"rebalance_timeout_ms": group.rebalance_timeout_ms()}
    )
    told = {"members": len(group.members), "generation": group.generation}
    group.because = c.tell("kafka.group.rebalance_started", rule, inputs, told, group=group.group_id)
    if is_initial:
        return CoordinatorResult()
    if group.has_all_joined():
        return complete_join(c, group)
    schedule_join_end(c, group)
    return CoordinatorResult()


def schedule_join_end(c: CoordinatorRuntime, group: ClassicGroup) -> None:
    c.schedule(
        join_name(group.group_id), group.rebalance_timeout_ms(), c.timer("join_phase_over", group.group_id)
    )


def initial_delay_over(c: CoordinatorRuntime, group_id: str) -> CoordinatorResult:
    """The initial delay ran out: once more if somebody arrived meanwhile, else the join phase ends."""
    group = _classic_group(c, group_id)
    if group is None:
        return CoordinatorResult()
    if not group.has_newcomer or group.initial_left_ms == 0:
        return complete_join(c, group)
    group.has_newcomer = False
    delay_ms = min(c.settings.initial_rebalance_delay_ms, group.initial_left_ms)
    group.initial_left_ms = max(group.initial_left_ms - group.initial_delay_ms, 0)
    group.initial_delay_ms = delay_ms
    c.schedule(join_name(group_id), delay_ms, c.timer("initial_delay_over", group_id))
    return CoordinatorResult()


def join_phase_over(c: CoordinatorRuntime, group_id: str) -> CoordinatorResult:
    """The rebalance timeout: the join phase ends with those who are there."""
    group = _classic_group(c, group_id)
    return CoordinatorResult() if group is None else complete_join(c, group)


def complete_if_all_joined(c: CoordinatorRuntime, group: ClassicGroup) -> CoordinatorResult:
    """End the join phase if nobody is missing. The initial delay runs to its end in any case."""
    if group.state == PREPARING and group.has_all_joined() and group.previous_state != EMPTY:
        return complete_join(c, group)
    return CoordinatorResult()


def complete_join(c: CoordinatorRuntime, group: ClassicGroup) -> CoordinatorResult:
    """End the join phase: who is missing and dynamic goes, static members stay; the next generation; an
    answer for everybody."""
    c.cancel(join_name(group.group_id))
    missing = [
        member for member in group.in_order() if member.awaits_join is None and member.instance_id is None
    ]
    for member in missing:
        group.drop(member.member_id)
        c.cancel(session_name(group.group_id, member.member_id))
        c.tell(
            "kafka.group.member_removed",
            "kafka.group.rebalance_timeout",
            {},
            {"member_id": member.member_id},
            group=group.group_id,
        )
    if not group.elect_joined_leader() and group.members:
        # Only static members are left, and none has come back: their sessions decide.
        schedule_join_end(c, group)
        return CoordinatorResult()
    group.begin_generation(c.now_ms)
    if not group.members:
        return CoordinatorResult([group.to_record()], replay=False)
    c.tell(
        "kafka.group.generation_started",
        "kafka.group.all_members_joined",
        {"members": len(group.members)},
        {"generation": group.generation, "leader": group.leader},
        group=group.group_id,
    )
    for member in group.in_order():
        answer_join(c, group, member, joined(group, member))
        restart_session(c, group, member)
        member.is_new = False
        group.pending_syncs[member.member_id] = None
    c.schedule(
        sync_name(group.group_id),
        group.rebalance_timeout_ms(),
        c.timer("sync_phase_over", group.group_id, group.generation),
    )
    return CoordinatorResult()


def sync_phase_over(c: CoordinatorRuntime, group_id: str, generation: int) -> CoordinatorResult:
    """The sync timeout: who has not synced is removed, static or not, and the others begin again."""
    group = _classic_group(c, group_id)
    if (
        group is None
        or group.generation != generation
        or group.state not in (COMPLETING, STABLE)
        or not group.pending_syncs
    ):
        return CoordinatorResult()
    for member_id in java_order(group.pending_syncs):
        group.drop(member_id)
        c.cancel(session_name(group_id, member_id))
        c.tell(
            "kafka.group.member_removed",
            "kafka.group.sync_timeout",
            {},
            {"member_id": member_id},
            group=group.group_id,
        )
    return prepare_rebalance(c, group, "kafka.group.sync_timeout")


def joined(group: ClassicGroup, member: ClassicMember, lists_members: bool = True) -> JoinGroupResponse:
    """The answer to a JoinGroup that succeeded; the leader alone learns who else is there."""
    is_leader = group.leader == member.member_id
    return JoinGroupResponse(
        member.member_id, NONE, group.generation, group.protocol_type, group.protocol, group.leader,
        members=group.joined_members() if is_leader and lists_members else [],
    )  # fmt: skip


def answer_join(
    c: CoordinatorRuntime, group: ClassicGroup, member: ClassicMember, response: JoinGroupResponse
) -> None:
    """Answer a member's parked JoinGroup, if it has one."""
    if member.awaits_join is not None:
        context, member.awaits_join = member.awaits_join, None
        group.waiting_count -= 1
        c.answer(context, response)


def answer_sync(c: CoordinatorRuntime, member: ClassicMember, response: SyncGroupResponse) -> bool:
    """Answer a member's parked SyncGroup; False if it has none."""
    if member.awaits_sync is None:
        return False
    context, member.awaits_sync = member.awaits_sync, None
    c.answer(context, response)
    return True


def clear_assignments(c: CoordinatorRuntime, group: ClassicGroup, code: int) -> None:
    """The assignment that was on its way is void: tell those who wait for it."""
    for member in group.members.values():
        member.assignment = b""
    hand_out(c, group, code)


def hand_out(c: CoordinatorRuntime, group: ClassicGroup, code: int) -> None:
    """Answer every parked SyncGroup. Who gets an answer was alive until now."""
    for member in group.in_order():
        named = (group.protocol_type, group.protocol) if code == NONE else (None, None)
        if answer_sync(c, member, SyncGroupResponse(code, *named, member.assignment)):
            restart_session(c, group, member)


def park_join(group: ClassicGroup, member: ClassicMember, context: RequestContext) -> None:
    if member.awaits_join is None:
        group.waiting_count += 1
    member.awaits_join = context


def _classic_group(c: CoordinatorRuntime, group_id: str) -> ClassicGroup | None:
    """The group that a timer is about, if it is still there and of this kind."""
    try:
        return c.classic_group(group_id)
    except Refused:
        return None
