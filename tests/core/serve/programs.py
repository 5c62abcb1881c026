"""The programs of docs/clients/, as they stand there, against the command in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mqsite.keeper import ROOT

PATIENCE_S = 60
CLEAN = {
    name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DJANGO_SETTINGS_MODULE")
}
"""What a program of a user would have, who knows nothing of this checkout."""


def program_of(page: str, language: str = "python") -> str:
    """The one program of a page of docs/clients/."""
    text = (ROOT / "docs" / "clients" / page).read_text()
    (program,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return program


@contextmanager
def serving(python: Path | str = sys.executable, *options: str | Path) -> Iterator[str]:
    """A server in a process of its own, on a free port. python: whose installation it runs from; the tests' own runs from
    this checkout."""
    server = subprocess.Popen(
        [python, "-m", "broker_core.serve", "serve", "--amqp", "0", *options],
        cwd=ROOT if python == sys.executable else Path(python).parent, env=CLEAN, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield server.stdout.readline().split()[-1]
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE_S)


def run_program(program: str, url: str) -> list[str]:
    """What it printed, line by line. Its standard error shows in the failure of one that fails."""
    client = subprocess.run(
        [sys.executable, "-c", program, url], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert client.returncode == 0, client.stderr
    return client.stdout.splitlines()
