"""The Celery entrance: one task drives a shard for a while, then enqueues the next."""

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.conf import settings

from dashboard import services
from dashboard.shard import Shard
from dashboard.transport import transport

# Between two tasks of one shard the labs stay in memory; the lease says whether they are still ours.
_shards: dict[int, Shard] = {}


@shared_task(name="dashboard.drive_shard")
def drive_shard(number: int) -> None:
    """Drive all labs of a shard for SHARD_TASK_S. Running it twice does no harm: each lab has one holder."""
    if number not in _shards:
        _shards[number] = Shard(number, transport())
    shard = _shards[number]
    shard.run(settings.SHARD_TASK_S)
    if not shard.stopping:
        services.shard_enqueue(number)


@worker_shutting_down.connect
def stop_shards(**_: Any) -> None:
    """The worker has to end: the task returns at its next turn instead of after SHARD_TASK_S."""
    for shard in _shards.values():
        shard.stopping = True
