"""What a consumer commits and when, and what each answer to a commit leads to."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.client.group_consumer.commits import Committer
from broker_core.kafka.client.group_consumer.core import COMMITTING, IN, JOINING, OUT, SYNCING
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.node import Closed
from tests.core.kafka.client.consumer_bench import Bench, Server
from tests.core.kafka.client.group_consumer.parts import SECOND, Parts

GONE = (codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR, codes.REQUEST_TIMED_OUT)
OF_MEMBERSHIP = (
    codes.UNKNOWN_MEMBER_ID,
    codes.ILLEGAL_GENERATION,
    codes.REBALANCE_IN_PROGRESS,
    codes.FENCED_INSTANCE_ID,
    codes.STALE_MEMBER_EPOCH,
)


class Member(Parts):
    """A member of generation 4 that has read up to 10 in each of these partitions, in leader epoch 2."""

    def __init__(self, *numbers: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.committer = Committer(self.core)
        self.own(*(numbers or (0,)))
        for known in self.state.subscribed.assigned.values():
            known.seek(10, 2)
        member = self.state.member
        member.phase, member.generation, member.member_id = IN, 4, "c1-id"

    def commit(self, **options: Any) -> bool:
        return self.committer.commit(SECOND, self.out, **options)

    def rows(self) -> list[tuple[str, int, int, int]]:
        """What the last commit said: topic, partition, offset, epoch of the record before it."""
        ((broker, request),) = self.sent()
        assert broker == -1
        return [
            (topic.name, part.partition_index, part.committed_offset, part.committed_leader_epoch)
            for topic in request.topics for part in topic.partitions
        ]  # fmt: skip

    def answer(self, *rows: int, what: str = "commit:4:", now_us: int = SECOND) -> int:
        parts = [m.PartitionResult(number, code) for number, code in enumerate(rows)]
        return self.committer.answered(
            m.OffsetCommitResponse([m.TopicResult("t", parts)]), what, now_us, self.out
        )


# --- what is committed


def test_it_commits_where_it_is_with_the_epoch_of_the_record_before_it_and_as_whom() -> None:
    member = Member(0, 1, group_instance_id="one")
    assert member.commit()
    ((_, request),) = member.sent()
    assert (
        request.group_id,
        request.generation_id_or_member_epoch,
        request.member_id,
        request.group_instance_id,
    ) == ("g", 4, "c1-id", "one")
    member.commit()
    assert member.rows() == [("t", 0, 10, 2), ("t", 1, 10, 2)]
    assert [known.committed for known in member.state.subscribed.assigned.values()] == [10, 10]


def test_what_was_polled_and_is_not_handled_is_not_committed_from_the_first_such_record_on() -> None:
    member = Member(0, 1, 2)
    member.state.loop.taken.extend([(("t", 1), 7, 0), (("t", 1), 8, 0), (("t", 0), 9, 0)])
    member.commit()
    assert member.rows() == [("t", 0, 9, -1), ("t", 1, 7, -1), ("t", 2, 10, 2)], (
        "the epoch is of the record before the position only"
    )


def test_records_in_hand_of_a_partition_that_was_given_up_are_not_spoken_of() -> None:
    member = Member(0)
    member.state.loop.taken.append((("t", 5), 3, 0))
    member.commit()
    assert member.rows() == [("t", 0, 10, 2)]


def test_a_partition_without_a_position_is_left_out_and_with_none_there_is_nothing_to_commit() -> None:
    member = Member(0, 1)
    member.known(0).position = -1
    member.commit()
    assert member.rows() == [("t", 1, 10, 2)]
    member.known(1).position = -1
    assert not member.commit() and member.sent() == [] and member.state.commits.failed == 0


def test_a_position_of_zero_is_one_and_broker_0_is_a_coordinator() -> None:
    member = Member(0)
    member.known().seek(0)
    member.state.coordinator.node_id = 0
    assert member.commit() and member.out.connected == {1: "broker-0"} and member.rows() == [("t", 0, 0, -1)]


def test_given_offsets_go_as_they_are_also_of_partitions_that_it_does_not_own() -> None:
    member = Member(0)
    member.commit(offsets={("t", 0): 10, ("u", 3): 5})
    assert member.rows() == [("t", 0, 10, 2), ("u", 3, 5, -1)] and member.known(0).committed == 10
    assert not member.commit(offsets={})


# --- who may commit


@pytest.mark.parametrize("phase", [OUT, COMMITTING, JOINING, SYNCING, IN])
@pytest.mark.parametrize("generation", [-1, 4])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_classic_member_commits_only_with_an_assignment_and_one_of_the_consumer_protocol_always(
    phase: str, generation: int, protocol: str
) -> None:
    member = Member(0, group_protocol=protocol)
    member.state.member.phase, member.state.member.generation = phase, generation
    may = protocol == "consumer" or (phase in (IN, COMMITTING) and generation == 4)
    assert (
        member.commit() is may
        and bool(member.sent()) is may
        and member.state.commits.failed == (0 if may else 1)
    )


def test_without_a_coordinator_nothing_is_sent_and_nothing_has_failed() -> None:
    member = Member(0)
    member.state.coordinator.node_id = -1
    assert not member.commit() and member.sent() == [] and member.state.commits.failed == 0


# --- when


@pytest.mark.parametrize(
    ("commits", "has_clock"), [("auto", True), ("sync", False), ("async", False), ("never", False)]
)
def test_only_auto_commit_has_a_clock(commits: str, has_clock: bool) -> None:
    member = Member(0, commits=commits, auto_commit_interval_ms=700)
    member.committer.restart(SECOND, member.out)
    assert member.out.deadlines == ({"commit": SECOND + 700_000} if has_clock else {})


def test_one_whose_interval_is_over_goes_with_the_next_poll_and_the_interval_begins_anew() -> None:
    member = Member(0)
    member.committer.poll(SECOND, member.out)
    assert member.sent() == []
    member.state.commits.is_due = True
    member.committer.poll(SECOND, member.out)
    assert len(member.sent()) == 1 and member.out.deadlines["commit"] == 6 * SECOND
    member.committer.poll(2 * SECOND, member.out)
    assert member.sent() == []


# --- answers


@pytest.mark.parametrize("code", [*GONE, *OF_MEMBERSHIP, 3, 12, 28, -1])
def test_each_code_of_a_commit_leads_where_the_original_goes(code: int) -> None:
    member = Member(0, 1)
    concerns = member.answer(0, code)
    assert concerns == (code if code in OF_MEMBERSHIP else codes.NONE)
    is_gone = code in GONE
    assert (member.state.coordinator.node_id == -1, bool(member.failed), member.state.commits.is_due) == (
        is_gone,
        is_gone,
        is_gone,
    )
    assert (member.state.commits.done, member.state.commits.failed) == (0, 1)


def test_the_first_refusal_of_an_answer_counts_and_an_answer_without_one_is_done() -> None:
    member = Member(0)
    assert member.answer(codes.REBALANCE_IN_PROGRESS, codes.UNKNOWN_MEMBER_ID) == codes.REBALANCE_IN_PROGRESS
    assert member.answer(0, 0) == codes.NONE and member.answer() == codes.NONE
    assert (member.state.commits.done, member.state.commits.failed) == (2, 1)


@pytest.mark.parametrize(
    ("waiting", "again"),
    [("", True), ("prepare", True), ("sync", True), ("given", False), ("given_sync", False)],
)
def test_what_nobody_could_take_is_committed_again_unless_the_program_gave_it(
    waiting: str, again: bool
) -> None:
    member = Member(0)
    member.answer(codes.NOT_COORDINATOR, what=f"commit:4:{waiting}")
    assert member.state.commits.is_due is again


# --- in the program


def test_after_each_poll_the_program_commits_as_it_is_told_to() -> None:
    for commits, sent, waits in (
        ("sync", 1, True),
        ("async", 1, False),
        ("auto", 0, False),
        ("never", 0, False),
    ):
        bench = Bench(commits=commits, max_poll_records=2)
        bench.start()
        bench.join(0)
        bench.records(0, 0, 10, 11)
        bench.done()
        assert not bench.to(m.OffsetCommitRequest), "not between the records of one poll"
        bench.done()
        found = bench.to(m.OffsetCommitRequest)
        assert len(found) == sent and bench.state.loop.awaits_commit is waits
        assert not found or found[0][1].topics[0].partitions[0].committed_offset == 2


def test_a_sync_commit_that_could_not_be_sent_does_not_wait() -> None:
    bench = Bench(commits="sync", max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10)
    bench.node.receive(bench.state.network.connections[-1], Closed("reset"), SECOND, bench.out)
    bench.done(SECOND)
    assert not bench.state.loop.awaits_commit and bench.state.program.hand == -1


@pytest.mark.parametrize("code", [0, codes.NOT_COORDINATOR, codes.UNKNOWN_MEMBER_ID, 12])
def test_the_program_that_waits_for_its_commit_polls_on_whatever_the_answer_is(code: int) -> None:
    bench = Bench(commits="sync", max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10)
    bench.done()
    bench.answer(
        m.OffsetCommitRequest,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, code)])]),
        SECOND,
    )
    assert not bench.state.loop.awaits_commit and bench.state.loop.polled_us == SECOND


def test_a_refusal_of_an_older_generation_s_commit_does_not_cost_the_membership_of_the_new_one() -> None:
    """ConsumerCoordinator: the error is only acted on if the generation is still the one that was sent; it
    joins again all the same."""
    bench = Bench(commits="async", assignors=["cooperative-sticky"], max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10)
    bench.done()
    late = bench.to(m.OffsetCommitRequest)[0]
    bench.state.member.generation = 2
    bench.node.receive(
        late[0],
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, codes.UNKNOWN_MEMBER_ID)])]),
        SECOND,
        bench.out,
    )
    (_, request) = bench.to(m.JoinGroupRequest)[0]
    assert request.member_id == "c1-id" and bench.state.owned == [("t", 0)]


def test_a_fenced_instance_ends_with_its_commit() -> None:
    bench = Bench(group_instance_id="one", commits="async", max_poll_records=1)
    bench.start()
    bench.join(0)
    bench.records(0, 0, 10)
    bench.done()
    bench.answer(
        m.OffsetCommitRequest,
        m.OffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, codes.FENCED_INSTANCE_ID)])]),
    )
    assert (
        bench.state.member.code == codes.FENCED_INSTANCE_ID
        and bench.out.told[-1][0] == "kafka.consumer.failed"
    )
    assert not bench.to(m.JoinGroupRequest) and bench.state.owned == []


def test_a_member_of_the_consumer_protocol_commits_with_its_epoch_while_it_is_between_targets() -> None:
    bench = Server(commits="sync", max_poll_records=1)
    bench.start()
    bench.beat(3, [0])
    bench.records(0, 0, 10)
    bench.done()
    (_, request) = bench.to(m.OffsetCommitRequest)[0]
    assert (request.generation_id_or_member_epoch, request.member_id) == (3, "m1") and not bench.to(
        r.ListOffsetsRequest
    )
