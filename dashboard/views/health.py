"""Whether the parts work: /healthz for the supervisor, a load balancer, or a person with curl."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.http import HttpRequest, HttpResponse

from broker_core.events import Json
from dashboard.database import is_full, refusal_of
from dashboard.labs.transport import transport
from dashboard.models import Pulse
from dashboard.serializers import json_response
from dashboard.studies.waking import QUEUE

PART_WAIT_S = 0.8
LOCKED_MS = 400  # a write lock that is held this long is a part that does not work
PROBE, PROBE_BYTES = "health.probe", 64 * 1024
WORKER_SILENT_S = 5.0
BESIDE = ("clients", "past", "analysis")  # parts without which everything else works
# Separate threads: a part that hangs holds one of these, never one that serves pages.
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="healthz")


async def healthz(request: HttpRequest) -> HttpResponse:
    """{ok, web, redis, workers, database, disk, clients, past, analysis}, each part {ok, latency_ms, ...}. 200, or 503 when
    a part is not ok. Within a second. clients: where the site takes real ones.

    Database and disk are written to: one that is locked or full can still be read. What they say then is
    error "full" or "unreachable".

    Three workers do not count: without `analysis` studies wait, without `past` nobody looks back, without `clients` no lab is
    open to real ones, and everything else works.
    """
    started_s = time.perf_counter()
    checks = {
        "redis": transport().ping,
        "workers": _workers,
        "database": _database,
        "disk": _disk,
        **({"clients": _clients} if settings.CLIENTS_ON else {}),
        "past": lambda: _worker(settings.PAST_QUEUE),
        "analysis": lambda: _worker(QUEUE),
    }
    answers = await asyncio.gather(*(_part(check) for check in checks.values()))
    parts: Json = dict(zip(checks, answers, strict=True))
    parts["web"] = {"ok": True, "latency_ms": _ms_since(started_s)}
    ok = all(part["ok"] for name, part in parts.items() if name not in BESIDE)
    return json_response({"ok": ok, **parts}, 200 if ok else 503)


async def _part(check: Callable[[], Json | None]) -> Json:
    started_s = time.perf_counter()
    try:
        details = await asyncio.wait_for(
            asyncio.get_running_loop().run_in_executor(_threads, check), PART_WAIT_S
        )
    except TimeoutError:
        return {"ok": False, "latency_ms": _ms_since(started_s), "error": "no answer"}
    except Exception as error:  # whatever it is, the part does not work: that is the answer
        return {"ok": False, "latency_ms": _ms_since(started_s), "error": _name_of(error)}
    return {"ok": True, "latency_ms": _ms_since(started_s), **(details or {})}


def _workers() -> Json:
    """latency_ms: the oldest sign of life among the shards' tasks."""
    beats = transport().beats(range(settings.LAB_SHARDS))
    shards = {
        str(number): None if beat is None else round(beat.age_s * 1000) for number, beat in enumerate(beats)
    }
    alive = [age for age in shards.values() if age is not None]
    return {"ok": len(alive) == len(shards), "latency_ms": max(alive, default=None), "shards": shards}


def _clients() -> Json:
    """latency_ms: the last sign of life of the shard of open labs."""
    (beat,) = transport().beats([settings.WIRE_SHARD])
    return {"ok": beat is not None, "latency_ms": None if beat is None else round(beat.age_s * 1000)}


def _worker(queue: str) -> Json:
    """latency_ms: the last sign of life of this queue's worker."""
    age_s = transport().worker_age_s(queue)
    return {
        "ok": age_s is not None and age_s < WORKER_SILENT_S,
        "latency_ms": None if age_s is None else round(age_s * 1000),
    }


def _database() -> None:
    connection = connections["default"]
    try:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute(f"PRAGMA busy_timeout={LOCKED_MS}")
        Pulse.beat()
    finally:
        connection.close()


def _disk() -> None:
    """A file of its own: a database may overwrite what it has, uploads and studies need more."""
    path = Path(settings.RUN_DIR) / PROBE
    try:
        path.write_bytes(bytes(PROBE_BYTES))
    finally:
        path.unlink(missing_ok=True)


def _name_of(error: Exception) -> str:
    refused = refusal_of(error)
    return type(error).__name__ if refused is None else "full" if is_full(error) else "unreachable"


def _ms_since(started_s: float) -> float:
    return round((time.perf_counter() - started_s) * 1000, 1)
