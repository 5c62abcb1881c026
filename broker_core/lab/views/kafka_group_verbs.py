"""What a person may do now to a member of a group, and to the group: kinds of commands (`broker_core/lab/commands/`), the mildest first."""

from __future__ import annotations

from broker_core.lab.consumer import CRASHED, GONE, Consumer


def member_verbs(consumer: Consumer) -> list[str]:
    """Those that are not refused. A silent program can only come back, or its row be cleared away."""
    if consumer.state in (CRASHED, GONE):
        return ["rejoin", "leave"]
    return ["leave", "crash"]


def group_verbs() -> list[str]:
    return ["join"]
