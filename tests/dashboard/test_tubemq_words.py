"""The TubeMQ page says nothing without words, and has no words that it never says."""

import re
from pathlib import Path

import pytest
from django.utils import translation

from broker_core.lab.tubemq.views.unread import UNREAD_CODES
from broker_core.tubemq import requests as r
from broker_core.tubemq.client import confirm_context, start_arguments
from broker_core.tubemq.client import reading_program as phases
from broker_core.tubemq.client.by_person import CALLS
from broker_core.tubemq.client.client_balance_consumer import KEY_BLANK
from dashboard.sentences.balance import BALANCE
from dashboard.views.tubemq import TABS

ROOT = Path(__file__).parents[2]
COLUMNS = ("takes", "has", "releases", "registers")
OUTAGES = ("kept", "moved", "served")
FORMS = (
    "restart", "assign", "by_rule", "hold", "confirm", "offline", "online", "accept", "black_list", "expand", "failover",
    "master_offline", "master_online", "from_max",
)  # fmt: skip
VERBS = ("join", "pause", "resume", "full_speed", "slow", "crash", "leave", "rejoin")
CODES = sorted({
    code for name, code in vars(r).items() if name.isupper() and isinstance(code, int) and 400 <= code < 600
})  # fmt: skip
FAMILIES = {
    "head": ("fight", "fight_many", "wanted", "wanted_many"),
    "offline": OUTAGES,
    "offline_key": OUTAGES,
    "column": COLUMNS,
    "given": COLUMNS,
    "title": COLUMNS,
    "state": (
        phases.BOOTING, phases.STARTING, phases.STARTED, phases.STOPPING, phases.STOPPED, phases.REFUSED, "crashed",
        "gone",
    ),
    "broker_state": ("online", "offline", "closed", "black_listed"),
    "label": ("difference", "brokers"),
    "wait": ("cycle", "loser", "report", "gainer", "reads", "boot", "refused", "nothing"),
    "unread": (*UNREAD_CODES, "client_crashed_dealt", "client_gone_dealt"),
    "brief": UNREAD_CODES,
    "form": FORMS,
    "form_about": FORMS,
    "rule": ("modulo", "sticky", "by_lag", "own", "hand", "server", "article"),
    "code": ("402", "405", "427", "428", *map(str, CODES)),
    "check": (
        *(word for name, word in vars(start_arguments).items() if name.isupper() and isinstance(word, str)),
        *(word for name, word in vars(confirm_context).items() if name.isupper() and isinstance(word, str)),
        KEY_BLANK,
    ),
    "twin": (
        "consumer", "node", "state", "map", *COLUMNS, "pass", "key", "broker", "subscribable", "shown", "takers", "owner",
        "offset", "end", "lag", "why", "reported",
    ),
    "sub": ("well", "dealt", "hand", "served"),
    "rest": ("busy", "reading", "idle"),
    "tab": TABS,
    "verb": VERBS,
    "verb_about": VERBS,
}  # fmt: skip


def codes_said() -> set[str]:
    files = [*(ROOT / "static/js/tubemq").glob("*.js"), ROOT / "templates/dashboard/tubemq.html"]
    text = "\n".join(file.read_text() for file in files)
    calls = (ROOT / "static/js/tubemq/calls.js").read_text()
    forms = (ROOT / "static/js/tubemq/forms.js").read_text()
    fields = [
        *re.findall(r'\["(\w+)", "(?:number|partition|text|flag)"\]', calls),
        *re.findall(r'name: "(\w+)"', forms),
    ]
    return (
        set(re.findall(r"""["'`](balance\.[a-z_.]+[a-z])["'`]""", text))
        | {f"balance.field.{name}" for name in fields}
        | {f"balance.{family}.{name}" for family, names in FAMILIES.items() for name in names}
    )


def test_all_that_it_says_has_words_and_all_its_words_are_said() -> None:
    said = codes_said()
    assert sorted(said - BALANCE.keys()) == []
    assert sorted(BALANCE.keys() - said) == []


def test_its_17_calls_are_those_of_a_client() -> None:
    calls = (ROOT / "static/js/tubemq/calls.js").read_text()
    listed = calls[calls.index("export const CALLS") : calls.index("export const DEFAULTS")]
    assert sorted(re.findall(r"^  (\w+):", listed, re.MULTILINE)) == sorted(CALLS)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_place_is_one_that_the_script_fills(language: str) -> None:
    """A choice by number may hold places in its second part only (`say.js: PLACE`)."""
    with translation.override(language):
        for code, text in BALANCE.items():
            left = re.sub(r"\{\w+(?:\?[^|}{]*\|(?:[^{}]|\{\w+\})*)?\}", "", str(text))
            assert "{" not in left and "}" not in left, (code, str(text))
