"""The frames and rows of a lab's runner, and the last view of a lab that has stopped."""

import json

import pytest

from broker_core.lab.pieces import whole
from dashboard.labs import driver as module
from dashboard.labs import writes
from dashboard.labs.driver import LabDriver
from dashboard.labs.stopping import REASON_MAX, reason_of, stopped_frame
from tests.dashboard.labs.driven import Clock, Driven
from tests.dashboard.patching import apply_patch

pytestmark = pytest.mark.django_db


# -- frames --------------------------------------------------------------------------------------------------


def test_the_first_frame_is_whole_and_the_next_ones_lead_on_from_it(playing: Driven) -> None:
    driver = playing.driver
    first = driver.full_frame()
    view = json.loads(first.text)["view"]
    assert first.full and first.epoch == 3
    for _frame in range(3):
        playing.advance(0.3)
        frame, _commit = playing.store()
        message = json.loads(frame.text)
        assert not frame.full and frame.from_seq == message["from_seq"] == frame.seq - 1
        view = apply_patch(view, message["patch"])
    assert view == driver.view and view["at_us"] == driver.core.now_us
    whole_one = driver.full_frame()
    assert (whole_one.from_seq, whole_one.seq) == (frame.seq, frame.seq) and json.loads(whole_one.text)[
        "view"
    ] == view


def test_where_nothing_changed_no_frame_goes_out_and_nothing_is_stored(clock: Clock) -> None:
    lab = Driven(clock)
    frame, commit = lab.store()
    assert frame is not None and frame.full and commit is not None, "the first view"
    clock.now_s += 5
    assert lab.store() == (None, None)


def test_the_view_is_stored_once_a_second_and_at_once_with_what_must_not_be_lost(playing: Driven) -> None:
    def stored_after(seconds: float) -> bool:
        playing.advance(seconds)
        return playing.store()[1] is not None

    assert [stored_after(0.2) for _frame in range(4)] == [False] * 4
    assert stored_after(0.25)
    assert not stored_after(0.1)
    playing.handle(playing.order("join"))
    assert stored_after(0.05), "a decision"


def test_turning_points_are_told_and_stored_once(playing: Driven) -> None:
    playing.handle(playing.order("join"))
    frame, commit = playing.store()
    told = json.loads(frame.text)["events"]
    assert told and [event["seq"] for event in commit.events] == [event["seq"] for event in told]
    assert (
        playing.driver.event_seq_stored == told[-1]["seq"]
        and playing.driver.decisions == [] == playing.driver.events
    )
    playing.advance(0.3)
    frame, _commit = playing.store()
    assert not {event["seq"] for event in json.loads(frame.text)["events"]} & {event["seq"] for event in told}


def test_a_refusal_is_told_but_is_no_turning_point(playing: Driven) -> None:
    _decided, refusals = playing.handle(playing.order("crash", "nobody"))
    frame, commit = whole(playing.driver.frame(playing.clock.now_s, refusals))
    assert json.loads(frame.text)["events"][-1]["kind"] == "lab.command_refused"
    assert [event for event in commit.events if event["seq"] is None] == [] and len(commit.decisions) == 1


def test_frame_numbers_are_reserved_before_they_are_used_up(playing: Driven) -> None:
    driver = playing.driver
    assert driver.seq_floor - driver.seq == module.RESERVE_FRAMES
    driver.seq = driver.seq_floor - module.RESERVE_FRAMES // 10
    assert not driver._reserve_is_short()
    driver.seq += 1
    assert driver._reserve_is_short()


def test_the_next_holder_numbers_its_frames_beyond_the_reserve(playing: Driven) -> None:
    playing.row.refresh_from_db()
    successor = LabDriver(playing.row, playing.clock.now_s)
    assert successor.load(playing.clock, 10.0)
    frame, _commit = whole(successor.frame(playing.clock.now_s))
    assert frame is not None and frame.full and frame.seq > playing.driver.seq_floor - 1
    assert successor.core.now_us == playing.row.clock_floor_us >= playing.driver.core.now_us


def test_a_lab_that_nobody_watches_rests_where_it_was_last_seen_with_a_checkpoint(playing: Driven) -> None:
    playing.advance(0.2)
    playing.store()
    frame, commit = playing.driver.rest(playing.clock.now_s)
    assert commit is not None and commit.checkpoint is not None
    assert commit.clock_floor_us == playing.driver.core.now_us == commit.checkpoint.stored.mark.at_us
    assert commit.extra == {"status": "idle", "lease_until_ms": 0}
    assert frame is not None and playing.driver.view["feed"]["auto_paused"]
    assert writes.commit_all([commit]) == {} and playing.row.checkpoints.count() == 1


def test_what_cannot_be_sent_was_never_shown(playing: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    before = playing.driver.view
    playing.advance(0.3)
    with monkeypatch.context() as patched, pytest.raises(TypeError):
        patched.setattr(module, "encode", lambda _message: (_ for _ in ()).throw(TypeError("no JSON")))
        whole(playing.driver.frame(playing.clock.now_s))
    assert playing.driver.view is before


# -- the end of a lab ----------------------------------------------------------------------------------------


def test_a_stopped_labs_last_view_says_why() -> None:
    frame, text = stopped_frame(
        "lab", 4, 9, {"at_us": 77, "feed": {"failed": None}, "n": 1}, "KeyError: 'c1'"
    )
    message = json.loads(frame.text)
    assert (
        message["view"] == json.loads(text)
        and message["view"]["feed"]["failed"] == "KeyError: 'c1'"
        and message["view"]["n"] == 1
    )
    assert (frame.full, frame.epoch, frame.from_seq, frame.seq, message["at_us"]) == (True, 4, 9, 9, 77)


def test_the_reason_of_a_stop_is_short_text() -> None:
    assert reason_of(KeyError("c1")) == "KeyError: 'c1'"
    assert reason_of(ValueError("a\0b")) == "ValueError: a b"
    assert len(reason_of(ValueError("x" * 10_000))) == REASON_MAX
    assert reason_of(ValueError("\ud800")) == "ValueError: \\ud800"
