"""What a person may do now to a member of a group, and to the group: kinds of commands
(`broker_core/lab/commands/`), the mildest first.

`group_thaw` and `group_unstick` take back what `group_freeze` and `group_stick` have done.
"""

from __future__ import annotations

from broker_core.lab.consumer import CRASHED, FROZEN, GONE, STUCK, Consumer


def member_verbs(consumer: Consumer) -> list[str]:
    """Those that are not refused. A silent program can only come back, or its row be cleared away."""
    if consumer.state in (CRASHED, GONE):
        return ["rejoin", "leave"]
    if consumer.state == FROZEN:
        return ["group_thaw", "crash"]
    if consumer.state == STUCK:
        return ["group_unstick", "group_restart", "leave", "crash"]
    return ["group_subscribe", "group_restart", "leave", "group_stick", "group_freeze", "crash"]


def group_verbs() -> list[str]:
    return ["join", "cluster_add_partitions"]


def partition_verbs(consumer: Consumer) -> list[str]:
    """About one partition, at a member: what its program can call between two records."""
    if consumer.state in (CRASHED, GONE, FROZEN, STUCK):
        return []
    return ["group_pause_partition", "group_resume_partition", "group_seek", "group_commit"]


def group_partition_verbs() -> list[str]:
    """About one partition, and no member."""
    return ["group_reset_offsets", "cluster_send_record"]
