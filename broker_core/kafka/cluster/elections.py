"""What the controller has decided, told to people: who leads, who is in sync, which brokers count.

Source: Kafka 3.9 metadata ReplicationControlManager; docs/kafka/replication.md.
"""

from __future__ import annotations

from broker_core.events import Json
from broker_core.kafka.controller.records import TopicPartition
from broker_core.kafka.replication.partition_state import LeaderRecoveryState
from broker_core.kafka.replication.registration import NO_LEADER, PartitionRegistration
from broker_core.sim.node import Outbox


def tell_broker(what: str, rule: str, inputs: Json, broker: int, out: Outbox) -> None:
    """what: registered, fenced, unfenced, shutting_down."""
    out.tell(f"kafka.broker.{what}", rule, inputs, {"broker": broker})


def tell_change(
    key: TopicPartition,
    before: PartitionRegistration | None,
    now: PartitionRegistration,
    rule: str,
    out: Outbox,
) -> None:
    """One partition: the change of leader, ISR or replicas, each with what it was decided from. rule: what
    made the controller look."""
    named: Json = {"topic": key[0], "partition": key[1]}
    if before is None:
        return  # a topic's first partitions: the command that made it says so
    was: Json = {
        "leader": before.leader,
        "isr": list(before.isr),
        "replicas": list(before.replicas),
        "decided_by": rule,
    }
    now_is: Json = {
        **named,
        "leader": now.leader,
        "leader_epoch": now.leader_epoch,
        "isr": list(now.isr),
        "partition_epoch": now.partition_epoch,
    }
    if now.leader != before.leader:
        out.tell("kafka.partition.leader_changed", _election(before, now, rule), was, now_is)
    if now.replicas != before.replicas or now.adding != before.adding or now.removing != before.removing:
        moves: Json = {
            "replicas": list(now.replicas),
            "adding": list(now.adding),
            "removing": list(now.removing),
        }
        out.tell("kafka.partition.reassigned", "kafka.controller.reassignment", was, {**named, **moves})
    if set(now.isr) != set(before.isr):
        left = [broker for broker in before.isr if broker not in now.isr]
        came = [broker for broker in now.isr if broker not in before.isr]
        out.tell("kafka.partition.isr_changed", rule, was, {**now_is, "left": left, "came": came})


def _election(before: PartitionRegistration, now: PartitionRegistration, rule: str) -> str:
    """Which rule chose the leader. A new replica that leads when its move is over was in the ISR that ended
    it: it does not recover."""
    if now.leader == NO_LEADER:
        return "kafka.election.nobody_in_isr"
    is_recovering = now.leader_recovery_state is LeaderRecoveryState.RECOVERING
    if is_recovering and now.leader not in before.isr and now.leader not in before.elr:
        return "kafka.election.unclean"
    if rule == "kafka.election.preferred":
        return rule
    return "kafka.election.first_in_isr"
