"""The plugin for pytest, in runs of pytest of their own: a fresh server for each test, faults that must strike, the run that
is kept of a failed test."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import highwater
from mqsite.keeper import ROOT
from tests.core.serve.programs import program_of

pytest_plugins = ["pytester"]

PLUGIN = "broker_core.serve.pytest_plugin"
PATIENCE_S = 120
CLIENT = """
import pika

def channel_of(rabbitmq):
    return pika.BlockingConnection(pika.URLParameters(rabbitmq.url)).channel()
"""


@pytest.fixture
def running(pytester, monkeypatch):
    """Run tests with the plugin, as an installation has it. Returns what pytest said."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'broker_core/serve/installed'}")
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    is_installed = any(each.value == PLUGIN for each in entry_points(group="pytest11"))
    plugins = ["-p", "no:django"] + ([] if is_installed else ["-p", PLUGIN])

    def run(text: str, *options: str, **others: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=CLIENT + text, **others)
        return pytester.runpytest_subprocess(*plugins, *options, timeout=PATIENCE_S)

    return run


def test_each_test_has_an_empty_server_of_one_session(running):
    found = running("""
seen = set()

def test_one(rabbitmq):
    channel_of(rabbitmq).queue_declare("orders", durable=True)
    seen.add(rabbitmq.url)

def test_two(rabbitmq, highwater):
    assert rabbitmq is highwater and rabbitmq.queues() == []
    seen.add(rabbitmq.url)
    assert len(seen) == 1

def test_three(highwater):
    channel_of(highwater).queue_declare("orders")

def test_four(highwater):
    assert [each["queue"] for each in highwater.queues()] == ["orders"]
""")
    found.assert_outcomes(passed=4)


def test_fault_that_has_struck_nothing_fails_its_test(running):
    found = running("""
import unittest
import pytest

def test_met(rabbitmq):
    rabbitmq.fault("lose_answer", "basic.publish")
    channel = channel_of(rabbitmq)
    channel.queue_declare("orders")
    channel.basic_publish("", "orders", b"one")
    rabbitmq.wait_for_queue("orders", ready=1)

def test_unmet(rabbitmq):
    rabbitmq.fault("nack", "basic.publish", queue="orders", nth=2)

def test_allowed(rabbitmq):
    rabbitmq.fault("hold", "basic.get", must_hit=False)

def test_failed_itself(rabbitmq):
    rabbitmq.fault("hold", "basic.get")
    assert 1 == 2

class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def broker(self, rabbitmq):
        self.rabbitmq = rabbitmq

    def test_queue(self):
        channel_of(self.rabbitmq).queue_declare("orders")
        self.assertEqual(len(self.rabbitmq.queues()), 1)

    def test_unmet_in_a_case(self):
        self.rabbitmq.fault("hold", "basic.get")
""")
    found.assert_outcomes(passed=3, failed=3)
    said = found.stdout.str()
    assert (
        "fault 1 (do='nack', method='basic.publish', queue='orders', nth=2) has struck nothing: no method"
        in said
    )
    assert "FAILED test_it.py::TestCase::test_unmet_in_a_case" in said
    assert "has struck nothing" not in said.partition("test_failed_itself")[2].partition("TestCase.")[0]


def test_run_of_a_failed_test_is_kept_with_its_last_events(running, pytester):
    pytester.makeini("[pytest]\nhighwater_folder = runs\n")
    found = running("""
def test_before(rabbitmq):
    channel_of(rabbitmq).queue_declare("before")

def test_failed(rabbitmq):
    channel = channel_of(rabbitmq)
    for number in range(30):
        channel.queue_declare(f"queue {number}")
    assert rabbitmq.queues() == []
""")
    found.assert_outcomes(passed=1, failed=1)
    said = found.stdout.str()
    (path,) = re.findall(r"the run is kept: (.*)", said)
    again = highwater.replay(Path(path))
    assert Path(path).parent == pytester.path / "runs" and len(list(Path(path).parent.iterdir())) == 1
    assert again.differs is None and len(again.run.broker.state.vhosts["/"].queues) == 30
    lines = re.findall(r"^\d+\.\d{6} s  .*$", said, re.MULTILINE)
    assert len(lines) == 20 and lines[-1].endswith("socket 2 < queue.declare-ok queue='queue 29'")


def test_async_tests_and_workers_of_xdist_have_theirs(running):
    found = running(
        """
import asyncio
import pytest

@pytest.mark.asyncio
@pytest.mark.parametrize("number", range(3))
async def test_async(rabbitmq, number):
    await asyncio.to_thread(channel_of(rabbitmq).queue_declare, "orders")
    assert len(rabbitmq.queues()) == 1

@pytest.mark.parametrize("number", range(3))
def test_kept(rabbitmq, number):
    channel_of(rabbitmq).queue_declare("orders")
    assert number != 2
""",
        "-n", "2",
    )  # fmt: skip
    found.assert_outcomes(passed=5, failed=1)
    (path,) = re.findall(r"the run is kept: (.*)", found.stdout.str())
    assert Path(path).exists()


def test_project_says_what_its_server_begins_with(running):
    found = running(
        """
def test_begins(rabbitmq):
    assert [each["queue"] for each in rabbitmq.queues()] == ["orders"]
""",
        conftest="""
import pytest

@pytest.fixture(scope="session")
def highwater_options():
    return {"definitions": {"queues": [{"name": "orders", "vhost": "/"}]}}
""",
    )
    found.assert_outcomes(passed=1)


def test_program_of_the_page_passes(running):
    running(program_of("pytest.md")).assert_outcomes(passed=1)
