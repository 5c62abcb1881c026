"""Which replica a consumer should read from: one in its rack, if there is one that has what it asks for.

    consumer in rack b ─► leader (rack a): read from 2     2 is in the ISR, in rack b, and has the offset

The leader says so in its answer, without data; the consumer then fetches from the follower, up to the high
watermark that the follower knows. Only members of the ISR are named: one that falls behind would be left and
chosen again for ever.

Source: Kafka 3.9 core ReplicaManager.findPreferredReadReplica, clients RackAwareReplicaSelector, ReplicaView.
"""

from __future__ import annotations

from broker_core.kafka.replication.brokers import alive_epoch
from broker_core.kafka.replication.partition import Partition


def preferred_read_replica(partition: Partition, rack: str | None, offset: int, now_ms: int) -> int | None:
    """Give the follower to read from; None: the leader itself, or this broker does not lead.

    rack: of the consumer; None or "": it has said none. Of several: the one with the largest log end offset,
    then the one caught up last, then the highest id.
    """
    leader = partition.brokers.get(partition.broker_id)
    if not rack or not partition.is_leader or (leader is not None and leader.rack == rack):
        return None
    candidates = [
        (follower.log_end_offset, _caught_up_ms(follower.last_caught_up_ms, now_ms), replica)
        for replica, follower in partition.followers.items()
        if replica in partition.isr_state.isr
        and follower.log_start_offset <= offset <= follower.log_end_offset
        and alive_epoch(partition.brokers, replica) is not None
        and partition.brokers[replica].rack == rack
    ]
    return max(candidates)[2] if candidates else None


def _caught_up_ms(last_ms: int | None, now_ms: int) -> int:
    """How late it is, as a number that is larger for whom was caught up later."""
    return -(now_ms + 1) if last_ms is None else last_ms - now_ms
