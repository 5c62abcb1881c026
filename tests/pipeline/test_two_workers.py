"""A Spark of two worker processes gives what local mode gives, over Spark Connect too, and its executors need
no Django."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from broker_core.pipeline.session import KERNEL_PLACES, core_archive
from tests.pipeline.two_workers import FOREIGN, small_study, study
from tests.quick_java import QUICK_JAVA

ROOT = Path(__file__).parents[2]


def spark_home(folder: Path) -> Path:
    """Spark as it is installed, in a folder of its own: its workers keep what they write in
    SPARK_HOME/work."""
    folder.mkdir()
    for each in Path(pyspark.__file__).parent.iterdir():
        if each.name != "work":
            (folder / each.name).symlink_to(each)
    return folder


@pytest.mark.xdist_group("cluster")
def test_two_workers_count_as_one_machine_does_and_load_no_django(spark, tmp_path):
    home = spark_home(tmp_path / "spark")
    environment = os.environ | QUICK_JAVA | {"SPARK_HOME": str(home)}  # four Javas start
    command = [sys.executable, "-m", "tests.pipeline.two_workers", str(tmp_path / "out")]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stderr[-2_000:]
    there = json.loads(run.stdout.splitlines()[-1])
    assert there["told"] == json.loads(json.dumps(study(spark)))
    assert there["over_connect"]["told"] == there["told"], "a Spark Connect client counts otherwise"
    # The manifest names the source's path, so it is the same one: one after the other into one folder.
    assert there["whole"] == there["over_connect"]["whole"] == small_study(spark, tmp_path / "out"), (
        "the bytes of a result differ"
    )
    assert there["loaded"] == [""]
    assert there["folders"] == 2, "one executor did all the work"
    assert any((home / "work").iterdir()), "the workers wrote elsewhere"


def test_the_archive_that_goes_to_other_machines_is_enough_to_hash_there_and_compiled_once(tmp_path):
    environment = os.environ | {
        "NUMBA_CACHE_LOCATOR_CLASSES": KERNEL_PLACES,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    kept = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        archive = core_archive(tmp_path / name)
        code = f"""import sys
sys.path.insert(0, {str(archive)!r})
import pyarrow as pa
from broker_core.hashing import column_kernels
from broker_core.hashing.columns import murmur3_column
from broker_core.pipeline import route_tasks
assert route_tasks.__file__.startswith({str(archive)!r}), route_tasks.__file__
print(murmur3_column(pa.array([b"Order-3459134"])).tolist(), sorted({{name.partition(".")[0] for name in sys.modules}} & {FOREIGN}))
print(sum(sum(each.stats.cache_hits.values()) for each in vars(column_kernels).values() if hasattr(each, "stats")))
"""
        run = subprocess.run(
            [sys.executable, "-I", "-c", code],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=tmp_path,
            env=environment,
        )
        assert run.returncode == 0, run.stderr[-2_000:]
        hashed, found = run.stdout.splitlines()
        assert hashed == "[3112179635] []"
        kept.append(int(found))
    assert kept == [0, 1], "what one executor compiled the next one finds, wherever its archive lies"
