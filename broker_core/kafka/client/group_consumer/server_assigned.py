"""A member of a group of the consumer protocol (KIP-848): one request, the heartbeat, and what it says the
member takes up in poll().

    heartbeat, epoch 0 ─► assignment ─► poll(): commit and give up what is lost ─► take what is new ─► heartbeat that reports what it holds

The heartbeat goes out every interval that the coordinator names, and at once to join and to report. It says
only what has changed since the last one that was answered. Nobody stops for anybody: what is not taken away
is read on.

Source: Kafka 3.9 clients MembershipManagerImpl, HeartbeatRequestManager, AsyncKafkaConsumer.
"""

from __future__ import annotations

from broker_core.clock import MILLISECOND_US
from broker_core.kafka.client.group_consumer.classic import COORDINATOR_LOAD_IN_PROGRESS, HEARTBEAT, LEAVE
from broker_core.kafka.client.group_consumer.commits import Committer
from broker_core.kafka.client.group_consumer.core import COMMITTING, FAILED, IN, OUT, Core
from broker_core.kafka.client.group_consumer.network import COORDINATOR
from broker_core.kafka.client.group_consumer.ownership import Ownership
from broker_core.kafka.client.group_consumer.settings import AUTO
from broker_core.kafka.client.group_consumer.subscription import TopicPartition
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.topics import topic_id
from broker_core.sim.node import Outbox

JOIN_EPOCH, LEAVE_EPOCH, STATIC_LEAVE_EPOCH = 0, -1, -2


