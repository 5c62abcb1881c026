"""How the supervisor treats its children, by a clock that the test moves: when a dead one is started again,
and in what order they end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mqsite import supervisor_children
from mqsite.supervisor_children import BACK_OFF_MAX_S, STEADY_S, Child, Children, end_left_over, start_time

ENDS, STAYS = ("/bin/sh", "-c", "exit 3"), ("/bin/sh", "-c", "exec sleep 60")


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def children(tmp_path, clock):
    (tmp_path / "logs").mkdir()
    made = Children(tmp_path, tmp_path, {"PATH": os.environ["PATH"], "SAID": "this"}, clock)
    yield made
    for child in made.children:
        if child.process is not None and child.is_alive:
            child.process.kill()
            child.process.wait()


def started(children, name, command=STAYS, **rest):
    child = Child(name, command, **rest)
    children.start(child)
    return child


def die(child):
    """It ends, and its end can be seen."""
    if child.is_alive:
        child.process.kill()
    child.process.wait()


def recorded(children):
    return {
        row["name"]: (row["pid"], row["started"])
        for row in json.loads((children.run_dir / "children.json").read_text())
    }


# -- starting ------------------------------------------------------------------------------------------------


def test_a_child_runs_in_the_root_with_the_environment_it_is_given_and_writes_its_own_log(children):
    child = started(
        children, "worker labs.0", ("/bin/sh", "-c", 'echo "$SAID" "$PWD" "${HOME-none}"; echo wrong >&2')
    )
    child.process.wait()
    log = children.run_dir / "logs" / "worker-labs.0.log"
    assert log == children.log_path("worker labs.0")
    assert log.read_text().split("\n") == [f"this {children.root.resolve()} none", "wrong", ""]


def test_a_child_of_its_own_output_keeps_only_its_errors_in_the_log(children):
    read, write = os.pipe()
    with os.fdopen(read) as told:
        child = started(children, "keeper", ("/bin/sh", "-c", "echo ready; echo trouble >&2"), stdout=write)
        os.close(write)
        assert told.read() == "ready\n"
        child.process.wait()
    assert children.log_path("keeper").read_text() == "trouble\n"


def test_a_descriptor_that_is_passed_on_can_be_used_and_others_cannot(children):
    passed, kept = os.pipe(), os.pipe()
    os.set_inheritable(kept[1], True)
    try:
        script = f"echo here >&{passed[1]}; echo there 2>/dev/null >&{kept[1]} || echo closed >&{passed[1]}"
        started(children, "web", ("/bin/bash", "-c", script), pass_fds=(passed[1],)).process.wait()
        assert os.read(passed[0], 100) == b"here\nclosed\n"
    finally:
        for descriptor in (*passed, *kept):
            os.close(descriptor)


def test_a_child_leads_its_own_session_so_that_ctrl_c_does_not_reach_it(children):
    child = started(children, "web")
    assert os.getsid(child.process.pid) == child.process.pid != os.getsid(0)


def test_a_log_that_has_grown_long_is_put_aside_once(children, monkeypatch):
    monkeypatch.setattr(supervisor_children, "LOG_BYTES_MAX", 10)
    log = children.log_path("web")
    for content, aside in (("a" * 10, None), ("b" * 11, "b" * 11), ("c" * 12, "c" * 12)):
        log.write_text(content)
        started(children, "web", ENDS).process.wait()
        old = log.with_suffix(".log.1")
        assert (old.read_text() if old.exists() else None) == aside
        assert log.read_text() == ("" if aside else content)


def test_only_what_runs_is_on_record_with_its_start_time(children):
    web, worker = started(children, "web"), started(children, "worker")
    assert recorded(children) == {
        each.name: (each.process.pid, start_time(each.process.pid)) for each in (web, worker)
    }
    die(web)
    started(children, "keeper")
    assert set(recorded(children)) == {"worker", "keeper"}
    assert not (children.run_dir / "children.json.part").exists()


# -- tending -------------------------------------------------------------------------------------------------


def test_a_death_is_told_once_and_the_child_comes_back_when_its_pause_is_over(children, clock):
    web, worker = started(children, "web"), started(children, "worker")
    assert children.tend() == []
    before = web.process.pid
    die(web)
    assert children.tend() == [web] and children.tend() == []
    assert not web.is_alive and web.restart_at_s == pytest.approx(clock.now_s + 0.1)
    clock.now_s += 0.09
    assert children.tend() == [] and not web.is_alive
    clock.now_s += 0.011
    assert children.tend() == [] and web.is_alive and web.process.pid != before
    assert (web.restart_at_s, web.started_s, worker.deaths) == (None, clock.now_s, 0)
    assert children.children == [web, worker], "a child that is started again keeps its place"


def test_a_child_that_dies_at_once_waits_twice_as_long_each_time_up_to_a_limit(children, clock):
    child = started(children, "web", ENDS)
    waits = []
    for _death in range(8):
        child.process.wait()
        assert children.tend() == [child]
        waits.append(child.restart_at_s - clock.now_s)
        clock.now_s = child.restart_at_s
        children.tend()
    assert waits == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, BACK_OFF_MAX_S, BACK_OFF_MAX_S])


@pytest.mark.parametrize(("lived_s", "deaths"), [(STEADY_S, 3), (STEADY_S + 0.5, 1)])
def test_a_child_that_lived_a_while_begins_a_new_series(children, clock, lived_s, deaths):
    child = started(children, "web")
    child.deaths = 2
    clock.now_s += lived_s
    die(child)
    children.tend()
    assert child.deaths == deaths and child.restart_at_s - clock.now_s == pytest.approx(
        0.1 * 2 ** (deaths - 1)
    )


# -- ending --------------------------------------------------------------------------------------------------


def test_the_web_ends_before_the_workers_and_redis_last(children, monkeypatch):
    for name in ("redis", "keeper", "worker labs.0", "worker analysis", "web"):
        started(children, name)
    names = {child.process.pid: child.name for child in children.children}
    order = []
    terminate = subprocess.Popen.terminate
    monkeypatch.setattr(
        subprocess.Popen,
        "terminate",
        lambda process: (order.append(names[process.pid]), terminate(process))[1],
    )
    children.end_all(within_s=5)
    assert order == ["web", "worker labs.0", "worker analysis", "keeper", "redis"]
    assert {child.process.returncode for child in children.children} == {-signal.SIGTERM}
    assert not (children.run_dir / "children.json").exists()


def test_a_child_that_does_not_listen_is_killed_when_its_share_of_the_time_is_over(children):
    read, write = os.pipe()
    with os.fdopen(read) as told:
        deaf = started(
            children,
            "worker labs.0",
            ("/bin/sh", "-c", "trap '' TERM; echo deaf; exec sleep 60"),
            stdout=write,
        )
        os.close(write)
        told.readline()
        others = [started(children, name) for name in ("web", "redis")]
        children.end_all(within_s=0.4)
    assert deaf.process.returncode == -signal.SIGKILL
    assert {child.process.returncode for child in others} <= {-signal.SIGTERM, -signal.SIGKILL}


def test_ending_with_nothing_left_is_no_error(children):
    child = started(children, "web", ENDS)
    child.process.wait()
    children.end_all(within_s=1)
    children.end_all(within_s=1)
    assert child.process.returncode == 3


# -- what an earlier run left --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        "",
        "7",
        "null",
        '{"name": "web"}',
        '[{"name": "web", "pid": 1}]',
        '[{"name": "web", "pid": "x", "started": "1"}]',
        "[[]]",
    ],
)
def test_a_record_that_cannot_be_read_ends_nobody(tmp_path, record):
    (tmp_path / "children.json").write_text(record)
    assert end_left_over(tmp_path) == []


def test_a_child_that_was_dead_when_it_was_written_down_is_nobodys(tmp_path):
    (tmp_path / "children.json").write_text(
        json.dumps([{"name": "web", "pid": os.getpid(), "started": None}])
    )
    assert end_left_over(tmp_path) == [] and not (tmp_path / "children.json").exists()


def test_who_ignores_the_first_signal_gets_the_second(tmp_path):
    deaf = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()",
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert deaf.stdout.readline() == b"\n"
        (tmp_path / "children.json").write_text(
            json.dumps([{"name": "web", "pid": deaf.pid, "started": start_time(deaf.pid)}])
        )
        assert end_left_over(tmp_path, within_s=0.05) == ["web"]
        assert deaf.wait(5) == -signal.SIGKILL
    finally:
        deaf.kill()
        deaf.wait()
        deaf.stdout.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="as Linux tells it")
def test_a_zombie_and_a_process_that_never_was_have_no_start_time():
    gone = subprocess.Popen(["/bin/sh", "-c", "exit 0"])
    os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet taken away
    assert start_time(gone.pid) is None
    gone.wait()
    assert start_time(gone.pid) is None and start_time(2**22 + 7) is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="as Linux tells it")
def test_a_name_with_brackets_and_blanks_does_not_hide_the_start_time(tmp_path):
    program = tmp_path / "a) S 1 (b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as process:
        try:
            plain = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            assert start_time(process.pid) == plain[19] and int(plain[19]) > 0
        finally:
            process.kill()
