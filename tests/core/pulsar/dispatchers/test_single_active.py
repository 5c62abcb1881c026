"""Exclusive and Failover: one is active, the others stand by, and who it is follows from the list alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
