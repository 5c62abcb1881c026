"""What holds of every sentence of the pages, in both languages: it says the same figures, fills without a
rest, and ends as its language does."""

import re
from collections import Counter
from typing import Any

import pytest

from dashboard.formats import fill
from dashboard.sentences import EVERYWHERE, LANGUAGES, PAGES, SENTENCES, catalogue
from dashboard.sentences.facts import FACTS

UNITS = {"millisecond": "ms", "second": "s", "minute": "min"}
PLACE = re.compile(r"\{(\w+)")
SHOWN = re.compile(r"\{(\w+)\}")
CHOICE = re.compile(r"\{(\w+)\?([^|}{]*)\|((?:[^{}]|\{\w+\})*)\}")
EXAMPLE = re.compile(r'\{"(?:[^{}]|\{[^{}]*\})*\}')  # JSON that a field takes: its braces are text
HAN = "\u4e00-\u9fff"


def filled(text: str, value: Any) -> str:
    """The text with this in all its places."""
    return fill(text, dict.fromkeys(PLACE.findall(text), value), UNITS)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("value", [1, 2, 10**7])
def test_a_filled_sentence_has_no_brace_left(
    language: str, value: int, words: dict[str, dict[str, str]]
) -> None:
    texts = {code: EXAMPLE.sub("", filled(text, value)) for code, text in words[language].items()}
    assert [code for code, text in texts.items() if re.search(r"[{}]", text)] == []


def test_what_is_shown_in_english_is_shown_in_chinese(words: dict[str, dict[str, str]]) -> None:
    """A place that only chooses between two forms may be missing: Chinese has one."""
    for code, english in words["en"].items():
        assert set(SHOWN.findall(english)) <= set(SHOWN.findall(words["zh-hans"][code])), code


UNIT = re.compile(r"(?<!12)\u202f(?:ms|s|min)(?![a-z])")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_place_is_written_as_its_type_says(language: str, words: dict[str, dict[str, str]]) -> None:
    """A name that ends in _us is a duration in microseconds, any other a count, a figure or a name: each text
    is filled with each kind."""
    for code, text in words[language].items():
        durations = {name for name in PLACE.findall(text) if name.endswith("_us")}
        assert not durations & {name for name, *_ in CHOICE.findall(text)}, (
            f"{code}: a duration is neither one nor many"
        )
        for value in (1, 2, 34, 7_000_000, "c1"):
            kinds = {name: 12_000_000 if name in durations else value for name in PLACE.findall(text)}
            said = fill(text, kinds, UNITS)
            assert said.count("12\u202fs") == text.count("_us}"), (code, said)
            assert len(UNIT.findall(said)) == len(UNIT.findall(text)), (code, said)


def test_a_choice_says_two_different_things(words: dict[str, dict[str, str]]) -> None:
    for language in LANGUAGES:
        for code, text in words[language].items():
            assert all(one != many and "{" not in one for _name, one, many in CHOICE.findall(text)), (
                language,
                code,
            )


def figures(text: str) -> set[str]:
    """The figures that stand in a text on their own."""
    return set(
        re.findall(
            r"\d+", re.sub(r"(?<=\d)[\u202f,](?=\d{3})", "", re.sub(r"\{[^{}]*\}", "", CHOICE.sub("", text)))
        )
    )


def test_figures_that_a_sentence_itself_names_are_the_same_in_both_languages(
    words: dict[str, dict[str, str]],
) -> None:
    spelled = {
        "groups.own.limits",
        "term.fair",
    }  # 300,000 is 30 ten thousands in Chinese; "one" is a figure there
    different = {
        code for code, text in words["en"].items() if figures(text) != figures(words["zh-hans"][code])
    }
    assert {code for code in different if not code.startswith("month.")} == spelled


def test_chinese_is_punctuated_as_chinese(words: dict[str, dict[str, str]]) -> None:
    half_width = re.compile(rf"[{HAN}] ?[,;:!?.](?:\s|$)")
    assert [code for code, text in words["zh-hans"].items() if half_width.search(text)] == []
    assert [code for code, text in words["en"].items() if re.search(rf"[{HAN}，。：；、（）]", text)] == []


def test_a_sentence_ends_as_one_in_both_languages(words: dict[str, dict[str, str]]) -> None:
    for code, english in words["en"].items():
        if len(english.split()) > 2:
            assert english.endswith(".") == words["zh-hans"][code].endswith("。"), code


