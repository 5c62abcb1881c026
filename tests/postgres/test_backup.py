"""Backup and restore on PostgreSQL, with its own programs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mqsite.keeper import ROOT
from tests.postgres.server import Postgres

pytestmark = pytest.mark.slow
LABS = (
    "from dashboard.models import Lab, StoredCommand; print(Lab.objects.count(), "
    "StoredCommand.objects.count())"
)
MAKE = "from dashboard.labs.services import lab_open; lab_open(request={})"


def manage(
    run_dir: Path, database: str, *arguments: str, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HIGHWATER_RUN_DIR": str(run_dir), "DATABASE_URL": database}
    environment |= {"DJANGO_SETTINGS_MODULE": "mqsite.settings.dev"} | (
        {} if path is None else {"PATH": path}
    )
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def done(*arguments: object) -> str:
    ran = manage(*arguments)  # type: ignore[arg-type]
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.skipif(shutil.which("pg_dump") is None, reason="pg_dump is not installed")
def test_a_database_comes_back_and_a_full_one_is_refused(postgres: Postgres, tmp_path: Path) -> None:
    first, second, folder = postgres.url("first"), postgres.url("second"), tmp_path / "backup"
    done(tmp_path / "a", first, "migrate", "--verbosity", "0")
    done(tmp_path / "a", first, "shell", "-c", MAKE)
    done(tmp_path / "a", first, "backup", str(folder))
    done(tmp_path / "b", second, "restore", str(folder))
    assert done(tmp_path / "b", second, "shell", "-c", LABS).split()[-2:] == ["1", "1"]
    done(tmp_path / "b", second, "migrate", "--check")
    assert (
        "is not empty: restore into a new one"
        in manage(tmp_path / "c", second, "restore", str(folder)).stderr
    )


def test_without_its_programs_the_command_says_which_and_what_to_do(
    postgres: Postgres, tmp_path: Path
) -> None:
    database = postgres.url("third")
    done(tmp_path / "a", database, "migrate", "--verbosity", "0")
    said = manage(tmp_path / "a", database, "backup", str(tmp_path / "backup"), path="").stderr
    assert "pg_dump is not installed here" in said and "apt-get install postgresql-client" in said
    assert not (tmp_path / "backup" / "backup.json").exists()
