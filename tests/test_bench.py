"""Benches run: each at the sizes of a smoke, in a process of its own, those on Spark in one process, on one
Java. What they measure then says nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mqsite.keeper import ROOT
from tests.bench.smoke import ON_ONE_SPARK, SIZES
from tests.quick_java import QUICK_JAVA

WITHIN_S = 600


def test_every_bench_has_a_size_for_a_smoke() -> None:
    benches = {path.stem.removeprefix("bench_") for path in (ROOT / "tests" / "bench").glob("bench_*.py")}
    assert benches == set(SIZES)


LONG = ("study_cost", "study_files", "stage", "seek", "soak", "cluster_of_one")
"""Begin a Java of their own for each figure, or a browser, or lives that cannot be cut: half a minute and more, however
small their sizes."""
TOGETHER = [
    *(
        pytest.param((name,), id=name, marks=[pytest.mark.long] * (name in LONG))
        for name in SIZES
        if name not in ON_ONE_SPARK
    ),
    pytest.param(ON_ONE_SPARK, id=" ".join(ON_ONE_SPARK), marks=pytest.mark.long),
]


@pytest.mark.slow
@pytest.mark.parametrize("names", TOGETHER)
def test_benches_print_their_figures(names: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.bench", "--smoke", *names]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | QUICK_JAVA | {"HIGHWATER_RUN_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    for name in names:
        _, _, said = done.stdout.partition(f"\n{name} (")
        assert " bar: " in said.partition("\n\n")[0], done.stdout
