"""Commits: every so often by the library, after each poll by the program, before a rebalance, and on the way
out.

What is committed is the position of what was handled: the record in hand is not done. A program that waits
for its commit (commitSync) polls again when it is answered. Whatever the way, the generation goes with it,
and a zombie's is refused. A member that knows that it rebalances, or is out, does not ask at all: commitSync
throws RebalanceInProgressException or CommitFailedException, and the program polls.

Source: Kafka 3.9 clients ConsumerCoordinator (sendOffsetCommitRequest, OffsetCommitResponseHandler,
maybeAutoCommitOffsetsAsync), AbstractCoordinator.generationIfStable.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.clock import MILLISECOND_US
from broker_core.kafka.client.group_consumer.core import JOINING, SYNCING, Core
from broker_core.kafka.client.group_consumer.settings import AUTO
from broker_core.kafka.client.group_consumer.subscription import TopicPartition, named
from broker_core.kafka.cluster.requests import NO_EPOCH
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.decoded import code_name
from broker_core.sim.node import Outbox

COMMIT, GIVEN = "commit", "given"
_CONCERNS_MEMBERSHIP = (
    codes.UNKNOWN_MEMBER_ID,
    codes.ILLEGAL_GENERATION,
    codes.REBALANCE_IN_PROGRESS,
    codes.FENCED_INSTANCE_ID,
    codes.STALE_MEMBER_EPOCH,
)


class Committer:
    def __init__(self, core: Core) -> None:
        self.core = core

    def restart(self, now_us: int, out: Outbox) -> None:
        """The interval of auto-commit begins now."""
        if self.core.settings.commits == AUTO:
            out.deadline(COMMIT, now_us + self.core.settings.auto_commit_interval_ms * MILLISECOND_US)

    def poll(self, now_us: int, out: Outbox) -> None:
        """An auto-commit whose interval is over goes out with the next poll()."""
        commits = self.core.state.commits
        if commits.is_due:
            commits.is_due = False
            self.commit(now_us, out)
            self.restart(now_us, out)

    def commit(
        self, now_us: int, out: Outbox, *, what: str = "", offsets: Mapping[TopicPartition, int] | None = None
    ) -> bool:
        """Send a commit; whether there was anything to commit and somebody to send it to. what: who waits for
        the answer.
        offsets: instead of what was handled."""
        core, state = self.core, self.core.state
        known = state.handled() if offsets is None else dict(offsets)
        if not known or state.coordinator.node_id < 0:
            return False
        if not state.may_commit:
            state.commits.failed += 1
            return False
        topics: dict[str, list[m.CommittedPartition]] = {}
        for (topic, number), offset in known.items():
            assigned = state.subscribed.assigned.get((topic, number))
            epoch = NO_EPOCH
            if assigned is not None:
                assigned.committed = offset
                epoch = assigned.offset_epoch if assigned.position == offset else NO_EPOCH
            topics.setdefault(topic, []).append(m.CommittedPartition(number, offset, epoch))
        member = state.member
        request = m.OffsetCommitRequest(
            core.settings.group_id,
            member.generation,
            member.member_id,
            [m.CommittedTopic(topic, row) for topic, row in topics.items()],
            core.settings.group_instance_id,
        )
        core.ask_coordinator(
            request, m.OffsetCommitResponse, f"{COMMIT}:{member.generation}:{what}", now_us, out
        )
        return True

    def answered(self, answer: m.OffsetCommitResponse, what: str, now_us: int, out: Outbox) -> int:
        """Book the answer. what: as the commit was asked. Returns the code that concerns the membership, NONE
        if there is none."""
        commits = self.core.state.commits
        if GIVEN in what:
            self._tell_given(answer, out)
        worst = next(
            (entry.error_code for topic in answer.topics for entry in topic.partitions if entry.error_code),
            codes.NONE,
        )
        if worst == codes.NONE:
            commits.done += 1
            return codes.NONE
        commits.failed += 1
        if worst in (codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR, codes.REQUEST_TIMED_OUT):
            self.core.lose_coordinator(now_us, out)
            if GIVEN not in what:  # given offsets are the program's to give again
                commits.is_due = True  # retriable: with the next poll() again
        return worst if worst in _CONCERNS_MEMBERSHIP else codes.NONE

    def tell_unsent(self, partitions: list[TopicPartition], out: Outbox) -> None:
        """Given offsets that cannot even be asked for: commitSync throws."""
        state = self.core.state
        is_rebalancing = state.member.phase in (JOINING, SYNCING)
        error = "RebalanceInProgressException" if is_rebalancing else "CommitFailedException"
        if state.may_commit:
            error = code_name(codes.COORDINATOR_NOT_AVAILABLE)
        self._tell(partitions, error, out)

    def _tell_given(self, answer: m.OffsetCommitResponse, out: Outbox) -> None:
        by_code: dict[int, list[TopicPartition]] = {}
        for topic in answer.topics:
            for entry in topic.partitions:
                by_code.setdefault(entry.error_code, []).append((topic.name, entry.partition_index))
        for code, partitions in by_code.items():
            self._tell(partitions, code_name(code) if code else "", out)

    def _tell(self, partitions: list[TopicPartition], error: str, out: Outbox) -> None:
        data = {"client": self.core.settings.client_id, **named(partitions)}
        if error:
            out.tell("kafka.consumer.commit_refused", None, {}, {**data, "error": error})
        else:
            out.tell("kafka.consumer.committed", None, {}, data)
