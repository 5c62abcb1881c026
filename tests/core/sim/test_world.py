"""A world's time: what is due in which order, how far `advance` goes, who hears of it, and what follows from
what."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from broker_core.errors import CommandError
from broker_core.events import Cause, TurningPoint
from broker_core.sim.arrivals import Arrivals
from broker_core.sim.node import Outbox
from broker_core.sim.world import World
from tests.core.sim.puppet import Note, Puppet, PuppetState, cause, diary, joined, say, slot, stage, texts


def tell(node: Puppet, connection: int, out: Outbox) -> None:
    out.tell("toy.told", "toy.rule", {"seen": len(node.state.diary)}, {"name": out.name})


def arrived(world: World) -> Callable[[int], None]:
    def act(place: int) -> None:
        world.tell("toy.arrived", None, {}, {})

    return act


# -- order ---------------------------------------------------------------------------------------------------


def test_everything_up_to_the_moment_happens_and_the_moment_itself_belongs_to_it() -> None:
    world = stage("a")
    for at_us in (40, 41):
        slot(world, "a").deadline(f"at {at_us}", at_us)
    world.advance(40)
    assert diary(world, "a") == [(40, "due: at 40")] and world.now_us == 40
    world.advance(41)
    assert diary(world, "a")[1:] == [(41, "due: at 41")]


def test_ties_go_in_the_order_in_which_they_were_made_whatever_they_are() -> None:
    world, connection = joined()
    slot(world, "b").deadline("first", 11_000)
    say(world, "a", connection, "second")
    slot(world, "b").deadline("third", 11_000)
    world.advance(11_000)
    assert texts(world, "b") == ["due: first", "second", "due: third"]


def test_what_a_step_makes_for_its_own_microsecond_comes_after_what_was_due_already() -> None:
    def again(node: Puppet, connection: int, out: Outbox) -> None:
        out.deadline("again", 5)

    world = stage("a", acts={"due: one": again})
    slot(world, "a").deadline("one", 5)
    slot(world, "a").deadline("two", 5)
    world.advance(5)
    assert texts(world, "a") == ["due: one", "due: two", "due: again"]


def test_arrival_comes_after_all_that_is_due_in_its_microsecond() -> None:
    world = stage("a")
    seen: list[object] = []
    slot(world, "a").deadline("due", 7)
    coming = Arrivals([7], lambda place: seen.append(list(diary(world, "a"))))
    world.advance(7, coming)
    assert seen == [[(7, "due: due")]]


def test_arrivals_after_the_moment_are_left_for_the_next_call() -> None:
    world = stage("a")
    seen: list[tuple[int, int]] = []
    coming = Arrivals([3, 3, 8, 9], lambda place: seen.append((world.now_us, place)))
    world.advance(8, coming)
    assert seen == [(3, 0), (3, 1), (8, 2)] and coming.place == 3 and world.now_us == 8
    world.advance(20, coming)
    assert seen[3:] == [(9, 3)] and world.now_us == 20


def test_arrival_may_set_a_deadline_that_comes_due_before_the_next_one() -> None:
    world = stage("a")
    slots = slot(world, "a")
    world.advance(30, Arrivals([10, 20], lambda place: slots.deadline(f"after {place}", world.now_us + 5)))
    assert diary(world, "a") == [(15, "due: after 0"), (25, "due: after 1")]


# -- reports -------------------------------------------------------------------------------------------------


def test_listener_gets_what_each_step_told_and_nothing_gathers() -> None:
    batches: list[list[str]] = []
    world = stage(
        "a",
        acts={"due: one": tell, "due: two": tell},
        listener=lambda told: batches.append([event.id for event in told]),
    )
    for name in ("one", "two"):
        slot(world, "a").deadline(name, 5)
    world.advance(10)
    assert batches == [["w:1"], ["w:2"]] and world.told == []


def test_listener_hears_of_an_order_and_of_an_arrival_too() -> None:
    batches: list[list[int]] = []
    world = stage(
        "a", acts={"hello": tell}, listener=lambda told: batches.append([event.at_us for event in told])
    )
    world.order("a", Note("hello"))
    assert batches == [[0]]
    world.advance(9, Arrivals([4], arrived(world)))
    assert batches == [[0], [4]] and world.told == []


def test_witness_is_called_in_the_middle_of_the_step_and_the_listener_after_it() -> None:
    calls: list[str] = []

    def act(node: Puppet, connection: int, out: Outbox) -> None:
        out.tell("toy.one", None, {}, {})
        calls.append("goes on")
        out.tell("toy.two", None, {}, {})

    world = stage(
        "a",
        acts={"hello": act},
        witness=lambda event: calls.append(event.kind),
        listener=lambda told: calls.append(f"{len(told)} told"),
    )
    world.order("a", Note("hello"))
    assert calls == ["toy.one", "goes on", "toy.two", "2 told"]


@pytest.mark.parametrize("by_report", [False, True])
def test_by_report_stops_after_each_step_that_told_and_the_same_call_goes_on(by_report: bool) -> None:
    reported: list[str] = []
    world = stage(
        "a",
        acts={"due: 2": tell, "due: 4": tell},
        listener=lambda told: reported.extend(event.id for event in told),
    )
    for at_us in (1, 2, 3, 4):
        slot(world, "a").deadline(str(at_us), at_us)
    stops: list[tuple[int, int]] = []
    world.advance(9, by_report=by_report)
    while world.is_midway:
        stops.append((world.now_us, len(diary(world, "a"))))
        world.advance(9, by_report=by_report)
    assert stops == ([(2, 2), (4, 4)] if by_report else [])
    assert world.now_us == 9 and reported == ["w:1", "w:2"]


def test_by_report_stops_after_an_arrival_that_told_and_the_rest_is_left() -> None:
    world = stage("a")
    coming = Arrivals([3, 5], arrived(world))
    world.advance(9, coming, by_report=True)
    assert (world.is_midway, world.now_us, coming.place) == (True, 3, 1)
    world.advance(9, coming, by_report=True)
    assert (world.is_midway, world.now_us, coming.place) == (True, 5, 2)
    world.advance(9, coming, by_report=True)
    assert (world.is_midway, world.now_us) == (False, 9)


# -- causes --------------------------------------------------------------------------------------------------


def chain(world: World) -> list[tuple[str, Cause]]:
    return [(event.kind, event.cause) for event in world.told]


def test_turning_point_follows_from_the_order_and_the_next_one_of_the_step_from_it() -> None:
    def act(node: Puppet, connection: int, out: Outbox) -> None:
        out.tell("toy.one", None, {}, {})
        out.tell("toy.two", None, {}, {})

    world = stage("a", acts={"hello": act})
    world.order("a", Note("hello"), cause(3))
    assert chain(world) == [("toy.one", cause(3)), ("toy.two", Cause(event="w:1"))]
    world.order("a", Note("hello"))
    assert chain(world)[2][1] == Cause(), "nothing of the last order is left"


def test_cause_goes_with_the_message_and_with_the_deadline() -> None:
    def pass_on(node: Puppet, connection: int, out: Outbox) -> None:
        out.send(1, Note("tell"))
        out.deadline("tell", 2_000_000)

    world, _ = joined(acts={"go": pass_on, "tell": tell, "due: tell": tell})
    world.order("a", Note("go"), cause(5))
    world.advance(3_000_000)
    assert [(event.at_us, event.cause) for event in world.told] == [(11_000, cause(5)), (2_000_000, cause(5))]


def test_deadline_may_name_another_cause_than_what_is_answered() -> None:
    def later(node: Puppet, connection: int, out: Outbox) -> None:
        out.deadline("tell", 50, because=cause(8))

    world = stage("a", acts={"go": later, "due: tell": tell})
    world.order("a", Note("go"), cause(5))
    world.advance(50)
    assert world.told[0].cause == cause(8)


def test_why_and_because_carry_a_cause_over_to_a_later_step() -> None:
    kept: list[Cause] = []

    def remember(node: Puppet, connection: int, out: Outbox) -> None:
        kept.append(out.why())

    def act_on_it(node: Puppet, connection: int, out: Outbox) -> None:
        out.because(kept[0])
        out.tell("toy.late", None, {}, {})

    world = stage("a", acts={"ask": remember, "act": act_on_it})
    world.order("a", Note("ask"), cause(1))
    world.order("a", Note("act"), cause(2))
    world.order("a", Note("ask"))
    assert world.told[0].cause == cause(1) and kept[1] == Cause(), "without a cause there is an empty one"


def test_arrival_has_no_cause_even_in_the_microsecond_of_a_step_that_has() -> None:
    world = stage("a")
    slot(world, "a").deadline("due", 7, because=cause(4))
    world.advance(7, Arrivals([7], arrived(world)))
    assert world.told[0].cause == Cause()


def test_turning_points_are_numbered_from_one_and_stand_at_their_moment() -> None:
    world = stage("a", acts={"due: one": tell})
    slot(world, "a").deadline("one", 77)
    world.advance(100)
    world.tell("toy.operator", None, {}, {"done": True})
    assert world.told == [
        TurningPoint("w:1", 77, "w", "toy.told", Cause(), "toy.rule", {"seen": 1}, {"name": "a"}),
        TurningPoint("w:2", 100, "w", "toy.operator", Cause(), None, {}, {"done": True}),
    ]


# -- orders --------------------------------------------------------------------------------------------------


def test_order_reaches_its_node_at_once_from_no_connection() -> None:
    seen: list[int] = []
    world = stage("a", acts={"hello": lambda node, connection, out: seen.append(connection)})
    world.advance(5)
    world.order("a", Note("hello"))
    assert diary(world, "a") == [(5, "hello")] and seen == [0] and world.heap == []


@pytest.mark.parametrize(
    ("end", "reason"),
    [("pause", "node: a is paused"), ("crash", "node: a is crashed"), ("exit", "node: there is no a")],
)
def test_order_for_a_process_that_does_not_run_is_refused(end: str, reason: str) -> None:
    world = stage("a")
    getattr(world, end)("a")
    with pytest.raises(CommandError) as refusal:
        world.order("a", Note("hello"))
    assert str(refusal.value) == reason


def test_name_is_taken_until_its_process_is_gone_and_numbers_are_never_given_twice() -> None:
    world = stage("a")
    with pytest.raises(CommandError, match="a runs already"):
        world.start("a", "puppet", PuppetState())
    world.crash("a")
    with pytest.raises(CommandError, match="a runs already"):
        world.start("a", "puppet", PuppetState())
    world.forget("a")
    assert world.node("a") is None and world.condition("a") is None
    world.start("a", "puppet", PuppetState())
    assert slot(world, "a").number == 2 and world.condition("a") == "running"
