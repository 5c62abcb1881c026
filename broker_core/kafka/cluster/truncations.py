"""A follower has cut its log: it has to be cleaned again from there on, and it is reported with what it had,
what it kept, and what it was compared with.

Source: Kafka 3.9 core AbstractFetcherThread; docs/kafka/replication.md.
"""

from __future__ import annotations

from broker_core.kafka.cluster import cleaner
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.state import Replica, TopicPartition
from broker_core.kafka.replication.fetcher import Truncated, Truncation
from broker_core.sim.node import Outbox

_RULES = {
    Truncation.FETCH: "kafka.replica.diverging_epoch",
    Truncation.EPOCH_REQUEST: "kafka.replica.offsets_for_leader_epoch",
    Truncation.HIGH_WATERMARK: "kafka.replica.truncate_to_high_watermark",
}


def was_truncated(
    host: Host,
    key: TopicPartition,
    replica: Replica,
    was: range,
    cut: Truncated,
    out: Outbox,
    *,
    leader_epoch: int = -1,
    leader_end: int = -1,
) -> None:
    """was: the offsets that its log held before. Nothing is reported where nothing was cut off."""
    log = replica.partition.log
    if log is None or (cut.offset >= was.stop and not cut.is_all):
        return
    cleaner.was_cut(host.state.disk, key)
    rule = "kafka.replica.out_of_range" if cut.is_all else _RULES[replica.fetcher.truncation]
    inputs = {
        "log_end_offset": was.stop,
        "leader": replica.partition.leader,
        "leader_epoch": leader_epoch,
        "leader_end_offset": leader_end,
    }
    out.tell("kafka.replica.truncated", rule, inputs, {
        "broker": host.state.broker_id, "topic": key[0], "partition": key[1], "offset": cut.offset,
        "cut_count": max(0, was.stop - max(cut.offset, was.start)), "high_watermark": log.high_watermark,
    })  # fmt: skip
