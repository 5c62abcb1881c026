"""Java dies under `manage.py study`: the command line says one sentence, whatever pyspark and py4j would say
before it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quick_java import QUICK_JAVA

ROOT = Path(__file__).parents[2]
# What Java itself says when it starts.
STARTED = ("WARNING: Using incubator modules", "Picked up JAVA_TOOL_OPTIONS")
LOST = "CommandError: Spark was lost while the study ran: run it again"


def java_of(study: "subprocess.Popen[str]") -> int:
    children = Path(f"/proc/{study.pid}/task/{study.pid}/children").read_text().split()
    children += [
        child
        for task in Path(f"/proc/{study.pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return next(
        int(child) for child in children if b"SparkSubmit" in Path(f"/proc/{child}/cmdline").read_bytes()
    )


@pytest.mark.xdist_group("spark")  # one Spark after the other
@pytest.mark.parametrize(
    ("stage", "said", "code"),
    [
        pytest.param("grouping", [LOST], 1, id="while a job runs"),
        pytest.param("writing", [], 0, id="while it is idle", marks=pytest.mark.long),
    ],
)
def test_sentence_alone_is_said(stage, said, code, tmp_path):
    file, out = tmp_path / "orders.csv", tmp_path / "out"
    file.write_text("customer\n" + "".join(f"c-{row % 50_021}\n" for row in range(400_000)))
    command = [
        sys.executable,
        "manage.py",
        "study",
        str(file),
        "--key",
        "customer",
        "--out",
        str(out),
        "--strategies",
        "kafka.range",
    ]
    with subprocess.Popen(
        [*command, "--members", "2..8"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **QUICK_JAVA},
    ) as study:
        assert study.stderr is not None
        told = []
        for line in study.stderr:
            told.append(line)
            if f" s  {stage}" in line:
                os.kill(java_of(study), signal.SIGKILL)
                break
        told += study.stderr.readlines()
    assert [line.rstrip("\n") for line in told if " s  " not in line and not line.startswith(STARTED)] == said
    assert study.returncode == code
    assert (out / "study.json").exists() == (code == 0)
