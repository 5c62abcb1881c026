"""One socket of the live feed, step by step: this frame comes, this is sent, this is acknowledged; and the
one reader of all streams."""

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard import allowance
from dashboard.labs import feed as feeds
from dashboard.labs.feed import Feed, LabFeed, Reader, TooMany
from dashboard.labs.transport import WANTS_FULL, Frame, stream_key, wake_key


class Socket:
    """A reader and what went out to its browser: seqs of frames, negative ones of snapshots, texts of
    closings."""

    def __init__(self) -> None:
        self.out: list[Any] = []
        self.reader = Reader(self._send)

    async def _send(self, message: dict[str, Any]) -> None:
        self.out.append(
            f"closed {message['code']}"
            if message["type"] == "websocket.close"
            else json.loads(message["text"])["seq"]
        )


class Surroundings:
    """What a lab's feed asks of the process: whom it tells that it is left, whom it asks for a full frame."""

    def __init__(self) -> None:
        self.left_labs: list[str] = []
        self.told: list[tuple[str, str]] = []

    def left(self, lab: LabFeed) -> None:
        self.left_labs.append(lab.lab_id)

    async def tell_shard(self, lab_id: str, entry: str) -> None:
        self.told.append((lab_id, entry))


class Clock:
    now_s = 50.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(feeds, "time", clock)
    monkeypatch.setattr(allowance, "time", clock)
    return clock


def frame(seq: int, *, epoch: int = 1, after: int | None = None) -> Frame:
    return Frame("lab", epoch, seq - 1 if after is None else after, seq, False, json.dumps({"seq": seq}))


