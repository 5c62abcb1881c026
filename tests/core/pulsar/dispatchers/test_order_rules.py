"""Both order rules of Key_Shared, rule by rule: who waits for what, for how long, and what passes them
meanwhile."""

import pytest

from broker_core.pulsar.dispatchers import draining
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.selectors import SELECTORS
from tests.core.pulsar.dispatchers.arriving import HIGH, LOW


def ordered(**options: bool) -> KeySharedDispatcher:
    return KeySharedDispatcher(SELECTORS["auto_split"](), **options)


def current() -> DrainingDispatcher:
    return DrainingDispatcher(SELECTORS["auto_split"]())


def test_newcomer_that_finds_everything_acknowledged_does_not_wait() -> None:
    dispatcher = ordered()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW, HIGH])
    dispatcher.ack([0, 1])
    dispatcher.connect("b", "b", 10)
    assert dispatcher.recently_joined == {}
    assert dispatcher.publish([LOW]) == [("b", 2)]


def test_what_the_first_has_not_read_yet_is_not_waited_for() -> None:
    """The limit is the read position at the join, not the newest message."""
    dispatcher = ordered()
    dispatcher.connect("a", "a", 2)
    dispatcher.publish([HIGH, HIGH, LOW, HIGH])
    dispatcher.connect("b", "b", 0)
    assert dispatcher.recently_joined == {"b": 2}
    dispatcher.ack([0, 1])
    assert dispatcher.recently_joined == {} and dispatcher.flow("b", 10) == [("b", 2)]


def test_one_hole_before_the_join_holds_the_newcomer_and_then_the_older_consumer() -> None:
    dispatcher = ordered()
    dispatcher.connect("a", "a", 100)
    dispatcher.publish([LOW, LOW, LOW])
    dispatcher.connect("b", "b", 100)
    dispatcher.ack([1, 2])
    assert dispatcher.publish([LOW]) == [] and dispatcher.publish([HIGH]) == [], (
        "the waiting message keeps the read in the replay set"
    )
    assert dispatcher.ack([0]) == [("b", 3), ("a", 4)]


def test_newcomer_that_waits_gets_a_leavers_messages_of_before_its_join() -> None:
    dispatcher = ordered()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW, HIGH])
    for name in "bc":
        dispatcher.connect(name, name, 10)
    sent = dispatcher.disconnect("a")
    assert sorted(position for _, position in sent) == [0, 1] and {consumer for consumer, _ in sent} <= {
        "b",
        "c",
    }
    assert dispatcher.recently_joined == {"b": 2, "c": 2}


def test_last_one_left_waits_for_nothing() -> None:
    dispatcher = ordered()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW, HIGH])
    dispatcher.connect("b", "b", 10)
    assert dispatcher.publish([LOW]) == []
    assert dispatcher.disconnect("a") == [("b", 0), ("b", 1), ("b", 2)]
    assert dispatcher.recently_joined == {}


def test_newcomers_are_let_go_oldest_first_and_only_up_to_their_own_join() -> None:
    dispatcher = ordered()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([HIGH, HIGH])
    dispatcher.connect("b", "b", 10)
    dispatcher.publish([HIGH])
    dispatcher.connect("c", "c", 10)
    assert list(dispatcher.recently_joined.items()) == [("b", 2), ("c", 3)]
    dispatcher.ack([0, 1])
    assert dispatcher.recently_joined == {"c": 3} and dispatcher.let_go == ["b"]
    dispatcher.ack([2])
    assert dispatcher.let_go == ["b", "c"]


def test_out_of_order_leaves_one_key_at_two_consumers() -> None:
    dispatcher = ordered(allows_out_of_order=True)
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW])
    dispatcher.connect("b", "b", 10)
    assert dispatcher.publish([LOW]) == [("b", 1)] and dispatcher.pending() == {"a": [0], "b": [1]}


