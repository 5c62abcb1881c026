"""Faults of brokers and links, against a page: who is named, what a broker is ready for, and which way of a
link is whole."""

from typing import Any, cast

import pytest

from tests.core.lab.commands.pages import cluster, made, misread, of_model, page, refused

CLUSTER = cluster("c1", "c2")
BROKERS = ["stop", "crash", "cut_power", "lose_disk", "pause", "resume", "come_back"]
STAGES = {
    1: ("running", ["stop", "pause", "crash", "cut_power", "lose_disk"]),
    2: ("paused", ["resume", "crash", "cut_power", "lose_disk"]),
    3: ("crashed", ["come_back"]),
    4: ("down", ["come_back", "lose_disk"]),
    5: ("shutting_down", ["pause", "crash", "cut_power", "lose_disk"]),
}
"""A broker in each condition, with what a page offers for it."""
SAID = {1: "is running", 2: "is paused", 3: "is down", 4: "is down"}


@pytest.mark.parametrize("verb", BROKERS)
@pytest.mark.parametrize("broker", STAGES)
def test_broker_takes_what_its_page_offers_and_else_says_its_condition(verb: str, broker: int) -> None:
    answer = refused(page(kafka=cluster(brokers=STAGES)), f"cluster_{verb}", broker=broker)
    stage, verbs = STAGES[broker]
    if (
        verb in verbs or stage == "shutting_down"
    ):  # when that one is down no command says, so only the lab knows
        assert answer is None
    elif verb == "lose_disk":
        assert answer == ("args.broker", f"broker {broker} has lost its disk already")
    else:
        assert answer == ("args.broker", f"broker {broker} {SAID[broker]}")


@pytest.mark.parametrize("broker", STAGES)
def test_disk_and_clock_can_always_be_set(broker: int) -> None:
    facts = page(kafka=cluster(brokers=STAGES))
    assert refused(facts, "cluster_slow_disk", broker=broker, write_us=0) is None
    assert refused(facts, "cluster_skew_clock", broker=broker, skew_ms=0) is None


@pytest.mark.parametrize("kind", [f"cluster_{verb}" for verb in BROKERS])
def test_broker_that_is_not_there_and_a_number_that_is_none(kind: str) -> None:
    assert refused(page(kafka=CLUSTER), kind, broker=4) == ("args.broker", "there is no broker-4")
    for number in (0, -1, 100, None, "1", True):
        answer = misread(kind, broker=number)
        assert answer is not None and answer[0] == "args.broker"


@pytest.mark.parametrize(
    "kind", ["cluster_crash", "cluster_cut_link", "cluster_elect", "cluster_pause_writer"]
)
def test_lab_without_a_cluster_says_so_before_any_name_is_looked_up(kind: str) -> None:
    args: dict[str, Any] = {
        "cluster_crash": {"broker": 9},
        "cluster_cut_link": {"one": "x", "other": "y"},
        "cluster_pause_writer": {"writer": 1},
    }
    facts = page(one=of_model("kafka", "c1"), two=of_model("rabbitmq"))
    assert refused(facts, kind, **args.get(kind, {})) == (
        "lane",
        "there is no Kafka cluster with brokers to name in this lab",
    )


def test_of_two_clusters_each_is_asked() -> None:
    small = cluster(brokers={1: STAGES[1]})
    assert refused(page(one=CLUSTER, two=small), "cluster_crash", broker=3) == (
        "args.broker",
        "there is no broker-3",
    )
    assert refused(page(one=CLUSTER, two=small), "cluster_crash", lane="one", broker=3) is None


