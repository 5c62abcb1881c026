"""Studies on the real processes with a real Spark: from a file to its result, and what is left when something
dies on the way."""

import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from dashboard.studies import reasons
from tests.dashboard.processes import Site

pytestmark = pytest.mark.alone  # how soon a cancel ends it, and answers within seconds beside Spark
ENDED = ("done", "failed", "cancelled")
WITHIN_S = 300
# So many records that it cannot end before the test has done what it came for.
LONG = {
    "source": {"kind": "uniform", "keys": 50_000_000, "records": 400_000_000},
    "strategies": ["pulsar.consistent_hash"],
}
SHORT = {
    "strategies": [
        "pulsar.consistent_hash:points=10",
        "kafka.range:partitions=12",
        "rabbitmq.queue:prefetch=5",
    ],
    "history": {"kind": "given", "start": 2, "changes": [{"kind": "join", "consumer": "c3", "at": None}]},
    "service": {"rate": 50, "consumer_rate": 30, "records_max": 1_000},
}


def upload(site: Site, content: bytes, name: str) -> Any:
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--x--\r\n' % (
        name.encode(),
        content,
    )
    request = urllib.request.Request(
        f"{site.url}/api/studies/uploads/", form, {"Content-Type": "multipart/form-data; boundary=x"}
    )
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


def start(site: Site, body: Any, token: str | None = None) -> Any:
    status, study = site.request(
        "POST", "/api/studies/", body, token, timeout=30
    )  # the first one loads Arrow and numba
    assert status == 201, study
    return study


def now(site: Site, study: Any) -> Any:
    return site.request("GET", f"/api/studies/{study['id']}/")[1]


def until(site: Site, study: Any, condition: Callable[[Any], bool]) -> Any:
    """The study as soon as it is so."""
    end_s = time.monotonic() + WITHIN_S
    while not condition(found := now(site, study)):
        assert time.monotonic() < end_s, found
        time.sleep(0.1)
    return found


def ended(study: Any) -> bool:
    return study["state"] in ENDED


def at_work(study: Any) -> bool:
    return study["state"] == "running" and study["progress"]["tasks_total"]


def java_of(site: Site) -> int:
    """The process id of the analysis worker's Java."""
    pid = site.children["worker analysis"].pid
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            if b"org.apache.spark.deploy.SparkSubmit" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    raise AssertionError("no Java below the analysis worker")


def nothing_half_is_left(site: Site, study: Any) -> bool:
    return (
        not (site.run_dir / "studies" / study["id"]).exists()
        and site.request("GET", f"/api/studies/{study['id']}/result/")[0] == 409
    )


def test_uploaded_file_becomes_a_result_that_can_be_read_downloaded_and_played(site: Site) -> None:
    lines = b"".join(b"N%d,%d\n" % (number % 37, number) for number in range(2_000))
    sent = upload(site, b"tail_number,bytes\n" + lines + b'"N1"x,5\n', "flights.csv")
    source = {"kind": "csv", "upload": sent["upload"], "key": "tail_number", "size": "bytes"}
    study = start(site, {"name": "flights", "source": source, **SHORT}, sent["owner_token"])
    stages = []
    with connect(f"ws://127.0.0.1:{site.port}/ws/studies/{study['id']}/") as socket:
        while not ended(message := json.loads(socket.recv(timeout=WITHIN_S))):
            stages.append(message["progress"]["stage"])
    assert message["state"] == "done", message
    assert "starting_spark" in stages, stages
    status, result = site.request("GET", f"/api/studies/{study['id']}/result/")
    assert status == 200
    assert result["workload"]["keys"] == 37 and result["workload"]["records"] >= 2_000
    assert [step["label"] for step in result["steps"]] == ["2", "+c3"]
    assert {entry["id"] for entry in result["ranking"]} == {
        strategy["id"] for strategy in result["strategies"]
    }
    assert str(site.run_dir) not in json.dumps(result), "no path of the machine"
    status, other = site.request(
        "GET", f"/api/studies/{study['id']}/ranking/?skew=100&churn=0&pause=0&order=0"
    )
    assert status == 200 and other["weights"] == {"skew": 100, "churn": 0, "pause": 0, "order": 0}
    with urllib.request.urlopen(
        f"{site.url}/api/studies/{study['id']}/data/consumers.csv", timeout=10
    ) as response:
        assert len(response.read().splitlines()) > 6
    status, lab = site.request("POST", f"/api/studies/{study['id']}/open/", {})
    assert status == 201, lab
    assert lab["workload"]["kind"] == "keys" and sorted(lab["lanes"]) == ["kafka", "pulsar", "rabbitmq"]
    status, snapshot = site.request("GET", f"/api/labs/{lab['id']}/snapshot/", timeout=10)
    assert status == 200 and set(snapshot["view"]["consumers"]) >= {"c1", "c2"}


