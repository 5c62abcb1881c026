"""Every committed file of recorded answers, through the conformance runners: one test per file."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.conformance.__main__ import run_file
from broker_core.conformance.fidelity import RECORDINGS
from broker_core.conformance.files import read_document
from broker_core.conformance.kinds import KINDS
from broker_core.conformance.rabbitmq import NOT_FOLLOWED
from dashboard.fidelity import answers

FOLDER = Path(__file__).parent
KNOWN = sorted(name for kind in KINDS for name in kind.file_names)


def kind_name(file: Path) -> str:
    return file.name.removesuffix(".json.gz")


# The other files are of kinds that the command does not know yet; tests of their own use them.
FILES = [file for file in sorted(FOLDER.rglob("*.json.gz")) if kind_name(file) in KNOWN]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{kind_name(file)}")
def test_every_case_of_the_file_passes(file: Path) -> None:
    results = run_file(file)
    assert results, "a file of a known kind with cases"
    assert {result.id for result in results if result.outcome == "failed"} == set()
    assert {result.id for result in results if result.outcome == "skipped"} <= NOT_FOLLOWED.keys()
    assert len({result.id for result in results}) == len(results), "an id names one case"
    for recording in RECORDINGS:
        if (
            recording.file == str(file.relative_to(FOLDER)).removesuffix(".json.gz")
            and recording.part is None
        ):
            row = recording.counted(results, read_document(file))
            assert row in answers.results(), "the page /fidelity/ is stale: make fidelity"


def test_every_known_kind_has_its_file() -> None:
    assert sorted(map(kind_name, FILES)) == KNOWN


def test_each_recording_that_is_not_followed_is_skipped_with_its_reason() -> None:
    results = [each for file in FILES if file.parent.name == "rabbitmq" for each in run_file(file)]
    skipped = {result.id: result.reason for result in results if result.outcome == "skipped"}
    assert skipped == {name: reason for name, (_, reason) in NOT_FOLLOWED.items()}
