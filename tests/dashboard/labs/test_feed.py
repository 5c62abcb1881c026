"""Flow control: no reader misses a frame unannounced, and one that does not read costs nobody anything."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from dashboard.labs import feed as feeds
from dashboard.labs.feed import LabFeed, Reader, TooMany
from dashboard.labs.transport import WANTS_FULL, Frame
from tests.dashboard.patching import follow


class Browser:
    """A socket's far end: what it was sent, and the view it holds if it could follow."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.reader = Reader(self._send)

    async def _send(self, message: dict[str, Any]) -> None:
        self.received.append(json.loads(message["text"]))

    @property
    def seqs(self) -> list[int]:
        return [message["seq"] for message in self.received]


class Shard:
    """Makes frames as the shard does, and keeps the stored view behind them by `lag` frames."""

    def __init__(self, epoch: int = 1) -> None:
        self.epoch, self.seq, self.stored = epoch, 0, 0
        self.told: list[str] = []

    def frame(self) -> Frame:
        self.seq += 1
        text = json.dumps({"type": "frame", "from_seq": self.seq - 1, "seq": self.seq, "events": [],
                           "patch": [{"op": "replace", "path": "/n", "value": self.seq}]})  # fmt: skip
        return Frame("lab", self.epoch, self.seq - 1, self.seq, False, text)

    def full(self) -> Frame:
        return Frame("lab", self.epoch, self.seq, self.seq, True, self.snapshot(self.seq))

    def snapshot(self, seq: int) -> str:
        return json.dumps({"type": "snapshot", "seq": seq, "view": {"n": seq}})

    async def tell_shard(self, lab_id: str, entry: str) -> None:
        self.told.append(entry)

    def left(self, lab: LabFeed) -> None: ...


@pytest.fixture
def shard() -> Shard:
    return Shard()


@pytest.fixture
def lab(shard: Shard, monkeypatch: pytest.MonkeyPatch) -> LabFeed:
    """A watched lab whose stored view is at shard.stored."""

    def stored(lab_id: str) -> tuple[int, int, str] | None:
        return (shard.epoch, shard.stored, shard.snapshot(shard.stored)) if shard.stored else None

    monkeypatch.setattr(feeds.selectors, "lab_snapshot_text", stored)
    monkeypatch.setattr(feeds, "in_thread", _at_once)
    return LabFeed("lab", shard)  # type: ignore[arg-type]


def _at_once(function: Callable[..., Any]) -> Callable[..., Any]:
    async def call(**arguments: Any) -> Any:
        await asyncio.sleep(0)
        return function(**arguments)

    return call


async def join(lab: LabFeed) -> Browser:
    browser = Browser()
    lab.readers.add(browser.reader)
    await lab.send_snapshot(browser.reader)
    return browser


async def pump(lab: LabFeed, shard: Shard, count: int, acknowledging: list[Browser]) -> None:
    for _frame in range(count):
        await lab.receive(shard.frame())
        shard.stored = shard.seq - shard.seq % 5  # the view is stored at every fifth frame
        for browser in acknowledging:
            await lab.acknowledge(browser.reader, browser.received[-1]["seq"])


@pytest.mark.asyncio
async def test_newcomer_gets_the_stored_view_and_the_frames_after_it(lab: LabFeed, shard: Shard) -> None:
    await pump(lab, shard, 13, [])
    browser = await join(lab)
    assert browser.seqs == [10, 11, 12, 13]
    await pump(lab, shard, 3, [browser])
    assert follow(browser.received) == {"n": 16}


