"""Who watches which study in this web process: one query twice a second for all of them, a message to a
socket only when something is new.

The database is asked, not Redis: progress is stored there twice a second anyway, one row is read by its key,
and nothing has to be mended after Redis was away (docs/decisions/studies-are-polled.md).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec
from asgiref.sync import sync_to_async
from django.db import Error as DatabaseError

from broker_core.events import Json
from dashboard.models import Study
from dashboard.studies import selectors, services

log = logging.getLogger(__name__)

EVERY_S = 0.5
SEEN_EVERY = 10  # turns: every 5 s a live study learns that somebody looks
ENDED = (Study.State.DONE, Study.State.FAILED, Study.State.CANCELLED)
_encoder = msgspec.json.Encoder()

Send = Callable[[str], Awaitable[None]]


@dataclass(slots=True, eq=False)
class Watcher:
    """One socket. words: puts the stored reason into the language of its reader. version: the newest window
    it was sent."""

    study_id: str
    send: Send
    words: Callable[[Json | None], str | None]
    told: str = ""
    version: int = 0
    ended: bool = False


@dataclass(slots=True)
class Watch:
    """All sockets of this process. The loop runs while there is one."""

    watchers: dict[str, set[Watcher]] = field(default_factory=dict)
    _task: "asyncio.Task[None] | None" = None

    async def join(self, watcher: Watcher) -> None:
        """Begin with what is known now."""
        self.watchers.setdefault(watcher.study_id, set()).add(watcher)
        await self._look([watcher.study_id], seen=True)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._loop())

    def leave(self, watcher: Watcher) -> None:
        group = self.watchers.get(watcher.study_id, set())
        group.discard(watcher)
        if not group:
            self.watchers.pop(watcher.study_id, None)

    async def _loop(self) -> None:
        turn = 0
        while self.watchers:
            await asyncio.sleep(EVERY_S)
            turn += 1
            # What has ended changes no more.
            ids = [
                study_id
                for study_id, group in self.watchers.items()
                if any(not watcher.ended for watcher in group)
            ]
            try:
                await self._look(ids, seen=turn % SEEN_EVERY == 0)
            except DatabaseError as error:
                log.warning("reading the watched studies failed: %s", error)

    async def _look(self, study_ids: list[str], seen: bool) -> None:
        if not study_ids:
            return
        oldest = {
            study_id: min((watcher.version for watcher in self.watchers.get(study_id, ())), default=0)
            for study_id in study_ids
        }
        news = await sync_to_async(_read)(oldest, seen)
        for study_id, (study, message, version, rows) in news.items():
            for watcher in list(self.watchers.get(study_id, ())):
                await _tell(watcher, study, message, version, rows)


async def _tell(
    watcher: Watcher, study: Study, message: Json, version: int, rows: list[tuple[int, Json]]
) -> None:
    text = _encoder.encode({**message, "error": watcher.words(message["error"])}).decode()
    fresh = [row for changed, row in rows if changed > watcher.version]
    watcher.version = max(watcher.version, version)
    watcher.ended = study.state in ENDED
    try:
        if text != watcher.told:
            watcher.told = text
            await watcher.send(text)
        if fresh:
            await watcher.send(_encoder.encode({"type": "window", "rows": fresh}).decode())
    except (
        Exception
    ):  # whatever closed this socket, the others go on; its consumer learns by its own disconnect
        log.debug("a socket of study %s is gone", watcher.study_id)


def _read(versions: dict[str, int], seen: bool) -> dict[str, tuple[Study, Json, int, list[tuple[int, Json]]]]:
    """Study id -> (the study, its message, the version of its newest window, windows newer than asked with
    their versions)."""
    found = {}
    live = []
    for study_id, study in selectors.studies_now(versions).items():
        version, rows = versions[study_id], []
        try:
            if study.live:
                live.append(study_id)
                version, rows = selectors.windows_versions(study_id=study_id, version=version)
            found[study_id] = (study, selectors.study_message(study=study), version, rows)
        except DatabaseError:
            raise
        except Exception:  # one study's rows that cannot be read are not the other watchers' trouble
            log.exception("study %s: reporting its progress failed", study_id)
    if seen and live:
        services.study_watched(study_ids=live)
    return found


_watch: Watch | None = None


def watch() -> Watch:
    """This process's one."""
    global _watch
    if _watch is None:
        _watch = Watch()
    return _watch
