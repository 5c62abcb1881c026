"""When partitions of the Kafka lane are read by nobody, and how long: turning points at the first and the last of them, and the bill's figure.

A partition is paused from the revoke (or the crash, or LeaveGroup) of its reader until somebody is assigned it who is alive.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from broker_core.lab.rigs.kafka_group import KafkaGroupRig


def paused_count(rig: "KafkaGroupRig") -> int:
    """Partitions that nobody may read now."""
    return sum(partition.stopped_us is not None for partition in rig.partitions)


def begin_pause(rig: "KafkaGroupRig", numbers: Sequence[int], rule: str) -> None:
    """Nobody reads these partitions from here on. The first of them begin the pause. rule: why."""
    was_paused = paused_count(rig)
    for number in numbers:
        partition = rig.partitions[number]
        if partition.stopped_us is None:
            partition.stopped_us = rig.now_us
    paused = paused_count(rig)
    if paused and not was_paused:
        rig.emit("kafka.group.partitions_paused", rig.cause(), rule, {}, {"partitions": paused})
    if rig.bill is not None:
        rig.bill.partitions_stopped = max(rig.bill.partitions_stopped, paused)


def resume(rig: "KafkaGroupRig", numbers: Sequence[int]) -> None:
    """These partitions are read again. The last of them ends the pause."""
    was_paused = paused_count(rig)
    for number in numbers:
        partition = rig.partitions[number]
        if partition.stopped_us is not None:
            if rig.bill is not None:
                rig.bill.note_pause(partition.stopped_us, rig.now_us)
            partition.stopped_us = None
    if was_paused and not paused_count(rig) and rig.bill is not None:
        rig.emit("kafka.group.partitions_resumed", rig.cause(), None, {}, rig.bill.pause_facts())
