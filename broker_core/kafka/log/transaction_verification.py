"""A transaction's first batch needs a proof that the coordinator knows of it: a guard, given before the
broker asks and used up by the batch.

    start ─► guard 7 ─► the broker asks the coordinator ─► append with guard 7 ─► transaction open, guard gone
                               │ meanwhile: marker          append with guard 7 ─► INVALID_TXN_STATE

Without it a late batch could open, after the marker, a transaction that nobody will ever end. While a
verification is under way, no batch with a sequence above the lowest one seen is taken: the lower one may be
on its way again.

Source: Kafka 3.9 storage/internals/log/VerificationStateEntry, ProducerStateManager,
UnifiedLog.maybeStartTransactionVerification.
Vectors: kafka/replication/producer_state.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.kafka.log.errors import InvalidTxnState


@dataclass(slots=True)
class Verification:
    """One that is under way."""

    guard: int
    started_ms: int
    producer_epoch: int
    lowest_sequence: int


@dataclass(slots=True)
class TransactionVerifications:
    """All of one partition; a restart forgets them."""

    under_way: dict[int, Verification] = field(default_factory=dict)  # producer id ->
    guards_given: int = 0

    def start(self, producer_id: int, producer_epoch: int, sequence: int, now_ms: int) -> int:
        """Give the guard: a new one, or that of the verification under way, which notes a lower sequence or a
        newer epoch."""
        entry = self.under_way.get(producer_id)
        if entry is None:
            self.guards_given += 1
            self.under_way[producer_id] = Verification(self.guards_given, now_ms, producer_epoch, sequence)
            return self.guards_given
        if producer_epoch > entry.producer_epoch:
            entry.producer_epoch, entry.lowest_sequence = producer_epoch, sequence
        elif producer_epoch == entry.producer_epoch:
            entry.lowest_sequence = min(entry.lowest_sequence, sequence)
        return entry.guard

    def check_guard(self, producer_id: int, guard: int | None) -> None:
        """Raise InvalidTxnState unless this is the guard of the verification under way."""
        entry = self.under_way.get(producer_id)
        if entry is None or entry.guard != guard:
            raise InvalidTxnState(f"producer {producer_id} opens a transaction that was not verified")

    def lowest_sequence(self, producer_id: int) -> int | None:
        """The lowest sequence seen since the verification under way began; None: there is none."""
        entry = self.under_way.get(producer_id)
        return None if entry is None else entry.lowest_sequence

    def end(self, producer_id: int) -> None:
        """A transactional batch or a marker uses the guard up."""
        self.under_way.pop(producer_id, None)

    def forget_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Drop what was never used."""
        self.under_way = {
            producer_id: entry
            for producer_id, entry in self.under_way.items()
            if now_ms - entry.started_ms < expiration_ms
        }
