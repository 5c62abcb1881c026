"""The Celery entrance of the analysis worker, queue `analysis`: it starts the runner's thread and returns at
once."""

from typing import Any

from celery import shared_task
from celery.signals import celeryd_after_setup, worker_ready, worker_shutdown, worker_shutting_down

from dashboard.studies.runner import Runner
from dashboard.studies.spark import SparkEngine
from dashboard.studies.waking import QUEUE, TASK

# A worker runs studies when it takes the queue, and only then: set once its queues are known.
_takes_queue = False
_runner: Runner | None = None


def runner() -> Runner:
    """This worker's one runner."""
    global _runner
    if _runner is None:
        _runner = Runner(SparkEngine())
    return _runner


@shared_task(name=TASK, ignore_result=True)
def look_at_studies() -> None:
    """Something is new: a study waits, or is to be cancelled. Running it twice does no harm."""
    runner().wake()


@celeryd_after_setup.connect
def learn_queues(instance: Any, **_: Any) -> None:
    """Hear which queues this worker takes."""
    global _takes_queue
    _takes_queue = QUEUE in instance.app.amqp.queues.consume_from


@worker_ready.connect
def begin(**_: Any) -> None:
    """Studies that waited while there was no worker need no message to begin."""
    if _takes_queue:
        runner().start()


@worker_shutting_down.connect
def stop(**_: Any) -> None:
    """The worker has to end."""
    if _runner is not None:
        _runner.stop()


@worker_shutdown.connect
def wait(**_: Any) -> None:
    """What ran must be reported before the process is gone."""
    if _runner is not None:
        _runner.join()
