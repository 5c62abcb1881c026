"""The site on a real PostgreSQL: migrations, the ledger's tests, kill rounds, and a visitor's Stage."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from mqsite.keeper import ROOT
from tests.browser.conftest import ARGUMENTS, executable
from tests.dashboard.processes import Site
from tests.dashboard.test_kill import kill_round
from tests.postgres.server import Postgres
from tests.supervisor.site import SupervisedSite

pytestmark = pytest.mark.slow
ON_ANY_DATABASE = (
    "labs/test_writes",
    "labs/test_driver",
    "labs/test_shard",
    "labs/test_services",
    "labs/test_keeping",
    "test_study_writes",
    "test_older_names",
)
"""Tests of what the site writes, and of leases, as they run on SQLite."""


@pytest.fixture(scope="module")
def killed(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("postgres"), shards=1, DATABASE_URL=postgres.url("killed")) as running:
        yield running


@pytest.mark.alone
@pytest.mark.parametrize("victim", ["worker labs.0", "redis", "web"])
def test_killed_process_costs_no_command_and_few_seconds(killed: Site, victim: str) -> None:
    kill_round(killed, victim)


def test_migrations_make_the_models_tables_and_can_be_taken_back(postgres: Postgres, tmp_path: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": postgres.url("migrated"), "HIGHWATER_RUN_DIR": str(tmp_path),
                   "DJANGO_SETTINGS_MODULE": "mqsite.settings.dev"}  # fmt: skip
    for command in (
        ["migrate"],
        ["makemigrations", "--check", "--dry-run"],
        ["migrate", "dashboard", "zero"],
        ["migrate"],
    ):
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_what_the_site_writes_holds_as_on_sqlite(postgres: Postgres, tmp_path: Path) -> None:
    files = [f"tests/dashboard/{name}.py" for name in ON_ANY_DATABASE]
    environment = {
        **os.environ,
        "DATABASE_URL": postgres.url("writes"),
        "HIGHWATER_RUN_DIR": str(tmp_path),
        "PYTEST_ADDOPTS": "",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-m",
        "not alone",
        *files,
    ]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:]


def test_a_visitor_opens_the_stage_adds_a_consumer_and_finds_it_again(
    postgres: Postgres, tmp_path: Path
) -> None:
    running = SupervisedSite(tmp_path, DATABASE_URL=postgres.url("stage"))
    try:
        running.wait_started()
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            page = chromium.new_page(viewport={"width": 1440, "height": 900}, locale="en")
            page.set_default_timeout(30_000)
            page.goto(f"{running.url}?demo=off")
            clock = page.text_content(".clock")
            page.wait_for_function(
                "clock => document.querySelector('.clock').textContent !== clock", arg=clock
            )
            page.click("#add")
            page.wait_for_selector('#kafka [data-consumer="c4"]')
            page.reload()
            page.wait_for_selector('#kafka [data-consumer="c4"]')
            chromium.close()
        assert not (tmp_path / "highwater.sqlite3").exists()
    finally:
        running.stop()
