"""The log page: server and browser write the same words of a folder, and both languages have them all."""

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import translation

from dashboard.logs.presentation import choices, log_context, size
from dashboard.logs.source import exact
from dashboard.page import base_context
from dashboard.sentences import PAGES, catalogue

ROOT = Path(__file__).parents[2]
ANSWERS = json.loads(gzip.decompress((ROOT / "tests/js/fixtures/log.json.gz").read_bytes()))
EMPTY = {**ANSWERS["folder"], "segments": [], "bytes": 0, "start_offset": 0, "end_offset": 0}
QUIET = {**EMPTY, "segments": ANSWERS["folder"]["segments"][-1:], "behind": 3}
LATE = {**ANSWERS["folder"], "behind": 950}
HOURS = {**LATE, "behind_us": 6_000_000_000}
REPLICA = {
    **QUIET,
    "broker": 2,
    "brokers": [
        {"id": 1, "condition": "running"},
        {"id": 2, "condition": "crashed"},
        {"id": 3, "condition": "disk_lost"},
    ],
    "topics": ["flights", "__consumer_offsets"],
    "high_watermark": 12_345,
    "partitions": [{"partition": 0, "end_offset": 0}, {"partition": 1, "end_offset": 12_350}],
    "replica": {"condition": "running", "role": "follows", "leader": 1, "leader_end": 12, "gaps": 0},
}
REPLICAS = [
    {**REPLICA, "replica": {**REPLICA["replica"], **about}}
    for about in (
        {},
        {"role": "leads", "gaps": 1},
        {"leader_end": 10**6, "gaps": 40},
        {"leader_end": None},
        {"role": "without_leader", "leader": None},
        {"role": "not_running", "condition": "crashed"},
        {"role": "not_running", "condition": "stopped"},
        {"condition": "paused"},
        {"condition": "disk_lost", "role": None},
    )
]
FAR = {
    **ANSWERS["folder"],
    "start_offset": 10**16 - 250,
    "end_offset": 10**16 + 350,
    "segments": [
        {**segment, "base_offset": segment["base_offset"] + 10**16, "deletes_in_ms": None}
        for segment in ANSWERS["folder"]["segments"]
    ],
}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize(
    "folder",
    [ANSWERS["folder"], ANSWERS["article"], EMPTY, QUIET, LATE, HOURS, FAR, *REPLICAS],
    ids=[
        "lab",
        "article",
        "empty",
        "quiet",
        "late",
        "hours",
        "far",
        *(f"replica-{number}" for number in range(len(REPLICAS))),
    ],
)
def test_server_and_browser_write_the_same(folder: dict, language: str) -> None:
    words = catalogue("log")[language]
    asked = json.dumps({"folder": exact(folder), "words": words})
    answer = subprocess.run(
        ["node", str(ROOT / "tests/js/log_words.mjs")],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    shown = log_context(folder, words)
    lists = {
        name: [list(option) for option in options] for name, options in choices(exact(folder), words).items()
    }
    assert json.loads(answer.stdout) == {
        "choices": lists,
        **{name: shown[name] for name in ("sub", "behind", "replica", "table")},
    }


def test_the_first_seconds_say_what_is_prepared() -> None:
    words = catalogue("log")["en"]
    for folder, sentence in (
        (EMPTY, "The worker is writing"),
        ({**QUIET, "behind": 640}, "The worker is writing"),
        (QUIET, "No record has arrived"),
    ):
        assert log_context(folder, words)["sub"].startswith(sentence)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("kind", ["lab", "article"])
def test_first_frame_is_whole_and_keeps_the_content_policy(
    kind: str, language: str, rf: RequestFactory
) -> None:
    folder = ANSWERS["folder" if kind == "lab" else "article"]
    with translation.override(language):
        context = base_context(rf.get("/"), "log")
        words = context["catalogue"][language]
        context["page"] |= {
            "log": {
                "kind": kind,
                "lab": "abc" if kind == "lab" else None,
                "socket": None,
                "article": "/log/article/",
                "folders": [],
            }
        }
        html = render_to_string(
            "dashboard/log.html", {**context, "folder": folder, **log_context(folder, words)}
        )
    shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r" (style|on\w+)=", shown)
    assert folder["folder"] in shown and words["log.find"] in shown
    assert not re.search(r">\s*log\.[a-z_.]+\s*<", shown), "a code without words"
    assert shown.count("<tr>") == 1 + len(folder["segments"])
    assert set(re.findall(r'data-say(?:-label|-title)?="([^"]+)"', shown)) <= set(words)


def test_only_settings_that_the_log_has_are_fields() -> None:
    words = catalogue("log")["en"]
    names = ["index_interval_bytes", "retention_bytes", "retention_ms"]
    assert [field["name"] for field in log_context(ANSWERS["folder"], words)["settings"]] == names
    of_topic = {"settings_shown": ["segment_ms", *names], "settings_fixed": ["segment_ms", *names[1:]]}
    shown = log_context({**ANSWERS["folder"], **of_topic}, words)["settings"]
    assert [field["name"] for field in shown] == names[:1], "the others are set with the topic"
    assert [field["name"] for field in log_context(ANSWERS["article"], words)["settings"]] == names[1:]


def test_words_of_the_page_travel_with_this_page_alone() -> None:
    own = set(PAGES["log"])
    assert own <= set(catalogue("log")["en"])
    assert not own & set(catalogue("stage")["en"])


def test_sizes_have_three_digits() -> None:
    assert [size(count) for count in (0, 999, 1000, 16_331, 278_255_892, 1_073_741_513)] == [
        "0\u202fB", "999\u202fB", "1.00\u202fkB", "16.3\u202fkB", "278\u202fMB", "1.07\u202fGB",
    ]  # fmt: skip
