"""A transaction from the producer's side: what is to be asked of the coordinators next, and what their
answers lead to.

    begin ─► first record for a partition ─► AddPartitionsToTxn ─► its batches may go
          ─► send_offsets ─► AddOffsetsToTxn ─► TxnOffsetCommit to the group's coordinator
          ─► commit or abort ─► every batch is decided ─► EndTxn ─► READY
                                     abort after a lost sequence ─► EndTxn ─► InitProducerId: the next epoch ─► READY

One request is on its way at a time; which is next follows from the state, so nothing but the state is kept.
Errors come in three kinds: ask again, abortable (the application must abort), fatal (fenced: a newer instance
has the transactional id).
Source: Kafka 3.9 clients TransactionManager (nextRequest, Priority, the TxnRequestHandlers).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.errors import CommandError, InvariantError
from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.client.producer.states import TRANSITIONS, Phase, Step
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group import messages as m

NO_COORDINATOR = -1
Question = t.TransactionMessage | m.TxnOffsetCommitRequest


@dataclass(slots=True)
class GroupOffsets:
    """Offsets that are to be committed with the transaction. is_added: the transaction's coordinator knows
    that the group is part of it."""

    group_id: str
    generation_id: int
    member_id: str
    offsets: list[tuple[str, int, int]]
    is_added: bool = False


@dataclass(slots=True)
class Transaction:
    """error: the last one, of an error phase. coordinator, group_coordinators: brokers. new: partitions to be
    added; pending: being added; added: part of the transaction. is_started: the coordinator knows of it.
    asked: the request on its way, "" for none. retry_at_us: none before.
    failures: of the request that is tried again. is_id_lost: the coordinator does not know the id, so it
    takes no EndTxn.
    """

    phase: Phase = Phase.UNINITIALIZED
    error: ErrorCode = ErrorCode.NONE
    coordinator: int = NO_COORDINATOR
    group_coordinators: dict[str, int] = field(default_factory=dict)
    new: dict[TopicPartition, None] = field(default_factory=dict)
    pending: dict[TopicPartition, None] = field(default_factory=dict)
    added: dict[TopicPartition, None] = field(default_factory=dict)
    offsets: list[GroupOffsets] = field(default_factory=list)
    is_started: bool = False
    asked: str = ""
    retry_at_us: int = 0
    failures: int = 0
    is_id_lost: bool = False

    def step(self, step: Step, error: ErrorCode = ErrorCode.NONE) -> None:
        """Go on as the table says; error: of an error phase. Raises InvariantError where the table has
        nothing."""
        phase = TRANSITIONS.get((self.phase, step))
        if phase is None:
            raise InvariantError(f"{step} in {self.phase}")
        if phase is Phase.FATAL_ERROR or (phase is Phase.ABORTABLE_ERROR and self.phase is not phase):
            self.error = error
        elif phase is not Phase.ABORTABLE_ERROR:
            self.error = ErrorCode.NONE
        self.phase = phase

    def order(self, step: Step) -> None:
        """The application begins or ends a transaction. Raises CommandError where the original throws, and
        then nothing has changed."""
        if (self.phase, step) not in TRANSITIONS:
            if self.phase is Phase.FATAL_ERROR:
                raise CommandError(
                    "order", "the producer has failed for good: {error}", error=self.error.name
                )
            raise CommandError(
                "order",
                "the producer cannot {step} while it is {phase}",
                step=step.value,
                phase=self.phase.value,
            )
        if step is Step.ABORT:
            self.new.clear()
            self.offsets.clear()
            if self.phase is Phase.ABORTABLE_ERROR:
                self.pending.clear()  # what was being added has failed with the rest
        self.step(step)

    @property
    def is_completing(self) -> bool:
        return self.phase in (Phase.COMMITTING, Phase.ABORTING)

    def add(self, partition: TopicPartition) -> None:
        """A record goes to this partition."""
        if partition not in self.added and partition not in self.pending:
            self.new[partition] = None

    def over(self, *, is_bump_required: bool) -> None:
        """The transaction has ended on this side; after a lost sequence the next epoch is asked for first."""
        self.step(Step.BUMP if is_bump_required else Step.ENDED)
        self.new.clear()
        self.pending.clear()
        self.added.clear()
        self.offsets.clear()
        self.is_started = self.is_id_lost = False

    def next_request(
        self,
        transactional_id: str | None,
        timeout_ms: int,
        producer: tuple[int, int],
        *,
        has_incomplete: bool,
    ) -> tuple[int | None, Question] | None:
        """What is to be asked now, and of whom: (broker, request); broker None: of any. None: nothing.

        transactional_id: None: idempotence alone. producer: its id and epoch, -1 before it has one.
        has_incomplete: some batch has no last word.
        """
        if transactional_id is None:
            return (None, t.InitProducerIdRequest()) if self.phase is Phase.INITIALIZING else None
        wanted = self._wanted(transactional_id, timeout_ms, producer, has_incomplete)
        if wanted is None:
            return None
        if isinstance(wanted, m.TxnOffsetCommitRequest):
            broker = self.group_coordinators.get(wanted.group_id, NO_COORDINATOR)
            return (
                (None, t.FindCoordinatorRequest(wanted.group_id, t.GROUP))
                if broker == NO_COORDINATOR
                else (broker, wanted)
            )
        if self.coordinator == NO_COORDINATOR:
            return None, t.FindCoordinatorRequest(transactional_id, t.TRANSACTION)
        return self.coordinator, wanted

    def _wanted(
        self, transactional_id: str, timeout_ms: int, producer: tuple[int, int], has_incomplete: bool
    ) -> Question | None:
        if self.phase is Phase.INITIALIZING:
            return t.InitProducerIdRequest(transactional_id, timeout_ms, *producer)
        if self.phase is not Phase.IN_TRANSACTION and not self.is_completing:
            return None
        if self.new or self.pending:
            self.pending.update(self.new)
            self.new.clear()
            return t.AddPartitionsToTxnRequest(transactional_id, *producer, list(self.pending))
        if self.offsets:
            group = self.offsets[0]
            if not group.is_added:
                return t.AddOffsetsToTxnRequest(transactional_id, *producer, group.group_id)
            topics: dict[str, list[m.CommittedPartition]] = {}
            for topic, number, offset in group.offsets:
                topics.setdefault(topic, []).append(m.CommittedPartition(number, offset))
            return m.TxnOffsetCommitRequest(
                transactional_id,
                group.group_id,
                *producer,
                [m.CommittedTopic(topic, parts) for topic, parts in topics.items()],
                group.generation_id,
                group.member_id,
            )
        if self.is_completing and not has_incomplete:
            return t.EndTxnRequest(transactional_id, *producer, self.phase is Phase.COMMITTING)
        return None
