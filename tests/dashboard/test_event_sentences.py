"""Turning points as short labs tell them, each in its sentence: all places are filled from the event's own
facts, with the same figures twice."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.scenario import scenario_from_json
from dashboard.formats import fill
from dashboard.sentences import LANGUAGES

PLACE = re.compile(r"\{(\w+)")
SECOND = 1_000_000
QUICK = (
    "kafka_cluster_zombie",
    "kafka_cluster_two_crashes",
    "pulsar_exclusive_refusal",
    "pulsar_sent_twice",
    "pulsar_broadcast",
    "pulsar_cumulative_acks",
    "pulsar_failover_two_partitions",
    "pulsar_four_split_and_merge",
    "pulsar_newcomer_read_position",
    "pulsar_sticky_newcomer",
    "rabbitmq_crash_requeue",
    "tubemq_ghost_holds_the_node_id",
    "tubemq_join_restarts_everybody",
)
SMALL = {"kind": "uniform", "keys": 20, "rate": 5}
ORDERS: list[tuple[int, str, str | None, dict[str, Any]]] = [
    (5, "pause", "c1", {}),
    (6, "resume", "c1", {}),
    (7, "slow", "c2", {"rate": 1}),
    (8, "resume", "c2", {}),
    (9, "join", None, {"count": 1}),
    (30, "leave", "c2", {}),
    (50, "leave", "c1", {}),
    (51, "leave", "c3", {}),
    (52, "leave", "c4", {}),
    (60, "join", None, {"count": 2}),
]
OF_PULSAR: list[tuple[int, str, str | None, dict[str, Any]]] = [
    (5, "pulsar_hold_acks", "c1", {}),
    (6, "pulsar_release_acks", "c1", {}),
    (7, "pulsar_priority", "c1", {"level": 1}),
    (8, "pulsar_redeliver", "c1", {}),
    (8, "pulsar_seek", "c1", {"entry": 3}),
    (12, "pulsar_unsubscribe", "c1", {}),
    (15, "set_algorithm", None, {"algorithm": "sticky"}),
    (16, "pulsar_ranges", "c1", {"ranges": [[0, 99]]}),
]
OF_KAFKA: list[tuple[int, str, str | None, dict[str, Any]]] = [
    (10, "cluster_crash", None, {"broker": 2}),
    (12, "cluster_come_back", None, {"broker": 2}),
    (30, "group_stick", "c1", {}),
    (35, "group_unstick", "c1", {}),
    (36, "group_freeze", "c2", {}),
    (37, "group_thaw", "c2", {}),
]


def told_by(
    lab: Lab, orders: list[tuple[int, str, str | None, dict[str, Any]]], until_s: int, lane: str = "all"
) -> Iterator[dict[str, Any]]:
    for place, (second, kind, consumer, args) in enumerate(orders):
        yield from lab.advance_to(second * SECOND)
        yield from lab.submit(
            {"command_id": f"t{place}", "kind": kind, "lane": lane, "consumer": consumer, "args": args}
        )
    yield from lab.advance_to(until_s * SECOND)


def of_lesson(name: str) -> Iterator[dict[str, Any]]:
    scenario = scenario_from_text(read_file(shelf()[name]))
    assert scenario.lesson is not None
    lab = Lab(scenario)
    for entry in scenario.lesson.script():
        yield from lab.advance_to(entry["at_us"])
        yield from lab.submit(entry["body"])
    yield from lab.advance_to(scenario.lesson.lasts_us)


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    told = [event for name in QUICK for event in of_lesson(name)]
    plain = [
        {"model": "pulsar"},
        {"model": "kafka", "brokers": 1},
        {"model": "tubemq"},
        {"model": "rabbitmq"},
    ]
    told += told_by(Lab(scenario_from_json({"workload": SMALL, "lanes": plain, "consumers": 3})), ORDERS, 100)
    told += told_by(
        Lab(scenario_from_json({"workload": SMALL, "lanes": [{"model": "pulsar"}], "consumers": 2})),
        OF_PULSAR,
        30,
        "pulsar",
    )
    told += told_by(
        Lab(scenario_from_json({"workload": SMALL, "lanes": [{"model": "kafka"}], "consumers": 2})),
        OF_KAFKA,
        50,
        "kafka",
    )
    return told


def facts(event: dict[str, Any]) -> dict[str, Any]:
    """What fills a sentence, as static/js/why/chain.js puts it together."""
    return {**event["inputs"], **event["data"]}


def test_these_labs_tell_most_kinds_there_are(
    events: list[dict[str, Any]], words: dict[str, dict[str, str]]
) -> None:
    kinds = {event["kind"] for event in events}
    known = {code.removeprefix("event.") for code in words["en"] if code.startswith("event.")}
    assert kinds <= known and len(kinds) > 60
    assert {kind.partition(".")[0] for kind in kinds} == {"pulsar", "kafka", "tubemq", "rabbitmq"}


def test_every_place_of_a_turning_points_sentence_has_a_fact(
    events: list[dict[str, Any]], words: dict[str, dict[str, str]]
) -> None:
    for language in LANGUAGES:
        empty = {
            (event["kind"], name)
            for event in events
            for name in PLACE.findall(words[language][f"event.{event['kind']}"])
            if facts(event).get(name) in (None, "", [])
        }
        assert empty == set()


def test_a_turning_point_says_the_same_figures_in_both_languages(
    events: list[dict[str, Any]], words: dict[str, dict[str, str]]
) -> None:
    for event in events:
        code = f"event.{event['kind']}"
        figures = [
            set(re.findall(r"\d+(?:\.\d+)?", fill(words[language][code], facts(event), words[language])))
            for language in LANGUAGES
        ]
        assert figures[0] == figures[1] or figures[0] < figures[1], (
            event
        )  # "the first partition" has none in English


def test_a_figure_of_a_sentence_is_one_of_the_events_facts(
    events: list[dict[str, Any]], words: dict[str, dict[str, str]]
) -> None:
    """Nothing is counted again on the way to the page: what is not in the sentence's own text came with the
    event."""
    for event in events:
        text = words["en"][f"event.{event['kind']}"]
        said = fill(text, facts(event), words["en"])
        known = set(re.findall(r"\d+", " ".join(map(str, facts(event).values())))) | set(
            re.findall(r"\d+", text)
        )
        spans = any(name.endswith("_us") for name in PLACE.findall(text))
        assert spans or set(re.findall(r"\d+", said.replace("\u202f", ""))) <= known, event


def test_who_a_sentence_is_about_is_a_consumer_of_the_lab(events: list[dict[str, Any]]) -> None:
    named = {event["data"]["consumer"] for event in events if isinstance(event["data"].get("consumer"), str)}
    assert named and not [name for name in named if not re.fullmatch(r"[A-Za-z][\w.-]*", name)]
