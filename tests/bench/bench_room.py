"""A room of 200: from the presenter's click to all who follow. Each attendee has two sockets, as a browser has: the
room's and the lab's; both acknowledge. Some more read nothing at all. Then all of them answer a question at once.

Run alone: python -m tests.bench.bench_room
"""

import asyncio
import contextlib
import http.client
import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.bench.bench_feed import cpu_s
from tests.bench.clicks import WatchedLab, lab_made
from tests.bench.sockets import Client, connect, quantile
from tests.dashboard.processes import Site

Figure = tuple[str, float, str, str, str]
ATTENDEES, DEAF = 200, 20
CLICKS = 60
BROWSERS_AT_ONCE, WARM_TRIES = 8, 12
PAUSE_S = 0.15
WITHIN_S = 20.0
VISITOR = "bench-presenter-0123456789"
CSRF = "c" * 32


class Attendees:
    """Everybody's sockets, and when each has heard what is waited for."""

    def __init__(self) -> None:
        self.clients: list[Client] = []
        self._wanted: tuple[bytes, ...] = ()
        self._missing: set[Client] = set()
        self._done = asyncio.Event()
        self.delays_s: list[float] = []
        self._clicked_s = 0.0

    def heard(self, client: Client, payload: bytes) -> None:
        if payload.startswith(b'{"type":"tally"'):
            client.send(1, b'{"type":"ack","seq":%d}' % client.seq)
        if client in self._missing and any(each in payload for each in self._wanted):
            self._missing.discard(client)
            self.delays_s.append(asyncio.get_running_loop().time() - self._clicked_s)
            if not self._missing:
                self._done.set()

    def await_(self, clients: list[Client], *wanted: bytes) -> None:
        self._wanted, self._missing = wanted, set(clients)
        self._done.clear()
        self._clicked_s = asyncio.get_running_loop().time()

    async def all_heard(self) -> float:
        """Seconds from the click until the last one has heard it."""
        await asyncio.wait_for(self._done.wait(), WITHIN_S)
        return asyncio.get_running_loop().time() - self._clicked_s


def run() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder,
        Site(Path(folder), past=True) as site,
    ):
        return asyncio.run(_measure(site))


async def _measure(site: Site) -> list[Figure]:
    lab = WatchedLab(site, lab_made(site, {"scenario": "demo"}))
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    room = _asked(connection, "POST", "/api/rooms/", {"lab": lab.id})
    code, all_ = room["code"], Attendees()
    rooms = [await connect(site.port, f"/ws/rooms/{code}/", all_.heard) for _one in range(ATTENDEES)]
    labs = [await connect(site.port, f"/ws/labs/{lab.id}/", all_.heard) for _one in range(ATTENDEES)]
    for path in (f"/ws/rooms/{code}/", f"/ws/labs/{lab.id}/"):
        for _one in range(DEAF):
            deaf = await connect(site.port, path)
            assert deaf.transport is not None
            deaf.transport.pause_reading()
    await asyncio.sleep(2 * PAUSE_S)
    bytes_before = sum(client.bytes for client in rooms)
    web = site.children["web"].pid
    used_s, began_s, last_moves = cpu_s(web), time.monotonic(), []
    for number in range(CLICKS):
        all_.await_(rooms, b'"at_us":%d,' % (number + 1))
        await _in_thread(_asked, connection, "PATCH", f"/api/rooms/{code}/", {"shown": {"at_us": number + 1}})
        last_moves.append(await all_.all_heard())
        await asyncio.sleep(PAUSE_S)
    moves, all_.delays_s = all_.delays_s, []
    busy = (cpu_s(web) - used_s) / (time.monotonic() - began_s)
    bytes_each = (sum(client.bytes for client in rooms) - bytes_before) / len(rooms)
    for number in range(CLICKS):
        place = number + 2
        all_.await_(labs, b'"/timeline/%d"' % place, b'"%d":{"at_us":' % place)
        body = {"command_id": f"c{number}", "kind": "resume" if number % 2 else "pause", "consumer": "c1"}
        await _in_thread(lab._post, connection, body)
        await all_.all_heard()
        await asyncio.sleep(PAUSE_S)
    orders, all_.delays_s = all_.delays_s, []
    answered = await _answers(site, connection, code, rooms, all_)
    note = f"{CLICKS} clicks, {ATTENDEES} attendees with two sockets each, {DEAF} more that never read"
    return [
        ("presenter's move to one attendee, p50", quantile(moves, 0.5) * 1000, "ms", "", note),
        ("presenter's move to one attendee, p99", quantile(moves, 0.99) * 1000, "ms", "", note),
        ("presenter's move to all, p99", quantile(last_moves, 0.99) * 1000, "ms", "<= 300", note),
        ("presenter's order to a picture, p99", quantile(orders, 0.99) * 1000, "ms", "<= 300", note),
        ("bytes of the room to one attendee", bytes_each / CLICKS, "bytes a move", "<= 1000", ""),
        ("the web process, while the presenter moves", 100 * busy, "% of a core", "", ""),
        *answered,
    ]


