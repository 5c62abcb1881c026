"""What is on its way on a link, said beforehand, is what arrives, and when."""

from __future__ import annotations

from tests.core.sim.puppet import diary, joined, say, slot


def test_each_message_is_there_with_its_moment() -> None:
    world, connection = joined()
    link = slot(world, "a").links[connection]
    assert world.under_way(link) == []
    say(world, "a", connection, "first")
    say(world, "a", connection, "second")
    said = world.under_way(link)
    before = len(diary(world, "b"))
    world.advance(world.now_us + 50_000)
    assert [(at_us, message.text) for message, at_us in said] == diary(world, "b")[before:] and len(said) == 2


def test_what_is_held_by_a_cut_has_no_moment() -> None:
    world, connection = joined()
    world.cut(connection)
    say(world, "a", connection, "held")
    link = slot(world, "a").links[connection]
    world.advance(world.now_us + 50_000)
    assert len(link.queue) == 1 and world.under_way(link) == []
