"""Tracing: the last methods of one connection, both ways, bounded, for a while, and nothing of others."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.rabbitmq.tracing import METHODS_KEPT, PARTS_MAX, TEXT_MAX, short
from tests.core.lab.rabbitmq.test_paths import panel_of
from tests.core.lab.rabbitmq.test_topology import SECOND, TOPOLOGY, lab_of, order


def made() -> Lab:
    lab = lab_of(TOPOLOGY, consumers=2)
    lab.advance_to(2 * SECOND)
    return lab


def connection_of(lab: Lab, name: str) -> int:
    return next(int(number) for number, each in panel_of(lab)["connections"].items() if each["name"] == name)


def methods(lab: Lab) -> list[Any]:
    return list(panel_of(lab)["trace"]["methods"].values())


def trace(lab: Lab, name: str | None = None, passes: int = 0, **args: int) -> None:
    """name: whose connection. passes: seconds of the lab that follow."""
    if name is not None:
        args["connection"] = connection_of(lab, name)
    lab.submit({"command_id": f"t{lab.position}", "kind": "rabbitmq_trace", "lane": "all", "args": args})
    lab.advance_to(lab.now_us + passes * SECOND)


def test_a_consumers_connection_shows_deliveries_and_acknowledgements_by_field() -> None:
    lab = made()
    assert methods(lab) == []
    trace(lab, "c1", passes=3)
    found = methods(lab)
    sent = [each for each in found if each["is_sent"]]
    heard = [each for each in found if not each["is_sent"]]
    assert {each["name"] for each in sent} == {"basic.deliver"} and len(sent) > 3
    assert {each["name"] for each in heard} <= {"basic.ack", "basic.nack", "basic.reject"} and heard
    deliver = sent[-1]["fields"]
    assert deliver["delivery_tag"] > 0 and deliver["exchange"] == "orders" and "channel" not in deliver
    assert deliver["message"] >= 0 and isinstance(deliver["properties"], dict)
    times = [each["at_us"] for each in found]
    assert times == sorted(times) and all(each["channel"] == 1 for each in found)


def test_it_is_bounded_ends_in_time_and_another_order_begins_again() -> None:
    lab = made()
    trace(lab, "publisher", seconds=20)
    lab.advance_to(lab.now_us + 15 * SECOND)
    full = panel_of(lab)["trace"]
    assert len(full["methods"]) == METHODS_KEPT and full["heard"] > METHODS_KEPT
    assert max(map(int, full["methods"])) == full["heard"]
    lab.advance_to(lab.now_us + 15 * SECOND)
    ended = panel_of(lab)["trace"]
    assert ended["connection"] == 0 and max(each["at_us"] for each in methods(lab)) <= ended["until_us"]
    trace(lab, "publisher", channel=2, passes=5)
    assert methods(lab) == [], "nothing goes over that channel"
    trace(lab)
    assert panel_of(lab)["trace"]["connection"] == 0 and methods(lab) == []


def test_who_is_traced_changes_nothing_else() -> None:
    lab, traced = made(), made()
    trace(traced, "c1")
    trace(lab)
    for each in (lab, traced):
        each.advance_to(10 * SECOND)
    one, other = (panel_of(each) for each in (lab, traced))
    assert other.pop("trace")["methods"] and not one.pop("trace")["methods"]
    assert one == other
    restored = Lab.restore(traced.scenario, traced.checkpoint())
    assert panel_of(restored)["trace"] == panel_of(traced)["trace"]


def test_what_is_blocked_is_heard_once_when_it_is_read() -> None:
    lab = made()
    trace(lab, "publisher")
    order(lab, "rabbitmq_alarm", resource="memory")
    blocked = panel_of(lab)["trace"]["heard"]
    lab.advance_to(lab.now_us + 3 * SECOND)
    assert panel_of(lab)["trace"]["heard"] <= blocked + 3
    order(lab, "rabbitmq_alarm", resource="memory", is_on=False)
    published = [each["fields"]["message"] for each in methods(lab) if each["name"] == "basic.publish"]
    assert len(published) == len(set(published)) > 10


def test_a_connection_that_is_not_there_is_refused_at_its_field() -> None:
    lab = made()
    for args, field in (({"connection": 999}, "args.connection"), ({"seconds": 601}, "args.seconds")):
        with pytest.raises(CommandError) as refused:
            trace(lab, **args)
        assert refused.value.field == field


def test_what_is_long_is_cut_and_says_so() -> None:
    assert short("a" * TEXT_MAX) == "a" * TEXT_MAX and short("a" * 999)[-1] == "…"
    assert len(short(list(range(99)))) == PARTS_MAX + 1
    assert short({"a": {"b": {"c": {"d": 1}}}}) == {"a": {"b": {"c": "…"}}}
    assert len(short({str(each): each for each in range(99)})) == PARTS_MAX + 1
    assert short([b"ab", None, 1.5]) == ["ab", None, 1.5]
