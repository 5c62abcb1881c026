"""A coordinator with a log in memory and a clock that the test moves: send it a request, get what it
answers."""

from __future__ import annotations

import itertools
from typing import Any

from broker_core.events import Cause
from broker_core.kafka.assignors.subscription_bytes import SubscriptionData, write_subscription
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import AppendFailed
from broker_core.kafka.group.group_coordinator import GroupCoordinator
from broker_core.kafka.group.runtime import Appended
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.group.topics import Topic, TopicsImage

TOPIC_ID = "WxEg2jC-QJBaeWO_0vz6bQ"


class Desk:
    """answers: ticket -> response. is_held: nothing gets below the high watermark. told: (kind, rule) of
    turning points."""

    def __init__(self, partitions: int = 6, **settings: Any) -> None:
        self.settings = GroupSettings(**settings)
        self.topics = TopicsImage.of([Topic("t", TOPIC_ID, partitions)])
        self.log: list[Any] = []
        self.is_held = False
        self.next_error: int | None = None
        self.deadlines: dict[str, int] = {}
        self.answers: dict[int, Any] = {}
        self.told: list[tuple[str, str | None]] = []
        self.now_ms = 0
        self.tickets = itertools.count(1)
        self.ids = itertools.count(1)
        self.coordinator = self._loaded()

    def send(self, request: Any, version: int = 9, client: str = "c") -> Any:
        """Send a request. Returns its answer, or None while it is parked; `answers[ticket]` has it later."""
        ticket = next(self.tickets)
        self.coordinator.receive(m.RequestContext(ticket, version, client), request, self.now_ms, self)
        return self.answers.get(ticket)

    def pass_until(self, at_ms: int) -> None:
        """Let time pass; what is due on the way fires."""
        while due := [
            (deadline_ms, name) for name, deadline_ms in self.deadlines.items() if deadline_ms <= at_ms
        ]:
            deadline_ms, name = min(due)
            del self.deadlines[name]
            self.now_ms = deadline_ms
            self.coordinator.wake(name, deadline_ms, self)
        self.now_ms = at_ms

    def let_go(self) -> None:
        """The replicas confirm everything."""
        self.is_held = False
        self.coordinator.high_watermark_moved(len(self.log), self.now_ms, self)

    def fail_over(self) -> None:
        """Another broker takes the partition over."""
        self.coordinator.unload(self.now_ms, self)
        self.coordinator = self._loaded()

    def group(self, group_id: str = "g") -> Any:
        return self.coordinator.state.groups.get(group_id)

    def _loaded(self) -> GroupCoordinator:
        coordinator = GroupCoordinator(self.settings, self.topics)
        coordinator.load(list(self.log), len(self.log), self.now_ms, self)
        return coordinator

    # What the coordinator can do

    def answer(self, context: m.RequestContext, response: Any) -> None:
        assert context.ticket not in self.answers, "a request is answered once"
        self.answers[context.ticket] = response

    def append(self, records: Any) -> Appended:
        if self.next_error is not None:
            error, self.next_error = self.next_error, None
            raise AppendFailed(error)
        self.log += records
        return Appended(
            len(self.log), self.coordinator.state.high_watermark if self.is_held else len(self.log)
        )

    def deadline(self, name: str, at_ms: int) -> None:
        self.deadlines[name] = at_ms

    def cancel(self, name: str) -> None:
        self.deadlines.pop(name, None)

    def draw_id(self, is_classic: bool) -> str:
        return f"{'u' if is_classic else 'm'}{next(self.ids)}"

    def tell(self, kind: str, rule: str | None, inputs: Any, data: Any) -> Cause:
        self.told.append((kind, rule))
        return Cause()

    def because(self, cause: Cause) -> None: ...


def join(
    member_id: str = "",
    session_ms: int = 10_000,
    rebalance_ms: int = 30_000,
    instance: str | None = None,
    protocols: Any = None,
) -> Any:
    metadata = write_subscription(SubscriptionData(("t",)), 0)
    offered = [m.Protocol(name, metadata) for name in protocols or ("range",)]
    return m.JoinGroupRequest("g", session_ms, member_id, "consumer", offered, rebalance_ms, instance)


def sync(generation: int, member_id: str, assignments: dict[str, bytes] | None = None) -> m.SyncGroupRequest:
    given = [m.MemberAssignment(known, data) for known, data in (assignments or {}).items()]
    return m.SyncGroupRequest("g", generation, member_id, None, "consumer", "range", given)


def stable_group(*clients: str, **settings: Any) -> tuple[Desk, list[str]]:
    """A Stable group of generation 1, by clients that know no MEMBER_ID_REQUIRED. Returns the ids, the leader
    first."""
    desk = Desk(**settings)
    for client in clients:
        desk.send(join(), 3, client)
    desk.pass_until(6_000 if len(clients) > 1 else 3_000)
    ids = list(desk.group().members)
    for member_id in reversed(ids):
        desk.send(
            sync(1, member_id, {known: known.encode() for known in ids} if member_id == ids[0] else None)
        )
    return desk, ids


def heartbeat848(
    member_id: str = "", epoch: int = 0, owned: list[int] | None = None, is_full: bool = False, **fields: Any
) -> Any:
    """A heartbeat of the consumer protocol; a join and a full one say everything."""
    tells_all = epoch == 0 or is_full
    partitions = (
        None if owned is None and not tells_all else [m.TopicPartitions(TOPIC_ID, owned)] if owned else []
    )
    return m.ConsumerGroupHeartbeatRequest(
        "g", member_id, epoch, rebalance_timeout_ms=10_000 if tells_all else -1,
        subscribed_topic_names=["t"] if tells_all else None, topic_partitions=partitions, **fields,
    )  # fmt: skip
