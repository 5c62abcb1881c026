"""Redis, where losing everything loses nothing: wakes for the shards, heartbeats, who is watched, and the
frame streams.

Every call of the synchronous side swallows an unreachable Redis, within REDIS_TIMEOUT_S where a person waits
and PATIENCE_S where a shard publishes, and after a failure does not try again for a moment, so that fifty
labs do not wait fifty times. What was not delivered shows in the return value, so that the caller can act on it.
"""

import json
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from broker_core.lab.panels import PANELS

log = logging.getLogger(__name__)

STREAM_FRAMES_MAX = 64  # enough for a reader that was away for some seconds
STREAM_KEPT_S = 60  # a stream nobody writes to any more
WATCHED_S = 6  # a web process says every 2 s whom its browsers watch
BEAT_KEPT_S = 3
HOST_KEPT_S = 60  # a host that is gone is no longer listed
WORKER_KEPT_S = 30  # an age is shown as long as it means something: a turn may wait for Spark
ENQUEUE_PAUSE_S = 2
PATIENCE_S = 1.0
WAIT_MIN_S = 0.005
LOG_AGAIN_S = 5.0  # one outage is one line in the log
WRONG_KEY = "WRONGTYPE"  # the one refusal that is about a single stream
DOWN_PAUSE_S = 0.5  # after a failure, how long Redis is not asked

# Entries of a shard's wake list: a lab's id, or this before it: "publish a full frame, somebody cannot
# follow".
WANTS_FULL = "full:"
ROOMS_CHANNEL = "rooms"
GONE = "gone"
"""The one field of a stream's entry that is no frame: perhaps the lab is deleted. It stays in the stream, and
a lab may be restored."""


def stream_key(lab_id: str) -> str:
    return f"lab:{lab_id}:frames"


def watched_key(lab_id: str, panel: str = "") -> str:
    """Without a panel: of the lab itself."""
    return f"lab:{lab_id}:watched:{panel}" if panel else f"lab:{lab_id}:watched"


def wake_key(shard: int) -> str:
    return f"labs:{shard}:wake"


def beat_key(shard: int) -> str:
    return f"labs:{shard}:alive"


HOSTS_KEY = "hosts"
"""Sorted set: host -> when its keeper last said that it is alive."""


def worker_key(queue: str) -> str:
    return f"{queue}:alive"


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of the live feed, encoded once. full: it is a snapshot, and can be read without what went
    before."""

    lab_id: str
    epoch: int
    from_seq: int
    seq: int
    full: bool
    text: str

    def fields(self) -> dict[str, str | int]:
        return {"e": self.epoch, "f": self.from_seq, "s": self.seq, "k": int(self.full), "t": self.text}

    @classmethod
    def from_fields(cls, lab_id: str, fields: dict[bytes, bytes]) -> "Frame":
        return cls(
            lab_id,
            int(fields[b"e"]),
            int(fields[b"f"]),
            int(fields[b"s"]),
            fields[b"k"] == b"1",
            fields[b"t"].decode(),
        )


@dataclass(frozen=True, slots=True)
class Beat:
    """A shard's last sign of life: how long ago, and the host that drives it."""

    age_s: float
    host: str


