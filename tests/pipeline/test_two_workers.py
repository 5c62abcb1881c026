"""A Spark of two worker processes gives what local mode gives, and its executors need no Django."""

import json
import subprocess
import sys
from pathlib import Path

from tests.pipeline.two_workers import study

ROOT = Path(__file__).parents[2]


def test_two_workers_count_as_one_machine_does_and_load_no_django(spark, tmp_path):
    command = [sys.executable, "-m", "tests.pipeline.two_workers", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr[-2_000:]
    there = json.loads(run.stdout.splitlines()[-1])
    assert there["told"] == json.loads(json.dumps(study(spark)))
    assert there["told"][0] == there["told"][1], "grouped and not grouped differ"
    assert there["loaded"] == [""]
    assert there["folders"] == 2, "one executor did all the work"
