"""Who may open a websocket, in which language it speaks, that its place is free again however it ends, and
what a watcher receives."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard import doors as module
from dashboard.consumers import origin_is_ours, unknown_socket
from dashboard.doors import CountedConsumer, Doors
from dashboard.models import Study
from dashboard.studies.consumers import language_of
from dashboard.studies.watch import Watch, Watcher, _tell


def scope(address: str = "192.0.2.7", **headers: str) -> dict[str, Any]:
    encoded = [(name.replace("_", "-").encode(), value.encode("latin1")) for name, value in headers.items()]
    return {"type": "websocket", "headers": encoded, "client": [address, 4711]}


# -- whose page ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "is_ours"),
    [
        ({"host": "localhost:8000"}, True),                                               # a program
        ({"host": "localhost:8000", "origin": "http://localhost:8000"}, True),
        ({"host": "LOCALHOST:8000", "origin": "https://localhost:8000"}, True),           # behind TLS
        ({"host": "localhost", "origin": "http://LOCALHOST"}, True),
        ({"host": "localhost:8000", "origin": "http://localhost:8001"}, False),
        ({"host": "localhost:8000", "origin": "http://localhost"}, False),
        ({"host": "localhost:8000", "origin": "http://evil.example"}, False),
        ({"host": "localhost:8000", "origin": "ftp://localhost:8000"}, False),
        ({"host": "localhost:8000", "origin": "localhost:8000"}, False),
        ({"host": "localhost:8000", "origin": "null"}, False),
        ({"host": "localhost:8000", "origin": ""}, False),
        # of its own site, which is not this one
        ({"host": "evil.example", "origin": "http://evil.example"}, False),
        ({"host": "evil.example"}, False),
        ({"host": "localhost.evil.example:8000"}, False),
        ({}, False),
    ],
)  # fmt: skip
def test_a_socket_is_opened_by_this_sites_own_page_or_by_a_program(
    headers: dict[str, str], is_ours: bool
) -> None:
    assert origin_is_ours(scope(**headers)) == is_ours


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ({}, "en"),
        ({"accept_language": "zh-CN,zh;q=0.9"}, "zh-hans"),
        ({"accept_language": "de"}, "en"),
        ({"accept_language": "zh-CN", "cookie": "django_language=en"}, "en"),
        ({"cookie": "a=b; django_language=zh-hans"}, "zh-hans"),
        ({"cookie": "django_language=nonsense", "accept_language": "zh"}, "zh-hans"),
    ],
)
def test_a_socket_speaks_the_language_of_the_browsers_pages(headers: dict[str, str], language: str) -> None:
    assert language_of(scope(**headers)) == language


async def test_an_address_where_there_is_nothing_is_answered_by_its_code() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await unknown_socket(scope(), None, send)
    assert sent == [{"type": "websocket.accept"}, {"type": "websocket.close", "code": 4404}]


# -- places --------------------------------------------------------------------------------------------------


class Guest(CountedConsumer):
    """Takes its place, then does as ordered: end, or fail."""

    channel_layer_alias = "none"

    async def dispatch(self, message: Any) -> None:
        self.took = self.enter()
        if message["type"] == "fails":
            raise RuntimeError("in the middle")
        await asyncio.Event().wait()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Doors:
    settings.SOCKETS_ADDRESS_MAX = 2
    fresh = Doors()
    monkeypatch.setattr(module, "_doors", fresh)
    return fresh


async def visit(counted: Doors, how: str) -> None:
    """A socket comes; one that would stay is cancelled once it has its place."""

    async def receive() -> Any:
        return {"type": how}

    async def send(_message: Any) -> None: ...

    guest = asyncio.create_task(Guest()(scope(), receive, send))
    while not counted._open and not guest.done():
        await asyncio.sleep(0)
    if how == "stays":
        guest.cancel()
    await guest


@pytest.mark.parametrize(("how", "error"), [("fails", RuntimeError), ("stays", asyncio.CancelledError)])
async def test_however_a_socket_ends_its_place_is_free_again(
    counted: Doors, how: str, error: type[BaseException]
) -> None:
    for _visit in range(5):
        with pytest.raises(error):
            await visit(counted, how)
        assert list(counted._open) == []


async def test_who_found_no_room_gives_no_place_back(counted: Doors, settings: Any) -> None:
    settings.SOCKETS_ADDRESS_MAX = 0
    with pytest.raises(RuntimeError):
        await visit(counted, "fails")
    settings.SOCKETS_ADDRESS_MAX = 1
    assert counted.enter("a") and not counted.enter("a") and counted._open["a"] == 1


# -- what a watcher receives --------------------------------------------------------------------------------


class Socket:
    """A watcher of a study and what it was sent."""

    def __init__(self, study_id: str = "s", *, is_broken: bool = False) -> None:
        self.sent: list[Any] = []
        self.is_broken = is_broken
        self.watcher = Watcher(
            study_id, self._send, lambda stored: stored and f"because of {stored['template']}"
        )

    async def _send(self, text: str) -> None:
        if self.is_broken:
            raise ConnectionError
        self.sent.append(json.loads(text))


def study(state: str) -> Study:
    found: Any = SimpleNamespace(pk="s", state=state)
    return found


async def test_a_watcher_hears_what_is_new_and_nothing_twice() -> None:
    socket = Socket()
    running: dict[str, Any] = {"type": "progress", "rows": 5, "error": None}
    for _look in range(3):
        await _tell(socket.watcher, study("running"), running, 0, [])
    await _tell(socket.watcher, study("running"), running | {"rows": 6}, 0, [])
    assert [message["rows"] for message in socket.sent] == [5, 6] and not socket.watcher.ended


async def test_a_window_is_told_once_for_each_of_its_versions() -> None:
    socket = Socket()
    message: dict[str, Any] = {"type": "progress", "error": None}
    windows = [(4, {"start_us": 0, "lag": 1}), (6, {"start_us": 5, "lag": 2})]
    await _tell(socket.watcher, study("running"), message, 6, windows)
    await _tell(socket.watcher, study("running"), message, 6, windows)
    await _tell(socket.watcher, study("running"), message, 7, [*windows, (7, {"start_us": 0, "lag": 3})])
    told = [each["rows"] for each in socket.sent if each["type"] == "window"]
    assert told == [[{"start_us": 0, "lag": 1}, {"start_us": 5, "lag": 2}], [{"start_us": 0, "lag": 3}]]
    assert socket.watcher.version == 7


@pytest.mark.parametrize(
    ("state", "has_ended"),
    [("queued", False), ("running", False), ("done", True), ("failed", True), ("cancelled", True)],
)
async def test_what_has_ended_is_told_in_the_watchers_words_and_asked_about_no_more(
    state: str, has_ended: bool
) -> None:
    socket = Socket()
    await _tell(
        socket.watcher,
        study(state),
        {"type": "progress", "error": {"template": "a full disk"} if state == "failed" else None},
        0,
        [],
    )
    assert socket.watcher.ended == has_ended
    assert socket.sent[0]["error"] == ("because of a full disk" if state == "failed" else None)


async def test_a_socket_that_is_gone_takes_nobody_along() -> None:
    broken = Socket(is_broken=True)
    await _tell(broken.watcher, study("done"), {"type": "progress", "error": None}, 3, [(3, {})])
    assert broken.watcher.ended and broken.watcher.version == 3


def test_a_study_that_nobody_watches_any_more_is_forgotten() -> None:
    watch, first, second = Watch(), Socket().watcher, Socket().watcher
    watch.watchers["s"] = {first, second}
    watch.leave(first)
    assert watch.watchers == {"s": {second}}
    watch.leave(second)
    watch.leave(second)
    assert watch.watchers == {}
