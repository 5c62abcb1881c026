"""The ledger, with a lane on paper: which change opens a bill, which goes on one that is open, when it is
closed, and who made it dark."""

from typing import Any

import pytest

from tests.core.lab.small import consumer, paper


def begun(lane: Any, kind: str, name: str, position: int, at_us: int = 0) -> Any:
    lane.now_us = at_us
    lane.ledger.begin(position, kind, name)
    lane.ledger.kept_bill.note_change(kind, [name], at_us)
    return lane


def busy(**answers: Any) -> Any:
    """Two consumers and a change that is under way."""
    return paper(consumer("c1"), consumer("c2"), is_settled=False, **answers)


def rest(lane: Any, at_us: int) -> Any:
    lane.now_us = at_us
    lane.set(is_settled=True)
    lane.ledger.settle()
    return lane


def names(changes: list[Any]) -> list[tuple[str, list[str]]]:
    return [(change.kind, change.names) for change in changes]


def test_bill_remembers_who_had_what_when_it_was_opened() -> None:
    lane = busy(units={"0": "c1", "1": "c1"}, key_owners=["c1"], weights={"c1": 3, "c2": 1})
    lane.next_record = 4
    lane.set(redelivered=9)
    lane.ledger.tally.order.count, lane.uncounted = 2, 3
    begun(lane, "join", "c2", 1, at_us=70).set(units={"0": "c1", "1": "c2"}, key_owners=["c2"])
    bill = lane.ledger.bill
    assert (bill.at_us, bill.units_before, bill.owners_before) == (70, {"0": "c1", "1": "c1"}, ["c1"])
    assert (bill.redelivered_from, bill.out_of_order_from) == (9, 5)
    assert (bill.keys_total, bill.skew_before) == (4, 1_500)
    assert bill.shares_before == {"c1": 750_000, "c2": 250_000}
    assert (bill.keys_moved, bill.moved_units) == (1, ["1"])
    assert lane.ledger.units_before() == {"0": "c1", "1": "c1"}


def test_bill_of_those_who_are_there_from_the_start_begins_with_the_lab_and_not_with_the_processes() -> None:
    assert begun(busy(), "join", "c1", 0, at_us=-5_000).ledger.kept_bill.at_us == 0


def test_what_was_before_stays_though_the_change_takes_its_time() -> None:
    lane = begun(busy(key_owners=["c1", "c1"]), "join", "c2", 1).set(key_owners=["c2", "c1"])
    assert lane.ledger.bill.keys_moved == 1
    lane.world.told_count += 1
    assert lane.set(key_owners=["c2", "c2"]).ledger.bill.keys_moved == 2


@pytest.mark.parametrize("what", ["now_us", "next_record", "told_count", "made"])
def test_open_bill_is_compared_again_as_soon_as_anything_has_happened(what: str) -> None:
    lane = begun(busy(key_owners=["c1"]), "join", "c2", 1)
    assert lane.ledger.bill.keys_moved == 0
    lane.set(key_owners=["c2"])
    assert lane.ledger.bill.keys_moved == 0, "nothing has happened, so nothing can have moved"
    target = lane if what in ("now_us", "next_record") else lane.world
    setattr(target, what, getattr(target, what) + 1)
    assert lane.ledger.bill.keys_moved == 1


def test_forgotten_comparison_is_made_again_at_the_same_moment() -> None:
    lane = begun(busy(key_owners=["c1"]), "join", "c2", 1)
    assert lane.ledger.bill.keys_moved == 0
    lane.set(key_owners=["c2"]).ledger.forget_comparison()
    assert lane.ledger.bill.keys_moved == 1


def test_closed_bill_is_not_compared_any_more() -> None:
    lane = rest(begun(busy(key_owners=["c1"]), "join", "c2", 1), 50)
    lane.set(key_owners=["c2"]).ledger.forget_comparison()
    assert lane.ledger.bill.keys_moved == 0 and lane.ledger.bill.settled


def test_change_that_comes_before_the_last_one_settled_goes_on_the_same_bill() -> None:
    lane = begun(begun(busy(), "join", "c2", 1), "leave", "c1", 2, at_us=30)
    bill = lane.ledger.kept_bill
    assert (bill.position, bill.kind, bill.consumer, bill.at_us) == (2, "leave", "c1", 0)
    assert names(bill.changes) == [("join", ["c2"]), ("leave", ["c1"])]