class Transport:
    """The synchronous side, for workers, services and the health page. host: whose signs of life it gives."""

    def __init__(self, url: str, timeout_s: float, host: str = "") -> None:
        self.host = host
        no_retry = Retry(NoBackoff(), 0)
        self._redis = redis.Redis.from_url(
            url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s, retry=no_retry
        )
        # On a busy machine an answer may be late without Redis being gone, and giving a shard's frames up
        # costs more than the wait. It must also be longer than the longest wait for a wake.
        self._patient = redis.Redis.from_url(
            url, socket_timeout=PATIENCE_S, socket_connect_timeout=timeout_s, retry=no_retry
        )
        self._down_until = 0.0

    @property
    def is_down(self) -> bool:
        return time.monotonic() < self._down_until

    def _failed(self, error: Exception) -> None:
        if time.monotonic() - self._down_until > LOG_AGAIN_S:
            log.warning("Redis does not answer; pages lag until it does: %s", error)
        self._down_until = time.monotonic() + DOWN_PAUSE_S

    def wake(self, shard: int, entry: str) -> bool:
        """Tell a shard that a lab has something for it. Without Redis the shard finds it in the database a
        little later."""
        if self.is_down:
            return False
        try:
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.rpush(wake_key(shard), entry)
                pipe.ltrim(
                    wake_key(shard), -1000, -1
                )  # nobody listens? then what is waiting is in the database
                pipe.execute()
        except redis.RedisError as error:
            self._failed(error)
            return False
        return True

    def wait_for_wake(self, shard: int, timeout_s: float) -> list[str]:
        """The entries that were waiting, or the first that comes within timeout_s; [] when none did."""
        started_s = time.monotonic()
        if not self.is_down:
            try:
                # Below a millisecond Redis takes a time-out for 0, and 0 means forever: a busy shard does not
                # wait at all.
                first = (
                    self._patient.blpop([wake_key(shard)], timeout=timeout_s)
                    if timeout_s >= WAIT_MIN_S
                    else None
                )
                if first is None and timeout_s >= WAIT_MIN_S:
                    return []
                rest = self._patient.lpop(wake_key(shard), 1000) or []
                return [entry.decode() for entry in (*([first[1]] if first else []), *rest)]
            except redis.RedisError as error:
                self._failed(error)
        time.sleep(max(0.0, timeout_s - (time.monotonic() - started_s)))
        return []

    def publish(self, frames: Iterable[Frame]) -> set[str]:
        """Append frames to their labs' streams. Returns the labs whose frame was not taken: their next one
        must be a full one.

        Redis may refuse one lab's frame (its key holds something else, the text is not text) and take the
        others.
        """
        frames = list(frames)
        if self.is_down:
            return {frame.lab_id for frame in frames}
        refused: dict[str, Exception] = {}
        try:
            with self._patient.pipeline(transaction=False) as pipe:
                sent = []
                for frame in frames:
                    try:
                        fields = {
                            name: value.encode() if isinstance(value, str) else value
                            for name, value in frame.fields().items()
                        }
                    except UnicodeError as error:
                        refused[frame.lab_id] = error
                        continue
                    key = stream_key(frame.lab_id)
                    pipe.xadd(key, fields, maxlen=STREAM_FRAMES_MAX, approximate=True)  # type: ignore[arg-type]
                    pipe.expire(key, STREAM_KEPT_S)
                    sent.append(frame.lab_id)
                answers = pipe.execute(raise_on_error=False)
        except redis.RedisError as error:
            self._failed(error)
            return {frame.lab_id for frame in frames}
        for lab_id, answer in zip(sent, answers[::2], strict=True):
            if isinstance(answer, Exception):
                refused[lab_id] = answer
                if not str(answer).startswith(WRONG_KEY):  # full, read-only: it would take nobody's
                    self._failed(answer)
        for lab_id, reason in refused.items():
            log.warning("lab %s: frame not published to Redis: %s", lab_id, reason)
        return set(refused)

    def tell_gone(self, lab_id: str) -> bool:
        """Tell those who watch a lab to look whether it is still there; without Redis they look on their own
        a little later."""
        if self.is_down:
            return False
        try:
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.xadd(stream_key(lab_id), {GONE: 1}, maxlen=STREAM_FRAMES_MAX, approximate=True)
                pipe.expire(stream_key(lab_id), STREAM_KEPT_S)
                pipe.execute()
        except redis.RedisError as error:
            self._failed(error)
            return False
        return True

    def tell_answered(self, code: str) -> bool:
        """Tell every web process that somebody has answered a room's question; without Redis they see it a moment
        later."""
        return self.tell_room(json.dumps({"code": code}))

    def tell_room(self, text: str) -> bool:
        """Send a room's state to every web process; without Redis they read it a moment later."""
        if self.is_down:
            return False
        try:
            self._redis.publish(ROOMS_CHANNEL, text)
        except redis.RedisError as error:
            self._failed(error)
            return False
        return True

    def watched(self, lab_ids: list[str]) -> dict[str, frozenset[str]] | None:
        """Which of these labs a browser watches now, each with the panels whose page is open; None when Redis
        cannot say."""
        if not lab_ids:
            return {}
        if self.is_down:
            return None
        parts = ("", *PANELS)
        try:
            marks = iter(
                self._patient.mget([watched_key(lab_id, part) for lab_id in lab_ids for part in parts])
            )
        except redis.RedisError as error:
            self._failed(error)
            return None
        seen = {lab_id: {part for part in parts if next(marks) is not None} for lab_id in lab_ids}
        return {lab_id: frozenset(parts) - {""} for lab_id, parts in seen.items() if "" in parts}

    def beat(self, shard: int) -> bool:
        """Say that this shard's task is alive, on this host."""
        return self._beat(beat_key(shard), BEAT_KEPT_S, self.host)

    def give_up(self, shard: int) -> None:
        """This host drives the shard no more: another may at once. Raises redis.RedisError."""
        self._patient.delete(beat_key(shard))

    def beat_worker(self, queue: str) -> bool:
        """Say that the worker of this queue is alive."""
        return self._beat(worker_key(queue), WORKER_KEPT_S)

    def _beat(self, key: str, kept_s: int, host: str = "") -> bool:
        if self.is_down:
            return False
        try:
            self._patient.set(key, f"{time.time()!r} {host}", ex=kept_s)
        except redis.RedisError as error:
            self._failed(error)
            return False
        return True

    def beats(self, shards: Sequence[int]) -> list[Beat | None]:
        """These shards' last signs of life, None when there is none. Raises redis.RedisError."""
        return [_beat_of(mark) for mark in self._redis.mget([beat_key(shard) for shard in shards])]

    def is_driven_elsewhere(self, shard: int, within_s: float) -> bool:
        """Whether another host said within this time that it drives the shard; False when Redis cannot
        say."""
        if self.is_down:
            return False
        try:
            beat = _beat_of(self._patient.get(beat_key(shard)))
        except redis.RedisError as error:
            self._failed(error)
            return False
        return beat is not None and beat.age_s <= within_s and beat.host != self.host

    def host_beat(self) -> None:
        """Say that this host is there to drive shards. Raises redis.RedisError."""
        now = time.time()
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.zadd(HOSTS_KEY, {self.host: now})
            pipe.zremrangebyscore(HOSTS_KEY, "-inf", now - HOST_KEPT_S)
            pipe.execute()

    def hosts(self, within_s: float) -> set[str]:
        """Hosts that gave a sign of life within this time. Raises redis.RedisError."""
        return {
            host.decode() for host in self._redis.zrangebyscore(HOSTS_KEY, time.time() - within_s, "+inf")
        }

    def worker_age_s(self, queue: str) -> float | None:
        """Seconds since the last sign of life of this queue's worker, None when there is none. Raises
        redis.RedisError."""
        beat = _beat_of(self._redis.get(worker_key(queue)))
        return None if beat is None else beat.age_s

    def may_enqueue(self, shard: int) -> bool:
        """True once in ENQUEUE_PAUSE_S: a worker that is starting has not taken its task yet. Raises
        redis.RedisError."""
        return bool(self._redis.set(f"labs:{shard}:enqueued", 1, nx=True, ex=ENQUEUE_PAUSE_S))

    def queue_length(self, queue: str) -> int:
        """Tasks waiting in a Celery queue. Raises redis.RedisError."""
        return int(self._redis.llen(queue))

    def ping(self) -> None:
        """Raises redis.RedisError when Redis does not answer."""
        self._redis.ping()


def _beat_of(mark: Any) -> Beat | None:
    if mark is None:
        return None
    at, _, host = mark.decode().partition(" ")
    return Beat(max(0.0, time.time() - float(at)), host)


@cache
def transport() -> Transport:
    """This process's connection."""
    return Transport(settings.REDIS_URL, settings.REDIS_TIMEOUT_S, settings.HOST_ID)
