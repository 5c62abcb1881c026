"""The analysis worker's task, by name: whoever has something for it need not import what it runs (tasks.py)."""

import logging

import redis
from celery import current_app
from kombu.exceptions import OperationalError

from dashboard.labs.transport import transport

QUEUE, TASK = "analysis", "dashboard.look_at_studies"
log = logging.getLogger(__name__)


def wake_worker() -> None:
    """Tell the analysis worker to look. Without Redis it looks on its own a second later."""
    if transport().is_down:
        return
    try:
        # Nobody took the last wake? Then there is no use in another.
        if transport().queue_length(QUEUE) == 0:
            current_app.send_task(TASK, queue=QUEUE, retry=False)
    except (redis.RedisError, OperationalError) as error:
        log.warning("waking the analysis worker failed: %s", error)
