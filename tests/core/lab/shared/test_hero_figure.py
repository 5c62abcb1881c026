"""The large figure, from a lane on paper: which of its sentences comes first, and what a crash or a leave
left without service, from when to when."""

from typing import Any

import pytest

from broker_core.lab.shared.change import Change
from broker_core.lab.shared.hero import Subject, hero_view
from tests.core.lab.small import consumer, paper


def opened(lane: Any, kind: str, name: str, settled: bool = True, position: int = 1) -> Any:
    """The lane after this command, as its ledger has it."""
    lane.ledger.begin(position, kind, name)
    lane.ledger.kept_bill.note_change(kind, [name], lane.now_us)
    lane.ledger.kept_bill.settled = settled
    return lane


def dark(lane: Any, units: int, at_us: int, of: int = 10) -> Any:
    """From this moment on so many units are dark, and the fold knows."""
    lane.now_us = at_us
    lane.set(dark_units=(units, of))
    lane.ledger.tally.is_stale = True
    lane.ledger.fold_darkness()
    return lane


def subject_of(lane: Any) -> Subject:
    subject = lane.ledger.tally.subject
    assert isinstance(subject, Subject)
    return subject


def crashed(at_us: int = 100, part: tuple[int, int] = (4, 12)) -> Any:
    """A lane in which c2 crashed at this time with 3 of 10 units."""
    lane = opened(paper(consumer("c1"), consumer("c2")), "crash", "c2")
    lane.consumers["c2"].state = "crashed"
    dark(lane, 3, at_us).set(stuck=part)
    subject_of(lane).lose(lane)
    subject_of(lane).look(lane)
    return lane


def test_before_the_first_command_it_tells_how_a_newcomer_is_taken_in() -> None:
    lane = opened(paper(consumer("c1"), way_in="eager"), "join", "c1", position=0)
    assert hero_view(lane) == {"code": "next", "way": "eager"}


@pytest.mark.parametrize("kind", ["join", "crash", "pause"])
def test_a_lane_whose_consumers_are_all_gone_says_so_whatever_was_done_last(kind: str) -> None:
    lane = opened(paper(consumer("c1", "gone"), consumer("c2", "gone"), lag=7), kind, "c1")
    dark(lane, 10, 50)
    hero = hero_view(lane)
    assert (hero["code"], hero["since_us"], hero["lag"]) == ("empty", 50, 7)


def test_a_silent_consumer_that_nobody_has_noticed_is_still_somebody() -> None:
    lane = opened(paper(consumer("c1", "crashed"), consumer("c2", "gone")), "leave", "c3")
    assert hero_view(lane)["code"] == "moved"


def test_a_queue_that_nobody_reads_says_so_even_while_a_crashed_consumer_is_not_given_up() -> None:
    lane = opened(paper(consumer("c1", "crashed"), lag=4), "crash", "c1")
    lane.keys_have_owners = False
    dark(lane, 1, 30, of=1)
    assert hero_view(lane) == {"code": "queued", "since_us": 30, "lag": 4, "changes": []}


@pytest.mark.parametrize(("keys_have_owners", "code"), [(True, "waits"), (False, "in_hands")])
@pytest.mark.parametrize("kind", ["pause", "resume", "slow"])
def test_a_change_of_pace_is_told_in_records_that_wait(kind: str, keys_have_owners: bool, code: str) -> None:
    lane = opened(paper(consumer("c1"), waiting_for=5, lag=9), kind, "c1")
    lane.keys_have_owners = keys_have_owners
    assert hero_view(lane) == {"code": code, "consumer": "c1", "part": 5, "lag": 9}


def test_for_a_paused_consumer_that_has_left_meanwhile_nothing_waits() -> None:
    lane = opened(paper(consumer("c1"), waiting_for=5, lag=9), "pause", "c2")
    assert hero_view(lane)["part"] == 0