def test_crash_that_is_noticed_amid_a_later_change_leaves_the_bill_the_later_number() -> None:
    lane = begun(busy(), "join", "c2", 5)
    lane.ledger.begin_change(2, "crash", "c1")
    assert (lane.ledger.kept_bill.position, lane.ledger.kept_bill.kind) == (5, "crash")


def test_bill_of_many_that_came_at_once_is_one_of_one_when_another_change_joins_it() -> None:
    lane = begun(busy(), "join", "c2", 1)
    lane.ledger.kept_bill.count = 4
    lane.ledger.begin_change(2, "slow", "c1")
    assert lane.ledger.kept_bill.count == 4
    lane.ledger.begin_change(3, "leave", "c1")
    assert lane.ledger.kept_bill.count == 1


def test_change_of_pace_leaves_an_open_bill_its_subject() -> None:
    lane = begun(begun(busy(), "join", "c2", 1), "slow", "c1", 2)
    assert (lane.ledger.kept_bill.kind, lane.ledger.kept_bill.consumer, lane.ledger.kept_bill.position) == (
        "join",
        "c2",
        2,
    )
    assert lane.ledger.tally.subject.kind == "slow", "the large figure speaks of what was done last"


def test_bill_that_is_at_rest_is_taken_into_the_running_bill_by_the_next() -> None:
    lane = begun(busy(key_owners=["c1", "c1"]), "join", "c2", 1).set(key_owners=["c2", "c2"])
    begun(rest(lane, 50), "leave", "c2", 2, at_us=60).set(key_owners=["c1", "c2"])
    assert lane.ledger.tally.keys_moved == 2
    assert lane.ledger.bill.keys_moved == 1 and lane.ledger.bill.position == 2


def test_story_begins_anew_with_a_command_and_goes_on_when_its_crash_is_noticed() -> None:
    lane = rest(begun(busy(), "crash", "c1", 4), 10)
    lane.why = [{"kind": "told at the crash"}]
    lane.ledger.begin_change(4, "crash", "c1")
    assert lane.why
    rest(lane, 20).ledger.begin_change(5, "join", "c3")
    assert lane.why == []


@pytest.mark.parametrize(
    ("position", "kind", "closed", "said"),
    [(1, "join", 1, []), (1, "slow", 0, []), (0, "join", 0, [("none", {})])],
    ids=["a change", "of pace", "from the start"],
)
def test_who_is_told_that_a_change_has_come_to_rest(
    position: int, kind: str, closed: int, said: list[Any]
) -> None:
    lane = rest(begun(busy(), kind, "c2", position), 50)
    assert lane.ledger.is_at_rest and len(lane.closed) == closed and lane.said == said


def test_it_is_told_once() -> None:
    lane = rest(begun(busy(), "join", "c2", 1), 50)
    lane.ledger.settle()
    assert len(lane.closed) == 1


def test_bill_is_whole_before_the_sentence_is_chosen_from_it() -> None:
    lane = begun(busy(units={"0": "c1"}, weights={"c1": 1}), "join", "c2", 1)
    seen = []
    lane.narrator.on_settled = lambda lane, bill: seen.append(
        (bill.partitions_moved, bill.skew_after, bill.settled)
    )
    rest(lane.set(units={"0": "c2"}), 50)
    assert seen == [(1, 2_000, True)]


def test_nothing_is_closed_while_things_move_but_darkness_is_folded() -> None:
    lane = begun(busy(dark_units=(4, 10)), "join", "c2", 1)
    lane.now_us = 50
    lane.ledger.settle()
    assert not lane.ledger.is_at_rest and lane.closed == [] and lane.ledger.tally.darkness.dark == 4


def test_before_the_lab_begins_there_is_nothing_to_serve() -> None:
    lane = busy(dark_units=(10, 10))
    seen = []
    for now_us in (-1, 0):
        lane.now_us = now_us
        lane.ledger.fold_darkness()
        seen.append((lane.ledger.tally.is_stale, lane.ledger.tally.darkness.began_us))
    assert seen == [(True, None), (False, 0)]


