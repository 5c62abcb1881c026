"""What a lane's chain of causes tells has words, in each language."""

import ast
from pathlib import Path

import pytest
from django.utils import translation

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.codes import CODES, NOW
from dashboard.sentences import SENTENCES

SECOND = 1_000_000
CORE = Path(__file__).parents[2] / "broker_core"


@pytest.fixture(scope="module")
def told():
    """A newcomer, a crash that each broker notices, a program that comes back, a leave."""
    lab = Lab(scenario_from_json({"workload": {"kind": "uniform", "keys": 20, "rate": 5}}))
    lanes = [{"id": "sticky", "model": "pulsar", "algorithm": "sticky"}]
    sticky = Lab(scenario_from_json({"workload": {"kind": "uniform", "keys": 20, "rate": 5}, "lanes": lanes}))
    events = []
    for each in (lab, sticky):
        for second, kind, consumer in (
            (20, "join", None),
            (40, "crash", "c2"),
            (45, "rejoin", "c2"),
            (300, "crash", "c1"),
            (560, "leave", "c3"),
        ):
            events += each.advance_to(second * SECOND)
            events += each.submit({"command_id": f"e{second}", "kind": kind, "consumer": consumer})
        events += each.advance_to(600 * SECOND)
    return events


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_turning_point_and_each_of_its_facts_has_words(told, language):
    with translation.override(language):
        kinds = {event["kind"] for event in told}
        assert {kind for kind in kinds if f"event.{kind}" not in SENTENCES} == set()
        names = {
            name for event in told for name in (event["inputs"] | event["data"]) if not name.endswith("_more")
        }
        said = {
            name
            for name in names
            if f"fact.{name}" in SENTENCES
            or all(
                f"{{{name}}}" in str(SENTENCES[f"event.{event['kind']}"])
                for event in told
                if name in (event["inputs"] | event["data"])
            )
        }
        assert names - said == set()


def test_the_words_of_a_turning_point_are_chinese_too(told):
    with translation.override("en"):
        english = {kind: str(SENTENCES[f"event.{kind}"]) for kind in {event["kind"] for event in told}}
    with translation.override("zh-hans"):
        assert {kind for kind, words in english.items() if str(SENTENCES[f"event.{kind}"]) == words} == set()


def kinds_in_the_code() -> set[str]:
    """The kind of each turning point that the core tells, where it stands there as a text. What `highwater serve` alone tells
    no page shows: serve/story.py says it."""
    calls = [
        node
        for path in CORE.rglob("*.py")
        if "serve" not in path.relative_to(CORE).parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    ]
    told = [
        call.args[0]
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("tell", "emit") and call.args
    ]
    return {kind.value for kind in told if isinstance(kind, ast.Constant)}


def test_what_no_lane_tells_yet_has_words_too():
    kinds = kinds_in_the_code()
    assert "kafka.group.upgraded" in kinds and len(kinds) > 20
    assert {kind for kind in kinds if f"event.{kind}" not in SENTENCES} == set()


def test_every_sentence_that_an_observer_may_choose_has_words():
    codes = {code for choices in (*CODES.values(), *NOW.values()) for code, _ in choices}
    assert {code for code in codes if code not in SENTENCES} == set()
