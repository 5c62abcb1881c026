"""The programs of docs/clients/, as they stand there, against the command; and the runs again. Celery's: test_celery.py."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from mqsite.keeper import ROOT
from tests.core.serve.programs import CLEAN, PATIENCE_S, program_of, run_program, serving

ORDERS = ["order 0", "order 1", "order 2"]
MODULES = ROOT / "var" / "clients" / "node_modules"


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("pika.md", ORDERS),
        ("kombu.md", ["0 order.paid", "1 order.paid", "2 order.paid"]),
        ("aio_pika.md", ORDERS),
    ],
)
def test_program_of_the_page_runs_and_its_run_replays(tmp_path, page, printed):
    journal = tmp_path / "run.highwater"
    with serving(sys.executable, "--journal", journal) as url:
        assert run_program(program_of(page), url) == printed
    again = [sys.executable, "-m", "broker_core.serve", "replay", journal]
    assert subprocess.run(again, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0


@pytest.mark.skipif(
    not (MODULES / "amqplib").exists() or shutil.which("node") is None,
    reason="needs Node.js, and amqplib: npm install --prefix var/clients amqplib@2",
)
def test_program_of_the_page_of_amqplib_runs(tmp_path):
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "orders.mjs").write_text(program_of("amqplib.md", "js"))
    with serving() as url:
        client = subprocess.run(
            ["node", "orders.mjs", url], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S
        )
    assert client.stdout.splitlines() == ORDERS, client.stderr


def test_program_with_faults_and_a_broker_of_its_own_runs():
    names = f"{ROOT}:{ROOT / 'broker_core' / 'serve' / 'installed'}"
    ran = subprocess.run(
        [sys.executable, "-c", program_of("faults.md")],
        cwd=ROOT, env=CLEAN | {"PYTHONPATH": names}, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert ran.stdout.split() == ["nack", "1"], ran.stderr
