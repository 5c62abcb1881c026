"""How fast the group coordinator is: heartbeats of many groups, and one large group's rebalance, in the
classic and the consumer protocol.

Prints a table when run as a script; `make bench` calls `run()`. The log keeps nothing and confirms at once:
what is timed is the coordinator.
"""

import gc
import itertools
import time
from collections.abc import Sequence
from typing import Any

from broker_core.kafka.assignors.subscription_bytes import SubscriptionData, write_subscription
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.group_coordinator import GroupCoordinator
from broker_core.kafka.group.lag import WINDOW, Commit, lags_of, status_of
from broker_core.kafka.group.runtime import Appended
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.group.topics import Topic, TopicsImage

Figure = tuple[str, float, str, str, str]

GROUPS, MEMBERS = 5_000, 10
LARGE = 1_000
HEARTBEATS = 100_000
PARTITIONS = 10_000
TOPIC_ID = "WxEg2jC-QJBaeWO_0vz6bQ"


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    return [_heartbeats(), _rebalance(), _consumer_rebalance(), *_lag()]


def _lag() -> list[Figure]:
    """Lag of many partitions again, and their status by the rules over full windows."""
    ends = [1_000 + number % 97 for number in range(PARTITIONS)]
    committed = [None if number % 50 == 0 else 900 + number % 89 for number in range(PARTITIONS)]
    starts = [0] * PARTITIONS
    windows = [
        [Commit(second * 1_000, 800 + second * (number % 3), 5 + second) for second in range(WINDOW)]
        for number in range(PARTITIONS)
    ]
    gc.collect()
    began = time.process_time()
    lags = lags_of(ends, committed, starts)
    took = time.process_time() - began
    for window, lag in zip(windows, lags, strict=True):
        status_of(window, lag, 12_000)
    both = time.process_time() - began
    return [
        (
            f"lag of {PARTITIONS:,} partitions",
            took * 1_000,
            "ms",
            "at most 50",
            "from end offsets and commits",
        ),
        (
            "and their status by the rules",
            both * 1_000,
            "ms",
            "at most 50",
            f"windows of {WINDOW} commits each",
        ),
    ]


class Desk:
    """A coordinator with a log that is only counted."""

    def __init__(self, partitions: int = 1) -> None:
        self.now_ms = 0
        self.end_offset = 0
        self.deadlines: dict[str, int] = {}
        self.answers: dict[int, Any] = {}
        self.ids = itertools.count()
        self.tickets = itertools.count(1)
        self.coordinator = GroupCoordinator(
            GroupSettings(), TopicsImage.of([Topic("t", TOPIC_ID, partitions)])
        )
        self.coordinator.load([], 0, 0, self)

    def send(self, request: Any, version: int = 9) -> Any:
        ticket = next(self.tickets)
        self.coordinator.receive(m.RequestContext(ticket, version, "c"), request, self.now_ms, self)
        return self.answers.get(ticket)

    def wake(self, name: str, at_ms: int) -> None:
        self.now_ms = at_ms
        self.deadlines.pop(name, None)
        self.coordinator.wake(name, at_ms, self)

    def answer(self, context: m.RequestContext, response: Any) -> None:
        self.answers[context.ticket] = response

    def append(self, records: Sequence[Any]) -> Appended:
        self.end_offset += len(records)
        return Appended(self.end_offset, self.end_offset)

    def deadline(self, name: str, at_ms: int) -> None:
        self.deadlines[name] = at_ms

    def cancel(self, name: str) -> None:
        self.deadlines.pop(name, None)

    def draw_id(self, is_classic: bool) -> str:
        return f"{next(self.ids):08x}-54d2-4a63-9d4e-0c2d5c1f9a10"

    def tell(self, kind: str, rule: str | None, inputs: Any, data: Any) -> None:
        pass


def _join(group_id: str, member_id: str = "") -> m.JoinGroupRequest:
    metadata = write_subscription(SubscriptionData(("t",)))
    return m.JoinGroupRequest(
        group_id, 45_000, member_id, "consumer", [m.Protocol("range", metadata)], 300_000
    )


