"""A group of the lane's small coordinator, played by its steps alone: no broker, no world."""

from __future__ import annotations

from typing import Any

from broker_core.clock import SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import Subscription
from broker_core.kafka.group.group import Group
from broker_core.kafka.group.heartbeat import heartbeat, session_over
from broker_core.kafka.group.join import join_group, join_phase_over
from broker_core.kafka.group.leave import leave_group
from broker_core.kafka.group.sync import sync_group, sync_phase_over
from tests.core.playbook import Played

READS_T = Subscription(("t",))
SESSION_US, REBALANCE_US = 45 * SECOND_US, 300 * SECOND_US


class Lane:
    """One group `g`. Every call gives what it made the coordinator send, as (connection, answer)."""

    def __init__(self, group: Group | None = None) -> None:
        self.group = Group("g") if group is None else group
        self.out: Any = Played("broker", draws=tuple(range(1, 40)))

    def join(
        self,
        connection: int,
        member_id: str = "",
        now_s: int = 0,
        session_us: int = SESSION_US,
        rebalance_us: int = REBALANCE_US,
        protocol: str = "range",
        subscription: Subscription = READS_T,
    ) -> list[tuple[int, Any]]:
        request = r.JoinGroupRequest(
            "g", member_id, f"c{connection}", session_us, rebalance_us, protocol, subscription
        )
        join_group(self.group, connection, request, now_s * SECOND_US, self.out)
        return list(self.out.take())

    def enter(
        self, connection: int, now_s: int = 0, session_us: int = SESSION_US, rebalance_us: int = REBALANCE_US
    ) -> str:
        """A newcomer asks for its id and joins with it. Returns the id."""
        ((_, answer),) = self.join(connection, "", now_s, session_us, rebalance_us)
        self.join(connection, answer.member_id, now_s, session_us, rebalance_us)
        return str(answer.member_id)

    def sync(
        self,
        connection: int,
        member_id: str,
        given: dict[str, list[int]] | None = None,
        generation: int | None = None,
        now_s: int = 0,
    ) -> list[tuple[int, Any]]:
        number = self.group.generation if generation is None else generation
        sync_group(
            self.group,
            connection,
            r.SyncGroupRequest("g", number, member_id, given or {}),
            now_s * SECOND_US,
            self.out,
        )
        return list(self.out.take())

    def beat(self, connection: int, member_id: str, generation: int | None = None, now_s: int = 0) -> int:
        number = self.group.generation if generation is None else generation
        heartbeat(
            self.group, connection, r.HeartbeatRequest("g", number, member_id), now_s * SECOND_US, self.out
        )
        ((_, answer),) = self.out.take()
        return int(answer.error_code)

    def leave(self, connection: int, member_id: str, now_s: int = 0) -> list[tuple[int, Any]]:
        leave_group(self.group, connection, r.LeaveGroupRequest("g", member_id), now_s * SECOND_US, self.out)
        return list(self.out.take())

    def due(self, name: str, now_s: int | None = None) -> list[tuple[int, Any]]:
        """A deadline of this name comes: `join:g`, `sync:g`, or `session:g:<member id>`."""
        at_us = self.out.deadlines.pop(name)
        now_us = at_us if now_s is None else now_s * SECOND_US
        kind, _, rest = name.partition(":")
        match kind:
            case "join":
                join_phase_over(self.group, now_us, self.out)
            case "sync":
                sync_phase_over(self.group, now_us, self.out)
            case _:
                session_over(self.group, rest.partition(":")[2], now_us, self.out)
        return list(self.out.take())

    def at_s(self, name: str) -> float:
        """When a deadline comes, in seconds."""
        return float(self.out.deadlines[name]) / SECOND_US


def gathered(*connections: int) -> tuple[Lane, list[str]]:
    """A group whose first generation has begun and whose leader has not synced. Returns the ids, the leader
    first."""
    lane = Lane()
    ids = [lane.enter(connection) for connection in connections]
    while "join:g" in lane.out.deadlines:
        lane.due("join:g")
    return lane, ids


def stable(*connections: int) -> tuple[Lane, list[str]]:
    """The same, synced: each member has the partition of its place."""
    lane, ids = gathered(*connections)
    for connection, member_id in reversed(list(zip(connections, ids, strict=True))):
        given = {known: [place] for place, known in enumerate(ids)}
        lane.sync(connection, member_id, given if member_id == ids[0] else None)
    return lane, ids
