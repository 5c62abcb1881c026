"""What "Why?" says after a newcomer, in the words of each language: causes, rules, and figures that are the
bill's."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dashboard.sentences import LANGUAGES
from tests.js.fixtures.make import view_of

SCRIPT = Path(__file__).resolve().parents[2] / "tests" / "js" / "why_words.mjs"
SOURCE_COUNT = "All clients stop and start again: sourceCount 4, 3 before"


@pytest.fixture(scope="module")
def view() -> dict[str, Any]:
    """All four lanes after c4 has joined, and each has done what follows from it."""
    return view_of({}, [(5, {"kind": "join"})], 30)


@pytest.fixture(scope="module")
def chains(view: dict[str, Any], words: dict[str, dict[str, str]]) -> dict[str, dict[str, Any]]:
    """language -> lane -> its entries."""
    return {language: chains_of(view, words[language]) for language in LANGUAGES}


def chains_of(view: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    asked = json.dumps({"view": view, "words": words})
    answer = subprocess.run(
        ["node", str(SCRIPT)], input=asked, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return dict(json.loads(answer.stdout))


def text_of(entries: list[dict[str, Any]]) -> str:
    return json.dumps(entries, ensure_ascii=False)


def test_each_lane_names_the_command_its_rule_and_what_followed_from_what(chains: dict[str, Any]) -> None:
    lanes = chains["en"]
    assert all("your command: c4 joined" in text_of(entries) for entries in lanes.values())
    assert "c4 sent JoinGroup" in text_of(lanes["kafka"])
    assert "kafka.assignor.range" in [entry["rule"] for entry in lanes["kafka"]]
    assert f"because of: {SOURCE_COUNT}" in [entry["cause"] for entry in lanes["tubemq"]]
    assert re.search(r"1:flights:\d, \d:flights:\d", text_of(lanes["tubemq"]))


def test_the_chain_explains_the_bills_number(view: dict[str, Any], chains: dict[str, Any]) -> None:
    pulsar = view["lanes"]["pulsar"]
    event = next(event for event in pulsar["why"] if event["data"].get("taken"))
    taken = sum(entry["keys"] for entry in event["data"]["taken"])
    assert taken == event["data"]["keys_moved"] == pulsar["bill"]["keys_moved"] > 0
    said = text_of(chains["en"]["pulsar"])
    assert "points it put on the ring" in said and "from c1, in" in said
    assert "turn order, the next one first" in text_of(chains["en"]["rabbitmq"])
    assert "轮询顺序，下一个在最前" in text_of(chains["zh-hans"]["rabbitmq"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_unknown_and_no_name_of_a_field_is_shown(chains: dict[str, Any], language: str) -> None:
    for entry in (entry for entries in chains[language].values() for entry in entries):
        shown = " ".join([entry["what"], entry["cause"], *(text for fact in entry["facts"] for text in fact)])
        assert not re.search(r"null|undefined|NaN|_us|\{|\}", shown), shown
