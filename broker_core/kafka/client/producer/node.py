"""The producer's node: takes orders, records and answers, and lets the sender look at what is due.

Source: Kafka 3.9 clients KafkaProducer, Sender; the rules are in the files beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import (
    answers,
    coordinator_answers,
    intake,
    network,
    producer_metadata,
    sender,
)
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.settings import check
from broker_core.kafka.client.producer.state import Deliveries, ProducerState, Unsent
from broker_core.kafka.client.producer.states import Phase, Step
from broker_core.kafka.client.producer.transaction import GroupOffsets
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.group import messages as m
from broker_core.sim.node import PERSON, Closed, Outbox


class ClusterProducer:
    """One producer. Raises CommandError for settings that the original refuses, and for orders that it throws
    at."""

    def __init__(self, state: ProducerState, deliveries: Deliveries) -> None:
        check(state.settings)
        self.state = state
        self.deliveries = deliveries

    def send(self, record: Unsent, now_us: int, out: Outbox) -> None:
        """The application has a record. A transactional producer takes it in a transaction; else it
        throws."""
        transaction = self.state.transaction
        if transaction.phase is Phase.FATAL_ERROR:
            raise CommandError(
                "order", "the producer has failed for good: {error}", error=transaction.error.name
            )
        if self.state.settings.transactional_id is not None and transaction.phase is not Phase.IN_TRANSACTION:
            raise CommandError(
                "order",
                "the producer cannot {step} while it is {phase}",
                step="send",
                phase=transaction.phase.value,
            )
        if intake.send(self.state, record, now_us, out):
            sender.run(self.state, self.deliveries, now_us, out)

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if connection == PERSON:
            self.obey(message, now_us, out)
        elif type(message) is Closed:
            for broker, link in list(self.state.links.items()):
                if link.connection == connection:
                    self._disconnected(broker, now_us, out)
        else:
            self._answered(connection, message, now_us, out)
        sender.run(self.state, self.deliveries, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """The sender looks again, first at requests that have had no answer for too long."""
        self.state.wake_us = 0
        for broker in network.overdue(self.state, now_us):
            connection = self.state.links[broker].connection
            out.blame_silence(connection)
            out.close(connection)
            self._disconnected(broker, now_us, out)
        sender.run(self.state, self.deliveries, now_us, out)

    def obey(self, order: o.ProducerOrder, now_us: int, out: Outbox) -> None:
        """An order. Raises CommandError where the original throws, and then nothing has changed."""
        state, transaction = self.state, self.state.transaction
        if isinstance(order, o.Connect):
            state.bootstrap = list(order.bootstrap)
            state.topics.update(dict.fromkeys(order.topics))
            state.metadata.is_wanted = True
        elif isinstance(order, o.Send):
            self.send(
                Unsent(order.value, order.topic, order.key_hash, order.partition, order.size), now_us, out
            )
        elif isinstance(order, o.Close):
            if transaction.phase in (Phase.IN_TRANSACTION, Phase.ABORTABLE_ERROR):
                transaction.order(Step.ABORT)
            state.is_closing = True
        elif isinstance(order, o.Reopen):
            if state.settings.transactional_id is not None:
                raise CommandError("order", "a transactional producer needs acks=-1")
            settings = replace(state.settings, acks=order.acks, enable_idempotence=order.enable_idempotence)
            check(settings)
            state.next_settings = None if settings == state.settings else settings
        else:
            self._transaction_order(order)

    def _transaction_order(self, order: o.ProducerOrder) -> None:
        transaction = self.state.transaction
        if self.state.settings.transactional_id is None:
            raise CommandError("order", "the producer has no transactional id")
        match order:
            case o.InitTransactions():
                transaction.order(Step.INIT)
            case o.BeginTransaction():
                transaction.order(Step.BEGIN)
            case o.CommitTransaction():
                transaction.order(Step.COMMIT)
            case o.AbortTransaction():
                transaction.order(Step.ABORT)
            case o.SendOffsets(group_id, offsets, generation_id, member_id):
                if transaction.phase is not Phase.IN_TRANSACTION:
                    raise CommandError(
                        "order",
                        "the producer cannot {step} while it is {phase}",
                        step="send",
                        phase=transaction.phase.value,
                    )
                transaction.offsets.append(GroupOffsets(group_id, generation_id, member_id, list(offsets)))

    def _answered(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        found = network.answered(self.state, connection)
        if found is None:
            return
        _, flight = found
        if isinstance(message, r.ProduceResponse):
            answers.produced(self.state, self.deliveries, flight, message, now_us, out)
        elif isinstance(message, r.MetadataResponse):
            producer_metadata.learned(self.state, message, now_us, out)
        elif isinstance(message, t.TransactionMessage | m.TxnOffsetCommitResponse):
            coordinator_answers.answered(self.state, flight, message, now_us, out)

    def _disconnected(self, broker: int, now_us: int, out: Outbox) -> None:
        state = self.state
        state.metadata.is_wanted = True
        if state.transaction.coordinator == broker:
            state.transaction.coordinator = -1
        for flight in network.disconnected(state, broker, now_us, out):
            match flight.kind:
                case "produce":
                    answers.unanswered(state, self.deliveries, flight, now_us, out)
                case "metadata":
                    producer_metadata.failed(state, now_us, out)
                case _:
                    coordinator_answers.unanswered(state, flight, now_us, out)