def full(seq: int, *, epoch: int = 1) -> Frame:
    return Frame("lab", epoch, seq, seq, True, json.dumps({"seq": -seq}))


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The stored view: row is (epoch, seq, text), None for none. asked: how often it was read."""
    state: dict[str, Any] = {"row": None, "asked": 0}

    def read(*, lab_id: str) -> Any:
        state["asked"] += 1
        return state["row"]

    monkeypatch.setattr(feeds.selectors, "lab_snapshot_text", read)
    monkeypatch.setattr(feeds, "in_thread", _here)
    return state


def _here(function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(**arguments: Any) -> Any:
        return function(**arguments)

    return call


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


@pytest.fixture
def lab(around: Surroundings, stored: dict[str, Any]) -> LabFeed:
    return LabFeed("lab", around)  # type: ignore[arg-type]


async def sent(lab: LabFeed, *frames: Frame, to: Socket) -> list[Any]:
    """What these frames made go out to the socket."""
    before = len(to.out)
    for each in frames:
        await lab.receive(each)
    return to.out[before:]


@pytest.fixture
async def socket(lab: LabFeed) -> Socket:
    """A socket that has the snapshot of frame 10, and has drawn it."""
    socket = Socket()
    lab.readers.add(socket.reader)
    await lab.receive(full(10))
    assert socket.out == [-10]
    await lab.acknowledge(socket.reader, 10)
    return socket


# -- what a reader is sent -----------------------------------------------------------------------------------


async def test_each_frame_goes_out_once_and_only_in_its_place(lab: LabFeed, socket: Socket) -> None:
    assert await sent(lab, frame(11), frame(12), to=socket) == [11, 12]
    assert await sent(lab, frame(12), frame(11, after=9), to=socket) == [], "it has these"
    assert await sent(lab, frame(13), to=socket) == [13]


async def test_nothing_but_a_full_frame_reaches_a_newcomer(
    lab: LabFeed, around: Surroundings, stored: Any
) -> None:
    newcomer = Socket()
    lab.readers.add(newcomer.reader)
    assert await sent(lab, frame(4), frame(5), to=newcomer) == [] and (stored["asked"], around.told) == (
        0,
        [],
    )
    assert await sent(lab, full(5), frame(6), to=newcomer) == [-5, 6]


async def test_a_full_frame_is_a_snapshot_to_who_follows_too_but_not_again_to_who_is_there(
    lab: LabFeed, socket: Socket
) -> None:
    assert await sent(lab, full(11), to=socket) == [-11]
    assert await sent(lab, full(11), to=socket) == []


async def test_a_new_holders_frames_count_from_anywhere_and_the_old_ones_are_dropped(
    lab: LabFeed, socket: Socket
) -> None:
    assert await sent(lab, full(3, epoch=2), frame(4, epoch=2), to=socket) == [-3, 4]
    assert await sent(lab, frame(11), full(12), to=socket) == []
    assert (lab.epoch, lab.seq) == (2, 4)


async def test_beyond_the_window_nothing_goes_out_until_enough_is_drawn(
    lab: LabFeed, socket: Socket, settings: Any
) -> None:
    settings.FEED_WINDOW = 3
    assert await sent(lab, *map(frame, range(11, 16)), to=socket) == [11, 12, 13]
    assert socket.reader.stalled
    assert await sent(lab, full(16), to=socket) == [], "a snapshot is no way round the window"
    await lab.acknowledge(socket.reader, 10)
    assert socket.out[-1] == 13, "nothing new is drawn"
    await lab.acknowledge(socket.reader, 11)
    assert socket.out[-1] == -16, "from a snapshot, not from where it was"
    assert await sent(lab, frame(17), to=socket) == []
    await lab.acknowledge(socket.reader, 99)
    assert socket.out[-2:] == [-16, 17] and list(socket.reader.in_flight) == [(16, True), (17, False)]


async def test_an_acknowledgement_of_all_up_to_a_frame_takes_those_before_along(
    lab: LabFeed, socket: Socket
) -> None:
    await sent(lab, frame(11), frame(12), frame(13), to=socket)
    socket.reader.acknowledge(12)
    assert list(socket.reader.in_flight) == [(13, False)]
    socket.reader.acknowledge(2)
    assert list(socket.reader.in_flight) == [(13, False)]


async def test_what_drew_no_snapshot_gets_no_fourth(lab: LabFeed, socket: Socket) -> None:
    for _request in range(5):
        await lab.send_snapshot(socket.reader)
    assert socket.out == [-10] * (1 + feeds.SNAPSHOTS_UNACKED_MAX)
    assert not socket.reader.may_have_snapshot
    await lab.acknowledge(socket.reader, 10)
    await lab.send_snapshot(socket.reader)
    assert socket.out == [-10] * (2 + feeds.SNAPSHOTS_UNACKED_MAX)


async def test_who_has_left_is_sent_nothing_more(lab: LabFeed, socket: Socket, around: Surroundings) -> None:
    lab.leave(socket.reader)
    assert await sent(lab, frame(11), full(12), to=socket) == []
    await lab.send_snapshot(socket.reader)
    assert socket.out == [-10] and around.left_labs == ["lab"]


async def test_a_socket_that_breaks_is_told_and_let_go(
    lab: LabFeed, socket: Socket, around: Surroundings
) -> None:
    broken = Socket()

    async def fails(message: dict[str, Any]) -> None:
        broken.out.append(message)
        raise RuntimeError("gone")

    broken.reader._send = fails
    broken.reader.stalled, broken.reader.epoch, broken.reader.seq = False, 1, 10
    lab.readers.add(broken.reader)
    assert await sent(lab, frame(11), to=socket) == [11]
    assert [message["type"] for message in broken.out] == ["websocket.send", "websocket.close"]
    assert broken.out[1]["code"] == 1011 and lab.readers == {socket.reader} and around.left_labs == ["lab"]


async def test_a_lab_that_is_deleted_closes_all_its_sockets(lab: LabFeed, socket: Socket) -> None:
    other = Socket()
    lab.readers.add(other.reader)
    await lab.end()
    assert socket.out[-1] == other.out[-1] == "closed 4404" and not lab.readers


# -- where a snapshot comes from -----------------------------------------------------------------------------


async def join(lab: LabFeed) -> Socket:
    socket = Socket()
    lab.readers.add(socket.reader)
    await lab.send_snapshot(socket.reader)
    return socket


async def test_a_newcomer_starts_from_the_newest_snapshot_known_without_the_database(
    lab: LabFeed, stored: Any
) -> None:
    await sent(lab, full(10), frame(11), frame(12), to=Socket())
    newcomer = await join(lab)
    assert newcomer.out == [-10, 11, 12] and stored["asked"] == 0
    assert list(newcomer.reader.in_flight) == [(10, True), (11, False), (12, False)]


@pytest.mark.parametrize(
    ("frames", "asked"), [(feeds.SNAPSHOT_FRAMES_MAX, 0), (feeds.SNAPSHOT_FRAMES_MAX + 1, 1)]
)
async def test_a_snapshot_with_many_frames_after_it_is_read_again(
    lab: LabFeed, stored: Any, frames: int, asked: int
) -> None:
    await sent(lab, full(10), *(frame(seq) for seq in range(11, 11 + frames)), to=Socket())
    stored["row"] = (1, 10 + frames, json.dumps({"seq": -10 - frames}))
    newcomer = await join(lab)
    assert stored["asked"] == asked and len(newcomer.out) == (1 if asked else 1 + frames)


async def test_an_older_stored_view_does_not_replace_the_snapshot_that_is_known(
    lab: LabFeed, stored: Any
) -> None:
    many = range(11, 12 + feeds.SNAPSHOT_FRAMES_MAX)
    await sent(lab, full(10), *map(frame, many), to=Socket())
    stored["row"] = (1, 9, '{"seq":-9}')
    assert (await join(lab)).out == [-10, *many] and stored["asked"] == 1


@pytest.mark.parametrize("row", [None, (1, 8, '{"seq":-8}'), (0, 99, '{"seq":-99}')])
async def test_a_stored_view_that_does_not_lead_here_makes_the_shard_tell_all(
    lab: LabFeed, stored: Any, around: Surroundings, clock: Clock, row: Any
) -> None:
    stored["row"] = row
    await sent(lab, frame(10), frame(11), to=Socket())
    first, second = await join(lab), await join(lab)
    assert first.out == second.out == [] and around.told == [("lab", WANTS_FULL + "lab")], (
        "asked once for both"
    )
    clock.now_s += feeds.FULL_AGAIN_S
    third = await join(lab)
    assert len(around.told) == 2
    await lab.receive(full(12))
    assert first.out == second.out == third.out == [-12]


async def test_the_stored_view_of_a_quiet_lab_is_all_that_there_is(
    lab: LabFeed, stored: Any, around: Surroundings
) -> None:
    stored["row"] = (4, 7, '{"seq":-7}')
    assert (await join(lab)).out == [-7] and around.told == []


async def test_a_missing_frame_lets_who_follows_go_on_from_a_snapshot_that_leads_here(
    lab: LabFeed, socket: Socket, stored: Any
) -> None:
    stored["row"] = (1, 12, '{"seq":-12}')
    assert await sent(lab, frame(13), to=socket) == [-12, 13]
    assert await sent(lab, frame(14), to=socket) == [14]


# -- messages of a browser -----------------------------------------------------------------------------------


def test_a_browser_may_send_two_seconds_worth_at_once_and_then_as_many_as_there_are_frames(
    clock: Clock, settings: Any
) -> None:
    settings.SOCKET_MESSAGES_PER_S = 10
    reader = Socket().reader

    def allowed() -> int:
        for count in range(100):
            try:
                reader.count_message()
            except TooMany:
                return count
        return 100

    assert allowed() == 20
    clock.now_s += 0.5
    assert allowed() == 4, "of the five, the refused one cost one"
    clock.now_s += 60
    assert allowed() == 20


# -- the reader of all streams -------------------------------------------------------------------------------


class Streams:
    """Redis' answer to one reading, and what was asked."""

    def __init__(self, **entries: list[Any]) -> None:
        self.entries, self.asked = entries, {}

    async def xread(self, streams: dict[str, bytes], block: int) -> Any:
        self.asked = streams
        return [(stream_key(lab).encode(), entries) for lab, entries in self.entries.items()]


