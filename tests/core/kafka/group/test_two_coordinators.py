"""The lane's small coordinator and the recorded one, side by side: the same requests at the same times, the
same answers and the same group.

docs/decisions/two-group-coordinators.md: a rule that changes for both is changed in both. Left out here is
what differs on purpose or is only in
one: ids that were given out and not used, static members, votes, and who never fetches what the leader has
brought.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import Subscription
from broker_core.kafka.assignors.subscription_bytes import SubscriptionData, write_subscription
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.offsets import offset_commit
from tests.core.kafka.group.desk import Desk
from tests.core.kafka.group.lane_desk import Lane

SESSION_S, REBALANCE_S = 10, 200
TOPICS = (("t",), ("t", "u"))


class HexDesk(Desk):
    """Gives ids as the lane does, so that both groups have the same members in the same order."""

    def draw_id(self, is_classic: bool) -> str:
        return f"{next(self.ids):08x}"


class Both:
    """One group in each coordinator. Member ids are the same in both; a member's connection is its place of
    arrival."""

    def __init__(self) -> None:
        self.desk = HexDesk()
        self.lane = Lane()
        self.connections: dict[str, int] = {}
        self.now_s = 0

    def join(self, connection: int, member_id: str, topics: tuple[str, ...]) -> tuple[Any, Any]:
        """(answer of the recorded one, of the lane); None: parked."""
        metadata = write_subscription(SubscriptionData(topics), 0)
        request = m.JoinGroupRequest(
            "g",
            SESSION_S * 1_000,
            member_id,
            "consumer",
            [m.Protocol("range", metadata)],
            REBALANCE_S * 1_000,
        )
        recorded = self.desk.send(request, 9, f"c{connection}")
        sent = self.lane.join(
            connection,
            member_id,
            self.now_s,
            SESSION_S * SECOND_US,
            REBALANCE_S * SECOND_US,
            "range",
            Subscription(topics),
        )
        return recorded, _answer(sent, connection, r.JoinGroupResponse)

    def enter(self) -> None:
        connection = len(self.connections) + 1
        recorded, small = self.join(connection, "", TOPICS[0])
        assert (recorded.error_code, recorded.member_id) == (small.error_code, small.member_id)
        self.connections[small.member_id] = connection
        self.rejoin(small.member_id, TOPICS[0])

    def rejoin(self, member_id: str, topics: tuple[str, ...]) -> None:
        recorded, small = self.join(self.connections[member_id], member_id, topics)
        assert (recorded is None) == (small is None)
        if small is not None:
            assert (recorded.error_code, recorded.member_id) == (small.error_code, small.member_id)
            if small.error_code == r.NONE:
                assert (recorded.generation_id, recorded.leader) == (small.generation_id, small.leader)
                # The order of the list is that of Java's map there and of arrival here; range sorts it
                # anyway.
                listed = sorted(each.member_id for each in recorded.members)
                assert listed == sorted(known for known, _ in small.members) or recorded.members == []

    def sync(self, member_id: str, generation: int) -> None:
        given_out = (
            {known: [place] for place, known in enumerate(self.lane.group.members)}
            if self.lane.group.leader == member_id
            else {}
        )
        parts = [m.MemberAssignment(known, bytes(numbers)) for known, numbers in given_out.items()]
        recorded = self.desk.send(
            m.SyncGroupRequest("g", generation, member_id, None, "consumer", "range", parts)
        )
        connection = self.connections[member_id]
        sent = self.lane.sync(connection, member_id, given_out, generation, self.now_s)
        small = _answer(sent, connection, r.SyncGroupResponse)
        assert (recorded is None) == (small is None)
        if small is not None:
            assert (recorded.error_code, list(recorded.assignment)) == (small.error_code, small.assignment)

    def beat(self, member_id: str, generation: int) -> None:
        recorded = self.desk.send(m.HeartbeatRequest("g", generation, member_id))
        assert recorded.error_code == self.lane.beat(
            self.connections[member_id], member_id, generation, self.now_s
        )

    def commit(self, member_id: str, generation: int) -> None:
        topics = [m.CommittedTopic("t", [m.CommittedPartition(0, self.now_s)])]
        recorded = self.desk.send(m.OffsetCommitRequest("g", generation, member_id, topics))
        offset_commit(
            self.lane.group,
            1,
            r.OffsetCommitRequest("g", generation, member_id, {0: self.now_s}),
            self.now_s * SECOND_US,
            self.lane.out,
        )
        ((_, small),) = self.lane.out.take()
        assert recorded.topics[0].partitions[0].error_code == small.error_code

    def leave(self, member_id: str) -> None:
        recorded = self.desk.send(m.LeaveGroupRequest("g", members=[m.MemberIdentity(member_id)]))
        sent = self.lane.leave(self.connections[member_id], member_id, self.now_s)
        assert recorded.members[0].error_code == sent[0][1].error_code

    def pass_time(self, seconds: int) -> None:
        self.now_s += seconds
        self.desk.pass_until(self.now_s * 1_000)
        deadlines = self.lane.out.deadlines
        while due := [(at_us, name) for name, at_us in deadlines.items() if at_us <= self.now_s * SECOND_US]:
            self.lane.due(min(due, key=lambda each: (each[0], _as_recorded(each[1])))[1])

    def are_alike(self) -> None:
        group, small = self.desk.group(), self.lane.group
        if group is None:
            assert small.members == {}
            return
        assert (group.state, group.generation, group.leader, list(group.members)) == (
            small.state,
            small.generation,
            small.leader,
            list(small.members),
        )
        waits = (
            [member.awaits_join is not None for member in group.members.values()],
            [member.awaits_join for member in small.members.values()],
        )
        assert waits[0] == waits[1]
        syncs = (
            [member.awaits_sync is not None for member in group.members.values()],
            [member.awaits_sync for member in small.members.values()],
        )
        assert syncs[0] == syncs[1]
        timers = {
            _as_recorded(name): at_us // MILLISECOND_US
            for name, at_us in self.lane.out.deadlines.items()
            if not name.startswith("sync")
        }
        # Of a member that waits the recorded one may have let its timer run out without a word, or the lane
        # has set it with the request.
        waiting = {
            f"heartbeat-g-{known}"
            for known, member in small.members.items()
            if member.awaits_join or member.awaits_sync
        }
        recorded = {
            name: at_ms
            for name, at_ms in self.desk.deadlines.items()
            if name.startswith(("heartbeat", "join"))
        }
        assert {name: at for name, at in timers.items() if name not in waiting} == {
            name: at for name, at in recorded.items() if name not in waiting
        }


def _answer(sent: list[tuple[int, Any]], connection: int, kind: type) -> Any:
    """The answer to a request of this kind among what was sent; None: it is parked."""
    return next((answer for to, answer in sent if to == connection and isinstance(answer, kind)), None)


def _as_recorded(name: str) -> str:
    """A deadline of the lane by the recorded coordinator's name; ties go by it."""
    return name.replace("session:", "heartbeat-").replace(":", "-")


VERBS = [
    "enter",
    "rejoin",
    "change",
    "sync",
    "sync",
    "beat",
    "stale beat",
    "commit",
    "stale commit",
    "leave",
    "time",
    "time",
]
ACT = st.tuples(st.sampled_from(VERBS), st.integers(0, 3))


@settings(max_examples=50, deadline=None)
@given(st.lists(ACT, max_size=25))
def test_law_both_coordinators_answer_alike_and_have_the_same_group(acts: list[tuple[str, int]]) -> None:
    both = Both()
    both.enter()
    for act, place in acts:
        # Also of those that have gone: both must know them no more.
        member_id = list(both.connections)[place % len(both.connections)]
        generation = both.lane.group.generation
        match act:
            case "enter" if len(both.connections) < 6:
                both.enter()
            case "rejoin" | "change":
                both.rejoin(member_id, TOPICS[act == "change"])
            case "sync":
                both.sync(member_id, generation)
            case "beat" | "stale beat":
                both.beat(member_id, generation - (act == "stale beat"))
            case "commit" | "stale commit":
                both.commit(member_id, generation - (act == "stale commit"))
            case "leave":
                both.leave(member_id)
            case "time":
                both.pass_time(2 * place + 1)
        both.are_alike()
