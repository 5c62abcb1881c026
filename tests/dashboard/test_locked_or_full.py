"""A database that is locked or full, a disk without room: 503 and 507 in the one form, a page for people, and
health that says so."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from dashboard.labs import services
from dashboard.labs.transport import Transport
from dashboard.models import Lab

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(os.environ.get("DATABASE_URL")), reason="locks SQLite's file"),
]
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def _no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transport, "wake", lambda *_arguments: False)


def client(**headers: str) -> Client:
    return Client(raise_request_exception=False, headers=headers)


def post(path: str, **body: Any) -> Any:
    return client().post(path, json.dumps(body), content_type="application/json")


@pytest.fixture
def opened() -> services.OpenedLab:
    return services.lab_open(request={"lanes": [{"model": "rabbitmq"}], "consumers": 1})


@pytest.fixture
def locked(opened: services.OpenedLab) -> Iterator[services.OpenedLab]:
    """Another process holds the write lock."""
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    connection.cursor().execute("PRAGMA busy_timeout=20")
    yield opened
    other.execute("ROLLBACK")
    other.close()
    connection.close()


@pytest.fixture
def full(opened: services.OpenedLab) -> Iterator[services.OpenedLab]:
    """The database may not have one page more."""
    connection.cursor().execute("VACUUM")
    pages = connection.cursor().execute("PRAGMA page_count").fetchone()[0]
    connection.cursor().execute(f"PRAGMA max_page_count={pages}")
    yield opened
    connection.cursor().execute("PRAGMA max_page_count=1073741823")
    connection.close()


def creations(lab: Lab) -> list[Any]:
    return [
        post("/api/labs/", lanes=[{"model": "rabbitmq"}], consumers=1, name="n" * 60),
        post(f"/api/labs/{lab.pk}/fork/"),
    ]


def test_a_locked_database_is_503_with_a_time_to_try_again(locked: services.OpenedLab) -> None:
    for answer in [*creations(locked.lab), client().get(f"/api/labs/{locked.lab.pk}/snapshot/")]:
        assert (answer.status_code, list(answer.json()["fields"]), answer["Retry-After"]) == (
            503,
            ["database"],
            "5",
        )
    assert client().get(f"/api/labs/{locked.lab.pk}/").status_code == 200, "readers pass the writer"


def test_people_read_on_a_page_that_the_server_is_busy(locked: services.OpenedLab) -> None:
    for language, words in (("en", "The server is busy"), ("zh-hans", "服务器正忙")):
        answer = client(**{"accept-language": language}).post(
            reverse("learn-play"), {"scenario": "kafka_cluster_isr"}
        )
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert words in answer.content.decode() and answer["Content-Type"].startswith("text/html")


def test_a_full_database_is_507_and_changes_nothing(full: services.OpenedLab) -> None:
    before = Lab.objects.count()
    answers = [answer for _time in range(40) for answer in creations(full.lab)]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert refused, "it was filled"
    for answer in refused:
        assert (answer.status_code, list(answer.json()["fields"]), answer["Retry-After"]) == (
            507,
            ["disk"],
            "60",
        )
    assert Lab.objects.count() == before + len(answers) - len(refused)


def test_health_says_that_the_database_takes_no_write(locked: services.OpenedLab) -> None:
    database = client().get("/healthz").json()["database"]
    assert (database["ok"], database["error"]) == (False, "unreachable")


def test_an_error_of_ours_is_told_in_the_same_form(
    opened: services.OpenedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_given: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(services, "lab_open", broken)
    answer = post("/api/labs/")
    assert (answer.status_code, list(answer.json()["fields"])) == (500, ["server"])
    monkeypatch.setattr("dashboard.views.labs.selectors.lab_list", broken)
    assert "Something broke on our side" in client().get("/labs/").content.decode()


FILL = """
import json, os, sys
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.test import Client
from dashboard.models import Upload
client = Client(raise_request_exception=False)
before = client.get("/healthz").json()
with open(os.path.join(os.environ["HIGHWATER_RUN_DIR"], "filler"), "wb", buffering=0) as filler:
    try:
        while True:
            filler.write(bytes(65536))
    except OSError:
        pass
    try:
        while True:
            filler.write(bytes(1))
    except OSError:
        pass
status = 0
for attempt in range(200):          # what the database's log has room for already
    answer = client.post("/api/labs/", json.dumps({"lanes": [{"model": "rabbitmq"}], "name": "n" * 60}), content_type="application/json")
    if answer.status_code != 201:
        break
health = client.get("/healthz")
listed = client.get("/labs/")
json.dump({"before": [before["database"]["ok"], before["disk"]["ok"]], "status": answer.status_code, "fields": list(answer.json()["fields"]),
           "again": answer.get("Retry-After"), "health": [health.status_code, health.json()["disk"]], "read": listed.status_code}, sys.stdout)
"""


def test_on_a_disk_that_is_really_full_health_says_so_and_reading_goes_on(tmp_path: Path) -> None:
    """In a namespace of its own, on a file system of 8 MB."""
    mount = f'mount -t tmpfs -o size=8m none {tmp_path} && exec {sys.executable} -c "$FILL"'
    environment = {
        **os.environ,
        "HIGHWATER_RUN_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "mqsite.settings.dev",
        "LAB_SHARDS": "1",
        "HIGHWATER_ALLOWED_HOSTS": "testserver",
        "FILL": FILL,
    }
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", mount],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "unshare" in done.stderr and not done.stdout:
        pytest.skip(f"this machine makes no namespaces: {done.stderr.strip()}")
    said = json.loads(done.stdout[done.stdout.index("{") :])
    assert said["before"] == [True, True]
    assert (said["status"], said["fields"], said["again"]) == (507, ["disk"], "60")
    assert said["health"][0] == 503 and (said["health"][1]["ok"], said["health"][1]["error"]) == (
        False,
        "full",
    )
    assert said["read"] == 200