def _stable(desk: Desk, group_id: str, count: int) -> list[str]:
    """A Stable group of so many members. Returns their ids."""
    for _ in range(count):
        desk.send(_join(group_id), version=3)
    while desk.coordinator.state.groups.get(group_id).state == "PreparingRebalance":
        desk.wake(f"join-{group_id}", desk.now_ms)
    _sync(desk, group_id)
    return list(desk.coordinator.state.groups.get(group_id).members)


def _sync(desk: Desk, group_id: str) -> None:
    group = desk.coordinator.state.groups.get(group_id)
    shares = [m.MemberAssignment(member_id, b"x") for member_id in group.members]
    for member_id in list(group.members):
        desk.send(
            m.SyncGroupRequest(
                group_id,
                group.generation,
                member_id,
                None,
                "consumer",
                "range",
                shares if member_id == group.leader else [],
            )
        )


def _heartbeats() -> Figure:
    desk = Desk()
    requests = []
    for number in range(GROUPS):
        group_id = f"g{number}"
        requests += [
            m.HeartbeatRequest(group_id, 1, member_id) for member_id in _stable(desk, group_id, MEMBERS)
        ]
    desk.answers.clear()
    gc.collect()
    started = time.perf_counter()
    for request in itertools.islice(itertools.cycle(requests), HEARTBEATS):
        desk.send(request)
    seconds = time.perf_counter() - started
    assert all(answer.error_code == 0 for answer in desk.answers.values())
    what = f"Group coordinator, {GROUPS:,} groups x {MEMBERS} members: heartbeats on one core"
    return (what, round(HEARTBEATS / seconds), "1/s", "at least 20,000", "classic protocol, timers included")


def _rebalance() -> Figure:
    desk = Desk()
    ids = _stable(desk, "g", LARGE)
    gc.collect()
    started = time.perf_counter()
    # The leader rejoins, the others follow; then all sync.
    leader = desk.coordinator.state.groups.get("g").leader
    for member_id in [leader, *(known for known in ids if known != leader)]:
        desk.send(_join("g", member_id))
    _sync(desk, "g")
    seconds = time.perf_counter() - started
    group = desk.coordinator.state.groups.get("g")
    assert (group.state, group.generation) == ("Stable", 2)
    return (
        f"Group coordinator, a classic group of {LARGE:,} rebalances",
        round(1_000 * seconds),
        "ms",
        "at most 1,000 ms",
        "without the network",
    )


def _consumer_rebalance() -> Figure:
    desk = Desk(partitions=LARGE)

    def beat(member_id: str, epoch: int, owned: list[int] | None) -> Any:
        partitions = None if owned is None else [m.TopicPartitions(TOPIC_ID, owned)] if owned else []
        joins = epoch == 0
        return desk.send(
            m.ConsumerGroupHeartbeatRequest(
                "g", member_id, epoch, rebalance_timeout_ms=300_000 if joins else -1,
                subscribed_topic_names=["t"] if joins else None, topic_partitions=partitions,
            )
        )  # fmt: skip

    members = [beat("", 0, []) for _ in range(LARGE // 10)]
    ids = [answer.member_id for answer in members]
    group = desk.coordinator.state.groups.get("g")

    def settle() -> None:
        while group.state != "Stable":
            for member_id in ids:
                member = group.members[member_id]
                beat(member_id, member.epoch, sorted(member.assigned.get(TOPIC_ID, ())))

    settle()
    gc.collect()
    started = time.perf_counter()
    ids.append(beat("", 0, []).member_id)
    settle()
    seconds = time.perf_counter() - started
    what = (
        f"Group coordinator, one joins {LARGE // 10} members of the consumer protocol with {LARGE:,} "
        f"partitions, until all are stable"
    )
    return (
        what,
        round(1_000 * seconds),
        "ms",
        "at most 1,000 ms",
        "uniform assignor, every member's heartbeats included",
    )


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what}: {value:,} {unit} ({bar}; {note})")
