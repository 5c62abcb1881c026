"""The course: every lesson has its chapter, level and key frame, and its still is what the engine says."""

import re

import pytest

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from dashboard.course import CHAPTERS, LEVELS, START, places
from dashboard.stills.drawing import draw
from dashboard.stills.recorded import played, played_frames, recorded, recorded_frames

NOT_SLOW = {*START, *(next(iter(levels["first"])) for levels in CHAPTERS.values())}


def lesson(name: str):
    return scenario_from_text(read_file(shelf()[name])).lesson


def test_every_lesson_has_one_place_and_no_place_is_of_a_lesson_that_is_not_there() -> None:
    named = [name for levels in CHAPTERS.values() for lessons in levels.values() for name in lessons]
    assert sorted(named) == sorted(shelf())


def test_a_chapter_goes_from_first_to_expert_and_begins_with_what_is_easy() -> None:
    assert list(CHAPTERS) == ["hashing", "assignors", "log", "replication", "tubemq", "rabbitmq"]
    for levels in CHAPTERS.values():
        assert list(levels) == list(LEVELS) and all(levels.values())


def test_six_lessons_to_start_with_are_for_whoever_is_new() -> None:
    assert len(set(START)) == 6
    assert {places()[name].level for name in START} <= {"first"}


@pytest.mark.parametrize("name", shelf())
def test_key_frame_is_a_moment_of_the_lesson_after_its_first_caption(name: str) -> None:
    read, at_us = lesson(name), places()[name].key_s * 1_000_000
    assert min(step.at_us for step in read.steps if step.caption) < at_us <= read.lasts_us


def test_every_lesson_has_a_still() -> None:
    assert sorted(recorded()) == sorted(shelf())


@pytest.mark.parametrize(
    "name", [each if each in NOT_SLOW else pytest.param(each, marks=pytest.mark.slow) for each in shelf()]
)
def test_still_is_what_the_engine_says_at_the_key_frame(name: str) -> None:
    """After a change of a lesson or of the rules: python manage.py record_stills"""
    assert played(name) == recorded()[name]


@pytest.mark.parametrize("name", shelf())
def test_every_frame_of_a_lesson_has_a_still(name: str) -> None:
    stills = recorded_frames()[name]
    assert len(stills) == len(lesson(name).frames())
    for still in stills:
        assert draw(still, lesson(name).lanes, "zh").startswith("<svg")


@pytest.mark.parametrize(
    "name", [each if each in START else pytest.param(each, marks=pytest.mark.slow) for each in shelf()]
)
def test_the_stills_of_its_frames_are_what_the_engine_says_there(name: str) -> None:
    """After a change of a lesson or of the rules: python manage.py record_stills"""
    assert played_frames(name) == recorded_frames()[name]


@pytest.mark.parametrize("name", shelf())
def test_still_shows_its_lesson_s_own_numbers(name: str) -> None:
    still = recorded()[name]
    svg = draw(still, lesson(name).lanes, "en")
    assert svg.startswith("<svg") and svg.count("<svg") == 1 and len(svg) < 8_000
    kind, lanes = still["lanes"][0]["kind"], len(still["lanes"])
    named = lanes * 2 if kind == "replicas" else lanes  # what each figure counts stands above it
    assert svg.count("data-en") == (named if kind == "detector" or lanes > 1 else 0)
    if len(still["lanes"]) == 1 and still["lanes"][0]["kind"] == "replicas":
        assert all(f">{end}</text>" in svg for _, _, end, *_ in still["lanes"][0]["copies"])


def test_a_replica_in_sync_with_other_records_is_seen_in_its_lane_s_still() -> None:
    """Records 8 to 11 of broker 2 are of epoch 0, the leader's of epoch 3; where a follower asks for epochs, they
    have been cut off."""
    still = recorded_frames()["kafka_cluster_divergence"][-1]
    assert [(lane["others"], lane["lost"]) for lane in still["lanes"]] == [
        ([[2, 8, 12]], 5),
        ([], 5),
        ([], 5),
    ]
    names = lesson("kafka_cluster_divergence").lanes
    english, chinese = (draw(still, names, language) for language in ("en", "zh"))
    assert english.count(">differ<") == 1 and english.count(">lost<") == 2
    assert chinese.count(">不同<") == 1 and chinese.count(">丢失<") == 2
    others = re.findall(r'class="other" d="([^"]+)"', english)
    assert [path.count("z") for path in others] == [4] and ">≠4<" in english


def test_the_figure_of_a_whole_log_is_called_its_end() -> None:
    name = "kafka_cluster_min_insync"
    assert draw(recorded()[name], lesson(name).lanes, "en").count(">LEO<") == 2


def test_lane_names_are_in_the_readers_language_and_never_markup() -> None:
    lane = recorded()["kafka_balance_before_stickiness"]["lanes"][0]
    still = {"lanes": [{**lane, "id": each} for each in "ab"]}
    names = {"a": {"en": "<b>&", "zh": "甲"}, "b": {"en": "B", "zh": "<乙>"}}
    assert ">&lt;b&gt;&amp;<" in draw(still, names, "en") and "<b>" not in draw(still, names, "en")
    assert ">甲<" in draw(still, names, "zh") and ">&lt;乙&gt;<" in draw(still, names, "zh")
