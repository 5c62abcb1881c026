"""The web process's side: put a look into the queue, wait for the answer, which comes over Redis.

Nothing here holds the event loop or a thread while it waits. Of one viewer's looks at a lab only the newest is
answered: a newer one ends the wait of the one before at once, and the worker drops it at its next piece.
"""

import time
from typing import Any

import msgspec
import redis.asyncio
from celery import current_app
from django.conf import settings
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from dashboard.errors import Refused
from dashboard.labs.past.look import LOG, Look
from dashboard.threads import in_thread

TASK = "dashboard.look_back"
KEPT_S = 60  # what is in Redis of a look
SUPERSEDED = 409


def newest_key(look: Look) -> str:
    """A page asks for the log beside the picture: neither takes the other's place."""
    return f"past:{look.lab}:{look.look}{':log' if look.kind == LOG else ''}"


def answer_key(look: Look, number: int) -> str:
    return f"{newest_key(look)}:{number}"


async def ask(look: Look) -> tuple[int, bytes]:
    """(status, text of the answer). Raises Refused: 409 a newer look of this viewer came, 429 too many wait, 503
    there was no answer in time."""
    wait_s = settings.PAST_WAIT_S
    client = redis.asyncio.Redis.from_url(
        settings.REDIS_URL, socket_timeout=wait_s + 2, socket_connect_timeout=settings.REDIS_TIMEOUT_S
    )
    try:
        number = int(await client.incr(newest_key(look)))
        async with client.pipeline(transaction=False) as pipe:
            pipe.expire(newest_key(look), KEPT_S)
            pipe.rpush(answer_key(look, number - 1), reply(SUPERSEDED, b""))
            pipe.expire(answer_key(look, number - 1), KEPT_S)
            pipe.llen(settings.PAST_QUEUE)
            waiting = (await pipe.execute())[-1]
        if waiting >= settings.PAST_WAITING_MAX:
            raise Refused(429, {"lab": _("too many look at labs' pasts: try again in a moment")}, 1.0)
        asked = msgspec.structs.replace(look, number=number, deadline=time.time() + wait_s)
        await in_thread(_enqueue)(asked)
        found = await client.blpop([answer_key(look, number)], timeout=wait_s)
    except (RedisError, OSError, OperationalError) as error:
        raise Refused(503, {"lab": _("no worker can be reached")}, 1.0) from error
    finally:
        await client.aclose()
    if found is None:
        raise Refused(503, {"lab": _("this moment took too long to be worked out: try again")}, 1.0)
    status, text = told(found[1])
    if status == SUPERSEDED and not text:
        raise Refused(SUPERSEDED, {"look": _("a newer look has taken the place of this one")})
    return status, text


def reply(status: int, text: bytes) -> bytes:
    """An answer as it goes through Redis."""
    return b"%d %b" % (status, text)


def told(message: bytes) -> tuple[int, bytes]:
    """What `reply` was given."""
    status, _space, text = message.partition(b" ")
    return int(status), text


def _enqueue(look: Look) -> None:
    given: Any = msgspec.to_builtins(look)
    current_app.send_task(
        TASK, args=[given], queue=settings.PAST_QUEUE, expires=settings.PAST_WAIT_S, retry=False
    )
