"""What is on its way on a link, said beforehand, is what arrives, and when."""

from __future__ import annotations

from broker_core.sim.under_way import under_way
from tests.core.sim.puppet import Note, cause, diary, joined, say, slot


def test_each_message_is_told_with_its_moment() -> None:
    world, connection = joined()
    link = slot(world, "a").links[connection]
    assert under_way(world, link) == []
    say(world, "a", connection, "first")
    slot(world, "a").post(connection, Note("second"), world.now_us + 5_000, cause(1))
    told = under_way(world, link)
    before = len(diary(world, "b"))
    world.advance(world.now_us + 50_000)
    assert [(at_us, message.text) for message, at_us in told] == diary(world, "b")[before:] and len(told) == 2


def test_what_waits_at_a_door_comes_first() -> None:
    world, connection = joined()
    slot(world, "b").open_door(connection, 1)
    slot(world, "a").feed(connection, Note("fed"))
    say(world, "a", connection, "sent")
    link = slot(world, "a").links[connection]
    told = under_way(world, link)
    assert [message.text for message, _ in told] == ["fed", "sent"] and told[0][1] == link.times[0] <= told[
        1
    ][1]


def test_what_is_held_by_a_cut_has_no_moment() -> None:
    world, connection = joined()
    world.cut(connection)
    say(world, "a", connection, "held")
    link = slot(world, "a").links[connection]
    world.advance(world.now_us + 50_000)
    assert len(link.queue) == 1 and under_way(world, link) == []
