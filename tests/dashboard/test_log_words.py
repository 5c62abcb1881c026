"""The log page's own sentences with their figures, and what is read of a folder that somebody else changes or
nobody has."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st

from dashboard.errors import Refused
from dashboard.logs import opened, source
from dashboard.logs.presentation import BEHIND_MOST, choices, log_context, replica_words, size, span
from dashboard.sentences import catalogue

WORDS, CHINESE = (catalogue("log")[language] for language in ("en", "zh-hans"))
SETTINGS = {
    "retention_ms": 60_000,
    "index_interval_bytes": 512,
    "compression": "none",
}


def plain(text: str) -> str:
    return text.replace("\u202f", "_")


def segment(base: int = 0, **rest: Any) -> dict[str, Any]:
    known = {
        "base_offset": base,
        "bytes": 100,
        "records": 5,
        "index_entries": 0,
        "state": "live",
        "active": False,
        "deletes_in_ms": None,
    }
    return {**known, **rest}


def folder(*segments: dict[str, Any], **rest: Any) -> dict[str, Any]:
    known = {
        "folder": "flights-0",
        "topic": "flights",
        "partition": 0,
        "segments": list(segments),
        "bytes": 100 * len(segments),
        "start_offset": 0,
        "end_offset": 5 * len(segments),
        "behind": 0,
        "reading": False,
        "settings": SETTINGS,
        "high_watermark": 0,
    }
    return {**known, **rest}


# -- figures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, "–"),
        (0, "0_B"),
        (999, "999_B"),
        (1_000, "1.00_kB"),
        (9_994, "9.99_kB"),
        (9_995, "10.0_kB"),
        (99_949, "99.9_kB"),
        (99_950, "100_kB"),
        (999_499, "999_kB"),
        (999_500, "1.00_MB"),
        (5 * 10**9, "5.00_GB"),
        (10**15, "1000_TB"),
    ],
)
def test_a_size_has_three_digits_whatever_its_unit(count: int | None, text: str) -> None:
    assert plain(size(count)) == text


@given(st.integers(0, 10**14))
@checked(max_examples=50)
def test_a_larger_size_never_reads_as_a_smaller_one(count: int) -> None:
    units = ["B", "kB", "MB", "GB", "TB"]

    def read(text: str) -> float:
        number, unit = plain(text).split("_")
        return float(number) * 1000.0 ** units.index(unit)

    assert abs(read(size(count)) - count) <= max(0.5, count * 0.006)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0_s"),
        (59, "59_s"),
        (60, "1_min"),
        (119, "1_min"),
        (3_599, "59_min"),
        (3_600, "1_h"),
        (6_060, "1_h 41_min"),
        (172_799, "47_h 59_min"),
        (172_800, "2_d"),
        (180_000, "2_d 2_h"),
    ],
)
def test_a_span_has_its_two_largest_units_and_is_rounded_down(seconds: int, text: str) -> None:
    assert plain(span(seconds * 1_000_000 + 999_999, WORDS)) == text


# -- the two lines -------------------------------------------------------------------------------------------


def sub(shown: dict[str, Any]) -> str:
    return plain(log_context(shown, WORDS)["sub"])


def test_the_first_line_counts_what_is_there_and_what_waits_for_its_deletion() -> None:
    assert sub(folder(segment())) == "One segment, 100_B, offsets 0 to 4."
    assert sub(folder(segment(), segment(5), start_offset=2)) == "2 segments, 200_B, offsets 2 to 9."
    waiting = sub(folder(segment(state="deleted"), segment(5), segment(10)))
    assert waiting.startswith("2 segments") and "one" in waiting.lower()


def test_an_empty_log_is_empty_or_only_being_written() -> None:
    nothing = {"bytes": 0, "end_offset": 0}
    assert sub(folder(**nothing)) == WORDS["log.sub_preparing"]
    assert sub(folder(segment(), **nothing)) == WORDS["log.sub_empty"]
    assert sub(folder(segment(), **nothing, behind=BEHIND_MOST + 1)) == WORDS["log.sub_preparing"]
    assert sub(folder(segment(), bytes=61, start_offset=5)).startswith("One segment"), (
        "batches without a record are something"
    )


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"behind": BEHIND_MOST}, ""),
        ({"behind": BEHIND_MOST, "reading": True}, "The records are still being counted."),
        ({"behind": BEHIND_MOST + 1, "reading": True}, "101 records behind the lab."),
        ({"behind": 2_500, "behind_us": 999_999}, "2_500 records behind the lab."),
        ({"behind": 2_500, "behind_us": 125_000_000}, "2_min behind the lab: 2_500 records."),
    ],
)
def test_a_log_says_when_it_lacks_more_than_a_moment_of_its_lab(about: dict[str, Any], said: str) -> None:
    assert plain(log_context(folder(segment(), **about), WORDS)["behind"]) == said


@pytest.mark.parametrize(
    ("each", "said"),
    [
        (segment(active=True), "active"),
        (segment(), "closed"),
        (segment(state="cleaned"), "compacted"),
        (segment(state="cleaned", active=True), "active"),
        (segment(state="deleted"), ".deleted, waits"),
        (segment(state="deleted", deletes_in_ms=59_001), ".deleted, files are removed in 60_s"),
        (segment(state="deleted", deletes_in_ms=0), ".deleted, files are removed in 0_s"),
    ],
)
def test_a_row_says_what_becomes_of_its_segment(each: dict[str, Any], said: str) -> None:
    [row] = log_context(folder(each), WORDS)["table"]["rows"]
    assert plain(row[-1]) == said and len(row) == len(log_context(folder(each), WORDS)["table"]["head"])


def test_a_figure_that_nobody_has_counted_yet_is_a_dash() -> None:
    [row] = log_context(folder(segment(12_500, records=None)), WORDS)["table"]["rows"]
    assert [plain(cell) for cell in row[:4]] == ["12_500", "100", "–", "0"]


def test_only_settings_that_the_log_has_are_shown_under_kafkas_names() -> None:
    shown = log_context(folder(segment()), WORDS)["settings"]
    assert [(each["title"], each["value"]) for each in shown] == [
        ("index.interval.bytes", 512),
        ("retention.ms", 60_000),
    ]
    assert all(each["about"] in WORDS and each["unit"] in WORDS for each in shown)


# -- replicas ------------------------------------------------------------------------------------------------


def replica(**about: Any) -> str:
    known = {"condition": "running", "role": "follows", "leader": 1, "leader_end": 10, "gaps": 0}
    shown = folder(segment(), segment(5), broker=2, high_watermark=8, replica={**known, **about})
    return plain(replica_words(shown, WORDS))


MARKS = " Log start 0, HW 8, LEO 10."


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, f"Broker 2 follows broker 1.{MARKS}"),
        ({"leader_end": 11}, f"Broker 2 follows broker 1. It lacks one record that its leader has.{MARKS}"),
        (
            {"leader_end": 7},
            (
                f"Broker 2 follows broker 1. It has 3 records more than its leader: its next fetch cuts them "
                f"off.{MARKS}"
            ),
        ),
        ({"leader_end": None}, f"Broker 2 follows broker 1.{MARKS}"),
        (
            {"role": "leads", "leader_end": 99, "gaps": 1},
            f"Broker 2 leads this partition.{MARKS} One offset was compacted away.",
        ),
        (
            {"condition": "paused", "role": "leads"},
            f"Broker 2 leads this partition. Its process is paused: nothing is written.{MARKS}",
        ),
        (
            {"condition": "disk_lost", "gaps": 5},
            "The disk of broker 2 is lost: there is nothing left of this replica.",
        ),
        (
            {"condition": "stopped", "role": "not_running"},
            (
                f"Broker 2 was shut down cleanly: this is what is on its disk; the HW is that of its last "
                f"checkpoint.{MARKS}"
            ),
        ),
    ],
)
def test_a_replica_says_its_role_what_it_lacks_and_where_it_stands(about: dict[str, Any], said: str) -> None:
    assert replica(**about) == said


def test_in_chinese_sentences_stand_without_a_blank_between_them() -> None:
    shown = folder(
        segment(),
        broker=2,
        replica={"condition": "running", "role": "leads", "leader": 2, "leader_end": 5, "gaps": 2},
    )
    assert replica_words(folder(segment(), replica=None), CHINESE) == ""
    assert "。 " not in replica_words(shown, CHINESE) and replica_words(shown, CHINESE).count("。") == 3


def test_what_can_be_chosen_are_brokers_topics_and_partitions() -> None:
    brokers = [{"id": 1, "condition": "running"}, {"id": 2, "condition": "crashed"}]
    rows = [{"partition": 0, "end_offset": 0}, {"partition": 1, "end_offset": 1_200}]
    shown = {"brokers": brokers, "topics": ["flights"], "partitions": rows}
    lane = choices(folder(segment(), **shown), WORDS)
    assert lane["broker"] == [("1", "broker 1"), ("2", "broker 2 (crashed)")]
    assert lane["partition"] == [("0", "0"), ("1", "1")] and lane["topic"] == [("flights", "flights")]
    of_broker = choices(folder(segment(), broker=1, **shown), WORDS)
    assert [(value, plain(text)) for value, text in of_broker["partition"]] == [
        ("0", "0"),
        ("1", "1 (LEO 1_200)"),
    ]
    assert choices(folder(segment()), WORDS) == {"broker": [], "topic": [], "partition": []}


# -- reading what changes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gone_times", "is_answered"), [(0, True), (4, True), (5, False)])
def test_a_file_that_goes_while_it_is_read_is_asked_for_again_a_few_times(
    gone_times: int, is_answered: bool
) -> None:
    left = [gone_times]

    def read() -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise FileNotFoundError
        return "read"

    if is_answered:
        assert source.steady(read) == "read"
    else:
        with pytest.raises(Refused) as refused:
            source.steady(read)
        assert (refused.value.status, list(refused.value.fields)) == (503, ["log"])


def test_another_error_is_not_tried_again() -> None:
    tries: list[int] = []
    with pytest.raises(PermissionError):
        source.steady(lambda: (tries.append(1), (_ for _ in ()).throw(PermissionError))[1])
    assert len(tries) == 1


def test_only_whole_numbers_that_a_browser_cannot_hold_become_text() -> None:
    largest = 2**53 - 1
    answer = {
        "a": largest,
        "b": [largest + 1, -largest, -largest - 1],
        "c": ({"d": 2**63},),
        "e": 1e300,
        "f": True,
        "g": None,
    }
    assert source.exact(answer) == {
        "a": largest,
        "b": [str(largest + 1), -largest, str(-largest - 1)],
        "c": [{"d": str(2**63)}],
        "e": 1e300,
        "f": True,
        "g": None,
    }


def test_an_upload_is_known_until_its_time_is_over_and_by_no_path(settings: Any, tmp_path: Path) -> None:
    settings.RUN_DIR = tmp_path
    folder_of = tmp_path / "kafka-logs" / "some-log"
    folder_of.mkdir(parents=True)
    (folder_of / "meta.json").write_text(
        json.dumps({"folder": "orders-0", "title": "x.log", "until_s": time.time() + 60})
    )
    assert (
        opened.log_path("some-log") == ("upload", folder_of / "orders-0")
        and opened.uploaded_as("some-log") == "x.log"
    )
    for unknown in (
        "other",
        "../kafka-logs/some-log",
        "./some-log",
        ".some-log",
        "f-0123456789abcdef",
        "some-log/",
    ):
        with pytest.raises(Refused) as refused:
            opened.log_path(unknown)
        assert refused.value.status == 404
    for content in (json.dumps({"folder": "orders-0", "until_s": time.time() - 1}), "{"):
        (folder_of / "meta.json").write_text(content)
        with pytest.raises(Refused):
            opened.log_path("some-log")
