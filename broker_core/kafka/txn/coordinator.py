"""The transaction coordinator of one broker: a table of ids for each partition of `__transaction_state` that
the broker leads.

    InitProducerId ─► epoch + 1 ─► record ─► answered          an open transaction of the producer before: fenced, aborted; the client asks again
    AddPartitionsToTxn ─► ONGOING ─► record ─► answered        EndTxn ─► prepare ─► record ─► answered ─► markers ─► complete ─► record
    each 10 s: a transaction that has lasted too long is fenced and aborted

A change is written first and holds when its record is on all of the ISR (`written`); an error takes it back.
EndTxn is answered when the prepare is written; a new coordinator loads the records and completes the rest.
Source: Kafka 3.9 core TransactionCoordinator, TransactionStateManager, TransactionMarkerChannelManager.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import NO_PRODUCER_ID
from broker_core.kafka.txn import transactional_id as rules
from broker_core.kafka.txn.coordinator_out import CoordinatorOut
from broker_core.kafka.txn.records import PARTITION_COUNT, as_record, loaded, state_partition
from broker_core.kafka.txn.states import PREPARED, TransactionState, TransactionStep
from broker_core.kafka.txn.transactional_id import TransactionalId

TIMEOUT_MS_MAX = 900_000
"""Kafka's default transaction.max.timeout.ms."""
ABORT_INTERVAL_MS = 10_000
"""Kafka's default transaction.abort.timed.out.transaction.cleanup.interval.ms."""
NOBODY = 0
"""In place of a ticket: nobody waits for the answer."""

TRY_LATER = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.NETWORK_EXCEPTION,
    }
)
"""Of a marker: it is sent again, to whoever leads then."""


@dataclass(slots=True)
class Write:
    """A change whose record is being written. ticket, response: who is answered then, and with what; NOBODY
    for the coordinator's own."""

    state_partition: int
    coordinator_epoch: int
    wanted: TransactionalId
    ticket: int
    response: t.TransactionMessage | None
    is_fence: bool = False


@dataclass(slots=True)
class StatePartition:
    """One partition of `__transaction_state` that this broker leads. coordinator_epoch: its leader epoch,
    which markers carry."""

    coordinator_epoch: int
    ids: dict[str, TransactionalId] = field(default_factory=dict)


@dataclass(slots=True)
class Marker:
    """A marker that one partition's leader has yet to write. is_asked: it is on its way."""

    state_partition: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_commit: bool
    coordinator_epoch: int
    partition: TopicPartition
    is_asked: bool = False


@dataclass(slots=True)
class CoordinatorState:
    """partition_count: of `__transaction_state`; 0: there is no such topic yet. writes: by number. markers:
    oldest first."""

    partition_count: int = PARTITION_COUNT
    led: dict[int, StatePartition] = field(default_factory=dict)
    writes: dict[int, Write] = field(default_factory=dict)
    markers: list[Marker] = field(default_factory=list)
    write_count: int = 0


