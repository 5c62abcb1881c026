"""Spark's own cluster as an operator runs it, from the installed wheel: a master and workers in their own
processes, on the loopback.

The wheel has no start-master.sh, but its jars hold both classes and bin/spark-class starts them.
"""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pyspark

from broker_core.pipeline.java import java_home
from tests.quick_java import QUICK_JAVA

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
WAIT_S = 120
_EXECUTOR, _PYTHON = b"CoarseGrainedExecutorBackend", b"pyspark.daemon"


class StandaloneCluster:
    """Use as a context manager. url is what SPARK_MASTER says; workers have one core each, so that both get
    part of every job."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder, self.url = folder, ""
        self.names = [f"worker-{number}" for number in range(workers)]
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "StandaloneCluster":
        try:
            self._start("master", "master.Master", "--port", "0")
            self.url = self._wait_said(
                "master", rf"Starting Spark master at (spark://{re.escape('127.0.0.1')}:\d+)"
            )
            for name in self.names:
                self._start(name, "worker.Worker", "--port", "0", "--cores", "1", "--memory", "1g", self.url)
            for name in self.names:
                self._wait_said(name, "(Successfully registered with master)")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in [*self.names, "master"]:
            if name in self.processes:
                self.kill(name)

    def kill(self, name: str) -> None:
        """kill -9 of the master, or of a worker and its executors, as when a machine dies: on their own they
        would end some seconds later."""
        executors = self._executors(name)
        self.processes[name].kill()
        for executor in executors:
            os.kill(executor, signal.SIGKILL)
        self.processes[name].wait(WAIT_S)

    def executors(self) -> list[int]:
        """Process ids of the executors that are computing at this moment: their Python has begun a task."""
        found = [executor for name in self.names for executor in self._executors(name)]
        return [
            executor
            for executor in found
            if any(_PYTHON in _command(child) and _children(child) for child in _children(executor))
        ]

    def _executors(self, name: str) -> list[int]:
        return [child for child in _children(self.processes[name].pid) if _EXECUTOR in _command(child)]

    def _start(self, name: str, of: str, *arguments: str) -> None:
        folder = self.folder / name
        folder.mkdir(parents=True)
        java = java_home(self.folder, configured=os.environ.get("JAVA_HOME"), path=os.environ.get("PATH"))
        environment = (
            os.environ
            | QUICK_JAVA
            | {
                "JAVA_HOME": str(java),
                "SPARK_HOME": str(SPARK_CLASS.parent.parent),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_DAEMON_MEMORY": "256m",
                "SPARK_WORKER_DIR": str(folder),
                "SPARK_LOCAL_DIRS": str(folder),
            }
        )
        command = [
            str(SPARK_CLASS),
            f"org.apache.spark.deploy.{of}",
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
            *arguments,
        ]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=log, stderr=log
            )

    def _wait_said(self, name: str, pattern: str) -> str:
        end_s = time.monotonic() + WAIT_S
        while time.monotonic() < end_s and self.processes[name].poll() is None:
            if found := re.search(pattern, (self.folder / f"{name}.log").read_text()):
                return found[1]
            time.sleep(0.1)
        raise AssertionError(f"{name} did not start: {(self.folder / f'{name}.log').read_text()[-2_000:]}")


def _children(process: int) -> list[int]:
    """Ids of a process's children; [] of one that has ended."""
    try:
        return [
            int(child)
            for task in Path(f"/proc/{process}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
