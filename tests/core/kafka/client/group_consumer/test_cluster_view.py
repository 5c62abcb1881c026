"""What a consumer knows of the cluster: whom it asks in turn, who leads, and what an answer changes of
that."""

from __future__ import annotations

import pytest

from broker_core.kafka.client.group_consumer.consumer_metadata import ClusterView, Leader, matching
from broker_core.kafka.client.group_consumer.subscription import FETCHING, PartitionState, Subscribed
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode

P, Q = ("t", 0), ("t", 1)


def told(*rows: tuple[int, int], topic: str = "t", code: int = 0) -> r.MetadataTopic:
    """A topic whose partitions have these (leader, leader epoch)."""
    partitions = [
        r.MetadataPartition(number, 0, leader, epoch, [leader, 9], [leader], [])
        for number, (leader, epoch) in enumerate(rows)
    ]
    return r.MetadataTopic(topic, code, partitions)


def answer(
    *topics: r.MetadataTopic, brokers: tuple[tuple[int, str | None], ...] = ((1, None), (2, None))
) -> r.MetadataResponse:
    return r.MetadataResponse([r.MetadataBroker(number, rack) for number, rack in brokers], 1, list(topics))


def view(*rows: tuple[int, int]) -> ClusterView:
    made = ClusterView(is_stale=False)
    made.take(answer(told(*rows)))
    return made


# --- whom it asks


def test_it_begins_one_further_each_time_among_bootstrap_brokers_and_then_among_those_that_are_there() -> (
    None
):
    asked = ClusterView()
    assert [asked.in_turn([5, 6, 7]) for _ in range(4)] == [[5, 6, 7], [6, 7, 5], [7, 5, 6], [5, 6, 7]]
    asked.take(answer(told((1, 0))))
    assert asked.in_turn([5, 6, 7]) == [1, 2] and asked.in_turn([5, 6, 7]) == [2, 1]


def test_an_answer_without_brokers_leaves_the_bootstrap_brokers_to_be_asked() -> None:
    asked = view((1, 0))
    asked.take(answer(brokers=()))
    assert asked.in_turn([5]) == [5]


# --- who leads


def test_nobody_leads_what_is_not_known_or_has_no_leader_and_broker_0_is_somebody() -> None:
    known = view((0, 3), (-1, 4))
    assert known.leader(P) == Leader(0, 3)
    assert [known.leader(partition) for partition in (Q, ("t", 2), ("u", 0))] == [None, None, None]


def test_a_partition_without_a_leader_and_a_topic_that_is_not_there_are_reasons_to_ask_again() -> None:
    assert not view((1, 0)).is_stale and view((1, 0), (-1, 0)).is_stale
    asked = ClusterView(is_stale=False)
    asked.take(answer(told(topic="u", code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)))
    assert asked.is_stale and asked.answered == ["u"] and asked.partition_counts() == {}


@pytest.mark.parametrize(("epoch", "leader"), [(2, 1), (3, 2), (4, 2)])
def test_a_leader_of_an_older_epoch_is_passed_over(epoch: int, leader: int) -> None:
    known = view((1, 3), (1, 3))
    known.take(answer(told((2, epoch), (1, 3))))
    found = known.leader(P)
    assert found is not None and (found.node_id, found.epoch) == (leader, max(3, epoch))


def test_a_topic_that_an_answer_leaves_out_is_known_no_more_and_one_that_grew_has_more_partitions() -> None:
    known = view((1, 3))
    known.take(answer(told((1, 3), (2, 0)), told((1, 0), topic="u")))
    assert known.partition_counts() == {"t": 2, "u": 1}
    known.take(answer(told((1, 0), topic="u")))
    assert known.partition_counts() == {"u": 1} and known.leader(P) is None


def test_an_epoch_that_somebody_saw_makes_a_leader_of_an_older_one_none() -> None:
    known = view((1, 3), (1, 3))
    for epoch in (2, 3):
        known.saw_epoch(P, epoch)
    assert (known.leader(P), known.is_stale) == (Leader(1, 3), False)
    known.saw_epoch(P, 4)
    assert (known.leader(P), known.is_stale, known.leader(Q)) == (None, True, Leader(1, 3))
    known.take(answer(told((1, 3), (1, 3))))
    assert known.leader(P) is None, "a broker that is behind does not bring it back"
    known.take(answer(told((2, 4), (1, 3))))
    assert known.leader(P) == Leader(2, 4)


# --- racks


def test_racks_of_replicas_are_known_where_brokers_have_some() -> None:
    known = ClusterView()
    known.take(answer(told((1, 0), (2, 0)), brokers=((1, "a"), (2, None), (9, "c"))))
    assert known.partition_racks(["t", "u"]) == {"t": [["a", "c"], [None, "c"]], "u": []}
    known.take(answer(told((1, 0))))
    assert known.partition_racks(["t"]) == {}, "nobody has one any more"


# --- patterns


@pytest.mark.parametrize(
    ("pattern", "topics"),
    [
        ("t", ["t"]),
        ("t.*", ["t", "t1", "tt"]),
        (".*", ["at", "t", "t1", "tt"]),
        ("t|a", ["t"]),
        ("x", []),
        ("__.*", []),
    ],
)
def test_a_pattern_means_topics_whose_whole_name_matches_and_never_the_brokers_own(
    pattern: str, topics: list[str]
) -> None:
    assert matching(pattern, ["tt", "at", "t1", "t", "__consumer_offsets", "__transaction_state"]) == topics


# --- what is read, and how far


def test_an_assignment_keeps_positions_and_its_own_order_and_has_to_be_looked_at_again() -> None:
    subscribed = Subscribed(is_settled=True)
    subscribed.assign([P, Q])
    subscribed.assigned[Q].seek(7, 2)
    subscribed.is_settled = True
    subscribed.assign([("t", 2), Q])
    assert list(subscribed.assigned) == [("t", 2), Q] and not subscribed.is_settled
    assert [subscribed.assigned[partition].position for partition in (("t", 2), Q)] == [-1, 7]
    subscribed.give_up([Q, ("t", 9)])
    subscribed.assign([Q])
    assert subscribed.assigned[Q] == PartitionState(), "what was given up comes back without a position"


def test_a_seek_ends_whatever_was_being_looked_for() -> None:
    known = PartitionState()
    known.is_asked = True
    known.request_reset("latest")
    assert (known.state, known.reset, known.is_asked) == ("await_reset", "latest", False)
    known.is_asked = True
    known.seek(7)
    assert (known.state, known.position, known.offset_epoch, known.is_asked) == (FETCHING, 7, -1, False)
