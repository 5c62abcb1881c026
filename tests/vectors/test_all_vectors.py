"""Every committed file of recorded answers, through the conformance runners: one test per file."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.conformance.__main__ import run_file
from broker_core.conformance.kinds import KINDS

FOLDER = Path(__file__).parent
KNOWN = sorted(name for kind in KINDS for name in kind.file_names)


# What does not come as recorded; when it does, its line goes.
OTHERWISE = {
    # The recorded count says that a message is out on a channel which the server had closed.
    "sessions": {"acks-d-28"},
    # The server's own fault (541), which is not to be copied: skipped.
    "topology": {"queue-arg-30"},
}


def kind_name(file: Path) -> str:
    return file.name.removesuffix(".json.gz")


# The other files are of kinds that the command does not know yet; tests of their own use them.
FILES = [file for file in sorted(FOLDER.rglob("*.json.gz")) if kind_name(file) in KNOWN]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{kind_name(file)}")
def test_every_case_of_the_file_passes(file: Path) -> None:
    results = run_file(file)
    assert results, "a file of a known kind with cases"
    otherwise = {result.id for result in results if result.outcome != "passed"}
    assert otherwise == OTHERWISE.get(kind_name(file), set())
    assert len({result.id for result in results}) == len(results), "an id names one case"


def test_every_known_kind_has_its_file() -> None:
    assert sorted(map(kind_name, FILES)) == KNOWN