@pytest.mark.asyncio
async def test_first_watcher_is_sent_nothing_older_than_the_stored_view(
    lab: LabFeed, shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that was drawn with the stored view would go back: its Cluster page told of a loss that there
    never was."""
    past = [shard.full(), *(shard.frame() for _ in range(3)), shard.full(), shard.frame(), shard.frame()]
    shard.stored = shard.seq
    feed, browser = feeds.Feed(), Browser()

    class Stream:
        def __init__(self, *frames: Frame) -> None:
            self.frames = frames

        async def xread(self, streams: dict[str, bytes], block: int) -> Any:
            key = next(iter(streams)).encode()
            return [
                (
                    key,
                    [
                        (
                            b"%d-0" % frame.seq,
                            {name.encode(): str(value).encode() for name, value in frame.fields().items()},
                        )
                        for frame in self.frames
                    ],
                )
            ]

    read = feeds.selectors.lab_snapshot_text

    async def stored_late(lab_id: str) -> Any:
        await feed._read_once(Stream(*past))  # the stream is quicker than the database
        return read(lab_id=lab_id)

    async def nothing(*_lab_ids: Any) -> None: ...

    async def done(**_about: Any) -> None: ...

    monkeypatch.setattr(feeds, "in_thread", lambda function: stored_late if function is read else done)
    monkeypatch.setattr(feed, "_start_reading", lambda: feed._read_once(Stream(*past)))
    monkeypatch.setattr(feed, "_mark", nothing)
    lab = await feed.watch("lab", browser.reader)
    assert set(browser.seqs) == {5}
    await lab.acknowledge(browser.reader, 5)
    later = Browser()
    await feed.watch("lab", later.reader)
    await feed._read_once(Stream(shard.frame(), shard.frame()))
    assert later.seqs == [5, 6, 7] and browser.seqs[-2:] == [6, 7]


@pytest.mark.asyncio
async def test_reader_that_waits_for_a_full_frame_is_sent_no_older_one_than_the_stored_view(
    lab: LabFeed, shard: Shard
) -> None:
    old = [shard.full(), shard.frame()]
    shard.seq = shard.stored = 9
    browser = await join(lab)
    browser.reader.stalled = True  # as after a gap
    for frame in old:
        await lab.receive(frame)
    assert browser.seqs == [9]
    await lab.receive(shard.full())
    await pump(lab, shard, 1, [browser])
    assert browser.seqs == [9, 9, 10]


@pytest.mark.asyncio
async def test_reader_that_acknowledges_misses_nothing(lab: LabFeed, shard: Shard) -> None:
    await pump(lab, shard, 5, [])
    browser = await join(lab)
    await pump(lab, shard, 200, [browser])
    assert browser.seqs == list(range(5, 206))


@pytest.mark.asyncio
async def test_reader_that_never_reads_is_sent_a_window_and_no_more(
    lab: LabFeed, shard: Shard, settings: Any
) -> None:
    await pump(lab, shard, 5, [])
    deaf, lively = await join(lab), await join(lab)
    await pump(lab, shard, 500, [lively])
    assert len(deaf.received) == settings.FEED_WINDOW
    assert lively.seqs == list(range(5, 506)), "the others' frames are untouched"


@pytest.mark.asyncio
async def test_reader_that_fell_behind_goes_on_from_a_snapshot(lab: LabFeed, shard: Shard) -> None:
    await pump(lab, shard, 5, [])
    browser = await join(lab)
    await pump(lab, shard, 60, [])
    await lab.acknowledge(browser.reader, browser.received[-1]["seq"])
    assert browser.received[-1]["seq"] == 65
    assert follow(browser.received) == {"n": 65}


@pytest.mark.asyncio
async def test_asking_for_snapshots_without_drawing_them_gets_few(lab: LabFeed, shard: Shard) -> None:
    await pump(lab, shard, 5, [])
    browser = await join(lab)
    for _request in range(100):
        await lab.send_snapshot(browser.reader)
    assert len(browser.received) == feeds.SNAPSHOTS_UNACKED_MAX


@pytest.mark.asyncio
async def test_frame_that_never_came_is_made_up_for_by_a_full_one(lab: LabFeed, shard: Shard) -> None:
    await pump(lab, shard, 5, [])
    browser = await join(lab)
    await pump(lab, shard, 2, [browser])
    shard.frame()  # published nowhere
    await lab.receive(shard.frame())
    assert shard.told == [WANTS_FULL + "lab"]
    await lab.receive(shard.full())
    await pump(lab, shard, 2, [browser])
    assert follow(browser.received) == {"n": 11}


@pytest.mark.asyncio
async def test_frames_of_a_holder_that_lost_its_lease_are_dropped(lab: LabFeed, shard: Shard) -> None:
    await pump(lab, shard, 5, [])
    browser = await join(lab)
    successor = Shard(epoch=2)
    successor.seq = 1000
    await lab.receive(successor.full())
    await lab.receive(shard.frame())
    await lab.receive(successor.frame())
    assert browser.seqs == [5, 1000, 1001]


@pytest.mark.asyncio
async def test_hundred_newcomers_at_once_cost_one_reading_of_the_database(
    lab: LabFeed, shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pump(lab, shard, 5, [])
    read = feeds.selectors.lab_snapshot_text
    readings = []
    monkeypatch.setattr(
        feeds.selectors, "lab_snapshot_text", lambda lab_id: readings.append(1) or read(lab_id=lab_id)
    )
    browsers = await asyncio.gather(*(join(lab) for _ in range(100)))
    assert len(readings) == 1 and all(browser.seqs == [5] for browser in browsers)


@pytest.mark.asyncio
async def test_socket_that_fails_is_let_go_and_the_others_go_on(lab: LabFeed, shard: Shard) -> None:
    await pump(lab, shard, 5, [])
    good = await join(lab)

    async def broken(_message: dict[str, Any]) -> None:
        raise ConnectionError

    bad = await join(lab)
    bad.reader._send = broken
    await pump(lab, shard, 2, [good])
    assert bad.reader not in lab.readers and good.seqs == [5, 6, 7]


def test_more_messages_than_frames_is_too_many(settings: Any) -> None:
    reader = Browser().reader
    with pytest.raises(TooMany):
        for _message in range(3 * settings.SOCKET_MESSAGES_PER_S):
            reader.count_message()


@pytest.mark.asyncio
async def test_who_watches_a_deleted_lab_is_told_and_one_that_was_restored_goes_on(
    lab: LabFeed, shard: Shard, monkeypatch: Any
) -> None:
    closed: list[int] = []

    async def send(message: dict[str, Any]) -> None:
        closed.append(message["code"])

    there = {lab.lab_id}
    monkeypatch.setattr(feeds.selectors, "labs_there", lambda lab_ids: there & set(lab_ids))
    feed = feeds.Feed()
    feed.labs[lab.lab_id], lab.has_begun = lab, True
    lab.readers.add(Reader(send))

    class Stream:
        async def xread(self, streams: dict[str, bytes], block: int) -> Any:
            return [(next(iter(streams)).encode(), [(b"1-0", {b"gone": b"1"})])]

    await feed._read_once(Stream())
    assert closed == [] and len(lab.readers) == 1
    there.clear()
    await feed._read_once(Stream())
    assert closed == [feeds.CLOSE_UNKNOWN_LAB] and not lab.readers
