"""A `highwater serve` in a process of its own, and whether its run holds afterwards."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from broker_core.errors import CommandError, InvariantError
from broker_core.serve.replay import replay
from mqsite.keeper import ROOT
from tests.core.rabbitmq.laws import check_laws

PATIENCE_S = 60


class Served:
    """ports: (AMQP, AMQPS), 0 for any. journal: a new file for its run. Raises CalledProcessError where it does not start."""

    def __init__(self, journal: Path, ports: tuple[int, int], certificate: Path, key: Path) -> None:
        self.journal = journal
        amqp, amqps = map(str, ports)
        command: list[str | Path] = [
            sys.executable, "-m", "broker_core.serve", "serve", "--json", "--journal", journal, "--control", "0",
            "--amqp", amqp, "--amqps", amqps, "--certificate", certificate, "--key", key,
        ]  # fmt: skip
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise subprocess.CalledProcessError(self.process.wait(), command)
        ready = json.loads(line)
        self.amqp, self.amqps = int(ready["amqp"]), int(ready["amqps"])
        self._control = urlsplit(ready["control"]).netloc
        self.is_up = True

    def act(self, do: str) -> None:
        """crash, stop or start the broker in it; one that is so already stays so."""
        if (do == "start") is self.is_up:
            return
        connection = http.client.HTTPConnection(self._control, timeout=PATIENCE_S)
        body = json.dumps({"do": do})
        connection.request("POST", "/server", body, {"Content-Type": "application/json"})
        status = connection.getresponse().status
        connection.close()
        if status != http.client.OK:
            raise RuntimeError(f"the server answered {status} to {do}")
        self.is_up = do == "start"

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=PATIENCE_S)

    def why_not_again(self) -> str | None:
        """None: it ended well, its run is the same again, and the laws of the broker hold at its end."""
        if self.process.returncode:
            return f"the server ended with code {self.process.returncode}"
        try:
            found = replay(self.journal)
            check_laws(found.run.broker)
        except (CommandError, InvariantError, AssertionError) as error:
            return str(error) or type(error).__name__
        return found.differs
