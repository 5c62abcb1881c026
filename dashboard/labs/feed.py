"""The live feed of one web process: one Redis connection reads the streams of all watched labs, and each
frame is encoded once for all.

    Redis streams ─► Feed (one reader) ─► LabFeed (the last frames) ─► Reader (one socket: what it was sent, what it acknowledged)

Daphne's send puts a message into a buffer without limit and returns at once, so nothing below would ever push
back. The acknowledgements
do: past FEED_WINDOW unacknowledged frames a reader is sent nothing more, whatever it does; when it
acknowledges again it gets a snapshot and goes on from there. What a socket costs is therefore bounded, and
nobody waits for anybody.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import redis.asyncio
from django.conf import settings
from redis.exceptions import RedisError

from broker_core.events import Json
from dashboard.allowance import Allowance
from dashboard.labs import selectors, services
from dashboard.labs.transport import GONE, WANTS_FULL, WATCHED_S, Frame, stream_key, wake_key, watched_key
from dashboard.threads import in_thread

log = logging.getLogger(__name__)

FRAMES_KEPT = 256  # of each lab: more than a second's worth, which is how old a stored view can be
SNAPSHOTS_UNACKED_MAX = 3  # a snapshot is big: who does not draw them gets no more
SNAPSHOT_FRAMES_MAX = 10  # a stored snapshot with more frames after it is read again
MARK_EVERY_S = 2.0  # how often Redis learns which labs are watched
STORE_EVERY_S = 10.0  # how often the database is
READ_BLOCK_MS = 1000
RETRY_S = 0.2
CLOSE_CANNOT_SEND = 1011
CLOSE_UNKNOWN_LAB = 4404
FULL_AGAIN_S = 0.5  # how often one lab's shard is asked for a full frame

Send = Callable[[Json], Awaitable[None]]


class TooMany(Exception):
    """A socket sends more messages than a reader of frames has to."""


class Reader:
    """One socket: the frame it is at, and those it has been sent and not acknowledged."""

    __slots__ = ("_allowance", "_send", "epoch", "in_flight", "panels", "seq", "stalled")

    def __init__(self, send: Send, panels: Collection[str] = ()) -> None:
        """panels: those of the view that its page draws."""
        self._send, self.panels = send, panels
        self.epoch, self.seq = -1, -1
        self.in_flight: deque[tuple[int, bool]] = deque()  # (seq, is a snapshot), oldest first
        self.stalled = True  # nothing can be sent until a snapshot has been
        self._allowance = Allowance(settings.SOCKET_MESSAGES_PER_S)

    @property
    def window_open(self) -> bool:
        return len(self.in_flight) < settings.FEED_WINDOW

    @property
    def may_have_snapshot(self) -> bool:
        return sum(snapshot for _seq, snapshot in self.in_flight) < SNAPSHOTS_UNACKED_MAX

    async def send(self, text: str, epoch: int, seq: int, *, snapshot: bool) -> None:
        self.epoch, self.seq = epoch, seq
        self.in_flight.append((seq, snapshot))
        await self._send({"type": "websocket.send", "text": text})

    async def tell(self, text: str) -> None:
        """Send what needs no acknowledgement, as whoever calls sends it seldom."""
        await self._send({"type": "websocket.send", "text": text})

    async def close(self, code: int) -> None:
        with contextlib.suppress(Exception):  # of a socket that is broken already
            await self._send({"type": "websocket.close", "code": code})

    def acknowledge(self, seq: int) -> None:
        """All frames up to seq are drawn. What was never sent cannot be acknowledged."""
        while self.in_flight and self.in_flight[0][0] <= seq:
            self.in_flight.popleft()

    def count_message(self) -> None:
        """Raises TooMany beyond SOCKET_MESSAGES_PER_S."""
        if not self._allowance.take():
            raise TooMany


class LabFeed:
    """One watched lab in this process: its readers, and the frames since a snapshot that a newcomer can start
    from."""

    def __init__(self, lab_id: str, feed: "Feed") -> None:
        self.lab_id, self._feed = lab_id, feed
        self.readers: set[Reader] = set()
        self.has_begun = False  # its stream is read
        self.last_id = b"0"  # of the stream: what is still there is read first
        self.epoch, self.seq = -1, -1  # of the last frame that came
        self._frames: deque[Frame] = deque(maxlen=FRAMES_KEPT)
        self._start: tuple[int, int, str] | None = None  # (epoch, seq, text) of the newest snapshot known
        self._reading: asyncio.Task[None] | None = None
        self._asked_full_s = -1e9

    @property
    def panels(self) -> set[str]:
        """Those that somebody's page draws."""
        return {name for reader in self.readers for name in reader.panels}

    # -- frames in, frames out -------------------------------------------------------------------------------

    async def receive(self, frame: Frame) -> None:
        """Take the next frame of the stream and pass it to every reader that can use it."""
        if frame.epoch < self.epoch:
            return  # from a holder that has lost its lease
        follows = frame.epoch == self.epoch and frame.from_seq == self.seq
        if frame.full:
            if not self._is_old(frame):
                self._start = (frame.epoch, frame.seq, frame.text)
            self._frames.clear()
        elif follows or self.epoch < 0:
            self._frames.append(frame)
        else:
            self._frames.clear()  # something is missing, so nothing before it leads here
            self._frames.append(frame)
        self.epoch, self.seq = frame.epoch, frame.seq
        lost = False
        for reader in tuple(self.readers):
            try:
                lost |= not await self._pass_on(reader, frame)
            except Exception:  # of one socket; the others have nothing to do with it
                log.exception("lab %s: sending to a socket failed; closing it", self.lab_id)
                self.leave(reader)
                await reader.close(CLOSE_CANNOT_SEND)  # so that the browser knows, and comes again
        if lost:
            await self._resume_lost()

    def _is_old(self, frame: Frame) -> bool:
        """Whether a newer snapshot is known: the stream of a lab that has run for a while begins with old
        ones."""
        return self._start is not None and (frame.epoch, frame.seq) < self._start[:2]

    async def _pass_on(self, reader: Reader, frame: Frame) -> bool:
        """Send a frame to a reader that can use it. False: this reader needs a snapshot, and may have one."""
        if reader.stalled:
            if frame.full and not self._is_old(frame) and reader.window_open and reader.may_have_snapshot:
                reader.stalled = False
                await reader.send(frame.text, frame.epoch, frame.seq, snapshot=True)
            return True
        if (frame.epoch, frame.seq) <= (reader.epoch, reader.seq):
            return True  # is in the snapshot it was sent
        if frame.full or (frame.epoch == reader.epoch and frame.from_seq == reader.seq):
            if not reader.window_open:
                reader.stalled = True
                return True
            await reader.send(frame.text, frame.epoch, frame.seq, snapshot=frame.full)
            return True
        reader.stalled = True
        return not reader.window_open

    async def _resume_lost(self) -> None:
        for reader in tuple(self.readers):
            if reader.stalled and reader.window_open:
                await self.send_snapshot(reader)

    async def end(self) -> None:
        """The lab is deleted: its readers hear of it, and look for it again on their own, as its owner can
        restore it."""
        for reader in tuple(self.readers):
            self.leave(reader)
            await reader.close(CLOSE_UNKNOWN_LAB)

    # -- the browser's two messages --------------------------------------------------------------------------

    async def acknowledge(self, reader: Reader, seq: int) -> None:
        """The browser has drawn up to seq; one that lagged goes on from a snapshot."""
        reader.acknowledge(seq)
        if reader.stalled and reader.window_open:
            await self.send_snapshot(reader)

    async def send_snapshot(self, reader: Reader) -> None:
        """Send the lab as it is: the newest snapshot and the frames after it. If none leads here, the shard
        is asked for a full frame."""
        if not reader.may_have_snapshot:
            return
        after = self._frames_after_start()
        if after is None or len(after) > SNAPSHOT_FRAMES_MAX:
            await self._read_start()
            after = self._frames_after_start()
        if reader not in self.readers or not reader.may_have_snapshot:
            return
        if after is None or self._start is None:
            reader.stalled = True  # the full frame that comes will set it going
            await self._ask_full()
            return
        epoch, seq, text = self._start
        reader.stalled = False
        await reader.send(text, epoch, seq, snapshot=True)
        for frame in after:
            if not reader.window_open:
                reader.stalled = True
                return
            await reader.send(frame.text, frame.epoch, frame.seq, snapshot=False)

    def _frames_after_start(self) -> list[Frame] | None:
        """The frames that lead from the newest snapshot to now; None when it does not connect."""
        if self._start is None or self._start[0] < self.epoch:
            return None
        _epoch, seq, _text = self._start
        after = [frame for frame in self._frames if frame.seq > seq]
        if not after:
            return after if seq >= self.seq else None
        return after if after[0].from_seq == seq else None

    async def begin(self) -> None:
        """Read the stored view before the stream, which may still hold older snapshots than a page has been
        drawn with."""
        try:
            await self._read_start()
        finally:
            self.has_begun = True

    async def _read_start(self) -> None:
        """Read the stored view; all who ask at the same time share one reading."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_start_once())
        try:
            await asyncio.shield(self._reading)
        finally:
            if self._reading is not None and self._reading.done():
                self._reading = None

    async def _read_start_once(self) -> None:
        found = await in_thread(selectors.lab_snapshot_text)(lab_id=self.lab_id)
        if found is not None and (self._start is None or found[:2] > self._start[:2]):
            self._start = found

    async def _ask_full(self) -> None:
        if time.monotonic() - self._asked_full_s >= FULL_AGAIN_S:
            self._asked_full_s = time.monotonic()
            await self._feed.tell_shard(self.lab_id, WANTS_FULL + self.lab_id)

    def leave(self, reader: Reader) -> None:
        self.readers.discard(reader)
        self._feed.left(self)


class Feed:
    """All watched labs of this process. Runs while somebody watches."""

    def __init__(self) -> None:
        self.labs: dict[str, LabFeed] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._redis = redis.asyncio.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=settings.REDIS_TIMEOUT_S,
            socket_connect_timeout=settings.REDIS_TIMEOUT_S,
        )
        self._stored_s = -1e9
        self._changed = asyncio.Event()  # the set of watched labs grew
        self._read_client_id: int | None = None

    async def watch(self, lab_id: str, reader: Reader) -> LabFeed:
        """Join a socket to a lab: it is sent a snapshot, then every frame after it."""
        lab = self.labs.get(lab_id)
        if lab is None:
            lab = self.labs[lab_id] = LabFeed(lab_id, self)
        is_first, brings = not lab.readers, set(reader.panels) - lab.panels
        lab.readers.add(reader)
        if is_first:
            await lab.begin()
            await self._start_reading()
        if is_first or brings:
            await self._mark([lab_id])
            await in_thread(services.lab_watched)(lab_ids=[lab_id], wake=True)
        await lab.send_snapshot(reader)
        return lab

    def left(self, lab: LabFeed) -> None:
        if not lab.readers and self.labs.get(lab.lab_id) is lab:
            del self.labs[lab.lab_id]

    async def _start_reading(self) -> None:
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._keep_marking())]
        elif self._read_client_id is not None:
            with contextlib.suppress(RedisError, OSError):  # else the new lab's stream is read a second later
                await self._redis.client_unblock(self._read_client_id)

    # -- the one reader --------------------------------------------------------------------------------------

    async def _read(self) -> None:
        """Read all streams forever, over its own connection; retry while Redis is away."""
        while True:
            client = redis.asyncio.Redis.from_url(
                settings.REDIS_URL, single_connection_client=True,
                socket_timeout=READ_BLOCK_MS / 1000 + 1, socket_connect_timeout=settings.REDIS_TIMEOUT_S,
            )  # fmt: skip
            try:
                self._read_client_id = int(await client.client_id())
                while True:
                    await self._read_once(client)
            except (RedisError, OSError):
                self._read_client_id = None
                await asyncio.sleep(RETRY_S)
            except Exception:
                log.exception("error in the live feed; continuing")
                await asyncio.sleep(RETRY_S)
            finally:
                with contextlib.suppress(RedisError, OSError):
                    await client.aclose()

    async def _read_once(self, client: Any) -> None:
        by_key = {stream_key(lab_id).encode(): lab for lab_id, lab in self.labs.items() if lab.has_begun}
        streams = {key.decode(): lab.last_id for key, lab in by_key.items()}
        if not streams:
            await asyncio.sleep(0.02)
            return
        for key, entries in await client.xread(streams, block=READ_BLOCK_MS):
            lab = by_key[key]
            for entry_id, fields in entries:
                lab.last_id = entry_id
                if GONE.encode() in fields:
                    await self._end_deleted([lab.lab_id])
                    continue
                try:
                    await lab.receive(Frame.from_fields(lab.lab_id, fields))
                except (LookupError, ValueError):  # this lab's stream holds something other than a frame
                    log.exception("lab %s: skipping an unreadable stream entry", lab.lab_id)

    # -- telling others --------------------------------------------------------------------------------------

    async def _keep_marking(self) -> None:
        while True:
            await asyncio.sleep(MARK_EVERY_S)
            lab_ids = list(self.labs)
            if not lab_ids:
                continue
            await self._mark(lab_ids)
            if time.monotonic() - self._stored_s >= STORE_EVERY_S:
                self._stored_s = time.monotonic()
                try:
                    await self._end_deleted(lab_ids)
                    await in_thread(services.lab_watched)(lab_ids=lab_ids)
                except Exception:
                    log.exception("storing the viewers failed; trying again in %s s", STORE_EVERY_S)

    async def _end_deleted(self, lab_ids: list[str]) -> None:
        """Let those of these labs go that are no longer there."""
        there = await in_thread(selectors.labs_there)(lab_ids=lab_ids)
        for lab_id in set(lab_ids) - there:
            if (lab := self.labs.get(lab_id)) is not None:
                await lab.end()

    async def _mark(self, lab_ids: list[str]) -> None:
        panels = {lab_id: lab.panels for lab_id in lab_ids if (lab := self.labs.get(lab_id)) is not None}
        with contextlib.suppress(
            RedisError, OSError
        ):  # the shards remember for a while, and soon hear it again
            async with self._redis.pipeline(transaction=False) as pipe:
                for lab_id in lab_ids:
                    for part in ("", *panels.get(lab_id, ())):
                        pipe.set(watched_key(lab_id, part), 1, ex=WATCHED_S)
                await pipe.execute()

    async def tell_shard(self, lab_id: str, entry: str) -> None:
        with contextlib.suppress(RedisError, OSError):  # asked again when the reader asks again
            shard = await in_thread(selectors.lab_shard)(lab_id=lab_id)
            await self._redis.rpush(wake_key(shard), entry)


_feed: Feed | None = None


def feed() -> Feed:
    """This process's feed."""
    global _feed
    if _feed is None:
        _feed = Feed()
    return _feed
