"""A study on a standalone cluster of two workers, of which one part after the other is killed while it
computes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quick_java import QUICK_JAVA

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.xdist_group("cluster")  # one cluster after the other
def test_result_is_the_same_whichever_part_is_killed_and_without_any_worker_the_study_fails_with_one_sentence(
    tmp_path,
):
    given = {
        name: value for name, value in os.environ.items() if name != "SPARK_REMOTE"
    }  # a worker would take it for its own
    environment = (
        given | QUICK_JAVA | {"DJANGO_SETTINGS_MODULE": "mqsite.settings.test", "SPARK_DRIVER_MEMORY": "512m"}
    )
    command = [sys.executable, "-m", "tests.pipeline.killed_cluster", str(tmp_path)]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stderr[-2_000:]
    there = json.loads(run.stdout.splitlines()[-1])
    told, nobody = there["told"], there["told"].pop("worker-1")
    undisturbed = told.pop("local")["files"]
    assert "study.json" in undisturbed
    for part in ("nothing", "executor", "worker-0", "master"):
        assert told[part] == {"was_running": True, "files": undisturbed}, f"{part} was killed"
    reason = (
        f"no executor of {there['url']} has run for 3 s: start a worker or free one, then run the study again"
    )
    assert nobody == {"was_running": True, "failed": reason, "files": {}}
