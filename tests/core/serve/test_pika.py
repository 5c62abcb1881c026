"""The program of docs/clients/README.md, as it stands there, against the command."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

from mqsite.keeper import ROOT

PATIENCE_S = 60


def test_program_of_the_page_runs(tmp_path):
    (program,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "clients" / "README.md").read_text(), re.DOTALL
    )
    journal = tmp_path / "run.highwater"
    server = subprocess.Popen(
        [sys.executable, "-m", "broker_core.serve", "serve", "--amqp", "0", "--journal", journal],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        url = server.stdout.readline().split()[-1]
        client = subprocess.run(
            [sys.executable, "-c", program, url], capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert client.stdout.split("\n") == ["order 0", "order 1", "order 2", ""], client.stderr
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE_S)
    again = [sys.executable, "-m", "broker_core.serve", "replay", journal]
    assert subprocess.run(again, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0