@pytest.mark.parametrize(("settled", "code"), [(True, "moved"), (False, "moving")])
def test_a_join_is_told_in_keys_moved_and_whether_they_still_move(settled: bool, code: str) -> None:
    lane = paper(consumer("c1"), key_owners=["c1", "c1", "c1"], is_settled=False)
    lane.next_record = 3
    opened(lane, "join", "c2", settled=False).set(key_owners=["c1", "c2", "c1"])
    lane.ledger.catch_up()
    lane.ledger.kept_bill.settled = settled
    assert hero_view(lane) == {"code": code, "part": 1, "whole": 3}


def test_where_keys_have_no_owner_nothing_can_move() -> None:
    lane = opened(paper(consumer("c1")), "join", "c1")
    lane.keys_have_owners = False
    assert hero_view(lane) == {"code": "keyless"}


def test_a_crash_is_told_in_what_it_left_dark_until_all_is_served() -> None:
    lane = crashed(at_us=100)
    assert hero_view(lane) == {
        "code": "dark", "consumer": "c2", "part": 4, "whole": 12, "since_us": 100, "until_us": None,
        "changes": [{"kind": "crash", "names": ["c2"], "count": 1}],
    }  # fmt: skip
    dark(lane, 0, 160).set(stuck=(0, 12))
    hero = hero_view(lane)
    assert (hero["part"], hero["since_us"], hero["until_us"]) == (4, 100, 160)


def test_the_end_of_a_span_is_told_once_and_not_moved_by_a_later_look() -> None:
    lane = dark(crashed(), 0, 160)
    dark(lane, 0, 900)
    assert hero_view(lane)["until_us"] == 160


def test_amid_another_change_the_share_is_the_one_of_now() -> None:
    lane = crashed(part=(4, 12))
    dark(lane, 8, 110).set(stuck=(9, 13))
    assert (hero_view(lane)["part"], hero_view(lane)["whole"]) == (9, 13)
    dark(lane, 3, 120).set(stuck=(5, 13))
    assert (hero_view(lane)["part"], hero_view(lane)["whole"]) == (4, 12), "as dark as the crash left it"


def test_once_the_crash_is_found_out_more_darkness_is_the_rebalance_and_less_is_what_is_left() -> None:
    lane = crashed(part=(4, 12))
    lane.consumers["c2"].state = "gone"
    dark(lane, 10, 200).set(stuck=(12, 12))
    assert hero_view(lane)["part"] == 4
    dark(lane, 1, 210).set(stuck=(1, 12))
    assert hero_view(lane)["part"] == 1


def test_what_a_dead_program_holds_is_counted_anew_while_it_holds_it_and_stays_afterwards() -> None:
    lane = opened(paper(consumer("c1"), consumer("c2", "crashed"), stuck=(3, 8)), "crash", "c2")
    lane.keys_have_owners = False
    lane.crash_positions = {"c2": 1}
    lane.now_us = 100
    subject_of(lane).lose(lane)
    lane.set(stuck=(5, 9))
    assert (hero_view(lane)["code"], hero_view(lane)["part"], hero_view(lane)["whole"]) == ("held", 5, 9)
    lane.crash_positions, lane.now_us = {}, 160
    subject_of(lane).look(lane)
    lane.set(stuck=(0, 9))
    assert (hero_view(lane)["part"], hero_view(lane)["until_us"]) == (3, 160)


def test_without_darkness_that_has_begun_a_loss_counts_from_the_first_change_that_lost_something() -> None:
    lane = opened(paper(consumer("c1"), consumer("c2", "crashed")), "crash", "c2")
    lane.now_us = 80
    lane.ledger.tally.lost = [Change("leave", 30, ["c3"], 1)]
    subject_of(lane).lose(lane)
    assert subject_of(lane).since_us == 30
    assert [change.kind for change in subject_of(lane).changes] == ["leave", "crash"]


