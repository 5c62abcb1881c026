"""Orders to members of a consumer group on a cluster, against a page: which state allows what, and what the
arguments may hold."""

from typing import Any

import pytest

from broker_core.lab.commands.group import PATTERN_LETTERS_MAX, TOPICS_MAX
from tests.core.lab.commands.pages import STATES, cluster, made, misread, of_model, page, refused

TAKEN: dict[str, set[str]] = {
    "group_freeze": {"live", "paused"},
    "group_thaw": {"frozen"},
    "group_stick": {"live", "paused"},
    "group_unstick": {"stuck"},
    "group_restart": {"live", "paused", "stuck"},
    "group_subscribe": {"live", "paused"},
}


@pytest.mark.parametrize("kind", TAKEN)
@pytest.mark.parametrize("state", STATES)
def test_which_member_takes_which_order(kind: str, state: str) -> None:
    answer = refused(page(kafka=cluster(*STATES)), kind, state)
    assert (answer is None) == (state in TAKEN[kind])
    assert answer is None or answer[0] == "consumer"


@pytest.mark.parametrize(
    ("kind", "state", "reason"),
    [
        ("group_thaw", "live", "live is not frozen"),
        ("group_unstick", "frozen", "frozen is not stuck"),
        ("group_freeze", "stuck", "stuck is stuck in a record"),
        ("group_subscribe", "stuck", "stuck is stuck in a record"),
        ("group_restart", "gone", "gone has crashed; it can rejoin or leave"),
        ("group_restart", "frozen", "frozen is frozen; resume or crash it"),
    ],
)
def test_first_thing_that_is_wrong_is_told(kind: str, state: str, reason: str) -> None:
    assert refused(page(kafka=cluster(*STATES)), kind, state) == ("consumer", reason)


@pytest.mark.parametrize("kind", TAKEN)
def test_members_are_looked_for_in_lanes_with_a_cluster(kind: str) -> None:
    nowhere = page(one=of_model("rabbitmq", "frozen", "stuck", "live"), two=of_model("kafka", "live"))
    assert refused(nowhere, kind, "live") == (
        "lane",
        "there is no Kafka cluster with a consumer group in this lab",
    )
    mixed = page(one=of_model("rabbitmq", "c9"), kafka=cluster("live"))
    assert refused(mixed, kind, "c9") == ("consumer", "there is no consumer c9")
    assert refused(mixed, kind, "c9", "one") == (
        "lane",
        "there is no Kafka cluster with a consumer group in this lab",
    )


@pytest.mark.parametrize("assignors", [[], ["range", "range"], ["range", "best"], "range", [1], [["range"]]])
def test_strategies_of_a_restart_are_different_ones_that_kafka_has(assignors: object) -> None:
    answer = misread("group_restart", "c1", assignors=assignors)
    assert (
        answer is not None
        and answer[0] == "args.assignors"
        and answer[1].startswith("must be a list of different ones of range, ")
    )


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        ({"protocol": "eager"}, ("args.protocol", "must be one of classic, consumer")),
        ({"protocol": "consumer"}, None),
        ({"down_s": 0}, ("args.down_s", "must be a whole number from 1 to 3600")),
        ({"down_s": 3600}, None),
        ({"assignors": ["best"], "protocol": "eager", "down_s": 0}, ("args.assignors", "")),
        ({"protocol": "eager", "down_s": 0}, ("args.protocol", "")),
    ],
)
def test_arguments_of_a_restart(args: dict[str, Any], answer: tuple[str, str] | None) -> None:
    told = misread("group_restart", "c1", **args)
    assert (told is None) == (answer is None)
    assert told is None or answer is None or (told[0] == answer[0] and told[1].startswith(answer[1]))


def test_restart_without_arguments_takes_two_seconds_and_changes_nothing() -> None:
    assert made("group_restart", "c1").args() == {"down_s": 2, "assignors": None, "protocol": None}