async def _answers(
    site: Site, connection: http.client.HTTPConnection, code: str, rooms: list[Client], all_: Attendees
) -> list[Figure]:
    """All answer at once: how long it takes until the last one sees that all have, and what that costs a phone."""
    path = f"/api/rooms/{code}/"
    await _in_thread(_warm, connection, code)
    room = await _in_thread(_asked, connection, "POST", f"{path}question/", {"kind": "join", "lane": "kafka"})
    body = {"number": room["asked"]["number"], "chosen": 1, "marks": ["0", "3", "7"]}
    await _in_thread(
        _asked, connection, "PATCH", f"{path}question/", {"number": body["number"], "bars_shown": True}
    )
    people = [f"bench-attendee-{number:010d}" for number in range(ATTENDEES)]
    with ThreadPoolExecutor(BROWSERS_AT_ONCE) as pool:
        loop, ways = (
            asyncio.get_running_loop(),
            [http.client.HTTPConnection("127.0.0.1", site.port) for _ in people],
        )

        async def everybody(what: str, given: Any) -> None:
            asks = [
                loop.run_in_executor(pool, _asked, way, "POST", f"{path}{what}/", given, person)
                for way, person in zip(ways, people, strict=True)
            ]
            await asyncio.gather(*asks)

        await everybody("seat", {})
        bytes_before, began_s = sum(client.bytes for client in rooms), loop.time()
        all_.await_(rooms, b'"answered":%d,' % ATTENDEES)
        await everybody("answer", body)
        taken_s = loop.time() - began_s
        all_s = await all_.all_heard()
    bytes_each = (sum(client.bytes for client in rooms) - bytes_before) / len(rooms)
    note = f"{ATTENDEES} answers with marks, {BROWSERS_AT_ONCE} at a time, the bars shown"
    return [
        ("answers of the room", ATTENDEES / taken_s, "answers/s", "", note),
        ("from the first answer until all see all", all_s, "s", "<= 5", note),
        ("bytes of the tallies to one attendee", bytes_each, "bytes", "<= 10000", note),
    ]


def _warm(connection: http.client.HTTPConnection, code: str) -> None:
    """The worker of looks back has imported what it needs once it has answered."""
    room = _asked(connection, "GET", f"/api/rooms/{code}/", None)
    for _try in range(WARM_TRIES):
        with contextlib.suppress(RuntimeError):
            _asked(connection, "GET", f"/api/labs/{room['lab']}/trial/?kind=join&count=1", None)
            return


async def _in_thread(function: Any, *given: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, function, *given)


def _asked(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any, visitor: str = VISITOR
) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "Cookie": f"highwater_visitor={visitor}; csrftoken={CSRF}"}
    connection.request(method, path, json.dumps(body), headers | {"X-CSRFToken": CSRF})
    response = connection.getresponse()
    answer: dict[str, Any] = json.loads(response.read())
    if response.status not in (200, 201):
        raise RuntimeError(f"a room of a bench is refused: {answer}")
    return answer


if __name__ == "__main__":
    for figure in run():
        print(figure)
