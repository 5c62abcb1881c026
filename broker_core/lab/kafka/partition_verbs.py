"""A person's verbs about one partition: what a member's program calls on its consumer, what an operator
commits for a group without members, and a record whose partition the sender names.

    pause, resume   the program asks for no records of it, and for them again; heartbeats, commits and the other partitions go on
    seek            it goes on at another offset; a commit follows with the next one that is due
    commit          commitSync of one offset, whatever the program has read: whoever takes the partition next begins there
    reset_offsets   kafka-consumer-groups --reset-offsets --to-offset
    send_record     a record with a partition of its own: its key, if it has one, decides nothing
"""

from __future__ import annotations

from typing import cast

from broker_core.events import Cause, Json
from broker_core.kafka.client import operator
from broker_core.kafka.client.group_consumer.orders import (
    CommitOffsets,
    ConsumerOrder,
    PausePartitions,
    ResumePartitions,
    Seek,
)
from broker_core.kafka.client.producer.orders import Send
from broker_core.kafka.group.messages import CommittedPartition, CommittedTopic, OffsetCommitRequest
from broker_core.kafka.log.record import record_size
from broker_core.kafka.producer.partitioner import positive_key_hash
from broker_core.lab.kafka.contents import sizes_of
from broker_core.lab.kafka.group import GROUP_ID, coordinating, logs_of
from broker_core.lab.kafka.lane import OPERATOR, KafkaClusterRules
from broker_core.lab.kafka.reading import PRODUCER
from broker_core.lab.kafka.views.cluster import partition_name, topics_of
from broker_core.lab.messages import Sent
from broker_core.lab.shared.lane import Lane

NO_MEMBER = -1


def pause(lane: Lane, name: str, position: int, topic: str, number: int) -> None:
    _call(lane, name, position, "paused", topic, number, PausePartitions([(topic, number)]))


def resume(lane: Lane, name: str, position: int, topic: str, number: int) -> None:
    _call(lane, name, position, "resumed", topic, number, ResumePartitions([(topic, number)]))


def seek(lane: Lane, name: str, position: int, topic: str, number: int, offset: int, where: str) -> None:
    _call(lane, name, position, "seeks", topic, number, Seek(topic, number, offset, where))


def commit(lane: Lane, name: str, position: int, topic: str, number: int, offset: int) -> None:
    _call(
        lane,
        name,
        position,
        "commits",
        topic,
        number,
        CommitOffsets([(topic, number, offset)], waits=True),
        offset=offset,
    )


def _call(
    lane: Lane,
    name: str,
    position: int,
    what: str,
    topic: str,
    number: int,
    order: ConsumerOrder,
    **more: int,
) -> None:
    """The program calls this on its consumer, now. No change of who reads what begins with it, so it has no
    bill."""
    named = {"consumer": name, "topic": topic, "partition": number}
    told = lane.emit(f"kafka.member.partition_{what}", Cause(command=position), None, {}, {**named, **more})
    lane.say_ordered(f"kafka.partition_{what}", consumer=name, partition=partition_name(topic, number))
    lane.world.order(lane.consumers[name].incarnation, order, told)
    _rules(lane).forget_caches()


def reset_offsets(lane: Lane, topic: str, number: int, offset: int, cause: Cause) -> None:
    """As the tool does: into the log's range first, then an OffsetCommit of nobody, which is refused once the
    group has members."""
    found = coordinating(lane.world)
    if found is None:
        return
    log = logs_of(lane.world, topic, number + 1)[number]
    within = max(log.start, min(offset, log.high_watermark))
    told = lane.emit(
        "kafka.admin.resets_offsets",
        cause,
        "kafka.admin.within_range",
        {"offset": offset, "start": log.start, "high_watermark": log.high_watermark},
        {"topic": topic, "partition": number, "to": within},
    )
    lane.say_ordered("kafka.resets_offsets", partition=partition_name(topic, number), offset=within)
    request = OffsetCommitRequest(
        GROUP_ID, NO_MEMBER, "", [CommittedTopic(topic, [CommittedPartition(number, within)])]
    )
    lane.world.order(OPERATOR, operator.Ask(found[0].name, request), told)
    _rules(lane).forget_caches()


def send_record(
    lane: Lane, topic: str, number: int, key: str | None, value: str | None, cause: Cause
) -> None:
    """key: its hash says where the record would have gone by it. value: None for a tombstone. cause: the command,
    whose position names the message."""
    message = lane.messages.send(Sent(cause.command or 0, key, value))
    inputs: Json = {}
    key_hash = -1
    if key is not None:
        key_hash = positive_key_hash(key.encode())
        inputs = {"key": key, "by_key": key_hash % topics_of(lane.world)[topic]}
    told = lane.emit(
        "kafka.producer.partition_named",
        cause,
        "kafka.producer.given_partition",
        inputs,
        {"topic": topic, "partition": number},
    )
    said = "kafka.partition_named" if value is not None else "kafka.tombstone_sent"
    lane.say_ordered(
        said, partition=partition_name(topic, number), **({} if value is not None else {"key": key})
    )
    lane.world.order(
        PRODUCER, Send(message, topic, key_hash, number, record_size(*sizes_of(lane.messages, message))), told
    )
    _rules(lane).forget_caches()


def _rules(lane: Lane) -> KafkaClusterRules:
    return cast(KafkaClusterRules, lane.rules)
