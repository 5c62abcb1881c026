"""The program of docs/clients/README.md, as it stands there, against the command; and the run again."""

from __future__ import annotations

import subprocess
import sys

from mqsite.keeper import ROOT
from tests.core.serve.programs import program_of, run_program, serving


def test_program_of_the_page_runs(tmp_path):
    journal = tmp_path / "run.highwater"
    with serving(sys.executable, "--journal", journal) as url:
        assert run_program(program_of("README.md"), url) == ["order 0", "order 1", "order 2"]
    again = [sys.executable, "-m", "broker_core.serve", "replay", journal]
    assert subprocess.run(again, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0