@pytest.mark.parametrize(
    "topics", [[], ["t"] * (TOPICS_MAX + 1), ["T"], ["a b"], [""], "orders", [3], ["a\n"]]
)
def test_topics_of_a_subscription_are_names(topics: object) -> None:
    assert misread("group_subscribe", "c1", topics=topics) == (
        "args.topics",
        "must be a list of 1 to 16 names of topics",
    )


def test_topic_named_twice_is_read_once() -> None:
    assert made("group_subscribe", "c1", topics=["b", "a", "b"]).args()["topics"] == ["b", "a"]


@pytest.mark.parametrize("pattern", ["orders", "a.*", "a.+|b-1", ".", "x" * PATTERN_LETTERS_MAX, ".*.*.*.*"])
def test_patterns_that_are_plain(pattern: str) -> None:
    assert misread("group_subscribe", "c1", pattern=pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "(a+)+",
        "a*",
        "[ab]",
        "a?",
        "^a$",
        "a\n",
        "x" * (PATTERN_LETTERS_MAX + 1),
        ".*.*.*.*.+",
        ".**",
        5,
        ["a"],
    ],
)
def test_patterns_that_somebody_could_make_slow_or_that_java_reads_otherwise(pattern: object) -> None:
    answer = misread("group_subscribe", "c1", pattern=pattern)
    assert answer == ("args.pattern", "must be letters, digits, _ - . | and up to 4 of .* and .+, 64 in all")


def test_subscription_is_by_names_or_by_a_pattern() -> None:
    assert misread("group_subscribe", "c1", topics=["a"], pattern="b") == (
        "args.pattern",
        "give either topics or a pattern",
    )
    assert made("group_subscribe", "c1").args() == {"topics": None, "pattern": None}


def test_topic_gets_more_partitions_than_it_has() -> None:
    facts = page(kafka=cluster("c1", topics={"records": 3, "payments": 1}), one=of_model("rabbitmq", "c1"))
    assert refused(facts, "cluster_add_partitions", topic="records", count=3) == (
        "args.count",
        "must be more than the 3 partitions that there are",
    )
    assert refused(facts, "cluster_add_partitions", topic="records", count=4) is None
    assert refused(facts, "cluster_add_partitions", topic="payments", count=2) is None
    assert refused(facts, "cluster_add_partitions", topic="other", count=4) == (
        "args.topic",
        "there is no topic other",
    )


def test_topic_whose_name_ends_like_a_partition_is_not_taken_for_another() -> None:
    facts = page(kafka=cluster(topics={"a": 2, "a-1": 5}))
    assert refused(facts, "cluster_add_partitions", topic="a", count=3) is None
    assert refused(facts, "cluster_add_partitions", topic="a-1", count=5) == (
        "args.count",
        "must be more than the 5 partitions that there are",
    )


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({}, "args.topic"),
        ({"topic": "Orders", "count": 4}, "args.topic"),
        ({"topic": "a"}, "args.count"),
        ({"topic": "a", "count": 1}, "args.count"),
        ({"topic": "a", "count": 1001}, "args.count"),
    ],
)
def test_arguments_of_more_partitions(args: dict[str, Any], field: str) -> None:
    answer = misread("cluster_add_partitions", **args)
    assert answer is not None and answer[0] == field


def test_group_can_always_be_given_an_assignor_whose_text_is_one() -> None:
    facts = page(kafka=cluster(*STATES))
    assert refused(facts, "group_assignor") is None
    assert refused(page(one=of_model("kafka", "c1")), "group_assignor") == (
        "lane",
        "there is no Kafka cluster with brokers to name in this lab",
    )
    assert misread("group_assignor", source=5) == ("args.source", "must be a text")
    answer = misread("group_assignor", source="def assign(:")
    assert answer is not None and answer[0] == "args.source"


def test_text_of_an_assignor_is_in_the_journal_and_in_no_caption() -> None:
    command = made("group_assignor", source=None)
    assert command.args() == {"source": None} and command.said() == {"own": 0}
