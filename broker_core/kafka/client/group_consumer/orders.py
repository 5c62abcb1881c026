"""What a person orders of a consumer program, beside what any program obeys."""

from __future__ import annotations

import msgspec


class Start(msgspec.Struct, frozen=True, tag="kafka.consumer.start", array_like=True):
    """A person starts the program: it subscribes and polls, once its process has come up. boot_us: how long
    that takes."""

    boot_us: int = 0


class Stick(msgspec.Struct, frozen=True, tag="kafka.consumer.stick", array_like=True):
    """The program does not come back from its next record, while its heartbeats go on; is_stuck False: it
    comes back."""

    is_stuck: bool


class Seek(msgspec.Struct, frozen=True, tag="kafka.consumer.seek", array_like=True):
    """The program goes on at another offset of a partition that it owns; for others nothing happens. where:
    "" for the offset, else the beginning (earliest) or the end (latest), which the leader has to be asked
    for: then offset is -1."""

    topic: str
    partition: int
    offset: int
    where: str = ""


class PausePartitions(msgspec.Struct, frozen=True, tag="kafka.consumer.pause_partitions", array_like=True):
    """KafkaConsumer.pause: poll() gives no records of these (topic, partition) and asks for none, while it
    goes on for the others and for the group. Those that the program does not own are passed over; a partition
    that comes again is not paused."""

    partitions: list[tuple[str, int]]


class ResumePartitions(msgspec.Struct, frozen=True, tag="kafka.consumer.resume_partitions", array_like=True):
    """KafkaConsumer.resume: they are read on where they stood."""

    partitions: list[tuple[str, int]]


class CommitOffsets(msgspec.Struct, frozen=True, tag="kafka.consumer.commit_offsets", array_like=True):
    """commitSync (waits: poll() goes on with the answer) or commitAsync of given offsets: (topic, partition,
    the next offset to read)."""

    offsets: list[tuple[str, int, int]]
    waits: bool = False


class Subscribe(msgspec.Struct, frozen=True, tag="kafka.consumer.subscribe", array_like=True):
    """The program reads these topics from its next poll() on; with a pattern those whose whole name it
    matches, now and later."""

    topics: list[str]
    pattern: str | None = None


ConsumerOrder = Start | Stick | Seek | Subscribe | PausePartitions | ResumePartitions | CommitOffsets
