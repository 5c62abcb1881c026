"""One suite against a server of its own: its pytest in its environment, and what came of each test."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

from tests.clients.docker_engine import DockerEngine
from tests.clients.fetch import CERTIFICATES, HERE, PYTHON
from tests.clients.outcomes import Outcomes, read_report
from tests.clients.served import Served
from tests.clients.suites import Suite
from tests.core.serve.programs import CLEAN

PATIENCE_S = 2_400
TEST_S = 120


def play(suite: Suite, folder: Path) -> Outcomes:
    """Raises CalledProcessError where the server does not start, say because a port that the suite needs is taken."""
    certificate, key = CERTIFICATES / "client_certificate.pem", CERTIFICATES / "client_key.pem"
    if suite.certificate and suite.key:
        certificate, key = folder / suite.certificate, folder / suite.key
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        numbers = count()
        servers: list[Served] = []

        def serve(ports: tuple[int, int] = (0, 0)) -> Served:
            servers.append(Served(Path(temporary) / f"{next(numbers)}.highwater", ports, certificate, key))
            return servers[-1]

        report = Path(temporary) / "report.xml"
        engine = DockerEngine(serve, serve(suite.ports))
        try:
            said = _pytest(suite, folder, servers[0], engine, report)
        finally:
            engine.close()
            for server in servers:
                server.end()
        outcomes = read_report(report) if report.exists() else Outcomes({"pytest": said})
        outcomes.seconds = time.monotonic() - began
        outcomes.broken = [why for server in servers if (why := server.why_not_again())]
    return outcomes


def _pytest(suite: Suite, folder: Path, server: Served, engine: DockerEngine, report: Path) -> str:
    """Returns the end of what pytest printed. One that hangs is ended with all its processes."""
    paths = [
        path
        for each in suite.arguments
        for path in (sorted(map(str, folder.glob(each))) if "*" in each else [each])
    ]
    ran = subprocess.Popen(
        [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "suite_fixtures", f"--timeout={TEST_S}", f"--junitxml={report}", *paths],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env=CLEAN | {
            "PYTHONPATH": str(HERE), "DOCKER_HOST": engine.address, "RABBITMQ_HOST": "127.0.0.1",
            "RABBITMQ_5672_TCP": str(server.amqp), "RABBITMQ_5671_TCP": str(server.amqps),
        },
    )  # fmt: skip
    try:
        return ran.communicate(timeout=PATIENCE_S)[0][-2_000:]
    except subprocess.TimeoutExpired:
        os.killpg(ran.pid, signal.SIGKILL)
        return f"more than {PATIENCE_S} s; " + ran.communicate()[0][-2_000:]
