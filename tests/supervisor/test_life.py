"""The life of a site: it starts, mends itself, ends cleanly, and a killed one leaves nothing for long."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.supervisor.site import SupervisedSite, is_running, wait_until

pytestmark = pytest.mark.alone

NAMES = [
    "keeper",
    "redis",
    "web",
    "worker analysis",
    "worker general",
    "worker labs.0",
    "worker labs.1",
    "worker past",
    "worker wire.0",
]


def command_lines_below(pid):
    """The command lines of a process's children, on Linux; elsewhere there is nothing to see."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    pids = children.read_text().split() if children.exists() else []
    return [Path(f"/proc/{child}/cmdline").read_bytes() for child in pids]


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def site(run_dir):
    """One site for the tests that leave it running. A second supervisor may not share its folder."""
    site = SupervisedSite(run_dir)
    site.wait_started()
    yield site
    site.stop()


def test_every_part_answers_once_the_address_is_printed(site):
    status, answer = site.healthz()
    assert status == 200, answer
    assert all(
        answer[part]["ok"] and answer[part]["latency_ms"] is not None
        for part in ("web", "redis", "workers", "database")
    )
    assert sorted(site.children()) == NAMES


def test_worker_that_looks_back_shows_itself(site):
    wait_until(lambda: site.healthz()[1].get("past", {}).get("ok"), 15)


def test_analysis_worker_shows_itself_without_starting_spark(site):
    wait_until(lambda: site.healthz()[1].get("analysis", {}).get("ok"), 15)
    pid = site.children()["worker analysis"][0]
    assert not any(b"java" in part for part in command_lines_below(pid))


@pytest.mark.parametrize("name", NAMES)
def test_a_child_that_dies_is_started_again_and_the_site_is_whole_within_5_s(site, name):
    site.wait_healthy(15)
    before = site.children()[name]
    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: site.children().get(name, before) != before, 5)
    site.wait_healthy(5)
    assert is_running(site.children()[name])


def test_a_second_supervisor_in_the_same_folder_says_so_and_harms_nobody(site, run_dir):
    second = SupervisedSite(run_dir)
    _, said = second.process.communicate(timeout=15)
    assert second.process.returncode == 1
    assert said == f"Another Highwater is running in {run_dir}; stop it or set HIGHWATER_RUN_DIR.\n"
    site.wait_healthy(5)


def assert_it_ends(site, number):
    """The signal ends every child within 5 s, and nothing is left on record."""
    children = site.children()
    code, took_s = site.stop(number)
    assert code == 0
    assert took_s < 5
    assert not [name for name, child in children.items() if is_running(child)]
    assert not (site.run_dir / "children.json").exists()


def test_ctrl_c_ends_every_child_within_5_s(tmp_path):
    site = SupervisedSite(tmp_path)
    site.wait_started()
    assert_it_ends(site, signal.SIGINT)


def test_a_signal_while_it_starts_ends_it_too(tmp_path):
    site = SupervisedSite(tmp_path)
    wait_until((tmp_path / "children.json").exists, 10)
    children = site.children()
    code, took_s = site.stop()
    assert (code, took_s < 5) == (0, True)
    assert not [name for name, child in children.items() if is_running(child)]


def test_after_kill_9_the_next_start_finds_a_clean_place_and_sigterm_ends_it(tmp_path):
    first = SupervisedSite(tmp_path)
    first.wait_started()
    left = first.children()
    first.stop(signal.SIGKILL)
    second = SupervisedSite(tmp_path)
    try:
        second.wait_started()
        assert not [name for name, child in left.items() if is_running(child)]
        begun_s = time.monotonic()
        second.wait_healthy(10)
        assert time.monotonic() - begun_s < 10
        assert_it_ends(second, signal.SIGTERM)
    finally:
        second.stop()
