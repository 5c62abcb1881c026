"""Whether a cluster of Spark's own can still compute a study: once its executors are gone Spark waits for
others in silence, without end.

    a job is active, nobody runs its tasks ── WAIT_S ──► the study's jobs are cancelled, StudyFailed says what is missing

One executor, worker or master that dies is Spark's own affair: it computes the lost tasks again elsewhere,
and goes on without a master.

Source: Spark 4.3 TaskSchedulerImpl ("Initial job has not accepted any resources"),
StandaloneSchedulerBackend.disconnected ("Waiting for master to reconnect").
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError

from broker_core.pipeline.masters import master_addresses
from broker_core.pipeline.study_errors import StudyFailed

WAIT_S = 60.0
"""A worker that starts its executor again needs a few seconds, one that is started again by its operator about
half a minute."""
LOOK_S = 1.0


@contextmanager
def executors_expected(context: Any, master: str, group: str) -> Iterator[None]:
    """Around a study whose jobs run under that group. Raises StudyFailed in place of what the jobs that it
    cancels end with."""
    if not master_addresses(master):
        yield
        return
    over, missing = threading.Event(), threading.Event()

    def watch() -> None:
        since_s = time.monotonic()
        with suppress(Py4JError, OSError):  # Spark itself is lost: the study hears of it without us
            while not over.wait(LOOK_S):
                if _is_served(context):
                    since_s = time.monotonic()
                elif time.monotonic() - since_s >= WAIT_S:
                    missing.set()
                    context.cancelJobGroup(group)

    watching = threading.Thread(target=watch, name="executors", daemon=True)
    watching.start()
    try:
        yield
    except Exception as error:
        if not missing.is_set():
            raise
        reason = (
            "no executor of {master} has run for {seconds} s: start a worker or free one, then run the study "
            "again"
        )
        raise StudyFailed(reason, master=master, seconds=round(WAIT_S)) from error
    finally:
        over.set()
        watching.join()


def _is_served(context: Any) -> bool:
    """Whether no job runs, or somebody is there to run it: the driver is the first of the executors that
    Spark names."""
    return (
        not context.statusTracker().getActiveJobsIds()
        or len(context._jsc.sc().statusTracker().getExecutorInfos()) > 1
    )