def test_no_sentence_begins_or_ends_with_a_blank_by_mistake(words: dict[str, dict[str, str]]) -> None:
    joined = ("list.", "unit.", "facts_")  # parts of other sentences
    for language in LANGUAGES:
        loose = {
            code
            for code, text in words[language].items()
            if text != text.strip() and not any(part in code for part in joined)
        }
        assert not {code for code in loose if "  " in words[language][code]}
        assert [code for code, text in words[language].items() if re.search(r"\S  \S", text)] == []


@pytest.mark.parametrize("page", [None, "nothing", *PAGES])
def test_a_page_carries_what_every_page_says_and_its_own(page: str | None) -> None:
    chosen = catalogue(page)["en"]
    assert list(catalogue(page)) == list(LANGUAGES)
    assert set(chosen) == (set(SENTENCES) if page is None else set(EVERYWHERE) | set(PAGES.get(page, {})))


def test_no_code_means_one_thing_on_one_page_and_another_on_the_next() -> None:
    every = [EVERYWHERE, *PAGES.values()]
    counts = Counter(code for page in every for code in page)
    for code in [code for code, count in counts.items() if count > 1]:
        assert len({str(page[code]) for page in every if code in page}) == 1, code
    assert not set(EVERYWHERE) & {code for page in PAGES.values() for code in page}, (
        "what is everywhere is on no page again"
    )


def test_every_fact_has_its_own_name(words: dict[str, dict[str, str]]) -> None:
    """Two facts of one event under one name could not be told apart; these come from different models or
    releases."""
    for language in LANGUAGES:
        names = Counter(words[language][code] for code in FACTS)
        assert {name for name, count in names.items() if count > 2} == set()


# -- one and many --------------------------------------------------------------------------------------------

