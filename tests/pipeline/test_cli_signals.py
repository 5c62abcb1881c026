"""Ctrl-C, SIGTERM and a closed terminal end a study in order: one sentence, the signal's exit code, nothing
left behind."""

import io
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dashboard.management import in_order
from dashboard.management.in_order import SIGNALS, Stopped, run_in_order
from tests.quick_java import QUICK_JAVA

ROOT = Path(__file__).parents[2]
WAIT_S = 10


@pytest.fixture(autouse=True)
def _heard_again(monkeypatch):
    """After a stop nothing is reported any more, until the process ends: this one goes on.

    In the background of a shell it would not hear Ctrl-C, and under nohup no terminal that closes: what is
    ignored stays ignored.
    """
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("number", SIGNALS)
def test_work_is_asked_to_stop_and_ends_by_itself(number):
    before, cancelled, ended = signal.getsignal(number), threading.Event(), []

    def work(is_cancelled):
        os.kill(os.getpid(), number)
        assert cancelled.wait(WAIT_S) and is_cancelled()
        ended.append(True)
        raise RuntimeError("the job was cancelled")

    with pytest.raises(Stopped) as stopped:
        run_in_order(work, cancelled.set)
    assert stopped.value.number == number and ended
    assert signal.getsignal(number) is before
    assert not logging.root.isEnabledFor(logging.CRITICAL) and isinstance(sys.stderr, io.StringIO)


def test_second_signal_does_not_wait(monkeypatch):
    monkeypatch.setattr(in_order, "AGAIN_S", 0.0)
    asked, free = threading.Event(), threading.Event()

    def work(_):
        os.kill(os.getpid(), signal.SIGINT)
        assert asked.wait(WAIT_S)
        os.kill(os.getpid(), signal.SIGINT)
        free.wait(WAIT_S)

    with pytest.raises(Stopped):
        run_in_order(work, asked.set)
    free.set()


def test_work_that_was_done_before_it_could_be_asked_is_done():
    errors = sys.stderr
    run_in_order(lambda _: os.kill(os.getpid(), signal.SIGINT), lambda: None)
    assert logging.root.isEnabledFor(logging.ERROR) and sys.stderr is errors
    with pytest.raises(ZeroDivisionError):
        run_in_order(lambda _: 1 / 0, lambda: None)


@pytest.mark.xdist_group("spark")  # one Spark after the other
def test_study_that_is_stopped_says_one_sentence_and_leaves_nothing(tmp_path):
    """By Ctrl-C, which Python and py4j have handlers of their own for; the other signals are heard as it is."""
    number = signal.SIGINT
    file, out, temporary = tmp_path / "orders.csv", tmp_path / "out", tmp_path / "tmp"
    file.write_text("customer\n" + "".join(f"c-{row % 50_021}\n" for row in range(400_000)))
    temporary.mkdir()
    command = [
        sys.executable,
        "manage.py",
        "study",
        str(file),
        "--key",
        "customer",
        "--out",
        str(out),
        "--members",
        "2..64",
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, **QUICK_JAVA, "TMPDIR": str(temporary)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as study:  # fmt: skip
        any("grouping" in line for line in study.stderr)
        os.killpg(
            study.pid, number
        )  # as a terminal and `timeout` do: Java and Spark's Python workers hear it too
        told = study.stderr.read()
        assert study.stdout.read() == ""
    assert study.returncode == 128 + number, told
    assert [line for line in told.splitlines() if " s  " not in line] == [
        "CommandError: cancelled; no result was written"
    ]
    assert not list(out.iterdir()) and not list(temporary.glob("highwater-study-*"))
