"""What a scenario may say of a Pulsar lane: each setting's bounds, what does not go together, and that
nothing is added to what was said."""

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.pulsar.options import (
    PULSAR_SETTINGS,
    check_priorities,
    check_pulsar,
    check_subscriptions,
)
from broker_core.lab.setting import CHOICE, SWITCH, WHOLE
from broker_core.pulsar.commands import SUBSCRIPTION

NUMBERS = {each.name: (each.low, each.high) for each in PULSAR_SETTINGS if each.kind == WHOLE}
CHOICES = {each.name: each.choices for each in PULSAR_SETTINGS if each.kind == CHOICE}
SWITCHES = [each.name for each in PULSAR_SETTINGS if each.kind == SWITCH]

NEEDS: dict[str, dict[str, Any]] = {
    "delayed_every": {"delay_us": 1},
    "deduplication": {"receipts": True},
    "nack_backoff_max_us": {"nack_delay_us": 100_000},
}
"""Settings that ask for another one beside them."""


def refused(entry: dict[str, Any]) -> tuple[str, str] | None:
    try:
        check_pulsar(entry, "lanes.0")
    except CommandError as error:
        return error.field, error.reason
    return None


def test_lane_that_says_nothing_has_a_queue_of_1000_and_no_other_setting() -> None:
    assert check_pulsar({}, "lanes.0") == {"receiver_queue_size": 1000}


@pytest.mark.parametrize("name", NUMBERS)
def test_number_is_within_its_bounds_and_reaches_the_lane_as_it_is(name: str) -> None:
    low, high = NUMBERS[name]
    for value in (low, high):
        options = check_pulsar(
            {name: value, **({} if name == "nack_backoff_max_us" else NEEDS.get(name, {}))}, "lanes.0"
        )
        assert options[name] == value
    for wrong in (low - 1, high + 1, True, float(low), str(low)):
        assert refused({name: wrong}) == (f"lanes.0.{name}", f"must be a whole number from {low} to {high}")


@pytest.mark.parametrize("name", CHOICES)
def test_choice_is_one_of_those_that_are_named(name: str) -> None:
    for choice in CHOICES[name]:
        assert check_pulsar({name: choice}, "lanes.0")[name] == choice
    answer = refused({name: "other"})
    assert answer == (f"lanes.0.{name}", f"must be one of {', '.join(CHOICES[name])}")


@pytest.mark.parametrize("name", SWITCHES)
def test_switch_is_on_or_off_and_off_is_not_left_out(name: str) -> None:
    for value in (True, False):
        assert check_pulsar({name: value, **NEEDS.get(name, {})}, "lanes.0")[name] is value
    for other in (1, 0, "true", None):
        assert refused({name: other}) == (f"lanes.0.{name}", "must be true or false")


@pytest.mark.parametrize(
    ("entry", "field", "reason"),
    [
        (
            {"topics": 2, "partitions": 0},
            "topics",
            "give either topics, none of which has partitions, or partitions of one topic",
        ),
        (
            {"deduplication": True},
            "deduplication",
            "needs receipts: a producer that waits for none sends nothing twice",
        ),
        (
            {"deduplication": True, "receipts": False},
            "deduplication",
            "needs receipts: a producer that waits for none sends nothing twice",
        ),
        ({"delayed_every": 2}, "delayed_every", "needs delay_us, how much later these are delivered"),
        (
            {"nack_delay_us": 200_000, "nack_backoff_max_us": 199_999},
            "nack_backoff_max_us",
            "must be at least nack_delay_us, with which it begins",
        ),
    ],
)
def test_settings_that_do_not_go_together(entry: dict[str, Any], field: str, reason: str) -> None:
    entry = {**entry, "batching": CHOICES["batching"][1]} if "batching" in entry else entry
    assert refused(entry) == (f"lanes.0.{field}", reason)


@pytest.mark.parametrize(
    "entry",
    [
        {"batching": "default", "algorithm": "consistent_hash"},
        {"topics": 2},
        {"partitions": 0},
        {"deduplication": False},
        {"delay_us": 5},
        {"nack_delay_us": 200_000, "nack_backoff_max_us": 200_000},
        {"nack_delay_us": 3_600_000_000},
    ],
)
def test_settings_that_do(entry: dict[str, Any]) -> None:
    entry = {**entry, "batching": CHOICES["batching"][0]} if "batching" in entry else entry
    assert refused(entry) is None


def test_priorities_are_levels_of_named_consumers() -> None:
    assert check_priorities({"c1": 0, "c2": 1000}, "p") == {"c1": 0, "c2": 1000}
    for raw, field in (
        ([], "p"),
        ({"c1": 1001}, "p.c1"),
        ({"c1": True}, "p.c1"),
        ({"broker": 1}, "p"),
        ({"": 1}, "p"),
    ):
        with pytest.raises(CommandError) as caught:
            check_priorities(raw, "p")
        assert caught.value.field == field


def test_other_subscription_is_exclusive_with_one_consumer_unless_it_says_more() -> None:
    assert check_subscriptions({"audit": {}}, "s") == {
        "audit": {"type": "exclusive", "consumers": 1, "rate": 100}
    }
    assert check_subscriptions({"audit": {"type": "shared", "consumers": 8, "rate": 1}}, "s")["audit"] == {
        "type": "shared",
        "consumers": 8,
        "rate": 1,
    }


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (3, "s"),
        ({f"s{number}": {} for number in range(9)}, "s"),
        ({"Audit": {}}, "s"),
        ({SUBSCRIPTION: {}}, "s"),
        ({"a": 1}, "s.a"),
        ({"a": {"speed": 1}}, "s.a.speed"),
        ({"a": {"type": "key_shared"}}, "s.a.type"),
        ({"a": {"consumers": 2}}, "s.a.consumers"),
        ({"a": {"type": "failover", "consumers": 9}}, "s.a.consumers"),
        ({"a": {"rate": 0}}, "s.a.rate"),
        ({"a": {"<": 1}}, "s.a"),
    ],
)
def test_what_is_wrong_with_another_subscription_is_said_at_its_field(raw: Any, field: str) -> None:
    with pytest.raises(CommandError) as caught:
        check_subscriptions(raw, "s")
    assert caught.value.field == field