ONE_AND_MANY: dict[str, list[tuple[str, dict[str, Any], str, str]]] = {
    "lists": [
        ("studies.records", {"records": 1}, "1 record", "1 条记录"),
        ("studies.records", {"records": 12_500}, "12_500 records", "12_500 条记录"),
        ("studies.strategies", {"strategies": 1}, "1 strategy", "1 种策略"),
        ("new.summary", {"strategies": 2, "changes": 1}, "2 strategies over 1 change", "2 种策略，1 次变动"),
        (
            "data.folder_log",
            {"topics": 1, "partitions": 2},
            "A Kafka log: 1 topic, 2 partitions.",
            "Kafka 日志：1 个主题，2 个分区。",
        ),
    ],
    "captions": [
        ("caption.slow", {"consumer": "c2", "rate": 1}, "c2 is set to 1 record a second. Who waits?", ""),
        ("caption.slow", {"consumer": "c2", "rate": 2}, "c2 is set to 2 records a second. Who waits?", ""),
        ("caption.rejoin_lanes", {"consumer": "c1", "lanes": 1}, "c1 is back. One way to make room.", ""),
        (
            "caption.cluster_create_topic",
            {"topic": "t", "partitions": 1, "replication_factor": 1},
            "Topic t is created, one partition, one replica each.",
            "",
        ),
    ],
    "events": [
        (
            "event.kafka.producer.batch_failed",
            {"partition": "t-0", "records": 1, "error": "X"},
            "t-0 refused 1 record for good: X",
            "",
        ),
        (
            "event.kafka.producer.batch_expired",
            {"partition": "t-0", "records": 2},
            "2 records for t-0 expired before an acknowledgement came",
            "",
        ),
        (
            "event.kafka.group.partitions_paused",
            {"partitions": 1},
            "The pause begins: the first partition has no reader",
            "",
        ),
        (
            "event.kafka.group.partitions_paused",
            {"partitions": 3},
            "The pause begins: the first 3 partitions have no reader",
            "",
        ),
        (
            "event.pulsar.producer.sent_again",
            {"messages": 1},
            "The producer reconnected and resent 1 record that had no receipt",
            "",
        ),
    ],
    "lanes": [
        (
            "kafka.idle",
            {"count": 2, "of": 3, "partitions": 1},
            "2 of 3 members have no partition: one partition keeps at most one member busy.",
            "",
        ),
        (
            "kafka.idle",
            {"count": 1, "of": 3, "partitions": 2},
            "1 of 3 members has no partition: 2 partitions keep at most 2 members busy.",
            "",
        ),
        (
            "kafka.empty",
            {"consumer": "c1", "partitions": 1},
            "c1 left: the group has no members, the one partition waits.",
            "",
        ),
        (
            "kafka.crash_noticed_last",
            {"consumer": "c1", "partitions": 1},
            "c1 timed out: the group has no members, the one partition waits.",
            "",
        ),
        (
            "tubemq.empty",
            {"partitions": 1},
            "sourceCount 0: all clients stopped, the one partition waits.",
            "",
        ),
        (
            "pulsar.exclusive.join",
            {"consumer": "c1", "partitions": 1},
            "c1 is the only consumer: it reads the one partition.",
            "",
        ),
        (
            "pulsar.exclusive.join",
            {"consumer": "c1", "partitions": 4},
            "c1 is the only consumer: it reads all 4 partitions.",
            "",
        ),
        (
            "pulsar.exclusive.crash_pending",
            {"consumer": "c1", "unacked": 1, "left_us": 9_000_000},
            (
                "c1 is silent. Everything waits, 1 unacked record included, until the broker gives up on it, in "
                "9_s."
            ),
            "",
        ),
        (
            "pulsar.leave_last",
            {"consumer": "c1", "unacked": 1, "keys_total": 1},
            "c1, the last one, left: 1 unacked record and the one key wait.",
            "",
        ),
        (
            "pulsar.leave_last",
            {"consumer": "c1", "unacked": 0, "keys_total": 9},
            "c1, the last one, left: 0 unacked records and all 9 keys wait.",
            "",
        ),
    ],
    "cluster": [
        (
            "cluster.about.spare_copies",
            {"copies": 1},
            "One more crash leaves one copy in sync.",
            "再崩溃一个，就只剩 1 个同步副本。",
        ),
        (
            "cluster.about.spare_copies",
            {"copies": 2},
            "One more crash leaves 2 copies in sync.",
            "再崩溃一个，就只剩 2 个同步副本。",
        ),
        (
            "cluster.did.slow_link",
            {"link": "2–3", "amount_us": 200_000},
            "Link 2–3 slowed to 0.2_s",
            "链路 2–3 变慢：延迟 0.2_s",
        ),
    ],
    "groups": [
        (
            "groups.finding.taking_owner",
            {"member": "c1", "members": 1, "partitions": 1},
            "c1 is taking over one partition: its next poll() starts reading there.",
            "",
        ),
        (
            "groups.finding.taking_owner",
            {"member": "c1, c2", "members": 2, "partitions": 3},
            "c1, c2 are taking over 3 partitions: their next poll() starts reading there.",
            "",
        ),
        (
            "groups.head.silent",
            {"names": "c1", "count": 1},
            "c1 is silent; the coordinator finds out when its session times out.",
            "",
        ),
        (
            "groups.head.silent",
            {"names": "c1, c2", "count": 2},
            "c1, c2 are silent; the coordinator finds out when their sessions time out.",
            "",
        ),
        (
            "groups.head.zombie",
            {"names": "c1", "count": 1},
            "c1 is no longer a member and reads on: a zombie.",
            "",
        ),
    ],
    "subscription": [
        (
            "subscription.idle.holding",
            {"count": 1},
            "It has handled one message but acknowledges none: messages that must follow them wait.",
            "",
        ),
        (
            "subscription.idle.standby",
            {"place": 2, "consumers": 3, "partitions": 1},
            "Standby, place 2 of 3: one topic keeps one consumer busy.",
            "",
        ),
        (
            "subscription.cursor_words",
            {"backlog": 1, "count": 2, "waiting": 0, "unread": 3},
            "One entry not acknowledged, with 2 holes; 0 read but with no consumer, 3 not read.",
            "",
        ),
    ],
}


@pytest.mark.parametrize(
    ("code", "params", "english", "chinese"), [row for rows in ONE_AND_MANY.values() for row in rows]
)
def test_one_is_said_in_the_singular(
    code: str, params: Any, english: str, chinese: str, words: dict[str, dict[str, str]]
) -> None:
    said = [fill(words[language][code], params, UNITS).replace("\u202f", "_") for language in LANGUAGES]
    assert said[0] == english
    assert not chinese or said[1] == chinese
    assert set(re.findall(r"\d+", said[0])) <= set(re.findall(r"\d+", said[1])), (
        "the figures are in the Chinese, too"
    )
