"""kill -9 hits the worker while it writes a replica's log, twice: the real processes. The next one writes the folder
again from what the lab tells, and the last folder is whole."""

import time
from collections.abc import Callable
from typing import Any

from broker_core.kafka.log.dump import dump_path
from tests.dashboard.processes import Site

WAIT_S = 60.0


def wait_for(site: Site, path: str, enough: Callable[[Any], bool]) -> Any:
    """Ask until the folder is as far as it must be; asking is what makes it be written."""
    end_s = time.monotonic() + WAIT_S
    while time.monotonic() < end_s:
        status, folder = site.request("GET", path)
        assert status in (200, 503), folder
        if status == 200 and enough(folder):
            return folder
        time.sleep(0.2)
    said = (site.run_dir / "worker-default.log").read_text()[-2_000:]
    raise TimeoutError(f"{folder}; the worker's last words: {said}")


def grown_beyond(end_offset: int) -> Callable[[Any], bool]:
    return lambda folder: bool(folder["end_offset"] > end_offset)


def test_killed_writer_goes_on_where_the_lab_is(site: Site) -> None:
    workload = {"kind": "uniform", "keys": 50, "rate": 60}
    lanes = [{"model": "kafka", "partitions": 3, "segment_ms": 2_000}]
    status, lab = site.request("POST", "/api/labs/", {"workload": workload, "lanes": lanes, "seed": 7})
    assert status == 201
    path = f"/api/labs/{lab['id']}/kafka/log/"
    reached = 0
    for _kill in range(2):
        reached = wait_for(site, path, grown_beyond(reached + 20))["end_offset"]
        site.kill("worker default")
    last = wait_for(site, path, grown_beyond(reached + 20))
    (folder,) = (site.run_dir / "labs" / lab["id"] / "kafka").iterdir()
    written = {int(entry.name): entry for entry in folder.iterdir() if entry.name.isdigit()}
    assert max(written) == 3, "each worker begins a folder of its own"
    rows = list(dump_path(written[3] / "records-0", deep=True))
    assert not [row for row in rows if row.kind == "problem"] and [row for row in rows if row.kind == "batch"]
    assert sum(segment["state"] != "deleted" for segment in last["segments"]) > 1
