"""How `make clients` judges what the clients' own suites came to, and what it gives them in Docker's place. The suites themselves
are fetched from PyPI and take half an hour, so that none of them runs here."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import tomllib
from urllib.parse import urlsplit

import pytest

from mqsite.keeper import ROOT
from tests.clients.docker_engine import DockerEngine
from tests.clients.outcomes import REASONS, Outcomes, Reason, judge, read_report
from tests.clients.served import Served
from tests.clients.suites import SUITES

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_passes[1]"/>
<testcase classname="tests.test_a" name="test_fails[plain]"><failure message="no">it was 1</failure></testcase>
<testcase classname="tests.test_a" name="test_fails[plain]"><error message="no">its fixture, too</error></testcase>
<testcase classname="tests.test_a" name="test_is_skipped"><skipped message="needs a plug-in"/></testcase>
<testcase classname="tests.test_a" name="test_breaks"><error message="no fixture"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def outcomes(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    return read_report(report)


def test_a_report_says_what_came_of_each_test(outcomes):
    assert outcomes.passed == ["tests.test_a::test_passes[1]"]
    assert outcomes.skipped == ["tests.test_a::test_is_skipped"]
    assert list(outcomes.failed) == ["tests.test_a::test_fails[plain]", "tests.test_a::test_breaks"]
    assert outcomes.failed["tests.test_a::test_breaks"] == "no fixture"


def test_a_test_that_fails_needs_a_reason_that_names_it(outcomes):
    verdict = judge(
        outcomes, [Reason("a", "tests.test_a::test_fails", "TLS"), Reason("a", "tests.test_a::test_b", "no")]
    )
    assert verdict.known == {"tests.test_a::test_fails[plain]": "TLS"}
    assert list(verdict.unknown) == ["tests.test_a::test_breaks"], "the beginning of a name is not the name"


def test_a_reason_whose_tests_pass_is_reported_unless_they_do_sometimes(outcomes):
    passes, sometimes = (
        Reason("a", f"tests.test_a::test_passes{one}", "once", one == "") for one in ("[1]", "")
    )
    assert judge(outcomes, [passes, sometimes]).idle == [passes]
    assert judge(Outcomes({passes.test: "no"}), [passes]).idle == []


def test_each_reason_is_of_a_suite_and_says_something():
    rows = tomllib.loads(REASONS.read_text())["reasons"]
    assert {row["suite"] for row in rows} <= {suite.name for suite in SUITES}
    assert all("::" in test for row in rows for test in row["tests"]) and all(row["why"] for row in rows)


def test_a_suite_that_nobody_knows_is_named():
    asked = [sys.executable, "-m", "tests.clients", "bunny"]
    ran = subprocess.run(asked, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 2 and "no suite bunny; there are py-amqp, kombu," in ran.stderr


@pytest.fixture
def certificate(tmp_path):
    """A pair for this machine, which nobody asks to check."""
    pair = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    try:
        subprocess.run([*made, "-out", pair[0], "-keyout", pair[1]], check=True, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        pytest.skip("needs openssl, for a certificate")
    return pair


def test_a_container_of_dockers_stand_in_is_a_server_that_stops_starts_and_ends(tmp_path, certificate):
    servers: list[Served] = []

    def serve() -> Served:
        servers.append(Served(tmp_path / f"{len(servers)}.highwater", (0, 0), *certificate))
        return servers[-1]

    engine = DockerEngine(serve, serve())
    try:
        ask = _Asking(engine.address)
        assert ask("POST", "/images/create?fromImage=rabbitmq&tag=3") == (200, {})
        numbers = [ask("POST", "/containers/create", Image="rabbitmq")[1]["Id"] for _ in range(2)]
        ports = []
        for number in numbers:
            assert ask("POST", f"/containers/{number}/start")[0] == 200
            shown = ask("GET", f"/containers/{number}/json")[1]["NetworkSettings"]["Ports"]
            ports.append(int(shown["5672/tcp"][0]["HostPort"]))
        assert ports == [server.amqp for server in servers] and all(map(_greets, ports))
        for stops, starts in (("stop_app", "start_app"), (None, None)):
            ask.run(numbers[1], stops) if stops else ask("POST", f"/containers/{numbers[1]}/kill")
            assert [_greets(port) for port in ports] == [True, False]
            ask.run(numbers[1], starts) if starts else ask("POST", f"/containers/{numbers[1]}/start")
            assert all(map(_greets, ports))
        assert ask("GET", "/containers/7/json")[0] == ask("POST", "/containers/0/pause")[0] == 404
        assert ask("DELETE", f"/containers/{numbers[1]}")[0] == 200
        assert servers[1].process.poll() == 0
    finally:
        engine.close()
        for server in servers:
            server.end()
    assert [server.why_not_again() for server in servers] == [None, None]


class _Asking:
    def __init__(self, address: str) -> None:
        self.address = urlsplit(address).netloc

    def __call__(self, verb: str, path: str, **fields: object):
        connection = http.client.HTTPConnection(self.address, timeout=30)
        connection.request(verb, path, json.dumps(fields) if fields else None)
        response = connection.getresponse()
        answered = response.status, json.loads(response.read())
        connection.close()
        return answered

    def run(self, container: str, command: str) -> None:
        number = self("POST", f"/containers/{container}/exec", Cmd=["rabbitmqctl", command])[1]["Id"]
        assert self("POST", f"/exec/{number}/start", Detach=True)[0] == 200
        assert self("GET", f"/exec/{number}/json")[1] == {"Running": False, "ExitCode": 0}


def _greets(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            client.sendall(b"AMQP\0\0\x09\x01")
            return client.recv(8) != b""
    except OSError:
        return False