def test_only_keys_with_unacknowledged_messages_drain() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW, LOW, HIGH])
    dispatcher.connect("b", "b", 10)
    assert {slot: (entry.consumer, entry.count) for slot, entry in dispatcher.draining.items()} == {
        LOW: ("a", 2)
    }
    assert dispatcher.publish([LOW, LOW + 1, HIGH]) == [("b", 4), ("a", 5)]
    dispatcher.ack([0])
    assert LOW in dispatcher.draining and not dispatcher.unblocked
    dispatcher.ack([1])
    assert dispatcher.draining == {} and dispatcher.unblocked and dispatcher.unblock() == [("b", 3)]


def test_slot_that_its_old_consumer_gets_back_does_not_drain_any_more() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW])
    dispatcher.connect("b", "b", 10)
    assert LOW in dispatcher.draining
    dispatcher.disconnect("b")
    assert dispatcher.draining == {} and dispatcher.publish([LOW]) == [("a", 1)]


def test_slot_that_blocked_nobody_drains_without_a_timer() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW])
    dispatcher.connect("b", "b", 10)
    dispatcher.ack([0])
    assert dispatcher.draining == {} and dispatcher.drained == 1 and not dispatcher.unblocked


def test_held_entry_holds_later_ones_of_its_slot_and_no_other() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW])
    dispatcher.connect("b", "b", 10)
    assert dispatcher.publish([LOW, LOW, LOW + 1]) == [("b", 3)]
    dispatcher.ack([0])
    assert dispatcher.unblock() == [("b", 1), ("b", 2)]


def test_sticky_ranges_do_not_drain() -> None:
    dispatcher = DrainingDispatcher(SELECTORS["sticky"](), is_sticky=True)
    dispatcher.connect("a", "a", 10, [(0, 999)])
    dispatcher.publish([LOW])
    dispatcher.connect("b", "b", 10, [(1_000, 65_535)])
    assert dispatcher.draining == {} and dispatcher.publish([HIGH]) == [("b", 1)]


def test_nothing_new_is_read_with_too_many_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining, "LOOK_AHEAD_PER_CONSUMER", 2)
    dispatcher = current()
    dispatcher.connect("a", "a", 100)
    dispatcher.connect("b", "b", 0)
    assert dispatcher.publish([LOW] * 4) == [] and len(dispatcher.replay) == 4
    assert dispatcher.publish([HIGH]) == [] and dispatcher.cursor.read_position == 4
    assert dispatcher.flow("b", 10) == [("b", 0), ("b", 1), ("b", 2), ("b", 3), ("a", 4)]


@pytest.mark.parametrize("kind", [ordered, current, SharedDispatcher])
def test_another_consumer_may_acknowledge_what_one_has(kind: type[SharedDispatcher]) -> None:
    dispatcher = kind()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([HIGH])
    dispatcher.connect("b", "b", 10)
    dispatcher.ack([0], "b")
    assert (
        dispatcher.pending() == {"a": [], "b": []}
        and dispatcher.cursor.backlog == 0
        and dispatcher.unacked == 0
    )


@pytest.mark.parametrize("kind", [ordered, current, SharedDispatcher])
def test_first_consumer_after_all_have_left_reads_again_from_mark_delete(
    kind: type[SharedDispatcher],
) -> None:
    dispatcher = kind()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW, HIGH, LOW])
    dispatcher.ack([0, 1])
    dispatcher.disconnect("a")
    assert len(dispatcher.replay) == 0
    assert dispatcher.connect("b", "b", 10) == [("b", 2)]


@pytest.mark.parametrize("kind", [ordered, current, SharedDispatcher])
def test_who_is_not_connected_leaves_grants_and_asks_for_nothing(kind: type[SharedDispatcher]) -> None:
    dispatcher = kind()
    dispatcher.connect("a", "a", 1)
    dispatcher.publish([LOW, HIGH])
    state = dispatcher.to_json()
    assert dispatcher.flow("b", 10) == dispatcher.redeliver("b", [0]) == dispatcher.disconnect("b") == []
    assert dispatcher.to_json() == state


