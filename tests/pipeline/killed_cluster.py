"""Run by test_standalone_cluster.py in its own process: studies on a standalone cluster of which one part
after the other is killed.

Prints one JSON object: for each part that was killed the digests of the result's files, or the sentence that
the study failed with.
"""

import json
import os
import signal
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402

from broker_core.pipeline.study_errors import StudyFailed  # noqa: E402
from broker_core.pipeline.study_request import study_check  # noqa: E402
from dashboard.studies import executors  # noqa: E402
from dashboard.studies.spark import SparkEngine  # noqa: E402
from tests.pipeline.standalone_cluster import WAIT_S, StandaloneCluster  # noqa: E402

ROWS = 400_000


def orders(folder: Path) -> Path:
    """Four files: two tasks for each of two executors."""
    folder.mkdir()
    for number in range(4):
        rows = "".join(
            f"{'' if row % 17 == 0 else f'c{(row * row + number) % 50_021}'},{row % 977}\n"
            for row in range(ROWS // 4)
        )
        (folder / f"{number}.csv").write_text("customer,size\n" + rows)
    return folder


class Study:
    """A study in its thread, as the worker and the command line run one. told: what came of it."""

    def __init__(self, engine: SparkEngine, source: Path, out: Path) -> None:
        self.engine, self.group, self.out, self.told = engine, out.name, out, {}
        self.request = study_check(
            {
                "source": {"kind": "csv", "path": str(source), "key": "customer", "size": "size"},
                "strategies": ["kafka.sticky"],
                "history": {"kind": "given", "start": 2, "changes": [{"kind": "join"}]},
                "service": {"records_max": 2_000},
            }
        )
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.engine.run(self.group, self.request, self.out, lambda _: None, lambda: False)
        except StudyFailed as failed:
            self.told["failed"] = failed.reason
        self.told |= {
            "files": {file.name: sha256(file.read_bytes()).hexdigest() for file in sorted(self.out.iterdir())}
        }

    def wait_computing(self) -> None:
        """Until Spark has given tasks of the study to executors."""
        end_s = time.monotonic() + WAIT_S
        while time.monotonic() < end_s and self.thread.is_alive():
            if self.engine.tasks(self.group):
                return
            time.sleep(0.005)
        raise AssertionError("no job of the study has begun")

    def result(self) -> dict[str, Any]:
        self.thread.join(WAIT_S)
        assert not self.thread.is_alive(), "the study has not ended"
        return self.told


def main(folder: Path) -> None:
    source, engine, told = orders(folder / "orders"), SparkEngine(folder / "spark", is_short=True), {}
    with StandaloneCluster(folder / "cluster") as cluster:
        settings.SPARK_MASTER = cluster.url
        engine.open()
        for part in ("nothing", "executor", "worker-0", "master", "worker-1"):
            executors.WAIT_S = 3.0 if part == "worker-1" else 60.0
            study = Study(engine, source, folder / part)
            study.wait_computing()
            if part == "executor":
                os.kill(cluster.executors()[0], signal.SIGKILL)
            elif part != "nothing":
                cluster.kill(part)
            told[part] = {"was_running": study.thread.is_alive(), **study.result()}
        engine.close()
    settings.SPARK_MASTER = "local[*]"
    told["local"] = Study(engine, source, folder / "local").result()
    engine.close()
    print(json.dumps({"url": cluster.url, "told": told}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
