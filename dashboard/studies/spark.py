"""The worker's one warm Spark, and how its jobs are counted and cancelled. Only the analysis worker imports
pyspark, through here.

Jobs of a study run under its group in the study's own thread; the runner, in another thread, counts the
group's tasks and cancels it. On a Spark Connect server a group is a tag, and there is no count.
"""

import os
import shutil
import socket
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.conf import settings

from broker_core.events import Json
from broker_core.pipeline.spark_conf import conf_settings, conf_words
from dashboard.studies.engine import IsCancelled, OnProgress, OnWindows

POOL = "spark.scheduler.pool"
"""Jobs of two pools have Spark in turn, those of one pool one after the other."""
MASTER_WAIT_S = 5.0
"""How long a master may take to answer; Spark on its own would try for a minute and then say something
else."""


class SparkEngine:
    """What runs studies, for real. One for each process; `run` is called in the study's thread, the rest from
    any.

    work_dir: where Spark keeps what it spills; by default in the run folder. is_short: it is for one study of
    a few seconds. conf: settings of Spark beside those of SPARK_CONF, over which they win.
    """

    def __init__(
        self,
        work_dir: Path | None = None,
        *,
        is_short: bool = False,
        conf: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._is_short = is_short
        self._conf = conf
        self._work_dir = work_dir or Path(settings.RUN_DIR) / "spark"
        self._session: Any = None
        self._opening = threading.Lock()

    def open(self) -> Any:
        """The session; the first call, and one after Spark was lost, takes some seconds. Raises
        SparkUnavailable with what to install, and CommandError at SPARK_CONF for what is no setting."""
        from broker_core.pipeline.masters import master_addresses, master_check, no_master
        from broker_core.pipeline.session import spark_open

        options = {**site_conf(), **self._conf}
        if self._session is None and not settings.SPARK_REMOTE:
            master_check(settings.SPARK_MASTER)
            addresses = master_addresses(settings.SPARK_MASTER)
            if addresses and not any(_answers(*address) for address in addresses):
                raise no_master(settings.SPARK_MASTER)
        # A batch study and a live one may ask at the same moment, each in its thread.
        with self._opening:
            if self._session is None:
                # What a Spark that was killed has spilled; there is one in a run folder.
                shutil.rmtree(self._work_dir / "local", ignore_errors=True)
            self._session = spark_open(
                work_dir=self._work_dir,
                master=settings.SPARK_MASTER,
                remote=settings.SPARK_REMOTE or None,
                driver_memory=settings.SPARK_DRIVER_MEMORY,
                java_configured=os.environ.get("JAVA_HOME"),
                path=os.environ.get("PATH"),
                class_archives=settings.SPARK_CLASSES,
                is_short=self._is_short,
                options=options,
            )
            return self._session

    @property
    def is_warm(self) -> bool:
        return self._session is not None

    def is_lost(self) -> bool:
        """Whether there was a session and it cannot run anything any more."""
        from broker_core.pipeline.session import spark_is_alive

        return self._session is not None and not spark_is_alive(self._session)

    def close(self) -> None:
        """End what is left of the session, so that the next study opens a new one."""
        from broker_core.pipeline.session import spark_stop

        session, self._session = self._session, None
        if session is not None:
            spark_stop(session)

    def run(
        self, group: str, request: Json, out: Path, on_progress: OnProgress, is_cancelled: IsCancelled
    ) -> None:
        """One batch study, in this thread, under its group. Raises what the pipeline raises."""
        from broker_core.pipeline.study import study_run
        from dashboard.studies.executors import executors_expected

        spark = self.open()
        self._enter(spark, group)
        # A Spark Connect server looks after its own cluster.
        with (
            nullcontext()
            if settings.SPARK_REMOTE
            else executors_expected(spark.sparkContext, settings.SPARK_MASTER, group)
        ):
            study_run(spark, request, out, on_progress, is_cancelled)

    def stream(self, request: Json, checkpoint: Path, on_windows: OnWindows) -> Any:
        """Begin a live study; its query runs in Spark from now on."""
        from broker_core.pipeline.live import live_start

        spark = self.open()
        if not settings.SPARK_REMOTE:  # where there are none
            spark.sparkContext.setLocalProperty(POOL, "live")  # the query's thread takes it over
        return live_start(spark, request["source"], checkpoint=checkpoint, on_windows=on_windows)

    def _enter(self, spark: Any, group: str) -> None:
        if settings.SPARK_REMOTE:
            spark.addTag(group)
        else:
            # interruptOnCancel: a task that sleeps in Java stops too.
            spark.sparkContext.setJobGroup(group, group, interruptOnCancel=True)
            spark.sparkContext.setLocalProperty(POOL, "studies")

    def cancel(self, group: str) -> None:
        """Stop the jobs that the group runs now; the runner asks again while the study goes on. A lost Spark
        has nothing left to cancel."""
        if self._session is None or self.is_lost():
            return
        if settings.SPARK_REMOTE:
            self._session.interruptTag(group)
        else:
            self._session.sparkContext.cancelJobGroup(group)

    def tasks(self, group: str) -> tuple[int, int] | None:
        """(done, total) of the tasks in the group's running stages; None where it is not known."""
        if self._session is None or settings.SPARK_REMOTE or self.is_lost():
            return None
        tracker = self._session.sparkContext.statusTracker()
        stages = [
            stage
            for job in tracker.getJobIdsForGroup(group)
            if (found := tracker.getJobInfo(job)) is not None and found.status == "RUNNING"
            for number in found.stageIds
            if (stage := tracker.getStageInfo(number)) is not None
        ]
        return (
            (sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages))
            if stages
            else None
        )


def site_conf() -> dict[str, str]:
    """What SPARK_CONF says. Raises CommandError at SPARK_CONF."""
    return conf_settings(conf_words(settings.SPARK_CONF, "SPARK_CONF"), "SPARK_CONF")


def _answers(host: str, port: int) -> bool:
    """Whether anything listens there."""
    try:
        socket.create_connection((host, port), MASTER_WAIT_S).close()
    except (OSError, OverflowError, UnicodeError):  # nobody there, no such port, no such name
        return False
    return True
