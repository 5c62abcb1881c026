"""Laws of the coordinator under any order of requests, time-outs, failed appends and take-overs."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.assignors.subscription_bytes import SubscriptionData, write_subscription
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.classic.group import ClassicGroup
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, STABLE
from broker_core.kafka.group.codes import NOT_ENOUGH_REPLICAS
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.topics import Topic, TopicsImage
from tests.core.kafka.group.desk import TOPIC_ID, Desk, sync

PARTITIONS = 5
STEP = st.tuples(st.integers(0, 11), st.integers(0, 4), st.integers(0, 5))
SETTINGS = settings(max_examples=60, deadline=None)


class ConsumerClient:
    """A client of the consumer protocol. held: what it works on: never more than its last answer allows."""

    def __init__(self, instance: str | None) -> None:
        self.instance = instance
        self.member_id = ""
        self.epoch = 0
        self.held: set[int] = set()

    def beat(self, desk: Desk, topics: list[str] | None = None) -> None:
        is_join = self.epoch == 0
        if is_join:
            self.held = set()
        owned = [m.TopicPartitions(TOPIC_ID, sorted(self.held))] if self.held else []
        answer = desk.send(
            m.ConsumerGroupHeartbeatRequest(
                "g",
                self.member_id,
                self.epoch,
                instance_id=self.instance,
                rebalance_timeout_ms=8_000 if is_join else -1,
                subscribed_topic_names=(topics or ["t"]) if is_join or topics else None,
                topic_partitions=owned,
            )
        )
        if answer is None or answer.error_code:
            # Fenced or failed: it must let go of everything before it joins again.
            self.held, self.epoch = set(), 0
            return
        self.member_id, self.epoch = answer.member_id, answer.member_epoch
        if answer.assignment is not None:
            self.held = {
                number for topic in answer.assignment.topic_partitions for number in topic.partitions
            }


def holders_are_disjoint(desk: Desk, clients: list[ConsumerClient]) -> None:
    """By the coordinator's books a partition has one owner; and no client works on what the books give to
    another."""
    group = desk.group()
    if not isinstance(group, ConsumerGroup):
        return
    owner: dict[int, str] = {}
    for member in group.members.values():
        for partitions in (member.assigned, member.revoking):
            for number in partitions.get(TOPIC_ID, ()):
                assert number not in owner, "a partition is owned once in every epoch"
                owner[number] = member.member_id
    for client in clients:
        if client.member_id in group.members:
            assert all(owner.get(number) == client.member_id for number in client.held), (
                "a client holds what it may"
            )
    given_out = [number for target in group.target.values() for number in target.get(TOPIC_ID, ())]
    assert len(given_out) == len(set(given_out)), "the target gives a partition once"


@SETTINGS
@given(st.lists(STEP, max_size=60), st.sampled_from(["uniform", "range"]))
def test_no_partition_is_owned_twice_in_any_epoch_of_the_consumer_protocol(steps, assignor):
    desk = Desk(PARTITIONS, consumer_assignors=(assignor,), consumer_session_timeout_ms=10_000)
    clients = [ConsumerClient(f"i{index}" if index == 4 else None) for index in range(5)]
    for kind, who, what in steps:
        client = clients[who]
        match kind:
            case 0 | 1 | 2 | 3 | 4:
                client.beat(desk)
            case 5:
                client.beat(desk, topics=["t", "u"] if what % 2 else ["t"])
            case 6 if client.epoch > 0:
                desk.send(
                    m.ConsumerGroupHeartbeatRequest("g", client.member_id, -1, instance_id=client.instance)
                )
                client.held, client.epoch, client.member_id = set(), 0, ""
            case 7:
                # A client that hears nothing stops at its session timeout, as the coordinator fences it.
                before = set(desk.group().members) if isinstance(desk.group(), ConsumerGroup) else set()
                desk.pass_until(desk.now_ms + 1_000 * (what + 1))
                gone = (
                    before - set(desk.group().members) if isinstance(desk.group(), ConsumerGroup) else before
                )
                for other in clients:
                    if other.member_id in gone:
                        other.held, other.epoch = set(), 0
            case 8:
                desk.fail_over()
            case 9:
                desk.next_error = NOT_ENOUGH_REPLICAS if what == 0 else None
            case 10:
                desk.topics = TopicsImage.of([Topic("t", TOPIC_ID, PARTITIONS + what)])
                desk.coordinator.topics_changed(desk.topics, ["t"])
        holders_are_disjoint(desk, clients)


@SETTINGS
@given(st.lists(STEP, max_size=40), st.sampled_from(["uniform", "range"]))
def test_group_of_the_consumer_protocol_settles_and_gives_every_partition_out(steps, assignor):
    desk = Desk(PARTITIONS, consumer_assignors=(assignor,), consumer_session_timeout_ms=60_000)
    clients = [ConsumerClient(None) for _ in range(5)]
    for kind, who, _ in steps:
        clients[who].beat(desk)
        if kind == 8:
            desk.fail_over()
    clients[0].beat(desk)
    for _ in range(6):
        for client in clients:
            if client.epoch:
                client.beat(desk)
    assert desk.group().state == "Stable"
    assert sorted(number for client in clients for number in client.held) == list(range(PARTITIONS))


class ClassicClient:
    """A client of the classic protocol that follows its coordinator. generation: of the assignment that it
    works with."""

    def __init__(self, name: str, instance: str | None) -> None:
        self.name = name
        self.instance = instance
        self.member_id = ""
        self.generation = -1
        self.ticket: int | None = None

    def request(self, desk: Desk, request: Any, version: int = 9) -> None:
        desk.send(request, version, self.name)
        self.ticket = max(desk.coordinator.state.unanswered | set(desk.answers))

    def look(self, desk: Desk) -> None:
        """Read the answer, if it came, and do what follows from it."""
        answer = desk.answers.get(self.ticket or 0)
        if answer is None:
            return
        self.ticket = None
        if isinstance(answer, m.JoinGroupResponse) and not answer.error_code:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            shares = {member.member_id: member.member_id.encode() for member in answer.members}
            self.request(desk, sync(self.generation, self.member_id, shares))
        elif answer.error_code:
            self.generation = -1
            if isinstance(answer, m.JoinGroupResponse):
                self.member_id = answer.member_id
            elif answer.error_code not in (22, 27):
                self.member_id = ""


def commit_of(client: ClassicClient, generation: int) -> m.OffsetCommitRequest:
    return m.OffsetCommitRequest(
        "g", generation, client.member_id, [m.CommittedTopic("t", [m.CommittedPartition(0, 1)])]
    )


@SETTINGS
@given(st.lists(STEP, min_size=10, max_size=70), st.booleans())
def test_classic_group_takes_no_commit_of_a_zombie_and_keeps_its_books(steps, is_old):
    desk = Desk(is_old=is_old)
    clients = [ClassicClient(f"c{index}", f"i{index}" if index == 4 else None) for index in range(5)]
    metadata = [write_subscription(SubscriptionData(("t",)), version) for version in (0, 3)]
    for client in clients[2:]:
        client.request(
            desk,
            m.JoinGroupRequest(
                "g", 10_000, "", "consumer", [m.Protocol("range", metadata[0])], 20_000, client.instance
            ),
            5,
        )
        client.look(desk)
        client.request(
            desk,
            m.JoinGroupRequest(
                "g", 10_000, client.member_id, "consumer", [m.Protocol("range", metadata[0])], 20_000
            ),
        )
    desk.pass_until(9_000)
    for kind, who, what in steps:
        client = clients[who]
        for other in clients:
            other.look(desk)
        match kind:
            case 0 | 1 | 2 if client.ticket is None:
                offered = [m.Protocol("range", metadata[what % 2])]
                client.request(
                    desk,
                    m.JoinGroupRequest(
                        "g", 10_000, client.member_id, "consumer", offered, 20_000, client.instance
                    ),
                )
            case 3 | 4:
                desk.send(m.HeartbeatRequest("g", client.generation, client.member_id, client.instance))
            case 5:
                desk.send(
                    m.LeaveGroupRequest("g", members=[m.MemberIdentity(client.member_id, client.instance)]), 5
                )
            case 6 | 7:
                desk.pass_until(desk.now_ms + 1_500 * (what + 1))
            case 8:
                desk.fail_over()
            case 9:
                desk.next_error = NOT_ENOUGH_REPLICAS if what == 0 else None
        group = desk.group()
        for generation in (what, client.generation):
            desk.next_error = None
            answer = desk.send(commit_of(client, generation))
            if generation >= 0 and answer.topics[0].partitions[0].error_code == 0:
                assert (
                    isinstance(group, ClassicGroup)
                    and generation == group.generation
                    and client.member_id in group.members
                )
                assert group.state != COMPLETING
        if isinstance(group, ClassicGroup):
            waiting = [member for member in group.members.values() if member.awaits_join is not None]
            assert group.waiting_count == len(waiting) and (
                group.leader in group.members or not group.members
            )
            assert group.static_members.keys() == {
                member.instance_id for member in group.members.values() if member.instance_id
            }
            assert (group.state != EMPTY) or not group.members
            if group.state == STABLE:
                assert max(group.offered_counts.values()) == len(group.members)


@SETTINGS
@given(st.lists(STEP, max_size=50))
def test_what_is_loaded_from_the_log_is_what_was_there(steps):
    desk = Desk()
    for kind, who, what in steps:
        places = [m.CommittedTopic("tu"[what % 2], [m.CommittedPartition(who, kind)])]
        match kind:
            case 0 | 1 | 2 | 3:
                desk.send(m.OffsetCommitRequest("g", -1, "", places))
            case 4 | 5 | 6:
                desk.send(m.TxnOffsetCommitRequest("tx", "gh"[what % 2], 100 + who % 2, 0, places))
            case 7 | 8:
                desk.send(m.WriteTxnMarkers(100 + who % 2, 0, bool(what % 2)))
            case 9:
                desk.send(m.OffsetDeleteRequest("g", [m.DeletedTopic("t", [m.DeletedPartition(who)])]))
            case 10:
                desk.send(m.PartitionsDeleted([("u", who)]))
            case 11:
                desk.send(m.DeleteGroupsRequest(["g" if what % 2 else "h"]))
    before = desk.coordinator.state.offsets
    desk.fail_over()
    after = desk.coordinator.state.offsets
    assert after.visible.present == before.visible.present and after.by_group.keys() == before.by_group.keys()
    assert {p: {g: v for g, v in groups.items() if v} for p, groups in after.pending.items()} == {
        p: {g: v for g, v in groups.items() if v} for p, groups in before.pending.items()
    }
