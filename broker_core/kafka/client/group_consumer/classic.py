"""A member of a classic group: JoinGroup, SyncGroup, heartbeats, and giving partitions up in between.

    poll() ─► rebalance it heard of ─► auto-commit ─► answered ─► give up ─► JoinGroup ─► SyncGroup ─► poll() takes the assignment up

An eager member reads nothing from the moment at which it prepares, and gives up all once its commit is
answered. A cooperative one reads on and gives up what the new assignment takes from it; nothing commits what
it read meanwhile, so that is read twice unless the program's own listener commits. The heartbeat thread runs
from the JoinGroup's answer to the next JoinGroup; a JoinGroup's answer waits for the next poll().

Source: Kafka 3.9 clients AbstractCoordinator, ConsumerCoordinator (onJoinPrepare, onJoinComplete,
rejoinNeededOrPending).
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.clock import MILLISECOND_US
from broker_core.kafka.assignors import ASSIGNORS, AssignmentRefused, Assignor
from broker_core.kafka.assignors.custom import CUSTOM, AssignorFailed
from broker_core.kafka.assignors.subscription_bytes import (
    CONSUMER_PROTOCOL_TYPE,
    read_assignment,
    write_subscription,
)  # fmt: skip
from broker_core.kafka.client.group_consumer.assigning import Assigning
from broker_core.kafka.client.group_consumer.commits import Committer
from broker_core.kafka.client.group_consumer.core import (
    ASSIGN,
    COMMITTING,
    FAILED,
    IN,
    JOINING,
    NO_GENERATION,
    OUT,
    SYNCING,
    Core,
    Fault,
)
from broker_core.kafka.client.group_consumer.network import COORDINATOR
from broker_core.kafka.client.group_consumer.ownership import Ownership
from broker_core.kafka.client.group_consumer.settings import AUTO
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Outbox

HEARTBEAT, JOIN, SYNC, LEAVE = "heartbeat", "join", "sync", "leave"
JOIN_LONGER_MS = 5_000
"""A JoinGroup may take the rebalance timeout and this long."""
_COORDINATOR_GONE = (codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR)
COORDINATOR_LOAD_IN_PROGRESS = 14


class ClassicMember:
    """joins and leaves on behalf of a `Core`. assignors: those of the settings, in order; `ASSIGNORS`, or a
    user's own among them."""

    def __init__(
        self,
        core: Core,
        ownership: Ownership,
        committer: Committer,
        assignors: Mapping[str, Assignor] = ASSIGNORS,
    ) -> None:
        self.core, self.ownership, self.committer = core, ownership, committer
        self.assigning = Assigning(core, assignors)

    # --- in poll()

    def poll(self, now_us: int, out: Outbox) -> None:
        """What poll() does about the group, before it looks at records."""
        core, member = self.core, self.core.state.member
        if member.phase == FAILED or not core.has_coordinator(now_us, out):
            return
        if member.answer is not None and not member.is_assigning:
            answer, member.answer = member.answer, None
            out.because(member.because)
            self._joined(answer, now_us, out)
        if member.given is not None:
            out.because(member.because)
            self._take_up(now_us, out)
        if member.phase in (OUT, IN) and self._needs_rejoin():
            if core.network.is_backing_off(COORDINATOR, now_us, core.backoff_us):
                core.later(
                    out, now_us
                )  # the coordinator was lost just now: perhaps with the JoinGroup before
                return
            if member.must_rejoin:
                out.because(member.because)
            self._prepare(now_us, out)

    def _needs_rejoin(self) -> bool:
        state = self.core.state
        member = state.member
        if member.phase == OUT or member.must_rejoin or member.joined != state.subscribed.topics:
            return bool(state.subscribed.topics)
        return member.leader == member.member_id and member.counts != self.assigning.counts(member.counts)

    def _prepare(self, now_us: int, out: Outbox) -> None:
        core, member = self.core, self.core.state.member
        member.must_rejoin = False
        out.cancel(HEARTBEAT)
        member.is_beating = False
        if not self.assigning.is_cooperative:
            self.ownership.hold(core.state.owned)
        if (
            core.settings.commits == AUTO
            and member.generation != NO_GENERATION
            and self.committer.commit(now_us, out, what="prepare")
        ):
            member.phase = COMMITTING
            return
        self.prepared(now_us, out)

    def prepared(self, now_us: int, out: Outbox) -> None:
        """The commit before the rebalance is answered, or there was none: give up, and join."""
        state = self.core.state
        if state.member.generation == NO_GENERATION:
            self.ownership.lose(out)
        elif not self.assigning.is_cooperative:
            self.ownership.revoke(state.owned, "kafka.consumer.eager", out)
        else:
            unsubscribed = [
                partition for partition in state.owned if partition[0] not in state.subscribed.topics
            ]
            self.ownership.revoke(unsubscribed, "kafka.consumer.unsubscribed", out)
        self._join(now_us, out)

    # --- JoinGroup

    def _join(self, now_us: int, out: Outbox) -> None:
        core, state = self.core, self.core.state
        member, settings = state.member, core.settings
        if not core.has_coordinator(now_us, out):
            member.phase, member.must_rejoin, member.because = OUT, True, out.why()
            return
        member.phase, member.joined = JOINING, list(state.subscribed.topics)
        request = m.JoinGroupRequest(
            settings.group_id, settings.session_timeout_ms, member.member_id, CONSUMER_PROTOCOL_TYPE,
            [m.Protocol(name, write_subscription(told)) for name, told in self.assigning.subscriptions()],
            settings.max_poll_interval_ms, settings.group_instance_id, client_id=settings.client_id,
        )  # fmt: skip
        longer_us = (
            settings.max_poll_interval_ms + JOIN_LONGER_MS
        ) * MILLISECOND_US - core.network.timeout_us
        core.ask_coordinator(request, m.JoinGroupResponse, JOIN, now_us, out, longer_us=max(0, longer_us))

    def answered_join(self, answer: m.JoinGroupResponse, now_us: int, out: Outbox) -> None:
        """Kept until poll() looks at it: the heartbeat thread, which could, does not run between JoinGroup
        and its answer."""
        member = self.core.state.member
        if member.phase == JOINING:
            member.answer, member.because = answer, out.why()

    def _joined(self, answer: m.JoinGroupResponse, now_us: int, out: Outbox) -> None:
        core, member = self.core, self.core.state.member
        code = answer.error_code
        if code == codes.NONE:
            if answer.leader == answer.member_id and self.assigning.lacks_metadata(answer):
                member.answer = answer  # the leader first learns of all topics of the group
                core.refresh_metadata(now_us, out)
                return
            member.member_id, member.generation = answer.member_id, answer.generation_id
            member.leader, member.protocol = answer.leader or "", answer.protocol_name or ""
            member.phase = SYNCING
            self._begin_beating(now_us, out)
            if answer.leader != answer.member_id or answer.skip_assignment:
                self._sync([], now_us, out)
            elif member.protocol == CUSTOM:
                member.answer = answer
                out.deadline(
                    ASSIGN, now_us
                )  # a step of its own: nothing has changed where the function's answer is not there yet
            else:
                self._lead(answer, now_us, out)
            return
        member.phase, member.must_rejoin = OUT, True
        if code == codes.MEMBER_ID_REQUIRED:
            member.member_id = answer.member_id
            member.must_rejoin = False
            self._join(now_us, out)
        elif code == codes.UNKNOWN_MEMBER_ID:
            self._reset(False)
            member.must_rejoin = False
            self.prepared(now_us, out)
        else:
            self._failed(code, now_us, out)

    def assign(self, now_us: int, out: Outbox) -> None:
        """The leader's own assignor has answered. Raises Held while it has not, and then nothing has
        changed."""
        core, member = self.core, self.core.state.member
        answer = member.answer
        if not member.is_assigning or answer is None:
            return
        if (
            member.generation == NO_GENERATION or core.state.coordinator.node_id < 0
        ):  # lost within this very microsecond
            member.answer, member.phase, member.must_rejoin, member.because = None, OUT, True, out.why()
            return
        self._lead(answer, now_us, out)

    def _lead(self, answer: m.JoinGroupResponse, now_us: int, out: Outbox) -> None:
        core, member = self.core, self.core.state.member
        try:
            given = self.assigning.assign(answer)
        except AssignorFailed as error:
            member.answer = None
            self._assignor_failed(error, now_us, out)
            return
        except AssignmentRefused:  # a rule of a document, which knows no unequal subscriptions
            out.tell(
                "kafka.consumer.assignor_refused",
                None,
                {},
                {"client": core.settings.client_id, "assignor": member.protocol},
            )
            self.give_up(now_us, out)
            return
        member.answer = None
        self._sync(given, now_us, out)

    def _sync(self, given: list[m.MemberAssignment], now_us: int, out: Outbox) -> None:
        core, member = self.core, self.core.state.member
        request = m.SyncGroupRequest(
            core.settings.group_id,
            member.generation,
            member.member_id,
            core.settings.group_instance_id,
            CONSUMER_PROTOCOL_TYPE,
            member.protocol,
            given,
        )
        core.ask_coordinator(request, m.SyncGroupResponse, SYNC, now_us, out)

    def _failed(self, code: int, now_us: int, out: Outbox) -> None:
        """An answer with an error that is dealt with alike wherever it comes."""
        core, member = self.core, self.core.state.member
        if code in _COORDINATOR_GONE:
            core.lose_coordinator(now_us, out)
        elif code in (COORDINATOR_LOAD_IN_PROGRESS, codes.REBALANCE_IN_PROGRESS):
            core.later(out, now_us)
        else:
            member.code = code
            self._fail(out)
            out.tell("kafka.consumer.failed", None, {"error_code": code}, {"client": core.settings.client_id})

    def _assignor_failed(self, error: AssignorFailed, now_us: int, out: Outbox) -> None:
        """assign() raised in the leader: poll() throws it, so the program ends, and its close() leaves the
        group."""
        core = self.core
        core.state.member.fault = Fault(error.line, error.reason, error.code, error.params)
        out.tell(
            "kafka.consumer.assignor_failed",
            None,
            {"line": error.line},
            {
                "client": core.settings.client_id,
                "reason": error.reason,
                "code": error.code,
                "params": error.params,
            },
        )
        self.give_up(now_us, out)

    def give_up(self, now_us: int, out: Outbox) -> None:
        """The program ends with an exception, and leaves the group."""
        self.leave_group(now_us, out)
        self._fail(out)

    def _fail(self, out: Outbox) -> None:
        """It asks nothing more, and reads nothing."""
        member = self.core.state.member
        member.phase, member.is_beating = FAILED, False
        out.cancel(HEARTBEAT)
        self.ownership.lose(out)

    # --- SyncGroup

    def answered_sync(self, answer: m.SyncGroupResponse, now_us: int, out: Outbox) -> None:
        member = self.core.state.member
        if member.phase != SYNCING:
            return
        member.because = out.why()
        code = answer.error_code
        if code == codes.NONE:
            member.phase = IN
            member.given = list(read_assignment(answer.assignment).partitions) if answer.assignment else []
            return
        member.phase, member.must_rejoin = OUT, True
        if code in (codes.UNKNOWN_MEMBER_ID, codes.ILLEGAL_GENERATION):
            self._reset(code == codes.ILLEGAL_GENERATION)
        elif code != codes.REBALANCE_IN_PROGRESS:
            self._failed(code, now_us, out)

    def _take_up(self, now_us: int, out: Outbox) -> None:
        """onJoinComplete: give up what was taken away, take what is new."""
        state = self.core.state
        member = state.member
        assert member.given is not None
        given, member.given = member.given, None
        if self.assigning.is_cooperative:
            kept = set(given)
            lost = [partition for partition in state.owned if partition not in kept]
            if lost:
                self.ownership.revoke(lost, "kafka.consumer.cooperative", out)
                # What it let go of is handed out in a second rebalance.
                member.must_rejoin, member.because = True, out.why()
        member.previous, member.previous_generation = list(given), member.generation
        self.committer.restart(now_us, out)
        self.ownership.take(given, out)

    # --- heartbeats

    def _begin_beating(self, now_us: int, out: Outbox) -> None:
        self.core.state.member.is_beating = True
        self._next_beat(now_us, out)

    def _next_beat(self, now_us: int, out: Outbox) -> None:
        out.deadline(
            HEARTBEAT,
            now_us + self.core.settings.heartbeat_interval_ms * MILLISECOND_US + self.core.state.loop.late_us,
        )

    def beat(self, now_us: int, out: Outbox) -> None:
        core, member = self.core, self.core.state.member
        if not member.is_beating:
            return
        if core.has_coordinator(now_us, out):
            request = m.HeartbeatRequest(
                core.settings.group_id, member.generation, member.member_id, core.settings.group_instance_id
            )
            core.ask_coordinator(request, m.HeartbeatResponse, HEARTBEAT, now_us, out)
        self._next_beat(now_us, out)

    def answered_heartbeat(self, code: int, now_us: int, out: Outbox) -> None:
        member = self.core.state.member
        if code == codes.NONE or not member.is_beating:
            return
        if code in _COORDINATOR_GONE:
            self.core.lose_coordinator(now_us, out)
            return
        if code in (codes.UNKNOWN_MEMBER_ID, codes.ILLEGAL_GENERATION):
            self._reset(code == codes.ILLEGAL_GENERATION)
        elif code != codes.REBALANCE_IN_PROGRESS:
            self._failed(code, now_us, out)
            return
        if member.phase == IN:
            member.must_rejoin, member.because = True, out.why()

    # --- out of the group

    def _reset(self, keep_id: bool) -> None:
        """The coordinator does not know this member, or not in this generation; what it owns it loses when it
        prepares to join."""
        member = self.core.state.member
        member.generation = NO_GENERATION
        if not keep_id:
            member.member_id = ""

    def refused_commit(self, code: int, generation: int, out: Outbox) -> None:
        """A commit was refused in a way that concerns the membership. generation: with which it was sent."""
        member = self.core.state.member
        if code == codes.FENCED_INSTANCE_ID:
            self._failed(code, 0, out)
        elif code != codes.REBALANCE_IN_PROGRESS and generation == member.generation:
            self._reset(code == codes.ILLEGAL_GENERATION)
        if member.phase == IN:
            member.must_rejoin, member.because = True, out.why()

    def poll_is_late(self, now_us: int, out: Outbox) -> None:
        """max.poll.interval.ms is over without a poll(): the heartbeat thread takes a dynamic member out of
        the group."""
        member = self.core.state.member
        out.tell(
            "kafka.consumer.poll_timeout",
            "kafka.consumer.max_poll_interval",
            {"max_poll_interval_ms": self.core.settings.max_poll_interval_ms},
            {"client": self.core.settings.client_id},
        )
        self.leave_group(now_us, out)
        out.cancel(HEARTBEAT)
        member.is_beating = False
        self._reset(False)
        member.must_rejoin, member.because = True, out.why()

    def leave_group(self, now_us: int, out: Outbox) -> bool:
        """LeaveGroup, of a dynamic member that the coordinator knows. Returns whether it was sent."""
        core, member = self.core, self.core.state.member
        if (
            not member.member_id
            or core.settings.group_instance_id is not None
            or core.state.coordinator.node_id < 0
        ):
            return False
        request = m.LeaveGroupRequest(core.settings.group_id, members=[m.MemberIdentity(member.member_id)])
        core.ask_coordinator(request, m.LeaveGroupResponse, LEAVE, now_us, out)
        return True

    def coordinator_lost(self, whats: list[str], now_us: int, out: Outbox) -> None:
        """The connection to the coordinator broke with these requests on it."""
        member = self.core.state.member
        self.core.state.coordinator.node_id = -1
        if member.phase == COMMITTING:
            self.prepared(now_us, out)
        elif JOIN in whats or SYNC in whats:
            member.phase, member.must_rejoin, member.because = OUT, True, out.why()
        self.core.later(out, now_us)
