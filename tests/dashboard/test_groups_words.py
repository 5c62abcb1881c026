"""The page of a consumer group says nothing without words, and has no words that it never says."""

import re
from pathlib import Path

from django.utils import translation

from broker_core.kafka.assignors.custom import REASONS
from broker_core.kafka.group import diagnosis, lag
from broker_core.kafka.group.classic import states as classic_states
from broker_core.kafka.group.consumer import states as consumer_states
from broker_core.kafka.group.consumer.member import STABLE, STATE_NAMES
from broker_core.lab.consumer import CRASHED, FROZEN, GONE, LIVE, STUCK, Consumer
from broker_core.lab.kafka.views.group_verbs import (
    group_partition_verbs,
    group_verbs,
    member_verbs,
    partition_verbs,
)
from dashboard.formats import fill
from dashboard.sentences import catalogue
from dashboard.sentences.groups import GROUPS

ROOT = Path(__file__).parents[2]
EVENTS = {
    event.replace(" ", "_")
    for table in (classic_states.TRANSITIONS, consumer_states.TRANSITIONS)
    for _state, event in table
}
OF_MEMBERS = {
    verb
    for state in (LIVE, CRASHED, GONE, FROZEN, STUCK)
    for verb in member_verbs(Consumer("c1", 1, 1, 1, "c1", 0, state=state))
}
OF_PARTITIONS = {
    *partition_verbs(Consumer("c1", 1, 1, 1, "c1", 0)),
    *group_partition_verbs(),
    "group_seek_beginning",
    "group_seek_end",
    "cluster_send_record_tombstone",
}
VERBS = OF_MEMBERS | OF_PARTITIONS | set(group_verbs()) | {"group_subscribe_pattern"}
FIGURES = ("generation", "moved", "spread", "dark_us", "dark_most", "duplicates")
RULES = re.findall(r"^        (\w+) .* (?:ok|warning|error)$", str(lag.__doc__), re.MULTILINE)
FINDINGS = {
    ("left_out",),
    *re.findall(r'Finding\(\s*"(\w+)"|_missing\(\s*"(\w+)"', Path(diagnosis.__file__).read_text()),
    ("none",),
    ("join_waits",),
    *(
        (f"{process}_owner", f"{process}_waits")
        for process in (diagnosis.SILENT, diagnosis.FROZEN, diagnosis.GONE, diagnosis.GHOST)
    ),
}
FINDINGS = {name for names in FINDINGS for name in names if name}
FAMILIES = {
    "note": ("generation", "generation_leader", "epoch"),
    "compare": (
        "name",
        "consumer",
        "consumer_range",
        "custom",
        "range_global",
        "round_robin_hashed",
        *FIGURES,
    ),
    "compare_about": FIGURES,
    "event": EVENTS,
    "verb": VERBS,
    "verb_about": VERBS,
    "trend": ("up", "down", "level"),
    "cell": ("reads", "held_stuck", "held_leaderless", "held_paused", "given", "target", "revoking"),
    "timer": ("session", "pending", "rebalance", "poll", "initial_delay", "join", "sync"),
    "time": ("sent", "arrived", "answered", "received", "lost"),
    "head": (
        "silent",
        "away",
        "stuck",
        "zombie",
        "dark",
        "leaderless",
        "twice",
        "idle",
        "stable",
        "assigning",
        "reconciling",
    ),
    "doing": (
        "awaits_join",
        "awaits_sync",
        "stuck",
        "stuck_out",
        "stuck_silent",
        "paused",
        "crashed",
        "gone",
        "paused_out",
        "crashed_out",
        *(name for state, name in STATE_NAMES.items() if state != STABLE),
    ),
    "short": ("end", "high_watermark", "stable", "committed", "position", "lag", "stable_lag", "lag_us"),
    "rule": RULES,
    "finding": FINDINGS,
    "cure": FINDINGS - {"none"},
}


def codes_said() -> set[str]:
    files = [*(ROOT / "static/js/groups").glob("*.js"), ROOT / "templates/dashboard/groups.html"]
    text = "\n".join(file.read_text() for file in files)
    literal = set(re.findall(r"""["'`](groups\.[a-zA-Z_.]+[a-z])["'`]""", text))
    heads = re.findall(r"head: (\[[^;]*?\])\s*\.map\(\s*\(code\) =>\s*say\(`groups\.column", text)
    columns = {f"groups.column.{name}" for names in heads for name in re.findall(r'"(\w+)"', names)}
    figures = {
        f"groups.{name}"
        for names in re.findall(r"figures =\s*now.protocol(.*?);", text, re.DOTALL)
        for name in re.findall(r'\[\s*"(\w+)"', names)
    }
    return (
        literal
        | columns
        | figures
        | {f"groups.{family}.{name}" for family, names in FAMILIES.items() for name in names}
    )


def test_all_that_it_says_has_words_and_all_its_words_are_said() -> None:
    said = codes_said()
    assert sorted(said - GROUPS.keys()) == []
    assert sorted(GROUPS.keys() - said) == []


def test_the_verbs_of_its_coordinators_broker_have_words_here_too() -> None:
    words = catalogue("groups")["en"]
    assert {"cluster.verb.crash", "cluster.verb.come_back", "cluster.verb_about.pause"} <= words.keys()


def test_every_word_is_translated() -> None:
    words = catalogue("groups")
    same = {code for code in GROUPS if words["en"][code] == words["zh-hans"][code]}
    assert same <= {
        "groups.timer.poll",
        "groups.short.high_watermark",
        "groups.column.hw",
        "groups.short.stable",
        "groups.column.stable",
    }


def test_why_a_users_assignor_failed_is_said_as_the_core_says_it() -> None:
    words = catalogue("groups")["en"]
    assert {code: words[f"assignor.reason.{code}"] for code in REASONS} == {
        code: text.replace(":,", "") for code, text in REASONS.items()
    }


def test_one_partition_of_many_is_told_in_the_singular() -> None:
    with translation.override("en"):
        said = {
            code: fill(
                str(GROUPS[f"groups.{code}"]),
                {"dark": 1, "held": 1, "twice": 1, "leaderless": 1, "partitions": 4, "members": 3},
                {},
            )
            for code in ("head.dark", "head.leaderless", "head.twice", "grid_dark", "grid_held", "grid_twice")
        }
    assert all(
        re.search(r"\b(is|has)\b", words) and not re.search(r"\b(are|have)\b", words)
        for words in said.values()
    ), said
    with translation.override("zh-hans"):
        assert str(GROUPS["groups.never_read"]) == "停读", "not the dark theme"
