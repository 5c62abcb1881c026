"""Java finds Spark's classes in an archive, where there is one that fits it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.pipeline.java import Java, java_found
from broker_core.pipeline.java_classes import archive_options, archive_path
from dashboard.studies import preparation
from tests.quick_java import QUICK_JAVA

ROOT = Path(__file__).parents[2]


def java_at(home: Path, version: int) -> Java:
    home.mkdir()
    (home / "release").write_text(f'JAVA_VERSION="{version}.0.1"\n')
    return Java(home, version, frozenset())


def test_archive_is_good_for_one_java(tmp_path):
    old, new = java_at(tmp_path / "17", 17), java_at(tmp_path / "21", 21)
    assert archive_path(tmp_path, old) == archive_path(tmp_path, old) != archive_path(tmp_path, new)
    before = archive_path(tmp_path, old)
    (old.home / "release").write_text('JAVA_VERSION="17.0.2"\n')
    assert archive_path(tmp_path, old) != before


def test_java_is_told_of_the_archive_that_is_there(tmp_path):
    java = java_at(tmp_path / "17", 17)
    assert archive_options(None, java) == archive_options(tmp_path, java) == []
    archive_path(tmp_path, java).write_bytes(b"")
    assert archive_options(tmp_path, java)[0] == f"-XX:SharedArchiveFile={archive_path(tmp_path, java)}"


def test_only_one_process_prepares(tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert preparation.prepare(tmp_path) is None
    assert not list(tmp_path.glob("*.jsa"))


PREPARED_TWICE_THEN_USED = """
import os, sys
from pathlib import Path
import django
django.setup()
from broker_core.pipeline import strategies
from broker_core.pipeline.session import spark_open, spark_stop
from dashboard.studies import preparation
from dashboard.studies.preparation import prepare
folder = Path(sys.argv[1])
two, listed = strategies.strategies_offered()[:2], preparation._studies
strategies.strategies_offered = lambda: two
def first_classes(work, classes):
    # The studies list 15,000 classes, and Java packs them for a minute of processor time.
    path = listed(work, classes)
    every = classes.read_text().splitlines(keepends=True)
    assert any("org/apache/spark" in line for line in every)
    classes.write_text("".join(every[:2_000]))
    return path
preparation._studies = first_classes
archive = prepare(folder)
made = archive.stat()
assert prepare(folder) == archive and archive.stat() == made and list(folder.glob("*.jsa")) == [archive]
spark = spark_open(work_dir=folder / "spark", master="local[1]", path=os.environ["PATH"], class_archives=folder, is_short=True)
print(str(archive) in Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/maps").read_text())
spark_stop(spark)
"""


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_prepared_classes_are_mapped_and_an_older_archive_goes(tmp_path):
    """In a process of its own: a session that is open already would be taken for the one that lists its
    classes."""
    (tmp_path / "older.jsa").write_bytes(b"")
    command = [sys.executable, "-c", PREPARED_TWICE_THEN_USED, str(tmp_path)]
    environment = {**os.environ, **QUICK_JAVA, "DJANGO_SETTINGS_MODULE": "mqsite.settings.test"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.xdist_group("spark")
def test_archive_that_does_not_fit_is_passed_over(tmp_path, capfd):
    java = java_found(configured=os.environ.get("JAVA_HOME"), path=os.environ.get("PATH"))
    archive_path(tmp_path, java).write_bytes(b"not an archive" * 1_000)
    code = os.spawnv(
        os.P_WAIT, java.home / "bin" / "java", ["java", *archive_options(tmp_path, java), "-version"]
    )
    assert code == 0
    assert "version" in capfd.readouterr().err
