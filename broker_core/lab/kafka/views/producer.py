"""The picture of a producer: requests on their way with their batches, what waits in the accumulator, and its
sequences.

Source: the state of `broker_core/kafka/client/producer/`.
"""

from __future__ import annotations

from broker_core.events import Json
from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.state import ProducerState
from broker_core.sim.world import World


def producers_view(world: World) -> Json:
    """Every producer of a cluster in this world, by the name of its node."""
    return {
        slot.name: producer_view(slot.node.state)
        for slot in world.slots.values()
        if isinstance(slot.node.state, ProducerState)
    }


def producer_view(state: ProducerState) -> Json:
    """One producer. in_flight: its produces without an answer, by broker, the oldest first, each with its
    batches; waiting: batches that have not been sent, or come back, by partition. sequence: of a batch's
    first record, -1 without idempotence. times in microseconds. transaction: None without a transactional id;
    error: why it has failed."""
    batches = state.accumulator.batches
    return {
        "acks": state.settings.acks,
        "max_in_flight": state.settings.max_in_flight,
        "linger_us": state.settings.linger_us,
        "id": state.sequences.producer_id,
        "epoch": state.sequences.producer_epoch,
        "in_flight": {
            str(broker): [
                {
                    "sent_us": flight.sent_us,
                    "batches": [
                        batch_view(batches[number]) for number in flight.batches if number in batches
                    ],
                }
                for flight in link.flights
                if flight.kind == "produce"
            ]
            for broker, link in state.links.items()
        },
        "waiting": {
            f"{topic}-{number}": [batch_view(batches[one]) for one in queue]
            for (topic, number), queue in state.accumulator.queues.items()
            if queue
        },
        "sequences": {
            f"{topic}-{number}": {"next": entry.next_sequence, "last_acked": entry.last_acked}
            for (topic, number), entry in state.sequences.partitions.items()
        },
        "counts": {
            "sent": state.counts.sent,
            "acked": state.counts.acked,
            "failed": state.counts.failed,
            "retries": state.counts.retries,
            "expired": state.counts.expired,
            "epoch_bumps": state.counts.epoch_bumps,
        },
        "blocked": len(state.blocked),
        "transaction": None
        if state.settings.transactional_id is None
        else {
            "id": state.settings.transactional_id,
            "phase": state.transaction.phase.value,
            "error": state.transaction.error.name,
            "committed": state.counts.committed,
            "aborted": state.counts.aborted,
        },
    }


def batch_view(batch: Batch) -> Json:
    """attempts: how often it came back."""
    topic, number = batch.topic_partition
    return {
        "number": batch.number,
        "partition": f"{topic}-{number}",
        "count": len(batch.values),
        "sequence": batch.base_sequence,
        "attempts": batch.attempts,
    }
