"""Benches run: each at the sizes of a smoke, in a process of its own. What they measure then
says nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mqsite.keeper import ROOT
from tests.bench.smoke import SIZES
from tests.quick_java import QUICK_JAVA

WITHIN_S = 300


def test_every_bench_has_a_size_for_a_smoke() -> None:
    benches = {path.stem.removeprefix("bench_") for path in (ROOT / "tests" / "bench").glob("bench_*.py")}
    assert benches == set(SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_bench_prints_its_figures(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.bench", "--smoke", name]
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
    assert f"\n{name} (" in done.stdout and " bar: " in done.stdout, done.stdout