class ServerAssignedMember:
    def __init__(self, core: Core, ownership: Ownership, committer: Committer) -> None:
        self.core, self.ownership, self.committer = core, ownership, committer

    # --- in poll()

    def poll(self, now_us: int, out: Outbox) -> None:
        state = self.core.state
        member = state.member
        if (
            member.phase == FAILED
            or not state.subscribed.topics
            or not self.core.has_coordinator(now_us, out)
        ):
            return
        if member.phase == OUT:
            self.ownership.lose(out)
            member.generation = JOIN_EPOCH
        if member.joined != state.subscribed.topics:
            member.was_told = False
        if member.phase == IN and member.unresolved:
            self._assigned(member.unresolved, out)
        if member.phase == IN and member.given is not None:
            out.because(member.because)
            self._reconcile(now_us, out)
        if (member.phase == OUT or member.is_reporting or not member.was_told) and not member.is_beating:
            if self.core.network.is_backing_off(COORDINATOR, now_us, self.core.backoff_us):
                self.core.later(
                    out,
                    now_us,
                    # the heartbeat before failed just now: perhaps its broker is gone, and the others do not
                    # know yet
                )
                return
            self._heartbeat(now_us, out)

    def _reconcile(self, now_us: int, out: Outbox) -> None:
        state = self.core.state
        member = state.member
        lost = self._lost()
        if lost and self.core.settings.commits == AUTO:
            self.ownership.hold(lost)
            if self.committer.commit(now_us, out, what="prepare"):
                member.phase = COMMITTING
                return
        self.prepared(now_us, out)

    def _lost(self) -> list[TopicPartition]:
        state = self.core.state
        kept = set(state.member.given or ())
        return [partition for partition in state.owned if partition not in kept]

    def prepared(self, now_us: int, out: Outbox) -> None:
        """The commit is answered, or there was none: give up, take up, and report it."""
        member = self.core.state.member
        member.phase = IN
        if member.given is None:
            return
        self.ownership.revoke(self._lost(), "kafka.consumer.reconciled", out)
        given, member.given = member.given, None
        self.ownership.take(given, out)
        if not member.is_reporting and self.core.settings.commits == AUTO:
            self.committer.restart(now_us, out)
        member.is_reporting = True

    # --- the heartbeat

    def beat(self, now_us: int, out: Outbox) -> None:
        if self.core.state.member.phase in (OUT, FAILED):
            return
        if not self.core.state.member.is_beating and self.core.has_coordinator(now_us, out):
            self._heartbeat(now_us, out)
        else:
            self._next_beat(now_us, out)

    def _heartbeat(self, now_us: int, out: Outbox, epoch: int | None = None) -> None:
        core, state = self.core, self.core.state
        member, settings = state.member, core.settings
        request = m.ConsumerGroupHeartbeatRequest(
            settings.group_id,
            member.member_id,
            member.generation if epoch is None else epoch,
            settings.group_instance_id,
            client_id=settings.client_id,
        )
        if epoch is None:
            is_full = not member.was_told or member.generation == JOIN_EPOCH
            if is_full:
                request.rebalance_timeout_ms = settings.max_poll_interval_ms
                request.subscribed_topic_names = list(state.subscribed.topics)
                request.server_assignor, request.rack_id = (
                    settings.remote_assignor,
                    settings.client_rack or None,
                )
            if is_full or member.is_reporting:
                request.topic_partitions = self._held()
            member.joined, member.was_told, member.is_reporting = list(state.subscribed.topics), True, False
            member.is_beating = True
            if member.phase == OUT:
                member.phase = IN
        what = HEARTBEAT if epoch is None else LEAVE
        core.ask_coordinator(request, m.ConsumerGroupHeartbeatResponse, what, now_us, out)
        if epoch is None:
            self._next_beat(now_us, out)

    def _held(self) -> list[m.TopicPartitions]:
        by_topic: dict[str, list[int]] = {}
        for topic, number in self.core.state.owned:
            by_topic.setdefault(topic, []).append(number)
        return [m.TopicPartitions(topic_id(topic), numbers) for topic, numbers in by_topic.items()]

    def _next_beat(self, now_us: int, out: Outbox) -> None:
        member = self.core.state.member
        interval_ms = member.interval_ms or self.core.settings.heartbeat_interval_ms
        out.deadline(HEARTBEAT, now_us + interval_ms * MILLISECOND_US + self.core.state.loop.late_us)

    def answered_beat(self, answer: m.ConsumerGroupHeartbeatResponse, now_us: int, out: Outbox) -> None:
        core, member = self.core, self.core.state.member
        member.is_beating = False
        if member.phase in (OUT, FAILED):
            return
        code = answer.error_code
        if code == codes.NONE:
            member.member_id, member.generation = answer.member_id or member.member_id, answer.member_epoch
            if answer.heartbeat_interval_ms and answer.heartbeat_interval_ms != member.interval_ms:
                member.interval_ms = answer.heartbeat_interval_ms
                self._next_beat(now_us, out)
            if answer.assignment is not None:
                self._assigned(answer.assignment.topic_partitions, out)
            return
        member.was_told = False
        if code in (codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR):
            core.lose_coordinator(now_us, out)
        elif code == COORDINATOR_LOAD_IN_PROGRESS:
            core.later(out, now_us)
        elif code in (codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID):
            out.tell(
                "kafka.consumer.fenced",
                None,
                {"error_code": code, "member_epoch": member.generation},
                {"client": core.settings.client_id},
            )
            member.phase, member.given, member.unresolved = OUT, None, []
        else:
            member.code = code
            self._fail(out)
            out.tell("kafka.consumer.failed", None, {"error_code": code}, {"client": core.settings.client_id})

    def _assigned(self, rows: list[m.TopicPartitions], out: Outbox) -> None:
        """A target: taken up in the next poll(), unless it is what the member has. Of a topic whose name is
        not known newer metadata tell it, and until then the member takes the rest."""
        state = self.core.state
        member = state.member
        known = [*state.subscribed.topics, *state.cluster.leaders, *(topic for topic, _ in state.owned)]
        names = {topic_id(topic): topic for topic in known}
        given = [
            (names[row.topic_id], number)
            for row in rows
            if row.topic_id in names
            for number in row.partitions
        ]
        member.unresolved = [] if all(row.topic_id in names for row in rows) else rows
        if member.unresolved:
            state.cluster.is_stale = True
        if set(given) != set(state.owned) or member.given is not None:
            member.given, member.because = given, out.why()

    # --- out of the group

    def give_up(self, now_us: int, out: Outbox) -> None:
        """The program ends with an exception, and leaves the group."""
        self.leave_group(now_us, out)
        self._fail(out)

    def _fail(self, out: Outbox) -> None:
        """It asks nothing more, and reads nothing."""
        self.core.state.member.phase = FAILED
        out.cancel(HEARTBEAT)
        self.ownership.lose(out)

    def refused_commit(self, code: int, generation: int, out: Outbox) -> None:
        """A commit with an epoch that is no longer known: the heartbeat will tell what has become of the
        member."""

    def poll_is_late(self, now_us: int, out: Outbox) -> None:
        """max.poll.interval.ms is over without a poll(): the member leaves, and joins again with the next
        poll()."""
        member = self.core.state.member
        out.tell(
            "kafka.consumer.poll_timeout",
            "kafka.consumer.max_poll_interval",
            {"max_poll_interval_ms": self.core.settings.max_poll_interval_ms},
            {"client": self.core.settings.client_id},
        )
        self.leave_group(now_us, out)
        out.cancel(HEARTBEAT)
        member.phase, member.given, member.is_beating, member.was_told = OUT, None, False, False
        member.unresolved = []

    def leave_group(self, now_us: int, out: Outbox) -> bool:
        """The last heartbeat, of a member that the coordinator knows. Returns whether it was sent."""
        member = self.core.state.member
        if not member.member_id or self.core.state.coordinator.node_id < 0:
            return False
        self._heartbeat(
            now_us, out, LEAVE_EPOCH if self.core.settings.group_instance_id is None else STATIC_LEAVE_EPOCH
        )
        return True

    def coordinator_lost(self, whats: list[str], now_us: int, out: Outbox) -> None:
        """The connection to the coordinator broke: find it again, and say everything again."""
        member = self.core.state.member
        self.core.state.coordinator.node_id = -1
        member.is_beating = member.was_told = False
        if member.phase == COMMITTING:
            self.prepared(now_us, out)
        self.core.later(out, now_us)
