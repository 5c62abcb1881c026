"""What the live feed costs: 200 clients at ten frames a second, against a Channels-group design in the same
run; and 20 that never read.

Only Redis, a web process and a publisher run, so that the numbers are the feed's own. Run alone: python -m
tests.bench.bench_feed
"""

import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.dashboard.processes import PYTHON, ROOT, Site, free_port

Figure = tuple[str, float, str, str, str]
CLIENTS, DEAF = 200, 20
RATE, SIZE, SECONDS = 10, 5_500, 8
LINGER_S = 3
"""How long the clients stay after the last frame."""
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_s(pid: int) -> float:
    """Processor seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 2**20


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder:
        site = Site(Path(folder), DJANGO_LOG_LEVEL="ERROR")
        site.manage("migrate", "--verbosity", "0")
        try:
            site.start("redis")
            site.start("web")
            group_port = free_port()
            site.environment["REDIS_URL"] = f"unix://{site.run_dir / 'redis.sock'}"
            site.commands["group"] = [
                PYTHON,
                "-m",
                "daphne",
                "--bind",
                "127.0.0.1",
                "--port",
                str(group_port),
                "--verbosity",
                "0",
                "tests.bench.channels_group:application",
            ]
            site.start("group")
            for port in (site.port, group_port):
                _wait_port(port)
            return _measure(site, group_port)
        finally:
            site.__exit__()


def _wait_port(port: int) -> None:
    end_s = time.monotonic() + 30
    while time.monotonic() < end_s:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"port {port}")


def _measure(site: Site, group_port: int) -> list[Figure]:
    web, group = site.children["web"].pid, site.children["group"].pid
    ours = _round(site, site.port, web, "reading", CLIENTS, 0)
    before_mib = resident_mib(web)
    deaf = _round(site, site.port, web, "deaf", CLIENTS - DEAF, DEAF)
    grown_mib = resident_mib(web) - before_mib
    theirs = _round(site, group_port, group, None, CLIENTS, 0)
    note = f"{CLIENTS} clients, {RATE} frames/s of {SIZE} bytes"
    return [
        ("feed, CPU of the web process", ours["cpu"] * 100, "% of a core", "", note),
        (
            "Channels group, CPU of the web process",
            theirs["cpu"] * 100,
            "% of a core",
            "",
            (
                f"{note}; delay p99 {theirs['delay_p99_ms']:.0f} ms, {theirs['frames_min']} to "
                f"{theirs['frames_max']} frames each"
            ),
        ),
        (
            "feed CPU per frame delivered against a Channels group",
            ours["cpu_per_frame"] / theirs["cpu_per_frame"],
            "ratio",
            "<= 0.4",
            note,
        ),
        (
            "feed, publish to client p99, all read",
            ours["delay_p99_ms"],
            "ms",
            "",
            f"p50 {ours['delay_p50_ms']:.1f} ms, {ours['gaps']} gaps",
        ),
        (
            f"feed, publish to client p99, {DEAF} of {CLIENTS} never read",
            deaf["delay_p99_ms"],
            "ms",
            "within noise of the line above",
            f"p50 {deaf['delay_p50_ms']:.1f} ms, {deaf['gaps']} gaps",
        ),
        (
            f"feed, memory grown while {DEAF} never read",
            grown_mib,
            "MiB",
            "flat",
            f"{SECONDS} s; the sockets' own cost is in it",
        ),
    ]


def _round(site: Site, port: int, pid: int, lab: str | None, count: int, deaf: int) -> dict[str, Any]:
    """One publisher, `count` clients that read and `deaf` that do not; what the clients saw and what the
    server used."""
    if lab is not None:
        _python(site, "-m", "tests.bench.publish_stream", lab).wait()
    clients = _python(
        site,
        "-m",
        "tests.bench.sockets",
        str(port),
        f"/ws/labs/{lab or 'any'}/",
        str(count),
        str(deaf),
    )
    assert clients.stdin is not None and clients.stdout is not None
    clients.stdout.readline()
    arguments = [str(SECONDS), str(RATE), str(SIZE)]
    publisher = _python(site, "-m", "tests.bench.publish_stream", lab, *arguments) if lab else _python(
        site, "-m", "tests.bench.channels_group", *arguments)  # fmt: skip
    used_s = cpu_s(pid)
    publisher.wait()
    used_s = cpu_s(pid) - used_s
    time.sleep(LINGER_S)
    clients.stdin.close()
    seen: dict[str, Any] = json.loads(clients.stdout.readline())
    clients.wait()
    delivered = count * (seen["frames_min"] + seen["frames_max"]) / 2
    return {**seen, "cpu": used_s / SECONDS, "cpu_per_frame": used_s / max(1.0, delivered)}


def _python(site: Site, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PYTHON, *arguments],
        cwd=ROOT,
        env=site.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


if __name__ == "__main__":
    for figure in run():
        print(figure)
