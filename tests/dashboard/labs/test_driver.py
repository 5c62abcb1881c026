"""One lab's runner without a shard: this wall time has passed, so much virtual time follows, this frame and
these rows come of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from dashboard.labs import driver as module
from dashboard.labs import writes
from dashboard.labs.driver import LabDriver, timed
from dashboard.labs.stopping import REASON_MAX, reason_of, stopped_frame
from dashboard.models import Lab, StoredCommand
from tests.dashboard.patching import apply_patch

SECOND = 1_000_000
SMALL = {
    "workload": {"kind": "uniform", "keys": 5, "rate": 5},
    "lanes": [{"model": "rabbitmq"}],
    "consumers": 2,
}
SCENARIO = scenario_to_json(scenario_from_json(SMALL))
pytestmark = pytest.mark.django_db


class Clock:
    """Wall time. step_s: how much passes each time it is asked, as if the work in between had taken it."""

    def __init__(self) -> None:
        self.now_s, self.step_s = 1_000.0, 0.0

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


class Driven:
    """A lab with its driver, loaded, playing from virtual time 0; nothing is written but what the test
    writes."""

    def __init__(self, clock: Clock, **columns: Any) -> None:
        self.clock = clock
        self.row = Lab.objects.create(
            **{"scenario": SCENARIO, "owner_hash": "", "shard": 0, "epoch": 3} | columns
        )
        self.driver = LabDriver(self.row, clock.now_s)
        assert self.driver.load(clock, 10.0)

    def order(self, kind: str, consumer: str | None = None, **args: Any) -> StoredCommand:
        self.row.position += 1
        self.row.save(update_fields=["position"])
        body = {
            "command_id": f"t{self.row.position}",
            "kind": kind,
            "rig": "all",
            "consumer": consumer,
            "args": args,
        }
        return StoredCommand.objects.create(
            lab=self.row, command_id=body["command_id"], position=self.row.position, body=body
        )

    def handle(self, *commands: StoredCommand, budget_s: float = 10.0) -> tuple[int, list[Any]]:
        return whole(self.driver.handle(list(commands), self.clock, budget_s))

    def play(self, **args: Any) -> "Driven":
        assert self.handle(self.order("play", **args))[1] == []
        self.store()
        return self

    def store(self) -> tuple[Any, Any]:
        frame, commit = whole(self.driver.frame(self.clock.now_s))
        if commit is not None:
            assert writes.commit_all([commit]) == {}
        return frame, commit

    def advance(self, seconds: float, budget_s: float = 10.0) -> bool:
        self.clock.now_s += seconds
        return whole(self.driver.advance(self.clock, budget_s))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def playing(clock: Clock) -> Driven:
    return Driven(clock).play()


# -- time ----------------------------------------------------------------------------------------------------


def test_virtual_time_follows_the_wall_clock_at_the_labs_speed(playing: Driven) -> None:
    start_us = playing.driver.core.now_us
    assert playing.advance(0.5) and playing.driver.core.now_us == start_us + SECOND // 2
    playing.handle(playing.order("speed", speed=4))
    playing.store()
    start_us = playing.driver.core.now_us
    playing.advance(0.25)
    assert playing.driver.core.now_us == start_us + SECOND, "the new speed counts from its order on"


def test_a_paused_lab_owes_nothing_when_it_plays_again(clock: Clock) -> None:
    lab = Driven(clock)
    assert lab.advance(60) and lab.driver.core.now_us == 0
    lab.play()
    start_us = lab.driver.core.now_us
    assert start_us < SECOND
    lab.advance(0.125)
    assert lab.driver.core.now_us == start_us + SECOND // 8


def test_no_lab_goes_past_its_floor_and_the_floor_is_moved_before_it_is_reached(playing: Driven) -> None:
    start_us = playing.driver.core.now_us
    assert playing.driver.floor_us == start_us + 1_500_000
    playing.advance(1.0)
    _frame, commit = playing.store()
    assert commit is not None and commit.clock_floor_us == start_us + 2_500_000
    assert playing.advance(9.0), "nothing more to do than the floor allows"
    assert playing.driver.core.now_us == start_us + 2_500_000
    playing.row.refresh_from_db()
    assert playing.row.clock_floor_us == playing.driver.floor_us


def test_a_lab_that_cannot_keep_up_says_so_and_forgets_what_it_owes_beyond_two_seconds(
    playing: Driven, clock: Clock
) -> None:
    playing.advance(5.0)
    assert playing.driver.behind_ms == 3_500
    playing.store()
    before_us = playing.driver.core.now_us
    assert playing.advance(0.0) and playing.driver.core.now_us == before_us + 1_500_000, "up to the new floor"
    assert playing.driver.behind_ms == 500
    playing.store()
    playing.advance(0.0)
    assert playing.driver.core.now_us == before_us + 2 * SECOND and playing.driver.behind_ms == 0, (
        "two seconds, and no more"
    )


def test_a_lab_that_keeps_its_pace_after_a_stall_is_not_behind_for_ever(
    playing: Driven, clock: Clock
) -> None:
    """A busy machine: it stood for a second and a half, and from then on has time for its own pace and for
    nothing beyond it."""
    whole(playing.driver.advance(clock, 0.0))
    clock.now_s += 1.5
    shown = [keep_pace(playing, clock, pace=1.0) for _tenth in range(70)]
    assert shown[0] == 1_500 and shown[-1] == 0 and shown.index(0) <= 61
    before_us, began_s = playing.driver.core.now_us, clock.now_s
    for _tenth in range(20):
        keep_pace(playing, clock, pace=1.0)
    assert playing.driver.core.now_us - before_us == pytest.approx((clock.now_s - began_s) * SECOND, rel=0.01)


def test_a_lab_that_cannot_keep_up_stays_behind(playing: Driven, clock: Clock) -> None:
    shown = [keep_pace(playing, clock, pace=0.5) for _tenth in range(300)]
    assert min(shown[50:]) >= 1_500


def keep_pace(playing: Driven, clock: Clock, pace: float) -> int:
    """A tenth of a second in which the processor does `pace` of what is asked for it. What the lab says then
    about being behind."""
    driver = playing.driver
    clock.now_s += 0.1
    goal_us = driver.core.now_us + int(0.1 * SECOND * pace)
    driver.floor_us = min(driver.floor_us, goal_us)  # as far as its turns got
    whole(driver.advance(clock, 10.0))
    playing.store()
    return driver.behind_ms


@pytest.mark.parametrize(("late_s", "shown_ms"), [(0.24, 0), (0.26, 300), (1.04, 1_000), (1.06, 1_100)])
def test_less_than_a_frames_beat_is_not_called_behind(playing: Driven, late_s: float, shown_ms: int) -> None:
    playing.advance(1.5 + late_s)
    assert playing.driver.behind_ms == shown_ms


def test_a_turn_whose_time_is_over_says_that_there_is_more_to_do(playing: Driven, clock: Clock) -> None:
    clock.step_s = 0.004
    assert not playing.advance(1.4, budget_s=0.01)
    clock.step_s = 0.0
    between_us = playing.driver.core.now_us
    assert 0 < between_us < 1_400_000 and playing.advance(0.0) and playing.driver.core.now_us > between_us


@pytest.mark.parametrize(
    ("took_s", "slices"), [(0.021, [125_000, 62_500]), (0.01, [250_000, 250_000]), (0.004, [500_000, SECOND])]
)
def test_the_next_slice_is_such_that_it_takes_about_ten_milliseconds(
    playing: Driven, took_s: float, slices: list[int]
) -> None:
    driver, seen = playing.driver, []
    driver._slice_us = 250_000
    for _slice in slices:
        before_us = driver.core.now_us - driver._slice_us
        driver._pace(before_us, took_s)
        seen.append(driver._slice_us)
    assert seen == slices


def test_a_slice_is_never_shorter_than_ten_milliseconds_nor_grows_beyond_a_minute(playing: Driven) -> None:
    driver = playing.driver
    driver._slice_us = 15_000
    driver._pace(driver.core.now_us - 15_000, 1.0)
    assert driver._slice_us == 10_000
    driver._slice_us = 60 * SECOND
    driver._pace(driver.core.now_us, 0.0)
    assert driver._slice_us == 60 * SECOND


def test_work_is_timed_without_the_stops_in_between(clock: Clock) -> None:
    def pieces() -> Iterator[None]:
        clock.now_s += 1
        yield
        clock.now_s += 2
        yield
        clock.now_s += 4
        return "answer"  # type: ignore[return-value]

    work, stops = timed(pieces(), clock), 0  # type: ignore[arg-type]
    while True:
        try:
            next(work)
        except StopIteration as end:
            assert end.value == ("answer", 7) and stops == 2
            break
        clock.now_s += 100
        stops += 1


# -- commands ------------------------------------------------------------------------------------------------


def test_orders_are_decided_in_their_order_and_a_refusal_is_told_in_both_languages(playing: Driven) -> None:
    driver = playing.driver
    orders = [playing.order("join", "c9"), playing.order("crash", "nobody"), playing.order("leave", "c9")]
    decided, refusals = playing.handle(*orders)
    assert decided == 3 and [decision.command for decision in driver.decisions] == orders
    assert [decision.refusal and list(decision.refusal) for decision in driver.decisions] == [
        None,
        ["consumer"],
        None,
    ]
    [refusal] = refusals
    assert (refusal["seq"], refusal["kind"], refusal["cause"]) == (
        None,
        "lab.command_refused",
        {"command": orders[1].position},
    )
    data = refusal["data"]
    assert data["command_id"] == orders[1].command_id and data["fields"] == driver.decisions[1].refusal
    assert (
        "nobody" in data["words"]["en"]
        and "nobody" in data["words"]["zh-hans"]
        and data["words"]["en"] != data["words"]["zh-hans"]
    )


def test_after_an_order_to_the_brokers_a_moment_passes_also_in_a_paused_lab(clock: Clock) -> None:
    lab = Driven(clock)
    lab.handle(lab.order("pause_lab"))
    assert lab.driver.core.now_us == 0, "an order to the clock goes nowhere"
    lab.handle(lab.order("join"))
    assert 0 < lab.driver.core.now_us <= module.EFFECT_US_MAX and not lab.driver.core.playing


def test_one_order_at_least_is_decided_however_short_the_time(playing: Driven, clock: Clock) -> None:
    orders = [playing.order("join") for _order in range(6)]
    clock.step_s = 0.01
    decided, _refusals = playing.handle(*orders, budget_s=0.0)
    assert decided == 1 and [decision.command for decision in playing.driver.decisions] == orders[:1]
    decided, _refusals = playing.handle(*orders[1:], budget_s=0.025)
    assert decided == 3


def test_what_a_refused_order_changes_is_nothing(playing: Driven) -> None:
    before = playing.driver.core.view()
    playing.handle(playing.order("crash", "nobody"))
    assert playing.driver.core.view() == before


# -- the script ----------------------------------------------------------------------------------------------


def join_at(at_us: int, name: str) -> dict[str, Any]:
    return {
        "at_us": at_us,
        "body": {
            "command_id": f"study:{name}",
            "kind": "join",
            "rig": "all",
            "consumer": name,
            "args": {"count": 1},
        },
    }


def test_a_lab_waits_at_the_time_of_its_script_until_that_is_decided(clock: Clock) -> None:
    lab = Driven(clock, script=[join_at(300_000, "x"), join_at(300_000, "y"), join_at(900_000, "z")]).play()
    assert not lab.driver.follow_script(), "it is not time"
    lab.advance(0.5)
    assert lab.driver.core.now_us == 300_000
    assert lab.driver.follow_script() and not lab.driver.follow_script()
    lab.advance(0.1)
    assert lab.driver.core.now_us == 300_000, "accepted is not decided"
    lab.handle(*writes.commands_waiting(lab.row.pk))
    assert [decision.at_us for decision in lab.driver.decisions] == [300_000, 300_000]
    lab.store()
    lab.advance(0.4)
    assert 300_000 < lab.driver.core.now_us <= 900_000
    assert [entry["body"]["consumer"] for entry in lab.driver.script] == ["z"]


def test_the_floor_is_not_set_beyond_what_the_script_orders(clock: Clock) -> None:
    lab = Driven(clock, script=[join_at(700_000, "x")]).play()
    assert lab.driver.floor_us == 700_000


def test_an_entry_whose_id_is_taken_does_not_hold_the_lab(clock: Clock) -> None:
    lab = Driven(clock, script=[join_at(100_000, "x")]).play()
    StoredCommand.objects.create(lab=lab.row, command_id="study:x", position=50, body={})
    lab.advance(0.2)
    assert lab.driver.follow_script() and lab.driver.holds == {}
    lab.store()
    lab.advance(0.2)
    assert lab.driver.core.now_us > 100_000


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