def fields(each: Frame) -> dict[bytes, bytes]:
    return {name.encode(): str(value).encode() for name, value in each.fields().items()}


def watched(feed: Feed, lab_id: str) -> Socket:
    """A socket that is at frame 10 of a watched lab."""
    lab = feed.labs.setdefault(lab_id, LabFeed(lab_id, feed))
    socket = Socket()
    socket.reader.stalled, socket.reader.epoch, socket.reader.seq = False, 1, 10
    lab.epoch, lab.seq, lab.has_begun = 1, 10, True
    lab.readers.add(socket.reader)
    return socket


async def test_an_entry_that_is_no_frame_is_left_out_and_read_only_once(stored: Any) -> None:
    feed = Feed()
    socket, other = watched(feed, "one"), watched(feed, "two")
    spoilt = {**fields(frame(12)), b"s": b"many"}
    one = [(b"1-0", fields(frame(11))), (b"2-0", {b"x": b"y"}), (b"3-0", spoilt), (b"4-0", fields(frame(12)))]
    streams = Streams(one=one, two=[(b"9-0", fields(frame(11)))])
    await feed._read_once(streams)
    assert socket.out == [11, 12] and other.out == [11]
    assert streams.asked == {stream_key("one"): b"0", stream_key("two"): b"0"}
    quiet = Streams()
    await feed._read_once(quiet)
    assert quiet.asked == {stream_key("one"): b"4-0", stream_key("two"): b"9-0"}


