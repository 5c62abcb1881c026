"""Backup and restore: of a site under load, and what is refused before anything is written."""

import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mqsite.keeper import ROOT
from mqsite.supervisor_checks import LOCK_NAME
from tests.dashboard.processes import Site
from tests.dashboard.test_kill import ALLOWANCE, LIVE_AGAIN_S, Orders, moves, seconds_until


def manage(run_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    names = ("DATABASE_URL", "HIGHWATER_SECRET_KEY")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {"HIGHWATER_RUN_DIR": str(run_dir), "DJANGO_SETTINGS_MODULE": "mqsite.settings.dev"}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def done(run_dir: Path, *arguments: str) -> str:
    ran = manage(run_dir, *arguments)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of a small site that does not run. Nobody writes into it."""
    run_dir = tmp_path_factory.mktemp("stopped") / "site"
    done(run_dir, "migrate", "--verbosity", "0")
    (run_dir / "uploads" / "u1").mkdir(parents=True)
    (run_dir / "uploads" / "u1" / "mine.csv").write_text("key\na\n")
    (run_dir / "spark").mkdir()
    return run_dir


@pytest.fixture(scope="module")
def backup(stopped: Path) -> Path:
    """Its backup, which nobody writes into either."""
    folder = stopped.with_name("backup")
    done(stopped, "backup", str(folder))
    return folder


@pytest.mark.alone
def test_a_backup_under_load_has_every_command_that_was_accepted_before_it(tmp_path: Path) -> None:
    with Site(tmp_path / "site", shards=1) as site:
        assert not os.environ.get("DATABASE_URL")
        lab = site.request("POST", "/api/labs/", {"scenario": "demo"})[1]
        seconds_until(lambda: moves(site, lab), ALLOWANCE * LIVE_AGAIN_S)
        with Orders(site, lab) as orders:
            time.sleep(2)
            before = dict(orders.accepted)
            site.manage("backup", str(tmp_path / "backup"))
            during = len(orders.accepted)
            time.sleep(0.5)
        seen_us = site.request("GET", f"/api/labs/{lab['id']}/snapshot/")[1]["at_us"]
    assert len(before) > 5 and len(orders.accepted) > during, "it was under load, before and after"
    again = tmp_path / "again"
    done(again, "restore", str(tmp_path / "backup"))
    with Site(again, shards=1) as site:
        seconds_until(lambda: moves(site, lab), ALLOWANCE * LIVE_AGAIN_S)

        def places() -> dict[str, int]:
            commands = site.request("GET", f"/api/labs/{lab['id']}/journal/")[1]["commands"]
            return {command["command_id"]: command["position"] for command in commands}

        seconds_until(lambda: before.keys() <= places().keys(), ALLOWANCE * LIVE_AGAIN_S)
        assert {name: places()[name] for name in before} == {
            name: answer["position"] for name, answer in before.items()
        }
        Orders(site, lab).order(
            {"command_id": "after", "kind": "speed", "args": {"speed": 1}}
        )  # its owner still owns it
        after = f"/api/labs/{lab['id']}/commands/after/"
        seconds_until(lambda: site.request("GET", after)[1]["state"] == "applied", ALLOWANCE * LIVE_AGAIN_S)
        assert site.request("GET", f"/api/labs/{lab['id']}/snapshot/")[1]["at_us"] > 0 < seen_us


def test_files_come_back_and_what_is_derived_does_not(stopped: Path, backup: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert backup.stat().st_mode & 0o077 == 0, "nobody else may read it"
    done(again, "restore", str(backup))
    assert (again / "uploads" / "u1" / "mine.csv").read_text() == "key\na\n" and not (
        again / "spark"
    ).exists()
    assert (again / "secret_key").read_bytes() == (stopped / "secret_key").read_bytes()
    done(again, "migrate", "--check")


def test_a_backup_goes_into_an_empty_folder_outside_of_the_site(stopped: Path, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").touch()
    assert "is not empty" in manage(stopped, "backup", str(full)).stderr and [
        path.name for path in full.iterdir()
    ] == ["mine"]
    inside = stopped / "backup"
    assert (
        "is inside the site's own folder" in manage(stopped, "backup", str(inside)).stderr
        and not inside.exists()
    )
    assert (
        "no site has run here yet" in manage(tmp_path / "nothing", "backup", str(tmp_path / "backup")).stderr
    )


def test_restore_refuses_a_target_that_has_something_and_a_site_that_runs(
    stopped: Path, backup: Path, tmp_path: Path
) -> None:
    before = sorted(path.relative_to(stopped) for path in stopped.rglob("*"))
    assert "is not empty: it has highwater.sqlite3" in manage(stopped, "restore", str(backup)).stderr
    assert sorted(path.relative_to(stopped) for path in stopped.rglob("*")) == before
    running = tmp_path / "running"
    running.mkdir()
    with (running / LOCK_NAME).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "A site is running in" in manage(running, "restore", str(backup)).stderr
    assert not (running / "highwater.sqlite3").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "backup.json").unlink(), "is not a whole backup"),
        (lambda folder: (folder / "backup.json").write_text("[1]"), "is not a whole backup"),
        (lambda folder: rewrite(folder, format=9), "has the format 9"),
        (
            lambda folder: rewrite(folder, database="postgresql"),
            "The backup is of postgresql, and this site uses sqlite",
        ),
        (
            lambda folder: rewrite(folder, migrations=["dashboard.9999_later"]),
            "of a newer version: this one does not know dashboard.9999_later",
        ),
        (lambda folder: damage(folder / "database.sqlite3"), "database.sqlite3 is damaged"),
    ],
)
def test_restore_refuses_what_is_not_a_backup_it_can_read(
    backup: Path, tmp_path: Path, change, said: str
) -> None:
    folder, again = tmp_path / "backup", tmp_path / "again"
    shutil.copytree(backup, folder)
    change(folder)
    assert said in manage(again, "restore", str(folder)).stderr
    assert not (again / "highwater.sqlite3").exists() and not (again / "uploads").exists()


def rewrite(folder: Path, **changed: object) -> None:
    path = folder / "backup.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def damage(path: Path) -> None:
    """A page of a table that no longer is one."""
    with sqlite3.connect(path) as connection:
        page = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'dashboard_lab'"
        ).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
