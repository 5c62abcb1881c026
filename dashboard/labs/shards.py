"""The shards' tasks, by name: the supervisor enqueues those that are gone, and each task the next one.

By name, so that whoever asks for a task need not import what it runs (tasks.py).
"""

import logging

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from dashboard.labs import sharing
from dashboard.labs.transport import transport
from dashboard.models import Lab, shard_of

TASK = "dashboard.drive_shard"
log = logging.getLogger(__name__)


def shard_enqueue(number: int) -> bool:
    """Enqueue a shard's task unless one waits already. False when it could not be done: the supervisor tries
    again each second."""
    try:
        if not _waits(number):
            current_app.send_task(TASK, args=[number], queue=_queue(number), retry=False)
    except (redis.RedisError, OperationalError) as error:
        log.warning("enqueueing shard %s failed: %s", number, error)
        return False
    return True


def _waits(number: int) -> bool:
    return transport().queue_length(_queue(number)) > 0


def _queue(number: int) -> str:
    return str(settings.SHARD_QUEUE(number, settings.HOST_ID))


def shards_ensure() -> list[int]:
    """Enqueue here every shard whose task shows no sign of life on any host, as far as this host's share goes
    (sharing.py).

    Returns those that are enqueued. Cheap: called several times a second.
    """
    _adopt_orphans()
    try:
        # A task that waits already must not keep the other hosts from taking the shard.
        return [number for number in sharing.shards_to_take()
                if _waits(number) or (transport().may_enqueue(number) and shard_enqueue(number))]  # fmt: skip
    except redis.RedisError:
        return []


def _adopt_orphans() -> None:
    """There are fewer shards than there once were, or real clients are not taken any more: labs of those that are gone get
    new ones."""
    there = [*range(settings.LAB_SHARDS), *sharing.wire_shards()]
    for lab in Lab.objects.exclude(shard__in=there).only("pk"):
        Lab.objects.filter(pk=lab.pk).update(shard=shard_of(lab.pk), clients_port=None)
