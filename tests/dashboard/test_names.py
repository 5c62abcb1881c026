"""One name for each thing, in both languages, as docs/words.md has them: on the pages, in messages and in the
lessons that come along."""

import re
from pathlib import Path

import pytest

from broker_core.lab.lesson.file import shelf
from dashboard.sentences import catalogue
from mqsite.messages import read_po

ROOT = Path(__file__).resolve().parents[2]
PO = {
    key.rpartition("\x04")[2]: text
    for key, text in read_po(ROOT / "locale/zh_Hans/LC_MESSAGES/django.po").items()
    if key
}
OTHERS = {
    "Broker": r"服务节点|代理节点|(?<!%\()(?<![\w.\-{:/])broker(?![\w.:}\-/=])",
    "协调器": r"协调者",
    "消费者组": r"(?<!协)消费组",
    "ISR": r"同步副本集",
    "独占/灾备/共享/键共享": r"(?<![A-Za-z_（])(?:Exclusive|Failover|Shared|Key_Shared)(?![A-Za-z_])",
    "主用消费者": r"活动消费者",
    "实验室": r"实验(?!室)",
    "停读": r"熄灭",
    "新消费者": r"新来者",
    "旧 c1 的会话": r"失联会话|失联的会话",
}
# English words of a thing whose Chinese name the translation must have, or must not have.
PAIRS = (
    (
        r"\{(?:consumer|names|who|member)\}[^.;:]* (?:is|are|fell) silent",
        r"失联",
        r"没有响应|无响应|失去响应",
    ),
    (r"\bcoordinator\b", r"协调器|协调", r"协调者"),
    (r"(?<!auto )\bgeneration\b", r"世代|[{]generation", r"generation(?!})"),
)
NO_ANSWER = r"没有响应|无响应|未响应|没有回应|失去响应"
OURS = r"(?i)\b(?:the server|the worker|Spark Connect)\b"
ENGLISH = r"(?i)\b(?:former life|dead session|stands? still|anew\b|goes on where|by itself|somebody)\b"


@pytest.fixture(scope="module")
def sentences() -> dict[str, tuple[str, str]]:
    words = catalogue()
    return {code: (words["en"][code], words["zh-hans"][code]) for code in words["en"]}


@pytest.mark.parametrize("name", OTHERS)
def test_chinese_has_no_other_name_for_it(name: str) -> None:
    found = {text for text in PO.values() if re.search(OTHERS[name], text)}
    assert found - {"仅适用于键共享（Key_Shared）的规则", "只有键共享（Key_Shared）有顺序规则"} == set()


@pytest.mark.parametrize("name", OTHERS)
def test_chinese_lessons_have_no_other_name_for_it(name: str) -> None:
    for path in shelf().values():
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.match(r"[a-z_.]*zh = |[^\x00-\x7f]", line):
                assert not re.search(OTHERS[name], line), (path.stem, line)


def test_a_thing_named_in_english_has_its_own_name_in_chinese(sentences: dict[str, tuple[str, str]]) -> None:
    for code, (english, chinese) in sentences.items():
        for asked, name, other in PAIRS:
            if re.search(asked, english):
                assert re.search(name, chinese), (code, english, chinese)
                assert not re.search(other, chinese), (code, english, chinese)


def test_of_what_a_lab_runs_the_silent_is_lost_and_only_what_runs_highwater_has_no_answer() -> None:
    assert {
        english: text
        for english, text in PO.items()
        if re.search(NO_ANSWER, text) and not re.search(OURS, english)
    } == {}
    for path in shelf().values():
        assert not re.search(NO_ANSWER, path.read_text(encoding="utf-8")), path.stem


@pytest.mark.parametrize("text", ["Broker {brokers} 没有响应", "{consumer} 无响应", "{names} 未响应"])
def test_no_answer_of_a_broker_or_a_consumer_is_found(text: str) -> None:
    assert re.search(NO_ANSWER, text) and not re.search(OURS, "Broker {brokers} does not answer")


def test_what_joins_two_brokers_is_a_link(sentences: dict[str, tuple[str, str]]) -> None:
    for code, (english, chinese) in sentences.items():
        if (
            re.search(r"(?i)\blinks?\b", english)
            and code.startswith(("cluster.", "caption.", "tick.", "event."))
            and ".link" not in code
        ):
            assert "链路" in chinese and "连接" not in chinese, (code, chinese)


@pytest.mark.parametrize("page", ["stage", "groups", "pulsar", "learn"])
def test_english_sentences_are_native(page: str) -> None:
    assert {
        code: text
        for code, text in catalogue(page)["en"].items()
        if re.search(ENGLISH, text) and not code.startswith("cluster.")
    } == {}


def test_the_table_in_the_docs_names_what_is_refused() -> None:
    table = (ROOT / "docs/words.md").read_text(encoding="utf-8")
    for name in (
        "服务节点",
        "协调者",
        "消费组",
        "同步副本集",
        "活动消费者",
        "熄灭",
        "新来者",
        "失联会话",
        "实验",
    ):
        assert name in table