def dark(lane: Any, units: int, at_us: int) -> None:
    lane.now_us = at_us
    lane.set(dark_units=(units, 10)).ledger.forget_comparison()
    lane.ledger.fold_darkness()


def test_who_made_it_dark_is_on_the_list_until_all_is_served() -> None:
    lane = begun(busy(), "join", "c2", 1, at_us=10)
    dark(lane, 4, 10)
    assert names(lane.ledger.tally.began) == [("join", ["c2"])], "whatever it is, it began it"
    dark(lane, 0, 30)
    assert lane.ledger.tally.began == []


def test_only_who_left_or_crashed_can_have_made_it_darker() -> None:
    lane = begun(busy(), "crash", "c1", 1, at_us=10)
    dark(lane, 4, 10)
    begun(rest(lane, 11), "join", "c3", 2, at_us=20).set(is_settled=False)
    lane.ledger.kept_bill.note_change("leave", ["c2"], 20)
    dark(lane, 6, 25)
    assert names(lane.ledger.tally.began) == [("crash", ["c1"]), ("leave", ["c2"])]


def test_a_later_change_that_makes_nothing_darker_is_not_named() -> None:
    lane = begun(busy(), "crash", "c1", 1, at_us=10)
    dark(lane, 4, 10)
    begun(rest(lane, 11).set(is_settled=False), "leave", "c2", 2, at_us=20)
    dark(lane, 4, 25)
    assert names(lane.ledger.tally.began) == [("crash", ["c1"])]


@pytest.mark.parametrize(
    ("keys_have_owners", "dark_units", "crashed", "served"),
    [(True, 0, {"c1": 1}, True), (True, 2, {}, False), (False, 2, {}, True), (False, 0, {"c1": 1}, False)],
)
def test_all_is_served_when_nothing_is_dark_or_where_keys_have_no_owner_when_nobody_dead_is_unnoticed(
    keys_have_owners: bool, dark_units: int, crashed: dict[str, int], served: bool
) -> None:
    lane = busy()
    lane.keys_have_owners, lane.crash_positions = keys_have_owners, crashed
    dark(lane, dark_units, 5)
    assert lane.ledger.is_all_served() is served


def test_longest_pause_that_lasts_is_counted_from_the_partition_that_stopped_first() -> None:
    lane = begun(busy(), "leave", "c1", 1, at_us=100)
    assert lane.ledger.standing_us() == 0
    lane.stopped, lane.now_us = {"0": 130, "1": 110, "2": 120}, 150
    assert lane.ledger.standing_us() == 40


def test_without_a_bill_no_pause_is_counted_and_nothing_was_before() -> None:
    lane = busy()
    lane.stopped = {"0": 1}
    lane.ledger.note_pause(3)
    assert (
        lane.ledger.standing_us() == 0
        and lane.ledger.units_before() == {}
        and lane.ledger.is_at_rest
        and lane.ledger.bill is None
    )


def test_pause_that_is_over_is_on_the_bill_up_to_now() -> None:
    lane = begun(busy(), "join", "c2", 1)
    lane.now_us = 90
    lane.ledger.note_pause(20)
    assert lane.ledger.kept_bill.pause_facts() == {"pause_us": 70, "paused_from_us": 20}


def test_order_itself_may_have_changed_what_is_dark_so_it_is_counted_again() -> None:
    lane = busy()
    dark(lane, 0, 10)
    begun(lane, "crash", "c1", 1, at_us=20).set(dark_units=(4, 10)).ledger.fold_darkness()
    assert lane.ledger.tally.darkness.began_us == 20


def test_bill_that_is_put_in_place_of_another_is_compared_at_the_same_moment() -> None:
    lane = begun(busy(key_owners=["c1"]), "join", "c2", 1)
    assert lane.ledger.bill.keys_moved == 0
    lane.ledger.bill = begun(busy(key_owners=["c2"]), "join", "c2", 1).ledger.kept_bill
    assert lane.ledger.bill.keys_moved == 1


def test_figure_speaks_of_no_start_that_nobody_ordered_and_counts_what_was_dark_before_an_order() -> None:
    lane = begun(busy(), "join", "c1", 0)
    assert lane.ledger.tally.subject is None
    dark(lane, 3, 40)
    assert begun(lane, "leave", "c2", 1, at_us=50).ledger.tally.subject.dark_before == 3
