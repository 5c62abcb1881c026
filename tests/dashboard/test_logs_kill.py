"""kill -9 hits the worker while it writes a lab's log, twice: the real processes, and real recovery of what
they left.

In the end the folder holds what an undisturbed worker would have written, byte for byte; the table's readers
end up with the same rows.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.lab.kafka_log.derived_folder import DerivedFolder
from broker_core.lab.kafka_log.lane import LaneLog
from broker_core.lab.kafka_log.settings import LaneSettings
from broker_core.lab.workload.parse import workload_from_json
from tests.dashboard.processes import Site

WORKLOAD = {"kind": "uniform", "keys": 50, "rate": 60}
SETTINGS = LaneSettings(segment_bytes=4096, index_interval_bytes=256, retention_bytes=16_384)
QUERY = "segment_bytes=4096&index_interval_bytes=256&retention_bytes=16384"
WAIT_S = 60.0


def wait_for(site: Site, path: str, enough: Callable[[Any], bool]) -> Any:
    """Ask until the folder is as far as it must be; asking is what makes it be written."""
    end_s = time.monotonic() + WAIT_S
    while time.monotonic() < end_s:
        status, folder = site.request("GET", path)
        assert status == 200, folder
        if enough(folder):
            return folder
        time.sleep(0.2)
    said = (site.run_dir / "worker-default.log").read_text()[-2_000:]
    raise TimeoutError(
        f"{folder['end_offset']} of {folder['records_of_lab']}; the worker's last words: {said}"
    )


def grown_beyond(end_offset: int) -> Callable[[Any], bool]:
    return lambda folder: folder["end_offset"] > end_offset


def live_logs(folder: Path, topic: str) -> dict[str, bytes]:
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in sorted(folder.glob(f"{topic}-[0-9]/*.log"))
    }


def table(folder: Path) -> dict[bytes | None, bytes | None]:
    rows = {}
    for path in sorted(folder.glob("records-latest-*")):
        for batch in PartitionLog.open(DiskFolder(path), now_ms=0).batches():
            rows.update({record.key: record.value for record in batch.records()})
    return rows


def test_killed_writer_goes_on_where_it_was(site: Site, tmp_path: Path) -> None:
    lanes = [{"model": "kafka", "partitions": 3}]
    status, lab = site.request("POST", "/api/labs/", {"workload": WORKLOAD, "lanes": lanes, "seed": 7})
    assert status == 201
    path = f"/api/labs/{lab['id']}/kafka/log/?{QUERY}"
    reached = 0
    for _kill in range(2):
        reached = wait_for(site, path, grown_beyond(reached + 20))["end_offset"]
        site.kill("worker default")
    # Before the lab may rest: one that stops within a linger of the kill leaves the new writer nothing to
    # write.
    reached = wait_for(site, path, grown_beyond(reached))["end_offset"]
    order = {"command_id": "rest", "kind": "pause_lab"}
    assert site.request("POST", f"/api/labs/{lab['id']}/commands/", order, lab["owner_token"])[0] == 202
    command = f"/api/labs/{lab['id']}/commands/rest/"
    end_s = time.monotonic() + WAIT_S
    while site.request("GET", command)[1]["state"] != "applied":
        assert time.monotonic() < end_s, "the lab did not pause"
        time.sleep(0.2)
    folder = wait_for(site, path, lambda folder: folder["end_offset"] >= reached and folder["behind"] <= 15)
    again = wait_for(
        site, path, lambda found: found["behind"] <= 15 and found["end_offset"] >= folder["end_offset"]
    )

    undisturbed = LaneLog(
        DerivedFolder(tmp_path),
        lambda name: DerivedFolder(tmp_path / name),
        workload=workload_from_json(WORKLOAD, seed=7),
        seed=7,
        topic="records",
        partition_count=3,
        partitions=[0],
        settings=SETTINGS,
    )
    undisturbed.advance_to(again["at_us"])
    (written,) = (site.run_dir / "labs" / lab["id"] / "kafka").iterdir()
    assert live_logs(written, "records") == live_logs(tmp_path, "records")
    assert table(written) == table(tmp_path)
    assert undisturbed.state()["logs"]["records-0"]["end_offset"] == again["end_offset"]
