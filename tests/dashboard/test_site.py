"""The site around the labs: health, headers, and settings that pass Django's own deployment check."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.test import Client

from dashboard.views import health
from mqsite.addresses import celery_url, redis_url

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.django_db(transaction=True)
def test_health_names_each_part_and_fails_without_redis() -> None:
    answer = Client().get("/healthz")
    parts = answer.json()
    assert answer.status_code == 503 and parts["ok"] is False
    assert (
        parts["database"]["ok"]
        and parts["web"]["ok"]
        and not parts["redis"]["ok"]
        and not parts["workers"]["ok"]
    )
    assert all("latency_ms" in parts[name] for name in ("web", "redis", "workers", "database"))


@pytest.mark.alone
@pytest.mark.django_db(transaction=True)
def test_health_answers_within_a_second_though_a_part_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_database", lambda: time.sleep(1.5))
    started_s = time.monotonic()
    answer = Client().get("/healthz")
    assert time.monotonic() - started_s < 1.0
    assert answer.json()["database"] == {**answer.json()["database"], "ok": False, "error": "no answer"}


@pytest.mark.django_db
def test_nothing_inline_may_run_and_nobody_may_frame_the_page() -> None:
    headers = Client().get("/api/labs/nobody/").headers
    assert (
        "unsafe" not in headers["Content-Security-Policy"]
        and "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    )
    assert headers["X-Frame-Options"] == "DENY" and headers["X-Content-Type-Options"] == "nosniff"


def test_production_settings_pass_the_deployment_check(tmp_path: Path) -> None:
    environment = {
        "DJANGO_SETTINGS_MODULE": "mqsite.settings.production",
        "HIGHWATER_RUN_DIR": str(tmp_path),
        "HOST": "0.0.0.0",
    }
    check = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(check, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "no issues (0 silenced)" in done.stdout
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_migrations_are_complete(tmp_path: Path) -> None:
    environment = {"DJANGO_SETTINGS_MODULE": "mqsite.settings.test", "HIGHWATER_RUN_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("given", "for_redis", "for_celery"),
    [
        ("unix:///a/redis.sock", "unix:///a/redis.sock?db=0", "redis+socket:///a/redis.sock?virtual_host=0"),
        (
            "redis+socket:///a/redis.sock?virtual_host=3",
            "unix:///a/redis.sock?db=3",
            "redis+socket:///a/redis.sock?virtual_host=3",
        ),
        ("rediss://:secret@host:6380/2", "rediss://:secret@host:6380/2", "rediss://:secret@host:6380/2"),
    ],
)
def test_redis_address_is_understood_in_both_spellings(given: str, for_redis: str, for_celery: str) -> None:
    assert (redis_url(given), celery_url(given)) == (for_redis, for_celery)
