"""An application around a transactional producer: a record every half second, four records a transaction,
again and again.

    start ─► initTransactions ─► begin, 4 × send, commit ─► begin ...        an abortable error ─► abort, begin again        fenced ─► it ends

Two of them with one transactional id are two instances of one application: the newer one fences the older,
which finds out when it speaks next.

Source: Kafka 3.9 clients KafkaProducer, the loop of its documentation for transactions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.accumulator import Accumulator
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import Deliveries, ProducerState, Unsent
from broker_core.kafka.client.producer.states import Phase
from broker_core.sim.node import PERSON, Outbox

EVERY_US = 500_000
RECORDS_A_TRANSACTION = 4
WRITE = "write"


@dataclass(slots=True)
class WriterState(ProducerState):
    """A producer with a loop of its own."""

    topic: str = ""  # where it writes
    written: int = 0  # records of the open transaction
    next_message: int = 0  # the id of its next record, which counts up

    @classmethod
    def for_topic(cls, topic: str, transactional_id: str, first_message: int = 0) -> WriterState:
        settings = ProducerSettings(transactional_id=transactional_id)
        return cls(settings, Accumulator(settings.buffer_memory), topic=topic, next_message=first_message)


def without_key(message: int) -> tuple[int, int]:
    """`Unsent.key_hash` and `size` of a record without a key."""
    return -1, 100


class Writer(ClusterProducer):
    """The node: `Connect` starts it. look_up: hash of the key, -1 for none, and bytes of the record
    with an id."""

    state: WriterState

    def __init__(
        self,
        state: WriterState,
        deliveries: Deliveries,
        look_up: Callable[[int], tuple[int, int]] = without_key,
    ) -> None:
        super().__init__(state, deliveries)
        self.look_up = look_up

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        super().receive(connection, message, now_us, out)
        if type(message) is o.Connect:
            super().receive(PERSON, o.InitTransactions(), now_us, out)
            out.deadline(WRITE, now_us + EVERY_US)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if name == WRITE:
            self.write(now_us, out)
        else:
            super().wake(name, now_us, out)

    def write(self, now_us: int, out: Outbox) -> None:
        """What the application's loop does next; while an answer is awaited it waits."""
        state = self.state
        match state.transaction.phase:
            case Phase.FATAL_ERROR:
                return
            case Phase.READY:
                super().receive(PERSON, o.BeginTransaction(), now_us, out)
                state.written = 0
                self.send_one(now_us, out)
            case Phase.IN_TRANSACTION if state.written < RECORDS_A_TRANSACTION:
                self.send_one(now_us, out)
            case Phase.IN_TRANSACTION:
                super().receive(PERSON, o.CommitTransaction(), now_us, out)
            case Phase.ABORTABLE_ERROR:
                super().receive(PERSON, o.AbortTransaction(), now_us, out)
        out.deadline(WRITE, now_us + EVERY_US)

    def send_one(self, now_us: int, out: Outbox) -> None:
        state = self.state
        key_hash, size = self.look_up(state.next_message)
        self.send(Unsent(state.next_message, state.topic, key_hash, -1, size), now_us, out)
        state.written += 1
        state.next_message += 1
