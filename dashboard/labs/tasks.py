"""The Celery entrance: one task drives a shard for a while, then enqueues the next; another compares a
consumer group's assignors, a third makes a capsule, a fourth searches for what breaks a promise, a fifth looks
at a lab's past.

Python's full garbage collection looks at everything that lives: beside three labs of 512 consumers it holds
the process for 0.25 to 0.5 s, in which no click is answered. Only labs that are dropped leave cycles worth
collecting, so a full collection is made after a task that dropped some, and not on its own.
"""

import gc
from typing import TYPE_CHECKING, Any

import msgspec
import redis
from celery import shared_task
from celery.signals import celeryd_after_setup, worker_ready, worker_shutting_down
from django.conf import settings
from django.utils.module_loading import import_string

from dashboard.labs import shards, sharing
from dashboard.labs.clients.shard import OpenShard
from dashboard.labs.past import asking
from dashboard.labs.past.beating import start_beating
from dashboard.labs.past.look import Look
from dashboard.labs.shard import Shard
from dashboard.labs.transport import PATIENCE_S, transport

if TYPE_CHECKING:
    from dashboard.labs.past.answering import Answering

GENERATIONS = (700, 10, 1_000_000)
"""gc thresholds: the two young generations as by default, the old one hardly ever."""
DROPPED_MAX = 8
"""Labs of somebody who looks back that have gone before their cycles are collected: some 20 MB each, after an hour."""
LOOKS_MAX = 500
# Between two tasks of one shard the labs stay in memory; the lease says whether they are still ours.
_shards: dict[int, Shard] = {}


@shared_task(name=shards.TASK)
def drive_shard(number: int) -> None:
    """Drive all labs of a shard for SHARD_TASK_S, unless another host does. Running it twice does no harm:
    each lab has one holder."""
    if number not in _shards:
        kind = OpenShard if number == settings.WIRE_SHARD else Shard
        _shards[number] = kind(number, transport(), import_string(settings.SHARD_CLOCK))
        gc.set_threshold(*GENERATIONS)
    shard = _shards[number]
    shard.run(settings.SHARD_TASK_S)
    if not shard.stopping and not shard.is_elsewhere and not _given_up(shard):
        shards.shard_enqueue(number)
    if shard.has_dropped:
        shard.has_dropped = False
        gc.collect()


def _given_up(shard: Shard) -> bool:
    """Leave a shard to another host when this one has more than its share."""
    try:
        if not sharing.is_one_too_many(shard.number):
            return False
        shard.let_go()
        transport().give_up(shard.number)
    except redis.RedisError:
        return False
    return True


@shared_task(name="dashboard.compare_group", ignore_result=True)
def compare_group(lab_id: str, lane: str, until_us: int) -> None:
    """Queue `default`: a lane's consumer group under each assignor and protocol."""
    from dashboard.labs.comparison_task import work_out

    work_out(lab_id, lane, until_us)


@shared_task(name="dashboard.make_capsule", ignore_result=True)
def make_capsule(lab_id: str, capsule: str) -> None:
    """Queue `default`: a run as one file that plays offline."""
    from dashboard.labs.capsules.making import make

    make(lab_id, capsule)


@shared_task(name="dashboard.break_promise", ignore_result=True)
def break_promise(lab_id: str, run: str) -> None:
    """Queue `default`: a turn of a search for what breaks a promise about a lab."""
    from dashboard.labs.breaking_task import work_out

    work_out(lab_id, run)


_past: list["Answering"] = []


@shared_task(name=asking.TASK, ignore_result=True)
def look_back(given: dict[str, Any]) -> None:
    """Queue `past.<host>`, whose one worker keeps the labs that somebody looks at."""
    from dashboard.labs.past.answering import Answering

    if not _past:
        _past.append(Answering(redis.Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE_S)))
        gc.freeze()  # what is there from the start stays
        gc.disable()  # a tenth of the time that it takes to read a checkpoint
    answering = _past[0]
    answering.answer(msgspec.convert(given, Look))
    if answering.kept.dropped >= DROPPED_MAX or answering.looks >= LOOKS_MAX:
        answering.kept.dropped = answering.looks = 0
        gc.collect()


_looks_back = False


@celeryd_after_setup.connect
def learn_queues(instance: Any, **_: Any) -> None:
    """Hear whether this worker takes the queue of looks back."""
    global _looks_back
    _looks_back = settings.PAST_QUEUE in instance.app.amqp.queues.consume_from


@worker_ready.connect
def begin_beating(**_: Any) -> None:
    """The worker is there for who looks back."""
    if _looks_back:
        start_beating(settings.PAST_QUEUE)


@worker_shutting_down.connect
def stop_shards(**_: Any) -> None:
    """The worker has to end: the task returns at its next turn instead of after SHARD_TASK_S."""
    for shard in _shards.values():
        shard.stopping = True
