"""The Celery entrance, queue `default`: the loop that writes labs' logs, and what is worked out about opened
ones.

The log's own writing and compaction are imported where they are done: shards and web processes, which import
this module, do neither.
"""

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis
from celery import current_app, shared_task
from celery.signals import worker_shutting_down
from kombu.exceptions import OperationalError

from dashboard.labs.transport import transport
from dashboard.logs.labs import ASKED, BEAT
from dashboard.logs.places import labs_dir, logs_dir

if TYPE_CHECKING:
    from dashboard.logs.writer import LogWriter

log = logging.getLogger(__name__)

ALIVE_S = 3.0  # a loop that gave no sign for this long is gone
ASK_AGAIN_S = 2.0  # a worker that is starting has not taken its task yet
COUNT_AGAIN_S = 60.0
CLEAN_AGAIN_S = 10.0
_writers: "list[LogWriter]" = []


@shared_task(name="dashboard.write_logs", ignore_result=True)
def write_logs() -> None:
    """Write while somebody looks. Running it twice does no harm: the second finds the lock taken."""
    from dashboard.logs.writer import LogWriter

    writer = LogWriter()
    _writers.append(writer)
    try:
        writer.run()
    finally:
        _writers.remove(writer)


@shared_task(name="dashboard.count_log", ignore_result=True)
def count_log(log_id: str) -> None:
    """Count a log that is too large to be counted while somebody waits."""
    from dashboard.logs import opened, source

    _kind, path = opened.log_path(log_id)
    opened.counted_store(log_id, path, source.count(opened.source_of(log_id, {})))


@shared_task(name="dashboard.clean_log", ignore_result=True)
def clean_log(log_id: str) -> None:
    """Work out what compaction would do to an opened log."""
    from broker_core.lab.kafka_log.cleaning import clean_json
    from dashboard.logs import opened

    _kind, path = opened.log_path(log_id)
    found = opened.source_of(log_id, {})
    opened.clean_store(log_id, path, clean_json(found.log, **opened.as_table(found)))


@worker_shutting_down.connect
def stop(**_: Any) -> None:
    """The worker has to end: what is open is closed in order."""
    for writer in _writers:
        writer.stopping = True


def write_soon() -> None:
    """See that the loop runs."""
    if _age_s(labs_dir() / BEAT) > ALIVE_S:
        _send_once(labs_dir() / ASKED, ASK_AGAIN_S, write_logs.name)


def count_soon(log_id: str) -> None:
    """See that a log gets counted."""
    _send_once(logs_dir() / log_id / ".counting", COUNT_AGAIN_S, count_log.name, log_id)


def clean_soon(log_id: str) -> None:
    """See that somebody works out what compaction would do."""
    _send_once(logs_dir() / log_id / ".cleaning", CLEAN_AGAIN_S, clean_log.name, log_id)


def _send_once(mark: Path, again_s: float, task: str, *args: str) -> None:
    if _age_s(mark) < again_s or transport().is_down:
        return
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    try:
        transport().ping()  # soon refused, where the task's own sending would try for seconds
        current_app.send_task(task, args=args, retry=False)
    except (redis.RedisError, OperationalError) as error:
        log.warning("enqueueing %s failed: %s", task, error)


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float("inf")
