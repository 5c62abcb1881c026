"""A producer: one connection; messages on their own or in batches; a topic with partitions is chosen by key,
else in turn.

    waits_for_receipts     what has no receipt when the connection ends is sent again on the next one, in order, with its sequence ids
    default batching       [k1 k2 k1 k3]            one entry, and the broker sees k1 only
    KEY_BASED              [k1 k1] [k2] [k3]        one entry for each key, in the order of their highest sequence ids

Each partition has a batch of its own, with its own delay. What has no key then goes to one partition for ten
delays, and to the next for the next
ten: else no batch would have more than a few messages.

Source: Pulsar 3.2 client, ProducerImpl, PartitionedProducerImpl, BatchMessageContainerImpl,
BatchMessageKeyBasedContainer, RoundRobinPartitionMessageRouterImpl (JavaStringHash by default; here the
Murmur3 hash that hashingScheme offers as well; begins at partition 0).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.clock import MILLISECOND_US
from broker_core.pulsar import commands as c
from broker_core.pulsar.commands import CommandSend
from broker_core.sim.node import Closed, Outbox

PRODUCER_ID = 1
"""Of a topic without partitions, and of partition 0; the others follow."""
BATCH, RECONNECT, GIVES_UP = "batch", "reconnect", "gives_up"
"""Deadlines; that of a batch with its partition: batch:0."""
RECONNECT_US = 100 * MILLISECOND_US
"""initialBackoffIntervalNanos of the client, without the ones that follow."""
DEFAULT, KEY_BASED = "default", "key_based"
BATCH_MAX, BATCH_DELAY_US = 1_000, MILLISECOND_US
"""batchingMaxMessages, batchingMaxPublishDelay."""
SWITCH_DELAYS = 10
"""batchingPartitionSwitchFrequencyByPublishDelay."""
MASK_31 = 0x7FFFFFFF


class Open(msgspec.Struct, frozen=True, tag="pulsar.producer.open", array_like=True):
    """A person starts the producer."""

    broker: str


class GiveUp(msgspec.Struct, frozen=True, tag="pulsar.producer.give_up", array_like=True):
    """No answer reaches it any more: `after_us` from now its client gives the connection up, and connects
    again."""

    after_us: int


class Waiting(msgspec.Struct, array_like=True, gc=False):
    """A message in a batch that has not been sent."""

    message: int
    key: int
    ordering_key: int
    sequence_id: int


@dataclass(slots=True)
class ProducerState:
    """batching: DEFAULT, KEY_BASED, or empty for none. partitions: of the topic, 0 for a topic without.
    topics: as of a consumer's configuration; the application chooses one as the client chooses a partition.
    sequence_id: of the next message.
    next_partition: of the next message without a key; with batching the time says it. waiting: partition ->
    its batch. first_of_batch: of the batch that the last message is in, sent or not; None where that message
    goes on its own. waits_for_receipts: it keeps each message until the broker has confirmed it; unconfirmed:
    by sequence id. broker: where it connects to."""

    batching: str = ""
    batch_max: int = BATCH_MAX
    batch_delay_us: int = BATCH_DELAY_US
    topic: str = c.TOPIC
    partitions: int = 0
    topics: int = 0
    connection: int = 0
    sequence_id: int = 0
    next_partition: int = 0
    waiting: dict[int, list[Waiting]] = field(default_factory=dict)
    first_of_batch: Waiting | None = None
    waits_for_receipts: bool = False
    broker: str = ""
    unconfirmed: dict[int, CommandSend] = field(default_factory=dict)


class Producer:
    """hash_of: key code -> unsigned murmur3, for the partition of a message."""

    def __init__(self, state: ProducerState, hash_of: Callable[[int], int] | None = None) -> None:
        self.state = state
        self.hash_of = hash_of
        self.has_parts = bool(state.partitions or state.topics)

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        match message:
            case Open(broker):
                state.broker = broker
                self.connect(out)
            case c.CommandSendReceipt(_, sequence_id, _):
                state.unconfirmed.pop(sequence_id, None)
            case GiveUp(after_us) if state.connection:
                out.deadline(GIVES_UP, now_us + after_us)
            case c.CommandPing():
                out.send(connection, c.CommandPong())
            case Closed() if state.waits_for_receipts:
                state.connection = 0
                out.cancel(GIVES_UP)
                out.deadline(RECONNECT, now_us + RECONNECT_US)

    def connect(self, out: Outbox) -> None:
        """One producer for each partition or topic; then what has no receipt yet, again."""
        state = self.state
        state.connection = out.connect(state.broker)
        for place, (topic, partition) in enumerate(c.parts_of(state.topic, state.partitions, state.topics)):
            out.send(
                state.connection,
                c.CommandProducer(PRODUCER_ID + place, topic, partition, "", state.waits_for_receipts),
            )
        if state.unconfirmed:
            count = sum(len(command.batch) or 1 for command in state.unconfirmed.values())
            out.tell("pulsar.producer.sent_again", "pulsar.client.resend", {}, {"messages": count})
        for command in state.unconfirmed.values():
            out.send(state.connection, command)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """The time of a batch is over, or it is time to give the connection up or to connect again."""
        state = self.state
        if name == RECONNECT:
            self.connect(out)
        elif name == GIVES_UP:
            out.close(state.connection)
            state.connection = 0
            out.deadline(RECONNECT, now_us + RECONNECT_US)
        else:
            self.send_batch(int(name.partition(":")[2]), out)

    def send(self, message: int, key: int, ordering_key: int = -1) -> tuple[int, CommandSend]:
        """The application has a message to send on its own: on which connection, and what. message: its
        number; key, ordering_key: codes, -1 for none."""
        producer_id, sequence_id = self.stamp(key if ordering_key < 0 else ordering_key)
        return self.state.connection, CommandSend(producer_id, message, key, ordering_key, sequence_id)

    def stamp(self, key: int) -> tuple[int, int]:
        """The producer id and the sequence id of the next message. key: the sticky one."""
        state = self.state
        sequence_id = state.sequence_id
        state.sequence_id = sequence_id + 1
        return (PRODUCER_ID + self.partition(key) if self.has_parts else PRODUCER_ID), sequence_id

    def gather(
        self, message: int, key: int, now_us: int, out: Outbox, ordering_key: int = -1, deliver_at_us: int = 0
    ) -> None:
        """The same for a producer with batching: it goes out with its batch. deliver_at_us: not before this
        moment, 0 for at once; such a message is never part of a batch, which goes out before it; no producer
        without batching waits."""
        state = self.state
        partition = self.partition(key if ordering_key < 0 else ordering_key, now_us) if self.has_parts else 0
        one = Waiting(message, key, ordering_key, state.sequence_id)
        state.sequence_id += 1
        if deliver_at_us or not state.batching:
            if (
                partition in state.waiting
                # or the batch's lower sequence ids would come after this one's
                # (ProducerImpl.processOpSendMsg)
            ):
                self.send_batch(partition, out)
            state.first_of_batch = None
            command = CommandSend(
                PRODUCER_ID + partition,
                message,
                key,
                ordering_key,
                one.sequence_id,
                deliver_at_us=deliver_at_us,
            )
            self.post(command, out)
            return
        batch = state.waiting.setdefault(partition, [])
        batch.append(one)
        state.first_of_batch = batch[0]
        if len(batch) >= state.batch_max:
            self.send_batch(partition, out)
        elif len(batch) == 1:
            out.deadline(f"{BATCH}:{partition}", now_us + state.batch_delay_us)

    def partition(self, key: int, now_us: int = 0) -> int:
        """Its place, by the key's hash; without a key in turn, with batching by the time."""
        state = self.state
        count = state.topics or state.partitions
        if key >= 0 and self.hash_of is not None:
            return (self.hash_of(key) & MASK_31) % count
        if (
            state.batching and state.partitions
        ):  # of several topics the application chooses one, which knows nothing of batches
            partition = now_us // max(SWITCH_DELAYS * state.batch_delay_us, MILLISECOND_US) % count
            state.next_partition = (partition + 1) % count
            return partition
        partition, state.next_partition = state.next_partition, (state.next_partition + 1) % count
        return partition

    def send_batch(self, partition: int, out: Outbox) -> None:
        """Send what has gathered for a partition, in as many entries as the kind of batching makes of it."""
        state = self.state
        out.cancel(f"{BATCH}:{partition}")
        of: dict[int, list[Waiting]] = {}
        for one in state.waiting.pop(partition):
            sticky = one.key if one.ordering_key < 0 else one.ordering_key
            of.setdefault(sticky if state.batching == KEY_BASED else 0, []).append(one)
        for batch in sorted(of.values(), key=lambda known: known[-1].sequence_id):
            first = batch[0]
            numbers = tuple(one.message for one in batch)
            # The metadata of a default batch has its lowest sequence id, that of KEY_BASED its highest.
            lowest = first.sequence_id if state.batching == DEFAULT and len(batch) > 1 else -1
            self.post(
                CommandSend(
                    PRODUCER_ID + partition,
                    first.message,
                    first.key,
                    first.ordering_key,
                    batch[-1].sequence_id,
                    numbers if len(batch) > 1 else (),
                    first_sequence_id=lowest,
                ),
                out,
            )

    def post(self, command: CommandSend, out: Outbox) -> None:
        """Send it now; without a connection it goes out with the next one, if its receipt is waited for."""
        state = self.state
        if state.waits_for_receipts:
            state.unconfirmed[command.sequence_id] = command
        if state.connection:
            out.send(state.connection, command)
