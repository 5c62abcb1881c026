"""Clicks on running labs: from the POST to the frame that shows the change, as a browser on the same machine
sees it."""

import asyncio
import http.client
import json
import random
from typing import Any

from tests.bench.sockets import Client, connect
from tests.dashboard.processes import Site


class WatchedLab:
    """A lab with one watching client, and the means to click on it."""

    def __init__(self, site: Site, lab: dict[str, Any]) -> None:
        self.site, self.id, self.token = site, lab["id"], lab["owner_token"]
        self.clicks = 0
        self.waiting: tuple[int, asyncio.Event] | None = None
        self.client: Client | None = None

    async def watch(self) -> None:
        self.client = await connect(self.site.port, f"/ws/labs/{self.id}/", self._seen)

    def _seen(self, client: Client, payload: bytes) -> None:
        if self.waiting is not None:
            position, shown = self.waiting
            # In a frame the timeline's new entry is a path; in a snapshot it is a key.
            if b'"/timeline/%d"' % position in payload or b'"%d":{"at_us":' % position in payload:
                shown.set()

    async def click(self, connection: http.client.HTTPConnection) -> float:
        """Pause or resume a consumer; the seconds until the lab's timeline shows it on the socket."""
        loop = asyncio.get_running_loop()
        self.clicks += 1
        # Places follow one another and the lab's first command is its own `play`, so the place is known
        # before the answer.
        self.waiting = (self.clicks + 1, asyncio.Event())
        body = {
            "command_id": f"click-{self.clicks}",
            "kind": "pause" if self.clicks % 2 else "resume",
            "consumer": "c1",
        }
        started_s = loop.time()
        shown = asyncio.create_task(self.waiting[1].wait())
        status = await loop.run_in_executor(None, self._post, connection, body)
        if status != 202:
            raise RuntimeError(f"click refused: {status}")
        await asyncio.wait_for(shown, 20)
        return loop.time() - started_s

    def _post(self, connection: http.client.HTTPConnection, body: dict[str, Any]) -> int:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        connection.request("POST", f"/api/labs/{self.id}/commands/", json.dumps(body), headers)
        response = connection.getresponse()
        response.read()
        return response.status


def lab_made(site: Site, scenario: dict[str, Any]) -> dict[str, Any]:
    """A new lab. Raises RuntimeError with the site's answer when it does not take the scenario."""
    status, answer = site.request("POST", "/api/labs/", scenario)
    if status != 201:
        raise RuntimeError(f"a lab of a bench is refused: {answer}")
    return dict(answer)


async def click_often(labs: list[WatchedLab], count: int, pause_s: float, seed: int = 7) -> list[float]:
    """Seconds from click to frame, `count` times, on labs drawn by a seed."""
    chance = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", labs[0].site.port)
    seconds = []
    for _click in range(count):
        seconds.append(await chance.choice(labs).click(connection))
        await asyncio.sleep(pause_s * (0.5 + chance.random()))
    return seconds
