"""What the program's rebalance listener hears, in which order, under each protocol: assigned, revoked (and
why), lost."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.kafka.assignors.subscription_bytes import write_assignment
from broker_core.kafka.client.group_consumer.core import Core
from broker_core.kafka.client.group_consumer.ownership import Ownership
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.sim.program import Leave
from tests.core.kafka.client.consumer_bench import SECOND, Bench, Server
from tests.core.kafka.client.group_consumer.parts import Parts

OK_COMMIT = m.OffsetCommitResponse([])
Heard = list[tuple[str, str | None, list[Any]]]


def heard(out: Any) -> Heard:
    """What was reported of partitions: (what, why, which)."""
    rows = [
        (
            kind.removeprefix("kafka.consumer."),
            rule and rule.removeprefix("kafka.consumer."),
            data.get("partitions"),
        )
        for (kind, data), rule in zip(out.told, out.rules)
    ]
    return [row for row in rows if row[0] in ("assigned", "revoked")]


def classic(*numbers: int, assignor: str = "range", **settings: Any) -> Bench:
    bench = Bench(partitions=6, assignors=[assignor], **settings)
    bench.start()
    bench.join(*numbers)
    return bench


def rebalanced(bench: Bench, *numbers: int, generation: int = 2) -> None:
    """Its heartbeat tells of a rebalance, out of which it gets these."""
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.REBALANCE_IN_PROGRESS))
    again(bench, *numbers, generation=generation)


def again(bench: Bench, *numbers: int, generation: int) -> None:
    if any(isinstance(message, m.OffsetCommitRequest) for _, message in bench.out.sent):
        bench.answer(m.OffsetCommitRequest, OK_COMMIT)
    name = bench.state.settings.assignors[0] if bench.state.settings.assignors else "range"
    bench.answer(m.JoinGroupRequest, m.JoinGroupResponse("c1-id", 0, generation, "consumer", name, "other"))
    bench.answer(
        m.SyncGroupRequest,
        m.SyncGroupResponse(0, "consumer", name, write_assignment([("t", number) for number in numbers])),
    )
    bench.offsets({})


def test_an_eager_member_is_told_that_everything_goes_and_then_what_comes_though_it_is_the_same() -> None:
    bench = classic(0, 1)
    rebalanced(bench, 1, 0)
    assert heard(bench.out) == [
        ("assigned", None, [0, 1]),
        ("revoked", "eager", [0, 1]),
        ("assigned", None, [1, 0]),
    ]
    assert [known.position for known in bench.state.subscribed.assigned.values()] == [0, 0]


def test_a_cooperative_member_is_told_only_of_what_changes() -> None:
    bench = classic(0, 1, assignor="cooperative-sticky")
    rebalanced(bench, 1, 2)
    assert heard(bench.out)[1:] == [("revoked", "cooperative", [0]), ("assigned", None, [2])]
    again(bench, 1, 2, generation=3)
    assert len(heard(bench.out)) == 3, "the second rebalance changes nothing for it"


def test_a_cooperative_member_that_keeps_everything_hears_nothing_and_joins_once() -> None:
    bench = classic(0, 1, assignor="cooperative-sticky")
    rebalanced(bench, 0, 1)
    assert len(heard(bench.out)) == 1 and not bench.to(m.JoinGroupRequest)


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_who_is_thrown_out_is_told_that_it_lost_everything_whatever_the_protocol(assignor: str) -> None:
    bench = classic(0, 1, assignor=assignor)
    bench.node.wake("heartbeat", 3 * SECOND, bench.out)
    bench.answer(m.HeartbeatRequest, m.HeartbeatResponse(codes.UNKNOWN_MEMBER_ID))
    assert heard(bench.out)[1:] == [("revoked", "lost", [0, 1])] and not bench.to(m.OffsetCommitRequest)


def test_a_member_without_partitions_hears_nothing_of_them() -> None:
    bench = classic()
    rebalanced(bench)
    assert heard(bench.out) == []


def test_close_revokes_after_the_commit_was_sent() -> None:
    bench = classic(0)
    bench.node.receive(0, Leave(), SECOND, bench.out)
    assert heard(bench.out)[1:] == [("revoked", "closed", [0])] and len(bench.to(m.OffsetCommitRequest)) == 1


def test_a_member_of_the_consumer_protocol_gives_up_and_takes_up_in_one_go() -> None:
    bench = Server(partitions=6)
    bench.start()
    bench.beat(1, [0, 1])
    bench.beat(1, None)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(2, [1, 2], now_us=5 * SECOND)
    assert heard(bench.out) == [("assigned", None, [0, 1])], "it commits first"
    bench.answer(m.OffsetCommitRequest, OK_COMMIT, 5 * SECOND)
    assert heard(bench.out)[1:] == [("revoked", "reconciled", [0]), ("assigned", None, [2])]


def test_while_it_commits_before_it_gives_up_what_goes_is_neither_fetched_nor_handed_over() -> None:
    bench = Server(partitions=6)
    bench.start()
    bench.beat(1, [0, 1])
    bench.beat(1, None)
    bench.node.wake("heartbeat", 5 * SECOND, bench.out)
    bench.beat(2, [1], now_us=5 * SECOND)
    assigned = bench.state.subscribed.assigned
    assert (assigned["t", 0].is_revoking, assigned["t", 1].is_revoking) == (True, False)
    bench.records(0, 0, 10, now_us=5 * SECOND)
    assert bench.state.program.hand == -1
    bench.records(1, 0, 20, now_us=5 * SECOND)
    assert bench.state.program.hand == 20


# --- the part itself


def test_partitions_of_one_topic_are_told_by_number_and_of_several_with_their_topics() -> None:
    parts = Parts()
    ownership = Ownership(Core(parts.state))
    ownership.take([("t", 0), ("t", 2)], parts.out)
    ownership.take([("t", 0), ("u", 1), ("t", 3)], parts.out)
    ownership.lose(parts.out)
    ownership.lose(parts.out)
    assert [data for _, data in parts.out.told] == [
        {"client": "c1", "topic": "t", "partitions": [0, 2]}, {"client": "c1", "partitions": ["u-1", "t-3"]},
        {"client": "c1", "partitions": ["t-0", "u-1", "t-3"]},
    ]  # fmt: skip
    assert parts.out.rules == [None, None, "kafka.consumer.lost"] and parts.state.owned == []
