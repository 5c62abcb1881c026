"""Streams played by hand: when a message is made, when it arrives, what it waits for, and what the
publisher's own messages do to it."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.sim.arrivals import Arrivals, Handed, Stream
from broker_core.sim.node import Outbox
from broker_core.sim.world import World
from tests.core.sim.puppet import Note, Puppet, diary, slot, stage, texts

DELAY_US = 1_000


def tell(node: Puppet, connection: int, out: Outbox) -> None:
    out.tell("toy.told", None, {}, {})


class Published:
    """A publisher `p` with a connection to each reader; a message goes to the reader of its key. made:
    numbers, as they were published."""

    def __init__(self, *readers: str, kind: type[Stream] = Stream, acts: Any = None) -> None:
        self.world: World = stage("p", *readers, acts=acts)
        self.ways = [slot(self.world, "p").connect(reader) for reader in readers]
        self.world.advance(5_000)
        for reader in readers:
            diary(self.world, reader).clear()
        self.made: list[int] = []
        self.stream = kind(slot(self.world, "p"), self.publish)

    def publish(self, number: int, key: int) -> tuple[int, Note]:
        self.made.append(number)
        return self.ways[key], Note(f"m{number}")

    def plan(self, *sent: int, keys: tuple[int, ...] | None = None, number: int = 0) -> None:
        self.stream.plan(list(sent), list(keys or (0,) * len(sent)), number)


# -- arrivals ------------------------------------------------------------------------------------------------


def test_arrivals_without_an_act_are_passed_over() -> None:
    world = stage("a")
    coming = Arrivals([3, 5])
    world.advance(4, coming)
    assert coming.place == 1 and world.now_us == 4


def test_handed_over_messages_are_the_publishers_own_matter() -> None:
    got: list[tuple[int, int]] = []
    handed = Handed(lambda number, key: got.append((number, key)))
    handed.plan([3, 5, 9], [7, 8, 9], 40)
    handed.catch_up(100)
    assert got == [] and handed.place == 0, "nothing is on its way"
    world = stage("a")
    world.advance(5, handed)
    assert got == [(40, 7), (41, 8)]
    handed.plan([12], [1], 42)
    world.advance(20, handed)
    assert got[2:] == [(42, 1)] and handed.place == 1


# -- a stream ------------------------------------------------------------------------------------------------


def test_message_of_a_stream_is_made_when_it_arrives_one_delay_after_it_was_sent() -> None:
    run = Published("r")
    run.plan(6_000, 6_500)
    run.world.advance(7_000, run.stream)
    assert run.made == [0] and diary(run.world, "r") == [(7_000, "m0")] and run.stream.place == 1
    run.world.advance(9_000, run.stream)
    assert diary(run.world, "r")[1:] == [(7_500, "m1")]


def test_each_key_goes_its_way_and_numbers_go_on_with_the_next_plan() -> None:
    run = Published("r", "s")
    run.plan(6_000, 6_000, 6_001, keys=(0, 1, 0), number=10)
    run.world.advance(8_000, run.stream)
    run.plan(8_500, keys=(1,), number=13)
    run.world.advance(10_000, run.stream)
    assert texts(run.world, "r") == ["m10", "m12"] and texts(run.world, "s") == ["m11", "m13"]


def test_who_looks_puts_what_was_sent_on_its_way_and_changes_no_moment() -> None:
    run = Published("r")
    run.plan(6_000, 6_400, 6_800)
    run.world.advance(6_500, run.stream)
    run.stream.catch_up(6_500)
    link = slot(run.world, "p").links[run.ways[0]]
    assert run.made == [0, 1] and [message.text for message, _ in link.queue] == ["m0", "m1"]
    run.stream.catch_up(6_500)
    assert run.made == [0, 1], "once"
    run.world.advance(9_000, run.stream)
    assert diary(run.world, "r") == [(7_000, "m0"), (7_400, "m1"), (7_800, "m2")]


@pytest.mark.parametrize(("until_us", "made"), [(6_000, []), (6_001, [0])])
def test_what_is_sent_at_the_moment_of_the_look_itself_is_not_sent_yet(
    until_us: int, made: list[int]
) -> None:
    run = Published("r")
    run.plan(6_000)
    run.stream.catch_up(until_us)
    assert run.made == made


def test_other_events_of_the_same_microsecond_go_first() -> None:
    run = Published("r")
    run.plan(6_000)
    slot(run.world, "r").deadline("due", 7_000)
    run.world.advance(9_000, run.stream)
    assert texts(run.world, "r") == ["due: due", "m0"]


def test_publishers_own_message_keeps_its_place_among_those_of_the_stream() -> None:
    def own(node: Puppet, connection: int, out: Outbox) -> None:
        out.send(1, Note("own"))

    run = Published("r", acts={"due: beat": own})
    run.plan(6_000, 6_500, 7_000)
    slot(run.world, "p").deadline("beat", 6_700)
    run.world.advance(9_000, run.stream)
    assert diary(run.world, "r") == [(7_000, "m0"), (7_500, "m1"), (7_700, "own"), (8_000, "m2")]


def test_slow_message_of_the_publisher_holds_up_those_of_the_stream() -> None:
    def slow_word(node: Puppet, connection: int, out: Outbox) -> None:
        link = slot(run.world, "p").links[run.ways[0]]
        link.delay_us = 3_000
        out.send(run.ways[0], Note("slow"))
        link.delay_us = DELAY_US

    run = Published("r", acts={"due: beat": slow_word})
    run.plan(6_500, 7_000)
    slot(run.world, "p").deadline("beat", 6_000)
    run.world.advance(12_000, run.stream)
    assert diary(run.world, "r") == [(9_000, "slow"), (9_000, "m0"), (9_000, "m1")], (
        "no message overtakes another one"
    )


def test_held_messages_wait_for_the_heal_in_their_order() -> None:
    run = Published("r")
    run.world.cut(run.ways[0])
    run.plan(6_000, 6_500)
    run.world.advance(8_000, run.stream)
    assert diary(run.world, "r") == [] and slot(run.world, "p").unsent(run.ways[0]) == 2
    run.world.heal(run.ways[0])
    run.plan(8_100, number=2)
    run.world.advance(12_000, run.stream)
    assert diary(run.world, "r") == [(9_000, "m0"), (9_000, "m1"), (9_100, "m2")]


def test_messages_to_a_process_that_is_gone_are_lost_and_the_others_go_on() -> None:
    run = Published("r", "s")
    run.world.crash("r")
    run.plan(6_000, 6_100, 6_200, keys=(0, 1, 0))
    run.world.advance(9_000, run.stream)
    assert run.made == [0, 1, 2] and texts(run.world, "r") == [] and texts(run.world, "s") == ["m1"]


def test_stream_stops_at_a_message_that_tells_something_and_the_next_call_goes_on() -> None:
    run = Published("r", acts={"m1": tell})
    run.plan(6_000, 6_100, 6_200)
    run.world.advance(9_000, run.stream, by_report=True)
    while run.world.is_midway:
        assert (run.world.now_us, texts(run.world, "r")) == (
            7_100,
            ["m0", "m1"],
        ) and run.world.told.pop().kind == "toy.told"
        run.world.advance(9_000, run.stream, by_report=True)
    assert texts(run.world, "r") == ["m0", "m1", "m2"] and run.world.now_us == 9_000


def test_message_of_a_stream_has_no_cause() -> None:
    run = Published("r", acts={"m0": tell, "due: due": tell})
    run.plan(6_000)
    slot(run.world, "r").deadline("due", 7_000)
    run.world.advance(9_000, run.stream)
    assert [event.cause.to_json() for event in run.world.told] == [None, None]