def test_oldest_newcomer_limits_what_a_later_one_gets_of_a_leaver() -> None:
    """Entry 2 lies before c's join, but not before b's: it waits until all before b's join is
    acknowledged."""
    key = next(
        hash32
        for hash32 in range(0, 2**31, 2**20)
        if ring_owner("bc", hash32) == "c" and ring_owner("abc", hash32) == "a"
    )
    dispatcher = KeySharedDispatcher(SELECTORS["consistent_hash"]())
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([key, key])
    dispatcher.connect("b", "b", 10)
    assert dispatcher.publish([key]) == [("a", 2)]
    dispatcher.connect("c", "c", 10)
    assert dispatcher.recently_joined == {"b": 2, "c": 3}
    assert dispatcher.disconnect("a") == [("c", 0), ("c", 1)]
    assert dispatcher.ack([0, 1]) == [("c", 2)]


def test_replay_looks_behind_what_somebody_else_has_acknowledged() -> None:
    """2 to 4 wait for b, 5 for permits of a; only three are looked at. With 2 acknowledged the third is 5,
    and it may go."""
    dispatcher = ordered()
    dispatcher.connect("a", "a", 2)
    dispatcher.publish([LOW, LOW, LOW, LOW, LOW, HIGH])
    dispatcher.connect("b", "b", 4)
    assert dispatcher.recently_joined == {"b": 2} and dispatcher.replay.positions == [2, 3, 4, 5]
    assert sorted(dispatcher.redeliver("a", [0, 1])) == [("b", 0), ("b", 1)]
    assert dispatcher.flow("a", 1) == [], "2, 3 and 4 are all that three permits look at"
    assert dispatcher.ack([2]) == [("a", 5)]


def test_slot_counts_as_blocked_once_a_pass_however_many_of_it_wait() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([LOW])
    dispatcher.connect("b", "b", 10)
    assert dispatcher.publish([LOW, LOW, LOW]) == []
    before = dispatcher.draining[LOW].blocked
    dispatcher.flow("b", 1)
    assert dispatcher.draining[LOW].blocked == before + 1


def test_what_a_slot_has_blocked_is_known_after_the_next_join() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 1)
    dispatcher.publish([LOW])
    dispatcher.connect("b", "b", 1)
    assert dispatcher.publish([LOW, LOW + 1]) == [("b", 2)] and dispatcher.draining[LOW].blocked == 1
    dispatcher.connect("c", "c", 0)
    assert dispatcher.draining[LOW].blocked == 1
    dispatcher.ack([0])
    assert dispatcher.unblocked, "somebody waits for it"


def test_slot_zero_means_no_hash_and_is_the_same_as_one() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([0, 1, 65_536])
    dispatcher.connect("b", "b", 10)
    assert {slot: entry.count for slot, entry in dispatcher.draining.items()} == {1: 3}
    assert dispatcher.publish([0]) == []
    dispatcher.ack([0, 2])
    assert not dispatcher.unblocked
    dispatcher.ack([1])
    assert dispatcher.unblock() == [("b", 3)]


def test_sticky_ranges_do_not_drain_even_if_a_hole_of_one_goes_to_another() -> None:
    dispatcher = DrainingDispatcher(SELECTORS["sticky"](), is_sticky=True)
    dispatcher.connect("a", "a", 10, [(0, 999), (2_000, 2_999)])
    assert dispatcher.publish([1_500]) == [("a", 0)], "3.2 serves a hole between two ranges of one consumer"
    dispatcher.connect("b", "b", 10, [(1_200, 1_800)])
    assert dispatcher.draining == {} and dispatcher.publish([1_500]) == [("b", 1)]


def ring_owner(names: str, hash32: int) -> str | None:
    selector = SELECTORS["consistent_hash"]()
    for name in names:
        selector.add(name, name)
    return selector.select(hash32)
