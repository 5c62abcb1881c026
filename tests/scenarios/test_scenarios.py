"""The scenario files that come along: each of them plays to its end, frame by frame, and every number that it names
comes true; at another seed, too."""

import pytest

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.play import Came, in_frames, play

SCENARIOS = shelf()


@pytest.mark.parametrize("name", SCENARIOS)
def test_lesson_pauses_at_each_frame_and_its_numbers_come_true(name):
    scenario = scenario_from_text(read_file(SCENARIOS[name]))
    lesson, stops = scenario.lesson, []
    for stop_us, lab in in_frames(scenario):
        assert (lab.now_us, lab.playing) == (stop_us, False)
        stops.append(lab.lesson.view(stop_us)["caption"])
    # at each stop the frame's own caption is there, at the end the last one
    assert stops == [*range(len(lesson.frames())), len(lesson.frames()) - 1]
    results = lab.lesson.results
    assert len(results) == len(lesson.checks)
    wrong = {lesson.checks[place].number: came for place, came in results.items() if not came["holds"]}
    assert not wrong


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_frame_of_a_lesson_has_its_word_and_what_it_points_at(name):
    for step in scenario_from_text(read_file(SCENARIOS[name])).lesson.frames():
        assert step.frame.word and step.frame.point, step.caption["en"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_at_another_seed(name):
    scenario = scenario_from_text(read_file(SCENARIOS[name]), 1)
    came = {moment.place: moment for moment in play(scenario) if isinstance(moment, Came)}
    assert len(came) == len(scenario.lesson.checks)
    wrong = [
        f"{moment.check.number} at {moment.check.at_us / 1e6} s: asked {moment.check.asks}, came "
        f"{moment.result}"
        for moment in came.values()
        if not moment.result["holds"]
    ]
    assert not wrong, "\n".join(wrong)


def test_there_are_scenarios_and_no_two_have_one_title():
    titles = [scenario_from_text(read_file(path)).lesson.title for path in SCENARIOS.values()]
    assert len(titles) >= 12
    for language in ("en", "zh"):
        assert len({title[language] for title in titles}) == len(titles)