@pytest.mark.parametrize(
    ("kind", "name", "low", "high"),
    [
        ("cluster_slow_disk", "write_us", 0, 60_000_000),
        ("cluster_skew_clock", "skew_ms", -86_400_000, 86_400_000),
    ],
)
def test_how_slow_a_disk_and_how_wrong_a_clock_may_be(kind: str, name: str, low: int, high: int) -> None:
    for value in (low, high):
        assert misread(kind, broker=1, **cast(Any, {name: value})) is None
    for wrong in (low - 1, high + 1, None):
        assert misread(kind, broker=1, **cast(Any, {name: wrong})) == (
            f"args.{name}",
            f"must be a whole number from {low} to {high}",
        )


@pytest.mark.parametrize("kind", ["cluster_cut_link", "cluster_heal_link", "cluster_slow_link"])
def test_link_is_between_two_different_names(kind: str) -> None:
    assert misread(kind, other="b") == ("args.one", "must be the name of a node")
    assert misread(kind, one="a", other="") == ("args.other", "must be the name of a node")
    assert misread(kind, one="a", other="b" * 33) == ("args.other", "must be the name of a node")
    assert misread(kind, one="a", other="a") == ("args.other", "must be another node")
    assert misread(kind, one="a", other="b" * 32) is None


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("broker-1", "broker-2", None),
        ("broker-1", "controller", None),
        ("c1", "broker-3", None),
        ("producer", "broker-1", None),
        ("broker-9", "broker-1", ("args.one", "there is no broker-9")),
        ("broker-1", "c9", ("args.other", "there is no c9")),
        ("c1", "c2", ("args.other", "a client is linked with brokers alone")),
        ("controller", "c1", ("args.other", "a client is linked with brokers alone")),
        ("c9", "c8", ("args.one", "there is no c9")),
    ],
)
def test_between_whom_there_is_a_link(one: str, other: str, answer: tuple[str, str] | None) -> None:
    assert refused(page(kafka=CLUSTER), "cluster_slow_link", one=one, other=other) == answer


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize(
    ("cut", "one_way", "refused_ways"),
    [
        ([], False, []),
        ([], True, []),
        (["broker-1"], False, []),
        (["broker-1"], True, ["broker-1"]),
        (["broker-1", "c1"], False, ["broker-1", "c1"]),
        (["broker-1", "c1"], True, ["broker-1", "c1"]),
    ],
)
def test_link_that_is_cut_already_can_still_be_cut_the_other_way(
    cut: list[str], one_way: bool, refused_ways: list[str], is_turned: bool
) -> None:
    facts = page(kafka=cluster("c1", links={"broker-1>c1": cut}))
    one, other = ("c1", "broker-1") if is_turned else ("broker-1", "c1")
    answer = refused(facts, "cluster_cut_link", one=one, other=other, one_way=one_way)
    assert answer == (("args.one", "the link is cut already") if one in refused_ways else None)


def test_link_is_healed_where_it_is_cut() -> None:
    facts = page(kafka=cluster("c1", links={"broker-1>broker-2": ["broker-2"], "broker-1>c1": []}))
    assert refused(facts, "cluster_heal_link", one="broker-2", other="broker-1") is None
    for other in ("c1", "broker-3"):  # the second has no entry: nothing was ever done to it
        assert refused(facts, "cluster_heal_link", one="broker-1", other=other) == (
            "args.one",
            "the link is not cut",
        )


@pytest.mark.parametrize(
    ("delay_us", "is_one"),
    [(None, True), (0, True), (60_000_000, True), (60_000_001, False), (-1, False), ("1", False)],
)
def test_delay_of_a_link_or_none_to_have_it_as_it_was(delay_us: object, is_one: bool) -> None:
    answer = misread("cluster_slow_link", one="broker-1", other="broker-2", delay_us=delay_us)
    assert answer == (None if is_one else ("args.delay_us", "must be a whole number from 0 to 60000000"))


def test_one_way_is_yes_or_no_and_looked_at_first() -> None:
    assert misread("cluster_cut_link", one_way=1) == ("args.one_way", "must be true or false")
    assert made("cluster_cut_link", one="a", other="b").args() == {"one": "a", "other": "b", "one_way": False}
