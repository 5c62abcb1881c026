"""Reconciliation: how a member gets from what it has to what the target gives it, one heartbeat at a time.

    STABLE ──target differs──► UNREVOKED_PARTITIONS ──reported without them──► (next) ──► UNRELEASED_PARTITIONS ──others let go──► STABLE
                                told to let go of some, keeps its epoch            takes the epoch, waits for what others still hold

A partition is given only when no member holds it at any epoch, so that it never has two owners. Source: Kafka
3.9 CurrentAssignmentBuilder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from broker_core.kafka.group.codes import FENCED_MEMBER_EPOCH, Refused
from broker_core.kafka.group.consumer.assignor import Target
from broker_core.kafka.group.consumer.member import (
    STABLE,
    UNKNOWN,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerMember,
    Partitions,
)
from broker_core.kafka.group.messages import TopicPartitions

Owned = Sequence[TopicPartitions] | None
"""What a member reports that it holds; None: it does not say, all as before."""


def reconciled(
    member: ConsumerMember,
    target: Target,
    target_epoch: int,
    owner_epochs: Mapping[tuple[str, int], int],
    owned: Owned,
) -> ConsumerMember:
    """What becomes of the member with this heartbeat.

    owner_epochs: (topic id, partition) of all that some member holds. Refuses a member of an unknown state
    that still reports partitions.
    """
    if member.state == UNKNOWN:
        if owned is None or owned:
            raise Refused(FENCED_MEMBER_EPOCH)
        return _next(member, target_epoch, target, target_epoch, owner_epochs, owned)
    if member.state == STABLE and member.epoch == target_epoch:
        return member
    if member.state == UNREVOKED_PARTITIONS:
        if _holds_any(member.revoking, owned):
            return member
        # All is revoked: it moves on from the epoch that told it to.
        return _next(member, member.epoch + 1, target, target_epoch, owner_epochs, owned)
    return _next(member, member.epoch, target, target_epoch, owner_epochs, owned)


def _next(
    member: ConsumerMember,
    epoch: int,
    target: Target,
    target_epoch: int,
    owner_epochs: Mapping[tuple[str, int], int],
    owned: Owned,
) -> ConsumerMember:
    """One step towards the target: first let go, then take what is free."""
    kept: dict[str, frozenset[int]] = {}
    leaving: dict[str, frozenset[int]] = {}
    free: dict[str, frozenset[int]] = {}
    has_unreleased = False
    for topic_id in dict.fromkeys([*target, *member.assigned]):
        wanted = frozenset(target.get(topic_id, ()))
        held = member.assigned.get(topic_id, frozenset())
        missing = wanted - held
        available = frozenset(number for number in missing if (topic_id, number) not in owner_epochs)
        has_unreleased = has_unreleased or available != missing
        for found, into in ((held & wanted, kept), (held - wanted, leaving), (available, free)):
            if found:
                into[topic_id] = found
    if leaving and _holds_any(leaving, owned):
        return member.with_(
            state=UNREVOKED_PARTITIONS,
            epoch=epoch,
            previous_epoch=member.epoch,
            assigned=kept,
            revoking=leaving,
        )
    assigned = {
        topic_id: kept.get(topic_id, frozenset()) | free.get(topic_id, frozenset())
        for topic_id in {**kept, **free}
    }
    state = UNRELEASED_PARTITIONS if has_unreleased else STABLE
    return member.with_(
        state=state, epoch=target_epoch, previous_epoch=member.epoch, assigned=assigned, revoking={}
    )


def _holds_any(partitions: Partitions, owned: Owned) -> bool:
    """Whether the member reports one of these partitions, or does not report at all."""
    return owned is None or any(
        number in partitions.get(topic.topic_id, ()) for topic in owned for number in topic.partitions
    )
