"""Exclusive and Failover: one is active, the others stand by, and who it is follows from the list alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.hashing.java_hash import utf16_order
from broker_core.hashing.murmur3 import murmur3_31
from broker_core.pulsar.dispatchers import single_active
from broker_core.pulsar.dispatchers.errors import ConsumerBusy, ServerMetadata
from broker_core.pulsar.dispatchers.single_active import NOT_PARTITIONED, SingleActiveDispatcher, Standby


def partition(number: int) -> SingleActiveDispatcher:
    return SingleActiveDispatcher(f"persistent://public/default/orders-partition-{number}", number)


def test_the_second_consumer_of_an_exclusive_subscription_is_refused_and_nothing_changes() -> None:
    topic = SingleActiveDispatcher("persistent://public/default/orders", is_exclusive=True)
    topic.add(Standby("a", "A"))
    with pytest.raises(ConsumerBusy, match="Exclusive consumer is already connected") as caught:
        topic.add(Standby("b", "B"))
    assert caught.value.code == "ConsumerBusy"
    assert (topic.active, topic.order) == ("a", ["a"])


def test_who_is_not_connected_cannot_leave() -> None:
    with pytest.raises(ServerMetadata, match="Consumer was not connected"):
        partition(0).remove("a")


def test_a_leave_moves_the_role_where_the_active_one_stayed() -> None:
    topic = partition(1)
    for name in "ABC":
        topic.add(Standby(name, name))
    assert topic.active == "B"
    change = topic.remove("A")
    assert (topic.active, change.switched, change.notified) == ("C", True, ("B", "C"))


def test_a_worse_priority_stands_by_and_a_better_one_takes_over() -> None:
    topic = partition(0)
    topic.add(Standby("a", "A", 1))
    assert topic.add(Standby("z", "Z", 2)).notified == ("z",)
    assert topic.active == "a"
    assert topic.add(Standby("y", "Y", 0)).switched
    assert topic.active == "y"


consumers = st.lists(st.tuples(st.text(max_size=4), st.integers(0, 2)), min_size=1, max_size=8)


@given(listed=consumers, number=st.integers(NOT_PARTITIONED, 9), order=st.randoms(use_true_random=False))
def test_the_active_one_is_of_the_best_level_and_follows_from_who_is_there(
    listed: list[tuple[str, int]], number: int, order: object
) -> None:
    named = {
        f"{name}-{place}": Standby(str(place), f"{name}-{place}", priority)
        for place, (name, priority) in enumerate(listed)
    }
    shuffled = list(named.values())
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    actives = set()
    for arrival in (list(named.values()), shuffled):
        topic = SingleActiveDispatcher("persistent://public/default/orders", number)
        for standby in arrival:
            topic.add(standby)
        actives.add(topic.active)
    (active,) = actives
    assert next(known.priority for known in named.values() if known.consumer == active) == min(
        priority for _name, priority in listed
    )


def test_a_join_looks_at_a_few_of_those_who_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """With twice as many consumers a join compares one name more, not twice as many."""
    compared = 0

    def counted(text: str) -> bytes:
        nonlocal compared
        compared += 1
        return utf16_order(text)

    monkeypatch.setattr(single_active, "utf16_order", counted)
    counts = []
    for uses_ring in (False, True):
        dispatcher = SingleActiveDispatcher("persistent://public/default/t", 3, uses_ring=uses_ring)
        for number in range(600):
            before = compared
            dispatcher.add(Standby(f"c{number}", f"c{number}"))
            counts.append(compared - before)
    assert max(counts) <= 14


@given(
    st.lists(st.tuples(st.sampled_from("abcdeé😀"), st.integers(0, 2)), min_size=1, max_size=12), st.data()
)
def test_on_the_ring_the_first_point_at_or_after_the_topic_decides(joins, data) -> None:
    """By the ring as the original builds it, of all points of the best level."""
    topic = data.draw(st.sampled_from([f"persistent://public/default/t{number}" for number in range(9)]))
    dispatcher = SingleActiveDispatcher(topic)
    here: list[Standby] = []
    for number, (name, priority) in enumerate(joins):
        here.append(Standby(str(number), name, priority))
        dispatcher.add(here[-1])
        if data.draw(st.integers(0, 3)) == 0 and len(here) > 1:
            dispatcher.remove(here.pop(data.draw(st.integers(0, len(here) - 1))).consumer)
        ordered = sorted(here, key=lambda known: (known.priority, utf16_order(known.name)))
        assert dispatcher.order == [known.consumer for known in ordered]
        best = [known for known in ordered if known.priority == ordered[0].priority]
        ring = {murmur3_31(f"{known.name}{index}"): known for known in best for index in range(100)}
        first = min((point for point in ring if point >= murmur3_31(topic)), default=min(ring))
        assert dispatcher.active == ring[first].consumer