class TransactionCoordinator:
    def __init__(self, state: CoordinatorState) -> None:
        self.state = state

    # --- who coordinates

    def elected(
        self, number: int, coordinator_epoch: int, records: Iterable[Any], now_ms: int, out: CoordinatorOut
    ) -> None:
        """This broker leads a partition of `__transaction_state`: load it, and complete what was prepared.
        records: in the order of the log."""
        self.resigned(number)
        led = self.state.led[number] = StatePartition(coordinator_epoch, loaded(records))
        for known in led.ids.values():
            if known.state in PREPARED:
                self._complete(number, led, known, now_ms, out)

    def resigned(self, number: int) -> None:
        """It leads it no more. Requests that wait for a record are answered when their append fails."""
        self.state.led.pop(number, None)
        self.state.markers = [marker for marker in self.state.markers if marker.state_partition != number]

    # --- requests

    def init_producer_id(
        self, ticket: int, request: t.InitProducerIdRequest, now_ms: int, out: CoordinatorOut
    ) -> None:
        """Give an id and an epoch. A new producer of an id with an open transaction fences the one before and
        has to ask again."""
        name = request.transactional_id
        if name is None:
            producer_id = out.new_producer_id()
            error = (
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if producer_id == NO_PRODUCER_ID else ErrorCode.NONE
            )
            out.answer(
                ticket, t.InitProducerIdResponse(error, producer_id, 0 if error is ErrorCode.NONE else -1)
            )
            return
        if not name:
            out.answer(ticket, t.InitProducerIdResponse(ErrorCode.INVALID_REQUEST))
            return
        if not 0 < request.transaction_timeout_ms <= TIMEOUT_MS_MAX:
            out.answer(ticket, t.InitProducerIdResponse(ErrorCode.INVALID_TRANSACTION_TIMEOUT))
            return
        number, led = self._find(name)
        if led is None:
            out.answer(ticket, t.InitProducerIdResponse(ErrorCode.NOT_COORDINATOR))
            return
        known = led.ids.get(name)
        if known is None or known.is_exhausted:
            new_id = out.new_producer_id()
            if new_id == NO_PRODUCER_ID:
                out.answer(ticket, t.InitProducerIdResponse(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
                return
        else:
            new_id = NO_PRODUCER_ID
        if known is None:
            known = led.ids[name] = TransactionalId(name, new_id, request.transaction_timeout_ms)
        expected = (request.producer_id, request.producer_epoch)
        if known.state is TransactionState.ONGOING and rules.fits(known, expected) is ErrorCode.NONE:
            out.tell(
                "kafka.transaction.producer_fenced",
                "kafka.transaction.newer_epoch",
                {"producer_id": known.producer_id, "epoch_before": known.producer_epoch},
                {"transactional_id": name},
            )
            response = t.InitProducerIdResponse(ErrorCode.CONCURRENT_TRANSACTIONS)
            self._write(number, led, known, rules.fence(known, now_ms), ticket, response, out, is_fence=True)
            return
        wanted = rules.init(known, request.transaction_timeout_ms, expected, new_id, now_ms)
        if isinstance(wanted, ErrorCode):
            out.answer(ticket, t.InitProducerIdResponse(wanted))
        else:
            response = t.InitProducerIdResponse(0, wanted.producer_id, wanted.producer_epoch)
            self._write(number, led, known, wanted, ticket, response, out)

    def add_partitions(
        self, ticket: int, request: t.AddPartitionsToTxnRequest, now_ms: int, out: CoordinatorOut
    ) -> None:
        """Make partitions part of the transaction; the first ones begin it. verify_only: a leader asks
        whether they are."""
        producer = (request.producer_id, request.producer_epoch)
        if request.verify_only:
            out.answer(ticket, self.verified(request))
            return
        done = t.AddPartitionsToTxnResponse([(*partition, 0) for partition in request.partitions])
        error = self._add(ticket, request.transactional_id, producer, request.partitions, done, now_ms, out)
        if error is not None:
            out.answer(
                ticket,
                t.AddPartitionsToTxnResponse([(*partition, error) for partition in request.partitions]),
            )

    def verified(self, request: t.AddPartitionsToTxnRequest) -> t.AddPartitionsToTxnResponse:
        """Whether these partitions are part of the producer's open transaction."""
        producer = (request.producer_id, request.producer_epoch)
        _, led = self._find(request.transactional_id)
        known = None if led is None else led.ids.get(request.transactional_id)
        results: list[tuple[str, int, int]] = []
        for partition in request.partitions:
            if led is None:
                error = ErrorCode.NOT_COORDINATOR
            elif known is None:
                error = ErrorCode.INVALID_PRODUCER_ID_MAPPING
            else:
                error = rules.verify(known, producer, partition)
            results.append((*partition, error))
        return t.AddPartitionsToTxnResponse(results)

    def add_offsets(
        self,
        ticket: int,
        request: t.AddOffsetsToTxnRequest,
        offsets_partition: TopicPartition,
        now_ms: int,
        out: CoordinatorOut,
    ) -> None:
        """Make a group's partition of `__consumer_offsets` part of the transaction."""
        producer = (request.producer_id, request.producer_epoch)
        error = self._add(
            ticket,
            request.transactional_id,
            producer,
            [offsets_partition],
            t.AddOffsetsToTxnResponse(0),
            now_ms,
            out,
        )
        if error is not None:
            out.answer(ticket, t.AddOffsetsToTxnResponse(error))

    def end_transaction(
        self, ticket: int, request: t.EndTxnRequest, now_ms: int, out: CoordinatorOut
    ) -> None:
        """Decide on the outcome."""
        if not request.transactional_id:
            out.answer(ticket, t.EndTxnResponse(ErrorCode.INVALID_REQUEST))
            return
        number, led = self._find(request.transactional_id)
        known = None if led is None else led.ids.get(request.transactional_id)
        if led is None or known is None:
            error = ErrorCode.NOT_COORDINATOR if led is None else ErrorCode.INVALID_PRODUCER_ID_MAPPING
            out.answer(ticket, t.EndTxnResponse(error))
            return
        wanted = rules.end(known, (request.producer_id, request.producer_epoch), request.committed, now_ms)
        if isinstance(wanted, ErrorCode):
            out.answer(ticket, t.EndTxnResponse(wanted))
        else:
            self._write(number, led, known, wanted, ticket, t.EndTxnResponse(0), out)

    # --- time

    def abort_timed_out(self, now_ms: int, out: CoordinatorOut) -> None:
        """Fence and abort every transaction that has lasted too long."""
        for number, led in list(self.state.led.items()):
            for known in list(led.ids.values()):
                if known.is_timed_out(now_ms):
                    out.tell(
                        "kafka.transaction.timed_out",
                        "kafka.transaction.timeout",
                        {
                            "transaction_timeout_us": known.timeout_ms * 1_000,
                            "partitions": [f"{topic}-{p}" for topic, p in known.partitions][:16],
                        },
                        {
                            "transactional_id": known.transactional_id,
                            "producer_id": known.producer_id,
                            "epoch_before": known.producer_epoch,
                        },
                    )
                    self._write(
                        number, led, known, rules.fence(known, now_ms), NOBODY, None, out, is_fence=True
                    )

    # --- the log's word

    def written(self, write_number: int, error: ErrorCode, now_ms: int, out: CoordinatorOut) -> None:
        """A record is on all of the ISR, or is not to be."""
        write = self.state.writes.pop(write_number)
        name = write.wanted.transactional_id
        led = self.state.led.get(write.state_partition)
        if led is None or led.coordinator_epoch != write.coordinator_epoch:
            self._answer_error(write, ErrorCode.NOT_COORDINATOR, out)
            return
        known = led.ids[name]
        known.pending = None
        if error is not ErrorCode.NONE:
            is_completion = write.ticket == NOBODY and not write.is_fence
            if write.is_fence:
                known.has_failed_fence = True
                known.producer_epoch = write.wanted.producer_epoch  # raised in memory alone: no client has it
            if is_completion:
                self._complete(write.state_partition, led, known, now_ms, out)
            self._answer_error(write, _as_client_sees(error), out)
            return
        wanted = led.ids[name] = write.wanted
        wanted.has_failed_fence = False
        if write.ticket != NOBODY and write.response is not None:
            out.answer(write.ticket, write.response)
        if wanted.state in PREPARED:
            self._complete(write.state_partition, led, wanted, now_ms, out)

    # --- markers

    def take_markers(self) -> list[Marker]:
        """Markers that are not on their way."""
        return [marker for marker in self.state.markers if not marker.is_asked]

    def marked(self, marker: Marker, error: ErrorCode, now_ms: int, out: CoordinatorOut) -> None:
        """A partition's leader has written a marker, or has not. Out of its refusals for good the transaction
        is left as it is: a newer coordinator, or a newer epoch, has taken over."""
        if marker not in self.state.markers:
            return  # this broker coordinates the id no more
        place = self.state.markers.index(marker)
        if error in TRY_LATER:
            self.state.markers[place].is_asked = False
            return
        del self.state.markers[place]
        led = self.state.led.get(marker.state_partition)
        known = None if led is None else led.ids.get(marker.transactional_id)
        if led is None or known is None or led.coordinator_epoch != marker.coordinator_epoch:
            return
        if (
            error is ErrorCode.NONE
            and known.state in PREPARED
            and known.producer_epoch == marker.producer_epoch
        ):
            known.partitions.pop(marker.partition, None)
            if not known.partitions:
                self._complete(marker.state_partition, led, known, now_ms, out)

    # --- inside

    def _find(self, name: str) -> tuple[int, StatePartition | None]:
        if not self.state.partition_count:
            return -1, None
        number = state_partition(name, self.state.partition_count)
        return number, self.state.led.get(number)

    def _add(
        self,
        ticket: int,
        name: str,
        producer: tuple[int, int],
        partitions: Sequence[TopicPartition],
        done: t.TransactionMessage,
        now_ms: int,
        out: CoordinatorOut,
    ) -> ErrorCode | None:
        if not name:
            return ErrorCode.INVALID_REQUEST
        number, led = self._find(name)
        if led is None:
            return ErrorCode.NOT_COORDINATOR
        known = led.ids.get(name)
        if known is None:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        wanted = rules.add(known, producer, partitions, now_ms)
        if isinstance(wanted, ErrorCode):
            return wanted
        self._write(number, led, known, wanted, ticket, done, out)
        return None

    def _write(
        self, number: int, led: StatePartition, known: TransactionalId, wanted: TransactionalId, ticket: int,
        response: t.TransactionMessage | None, out: CoordinatorOut, *, is_fence: bool = False,
    ) -> None:  # fmt: skip
        """Write what is to be. Nothing follows this call: the answer may come within it."""
        known.pending = wanted.state
        state = self.state
        state.write_count += 1
        state.writes[state.write_count] = Write(
            number, led.coordinator_epoch, wanted, ticket, response, is_fence
        )
        out.append(state.write_count, number, as_record(wanted))

    def _complete(
        self, number: int, led: StatePartition, known: TransactionalId, now_ms: int, out: CoordinatorOut
    ) -> None:
        """Have the markers written that are missing; with none left, write that the transaction is over."""
        if known.partitions:
            is_commit = known.state is TransactionState.PREPARE_COMMIT
            self.state.markers += [
                Marker(
                    number,
                    known.transactional_id,
                    known.producer_id,
                    known.producer_epoch,
                    is_commit,
                    led.coordinator_epoch,
                    partition,
                )
                for partition in known.partitions
            ]
            out.send_markers()
        else:
            self._write(
                number, led, known, rules.stepped(known, TransactionStep.COMPLETE, now_ms), NOBODY, None, out
            )

    def _answer_error(self, write: Write, error: ErrorCode, out: CoordinatorOut) -> None:
        if write.ticket == NOBODY:
            return
        match write.response:
            case t.InitProducerIdResponse():
                out.answer(write.ticket, t.InitProducerIdResponse(error))
            case t.AddPartitionsToTxnResponse(results):
                out.answer(
                    write.ticket,
                    t.AddPartitionsToTxnResponse([(topic, number, error) for topic, number, _ in results]),
                )
            case t.AddOffsetsToTxnResponse():
                out.answer(write.ticket, t.AddOffsetsToTxnResponse(error))
            case _:
                out.answer(write.ticket, t.EndTxnResponse(error))


def _as_client_sees(error: ErrorCode) -> ErrorCode:
    """An append's error, as the client gets it. Source: TransactionStateManager.appendTransactionToLog."""
    if error in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR):
        return ErrorCode.NOT_COORDINATOR
    if error in (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
    ):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return ErrorCode.UNKNOWN_SERVER_ERROR
