"""The scenario files that come along: each of them plays to its end, and every number that it names comes
true, at another seed, too."""

import pytest

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.play import Came, play

SCENARIOS = shelf()


@pytest.mark.parametrize("seed", [None, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name, seed):
    scenario = scenario_from_text(read_file(SCENARIOS[name]), seed)
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