def test_wrong_column_fails_at_its_field(site: Site) -> None:
    sent = upload(site, b"a,b\n1,2\n", "two.csv")
    body = {"source": {"kind": "csv", "upload": sent["upload"], "key": "nothing"}, **SHORT}
    status, answer = site.request("POST", "/api/studies/", body, sent["owner_token"])
    if status == 400:
        assert list(answer["fields"]) == ["source.key"]
    else:
        failed = until(site, answer, ended)
        assert (failed["state"], failed["field"]) == ("failed", "source.key") and nothing_half_is_left(
            site, failed
        )


def test_running_study_shows_its_tasks_and_ends_within_moments_of_a_cancel(site: Site) -> None:
    study = start(site, LONG)
    working = until(site, study, at_work)
    assert working["progress"]["tasks_done"] <= working["progress"]["tasks_total"]
    asked_s = time.monotonic()
    assert site.request("POST", f"/api/studies/{study['id']}/cancel/", {}, study["owner_token"])[0] == 200
    assert until(site, study, ended)["state"] == "cancelled"
    assert time.monotonic() - asked_s < 15
    assert nothing_half_is_left(site, study)


def test_live_study_of_a_lab_tells_windows_while_it_runs(site: Site) -> None:
    status, lab = site.request(
        "POST", "/api/labs/", {"workload": {"kind": "uniform", "keys": 100, "rate": 100}}
    )
    assert status == 201, lab
    study = start(site, {"live": True, "name": "now", "source": {"kind": "lab", "lab": lab["id"]}})
    assert study["request"]["source"] == {"kind": "lab", "lab": lab["id"]}
    rows: list[Any] = []
    with connect(f"ws://127.0.0.1:{site.port}/ws/studies/{study['id']}/") as socket:
        while len({row["start_us"] for row in rows}) < 3:
            message = json.loads(socket.recv(timeout=WITHIN_S))
            assert message["type"] == "window" or message["state"] in ("queued", "running"), message
            rows += message.get("rows", [])
    assert {row["lane"] for row in rows} == set(lab["lanes"])
    assert any(row["throughput"] for row in rows)
    status, kept = site.request("GET", f"/api/studies/{study['id']}/windows/?after=0")
    assert status == 200 and len(kept["rows"]) >= 3
    site.request("POST", f"/api/studies/{study['id']}/cancel/", {}, study["owner_token"])
    assert until(site, study, ended)["state"] == "cancelled"


def test_java_worker_and_redis_die_in_turn_and_each_study_says_what_became_of_it(site: Site) -> None:
    first, second = start(site, LONG), start(site, LONG)
    last = start(
        site,
        {
            "source": {"kind": "zipf", "keys": 100, "records": 1_000},
            **SHORT,
            "strategies": ["kafka.range:partitions=12"],
        },
    )
    until(site, first, at_work)
    assert [now(site, study)["progress"]["place"] for study in (second, last)] == [1, 2]

    java = java_of(site)
    os.kill(java, signal.SIGKILL)
    failed = until(site, first, ended)
    assert (failed["state"], failed["error"]) == ("failed", reasons.SPARK_LOST)
    until(site, second, at_work)
    other_java = java_of(site)
    assert other_java != java, "the next study has a new Spark"

    site.kill("worker analysis")
    with connect(f"ws://127.0.0.1:{site.port}/ws/studies/{last['id']}/") as socket:
        site.kill("redis")
        while not ended(message := json.loads(socket.recv(timeout=WITHIN_S))):
            pass
    assert message["state"] == "done", "what waited is not lost, and its watcher hears of it without Redis"
    failed = now(site, second)
    assert (failed["state"], failed["error"]) == ("failed", reasons.WORKER_DIED), "never run again"
    assert not Path(f"/proc/{other_java}").exists(), "the worker's Java went with it"
    assert nothing_half_is_left(site, first) and nothing_half_is_left(site, second)
    site.wait_healthy(20)
