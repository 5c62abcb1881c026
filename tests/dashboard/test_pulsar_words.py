"""The Pulsar page says nothing without words, and has no words that it never says."""

import re
from pathlib import Path

from django.utils import translation

from broker_core.lab.pulsar.options import ORDERS
from broker_core.lab.pulsar.views.idle import CODES
from broker_core.lab.pulsar.views.subscription import RULES
from dashboard.sentences.subscription import SUBSCRIPTION

ROOT = Path(__file__).parents[2]
HEADS = (
    "crashed",
    "acks_refused",
    "newcomer",
    "behind_newcomer",
    "blocked",
    "subscription_full",
    "no_permits",
    "draining",
    "key_waits",
    "out_of_reach",
    "refused",
    "no_range",
    "paused",
    "holding",
    "switching",
)
TYPES = ("shared", "failover", "exclusive")
VERBS = (
    "join",
    "pause",
    "resume",
    "pulsar_hold_acks",
    "pulsar_release_acks",
    "slow",
    "crash",
    "rejoin",
    "leave",
    "pulsar_redeliver",
    "pulsar_unsubscribe",
    "pulsar_lose_receipts",
)
FAMILIES = {
    "version": RULES,
    "order_words": (*ORDERS, "draining_sticky"),
    "idle": CODES,
    "head": HEADS,
    "type": ("Key_Shared", "Failover", "Shared", "Exclusive"),
    "space": ("ring", "ranges", *TYPES),
    "space_words": ("ring", "ranges", "topics", *TYPES),
    "gap_words": ("3.2", "current", "document"),
    "entry": ("acked", "held", "again", "unread"),
    "key": ("acked", "unacked", "again", "unread"),
    "cell": ("active", "switching", "next", "standby"),
    "batching": ("default", "key_based"),
    "seek_by": ("entry", "time"),
    "batch_state": ("acked", "handled", "open"),
    "verb": (*VERBS, "full_speed"),
    "verb_about": VERBS,
    "state": ("connected", "connecting", "unsubscribed"),
}


def codes_said() -> set[str]:
    files = [*(ROOT / "static/js/pulsar").glob("*.js"), ROOT / "templates/dashboard/pulsar.html"]
    text = "\n".join(file.read_text() for file in files)
    literal = set(re.findall(r"""["'`](subscription\.[a-z_.]+[a-z])["'`]""", text))
    heads = re.findall(r"(?:head: |COLUMNS = )\[([^\]]*)\]", text)
    columns = {f"subscription.column.{name}" for names in heads for name in re.findall(r'"(\w+)"', names)}
    chosen = {f"subscription.{name}" for name in ("from_nobody", "to_nobody", "handed_one")}
    return (
        literal
        | columns
        | chosen
        | {f"subscription.{family}.{name}" for family, names in FAMILIES.items() for name in names}
    )


def test_all_that_it_says_has_words_and_all_its_words_are_said() -> None:
    said = codes_said()
    assert sorted(said - SUBSCRIPTION.keys()) == []
    assert sorted(SUBSCRIPTION.keys() - said) == []


def test_every_place_is_one_that_the_script_fills() -> None:
    """A choice by number may hold places in its second part only (`say.js: PLACE`)."""
    for language in ("en", "zh-hans"):
        with translation.override(language):
            texts = {code: str(text) for code, text in SUBSCRIPTION.items()}
        for code, text in texts.items():
            left = re.sub(r"\{\w+(?:\?[^|}{]*\|(?:[^{}]|\{\w+\})*)?\}", "", text)
            assert "{" not in left and "}" not in left, (language, code, text)


def test_the_causes_of_the_headline_are_those_of_the_script() -> None:
    script = (ROOT / "static/js/pulsar/words.js").read_text()
    worth = re.search(r"WORTH = \[([^\]]*)\]", script)
    assert worth and ("crashed", *re.findall(r'"(\w+)"', worth[1])) == HEADS and set(HEADS) <= set(CODES)
