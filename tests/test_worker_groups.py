"""Tests of one group or of one file run in one worker of xdist, so that they share what took long to make."""

import subprocess
import sys
from pathlib import Path

import pytest

from mqsite.keeper import ROOT

PROGRAM = """
import os
import pytest

@pytest.fixture
def site():
    pass

@pytest.fixture
def other():
    pass

@pytest.mark.{mark}
@pytest.mark.parametrize("number", range(6))
def test_of_one_group(number, {fixture}):
    with open({seen!r}, "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)
"""


@pytest.mark.parametrize(
    ("mark", "fixture"),
    [('xdist_group("one")', "other"), ("slow", "site"), ("slow", "other")],
    ids=["named", "shared", "file"],
)
def test_a_group_has_one_worker(tmp_path: Path, mark: str, fixture: str) -> None:
    seen = tmp_path / "seen"
    (tmp_path / "test_groups.py").write_text(PROGRAM.format(seen=str(seen), mark=mark, fixture=fixture))
    command = [
        sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider",
        "-p", "tests.conftest", "--rootdir", str(tmp_path), str(tmp_path),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    workers = seen.read_text().split()
    assert len(workers) == 6 and len(set(workers)) == 1
