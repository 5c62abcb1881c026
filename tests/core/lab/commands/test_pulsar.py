"""Orders that only a Pulsar lane knows, against a page: of whom, with which numbers, and which ranges a
client would even send."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS
from broker_core.lab.commands.sticky import RANGES_MAX, check_ranges_of, read_ranges
from tests.core.lab.commands.pages import STATES, made, misread, of_model, page, pulsar, refused

ORDERS: dict[str, dict[str, Any]] = {
    "pulsar_hold_acks": {},
    "pulsar_release_acks": {},
    "pulsar_seek": {"entry": 0},
    "pulsar_unsubscribe": {},
    "pulsar_priority": {"level": 1},
    "pulsar_ranges": {"ranges": [[0, 9]]},
    "pulsar_redeliver": {},
}


def test_table_has_every_order_to_a_pulsar_consumer() -> None:
    assert set(ORDERS) == {kind for kind in COMMANDS if kind.startswith("pulsar_")} - {"pulsar_lose_receipts"}


@pytest.mark.parametrize("kind", ORDERS)
def test_lab_without_a_pulsar_lane_and_a_lane_that_is_none(kind: str) -> None:
    facts = page(one=of_model("kafka", "c1"))
    assert refused(facts, kind, "c1", **ORDERS[kind]) == ("lane", "there is no Pulsar lane in this lab")
    assert refused(facts, kind, "c1", "one", **ORDERS[kind]) == ("lane", "this is no Pulsar lane")
    assert refused(facts, kind, "c1", "two", **ORDERS[kind]) == ("lane", "there is no lane two in this lab")


@pytest.mark.parametrize("kind", ORDERS)
def test_consumer_is_looked_for_in_pulsar_lanes_alone(kind: str) -> None:
    facts = page(one=of_model("kafka", "c1"), two=pulsar("c2", algorithm="sticky"))
    assert refused(facts, kind, "c1", **ORDERS[kind]) == ("consumer", "there is no consumer c1")
    assert refused(facts, kind, "c2", **ORDERS[kind]) is None


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("state", STATES)
def test_client_that_has_crashed_takes_no_order(kind: str, state: str) -> None:
    answer = refused(page(one=pulsar(*STATES, algorithm="sticky")), kind, state, **ORDERS[kind])
    expected = (
        ("consumer", f"{state} has crashed; it can rejoin or leave") if state in ("crashed", "gone") else None
    )
    assert answer == expected


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        ({}, ("args.entry", "give either entry or time_us")),
        ({"entry": 0, "time_us": 0}, ("args.entry", "give either entry or time_us")),
        ({"entry": -1}, ("args.entry", "must be a whole number from 0 to 9007199254740991")),
        ({"entry": 0}, None),
        ({"time_us": 0}, None),
        ({"time_us": 2**53}, ("args.time_us", "must be a whole number from 0 to 9007199254740991")),
        ({"entry": 2**53 - 1}, None),
    ],
)
def test_seek_goes_to_an_entry_or_to_a_moment(args: dict[str, Any], answer: tuple[str, str] | None) -> None:
    assert misread("pulsar_seek", "c1", **args) == answer


@pytest.mark.parametrize(
    ("level", "is_one"), [(0, True), (1000, True), (1001, False), (-1, False), (None, False)]
)
def test_priority_level_is_between_0_and_1000(level: object, is_one: bool) -> None:
    assert misread("pulsar_priority", "c1", level=level) == (
        None if is_one else ("args.level", "must be a whole number from 0 to 1000")
    )


@pytest.mark.parametrize("algorithm", ["consistent_hash", "auto_split", "shared", "failover"])
def test_only_sticky_consumers_take_ranges_and_the_consumer_is_what_is_wrong(algorithm: str) -> None:
    answer = refused(page(one=pulsar("c1", algorithm=algorithm)), "pulsar_ranges", "c1", ranges=[[0, 9]])
    assert answer == ("consumer", "only consumers with sticky ranges name their ranges")


@pytest.mark.parametrize("raw", [None, "[[0, 9]]", {"0": 9}, 3, [[0, 9]] * (RANGES_MAX + 1)])
def test_ranges_are_a_list_of_at_most_100(raw: object) -> None:
    assert misread("pulsar_ranges", "c1", ranges=raw) == (
        "args.ranges",
        "must be a list of at most 100 ranges",
    )


@pytest.mark.parametrize("pair", [[0], [0, 1, 2], [0, True], [0, 1.0], ["0", "9"], None, 7])
def test_each_range_is_two_whole_numbers(pair: object) -> None:
    assert misread("pulsar_ranges", "c1", ranges=[[0, 9], pair]) == (
        "args.ranges",
        "each range must be [start, end]",
    )


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(-9, 70_000), min_size=2, max_size=2), max_size=5))
def test_ranges_reach_the_journal_as_they_were_given(ranges: list[list[int]]) -> None:
    assert [list(pair) for pair in read_ranges(ranges, "args.ranges")] == ranges
    assert made("pulsar_ranges", "c1", ranges=ranges).args() == {"ranges": ranges}


@pytest.mark.parametrize(
    ("ranges", "accepted"),
    [
        ([[0, 16_383], [32_768, 65_535]], True),
        ([[0, 65_535]], True),
        ([[5, 5]], True),
        ([], False),
        ([[0, 65_536]], False),
        ([[-1, 9]], False),
        ([[9, 0]], False),
        ([[0, 9], [9, 12]], False),
        ([[20, 30], [0, 9]], True),
    ],
)
def test_what_the_client_itself_refuses_is_refused_in_its_words(
    ranges: list[list[int]], accepted: bool
) -> None:
    """Pulsar's KeySharedPolicySticky.validate: at least one range, each within 0..65535, start not after end,
    none overlapping."""
    pairs = read_ranges(ranges, "args.ranges")
    if accepted:
        check_ranges_of("sticky", pairs, "args.ranges")
        return
    with pytest.raises(CommandError, match="the client refuses them: ") as refusal:
        check_ranges_of("sticky", pairs, "args.ranges")
    assert refusal.value.field == "args.ranges"


def test_in_the_articles_notation_the_end_is_excluded_so_65536_is_an_end() -> None:
    check_ranges_of("sticky_document", ((0, 16_384), (32_768, 65_536)), "args.ranges")
    with pytest.raises(CommandError, match="the client refuses them"):
        check_ranges_of("sticky_document", ((0, 65_537),), "args.ranges")


def test_receipts_can_be_lost_where_a_producer_waits_for_them() -> None:
    waits = pulsar("c1", has_receipts=True)
    assert refused(page(one=waits, two=of_model("kafka")), "pulsar_lose_receipts", seconds=25) is None
    for facts in (page(one=pulsar("c1")), page(two=of_model("kafka"))):
        answer = refused(facts, "pulsar_lose_receipts")
        assert answer == (
            "lane",
            "no producer here waits for receipts: give a Pulsar lane the option receipts",
        )
    assert refused(page(one=waits, two=pulsar()), "pulsar_lose_receipts", lane="two") is not None


@pytest.mark.parametrize(
    ("seconds", "is_one"), [(1, True), (25, True), (26, False), (0, False), (True, False)]
)
def test_receipts_are_lost_for_less_than_the_time_between_two_pings(seconds: object, is_one: bool) -> None:
    """The broker pings every 30 s, and a lost answer of that kind would be another story."""
    answer = misread("pulsar_lose_receipts", seconds=seconds)
    assert answer == (None if is_one else ("args.seconds", "must be a whole number from 1 to 25"))
    assert made("pulsar_lose_receipts").args() == {"seconds": 2}


def test_sentence_of_a_new_priority_names_the_level_and_a_seek_names_no_place() -> None:
    assert made("pulsar_priority", "c1", level=4).said() == {"level": 4}
    assert made("pulsar_seek", "c1", entry=4).said() == {}
