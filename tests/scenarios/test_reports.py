"""Public reports of the originals' users as scenario files, in `reports/`: each shows what the original does,
and is no lesson on the list."""

from pathlib import Path

import pytest

from broker_core.lab.lesson.file import read_file, scenario_from_text
from broker_core.lab.lesson.play import Came, play

REPORTS = sorted((Path(__file__).parent / "reports").glob("*.toml"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_report(path: Path) -> None:
    scenario = scenario_from_text(read_file(path))
    came = [moment for moment in play(scenario) if isinstance(moment, Came)]
    assert scenario.lesson is not None and len(came) == len(scenario.lesson.checks)
    wrong = [
        f"{moment.check.number} at {moment.check.at_us / 1e6} s: asked {moment.check.asks}, came "
        f"{moment.result}"
        for moment in came
        if not moment.result["holds"]
    ]
    assert not wrong, "\n".join(wrong)