async def test_a_lab_that_nobody_watches_any_more_is_not_read(stored: Any) -> None:
    feed = Feed()
    socket, _other = watched(feed, "one"), watched(feed, "two")
    feed.labs["one"].leave(socket.reader)
    streams = Streams()
    await feed._read_once(streams)
    assert list(streams.asked) == [stream_key("two")]


async def test_a_feed_that_was_left_does_not_take_its_successor_along() -> None:
    feed = Feed()
    watched(feed, "one")
    former = LabFeed("one", feed)
    feed.left(former)
    assert "one" in feed.labs


async def test_the_first_socket_of_a_lab_wakes_it_and_the_second_joins_the_first(
    stored: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, told = Feed(), []
    stored["row"] = (1, 5, '{"seq":-5}')

    async def nothing(*lab_ids: list[str]) -> None:
        told.extend(lab_ids)

    monkeypatch.setattr(feed, "_start_reading", nothing)
    monkeypatch.setattr(feed, "_mark", nothing)
    monkeypatch.setattr(feeds.services, "lab_watched", lambda **given: told.append(given))
    first, second, other = Socket(), Socket(), Socket()
    labs = [
        await feed.watch(lab_id, socket.reader)
        for lab_id, socket in (("one", first), ("one", second), ("two", other))
    ]
    assert labs[0] is labs[1] is feed.labs["one"] and labs[2] is feed.labs["two"]
    assert told == [["one"], {"lab_ids": ["one"], "wake": True}, ["two"], {"lab_ids": ["two"], "wake": True}]
    assert first.out == second.out == other.out == [-5]


async def test_a_full_frame_is_asked_of_the_labs_own_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds.selectors, "lab_shard", lambda *, lab_id: {"some-lab": 7}[lab_id])
    feed = Feed()
    asked: list[Any] = []

    async def rpush(key: str, entry: str) -> None:
        asked.append((key, entry))

    feed._redis = SimpleNamespace(rpush=rpush)  # type: ignore[assignment]
    await feed.tell_shard("some-lab", "full:some-lab")
    assert asked == [(wake_key(7), "full:some-lab")]


async def test_who_is_watched_is_marked_each_time_and_stored_now_and_then(
    stored: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MARK_EVERY_S", 0)
    feed, marked, kept = Feed(), [], []
    socket = watched(feed, "one")
    watched(feed, "two")

    async def mark(lab_ids: list[str]) -> None:
        marked.append(sorted(lab_ids))
        clock.now_s += feeds.STORE_EVERY_S / 2

    monkeypatch.setattr(feed, "_mark", mark)
    monkeypatch.setattr(feeds.services, "lab_watched", lambda *, lab_ids: kept.append(sorted(lab_ids)))
    monkeypatch.setattr(feeds.selectors, "labs_there", lambda *, lab_ids: set(lab_ids) - {"one"})
    keeping = asyncio.create_task(feed._keep_marking())
    while len(marked) < 4:
        await asyncio.sleep(0)
    keeping.cancel()
    assert marked == [["one", "two"], ["two"], ["two"], ["two"]] and kept == [["one", "two"], ["two"]]
    assert socket.out == ["closed 4404"], "a deleted lab's sockets hear of it although Redis never said so"