def test_second_loss_keeps_the_time_of_the_first() -> None:
    lane = opened(paper(consumer("c1"), consumer("c2", "crashed")), "crash", "c2")
    for lost_us, part in ((30, 2), (70, 6)):
        lane.ledger.tally.lost = [Change("leave", lost_us, ["c3"], 1)]
        subject_of(lane).lose(lane.set(stuck=(part, 12)))
    assert (subject_of(lane).since_us, subject_of(lane).part) == (30, 6)


def test_changes_of_a_subject_are_its_own_list_that_later_losses_do_not_reach() -> None:
    lane = crashed()
    first = subject_of(lane)
    lane.ledger.tally.lost.append(Change("leave", 200, ["c9"], 1))
    assert [change.kind for change in first.changes] == ["crash"]


def test_when_all_is_served_what_was_lost_is_forgotten() -> None:
    lane = crashed()
    assert [change.kind for change in lane.ledger.tally.lost] == ["crash"]
    dark(lane, 0, 160)
    assert lane.ledger.tally.lost == []


def test_what_a_crashed_newcomer_is_assigned_reopens_the_span() -> None:
    """All was served for a moment; then the rebalance gave units to the dead one."""
    lane = dark(crashed(at_us=100), 0, 120)
    dark(lane, 2, 300)
    subject = subject_of(lane)
    assert (subject.since_us, subject.until_us) == (300, None)
    assert [change.kind for change in lane.ledger.tally.lost] == ["crash"]


def test_darkness_after_the_crash_was_found_out_is_not_the_crashs() -> None:
    lane = dark(crashed(at_us=100), 0, 120)
    lane.consumers["c2"].state = "gone"
    dark(lane, 2, 300)
    assert (subject_of(lane).since_us, subject_of(lane).until_us) == (100, 120)


@pytest.mark.parametrize(
    ("level_at", "noticed_at", "part"),
    [(300, 400, 9), (300, 500, 2), (300, 501, 2)],
    ids=["the later level was shorter", "as long as the first", "longer"],
)
def test_what_was_dark_longest_is_what_a_crash_has_left(level_at: int, noticed_at: int, part: int) -> None:
    """Dark since 100: nine keys until 300, two from then on."""
    lane = crashed(at_us=100, part=(9, 12))
    dark(lane, 1, level_at).set(stuck=(2, 12))
    lane.now_us = noticed_at
    subject_of(lane).last_look(lane)
    assert subject_of(lane).part == part


def test_a_crash_that_left_nothing_at_first_takes_whatever_is_dark_when_it_is_found_out() -> None:
    lane = crashed(at_us=100, part=(0, 12)).set(stuck=(5, 12))
    lane.now_us = 110
    subject_of(lane).last_look(lane)
    assert (subject_of(lane).part, subject_of(lane).whole) == (5, 12)


def test_a_span_that_is_over_is_not_looked_at_again() -> None:
    lane = dark(crashed(part=(0, 12)), 0, 120).set(stuck=(5, 12))
    subject_of(lane).last_look(lane)
    assert subject_of(lane).part == 0


@pytest.mark.parametrize(
    ("kind", "before", "after", "code"),
    [("leave", 0, 3, "dark"), ("leave", 3, 3, "moved"), ("join", 0, 3, "moved")],
)
def test_a_leave_that_leaves_more_dark_than_before_is_told_as_a_crash_is(
    kind: str, before: int, after: int, code: str
) -> None:
    lane = dark(paper(consumer("c1")), before, 50)
    opened(lane, kind, "c2")
    dark(lane, after, 100)
    subject_of(lane).come_to_rest(lane)
    assert hero_view(lane)["code"] == code


@pytest.mark.parametrize(
    ("kind", "state", "unnoticed"),
    [("crash", "crashed", True), ("crash", "gone", False), ("leave", "crashed", False)],
)
def test_only_a_crash_whose_consumer_is_still_counted_is_unnoticed(
    kind: str, state: str, unnoticed: bool
) -> None:
    assert Subject(kind, "c2", 0).is_unnoticed(paper(consumer("c2", state))) is unnoticed
    assert not Subject(kind, "c9", 0).is_unnoticed(paper(consumer("c2", state)))
