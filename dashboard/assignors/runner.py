"""Runs a user's assignor in a process of its own, `child/`; the core asks for it through
`broker_core/kafka/assignors/custom.py: use_runner`.

    the core asks ─► known: the answer                              (`answers.py`: the same text and input give the same answer)
                 └─► not yet: a process begins, and Held ─► a shard serves other labs ─► the core asks again

What a process answers is what the text did. Where a process was ended from outside, or the machine gave it no
time, the call begins again; a lab that gets no answer at all stops, as nothing that it could say would be
true.
"""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from broker_core.errors import HighwaterError
from broker_core.held import Held
from broker_core.kafka.assignors.custom import OFF
from dashboard.assignors.answers import Answers
from dashboard.assignors.child.limits import ANSWER_BYTES_MAX, CPU_S

CHILD = Path(__file__).with_name("child")
# Not -I: it would ignore PYTHONHASHSEED. The environment is empty but for it, so texts hash the same, as long
# as sets are dicts.
COMMAND = (sys.executable, "-P", "-s", "-S", "-B", "-W", "ignore", str(CHILD))
ENVIRONMENT = {"PYTHONHASHSEED": "0"}
AT_ONCE = 2
TRIES = 3
WALL_S = 600.0
"""For a machine that hardly runs: the limits that count are the child's own, of steps and of CPU."""
UNCLAIMED_S = 60.0
LOOK_EVERY_S = 0.005
CRASHES = {
    -number: number.name
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
}


class AssignorLost(HighwaterError):
    """No process could be brought to an answer; nothing is known of what the function would have said."""


@dataclass
class _Call:
    """One call of one text. process, answer_file: while it runs. over_s: since when there is an answer that
    nobody has taken, or `is_lost`."""

    order: bytes
    process: subprocess.Popen[bytes] | None = None
    answer_file: IO[bytes] | None = None
    begun_s: float = 0.0
    tries: int = 0
    answer: bytes | None = None
    is_lost: bool = False
    over_s: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.is_lost or self.answer is not None


class Waiting(Held):
    """The answer of this call is not there yet."""

    def __init__(self, runner: Runner, call: _Call) -> None:
        super().__init__()
        self.runner, self.call = runner, call

    @property
    def is_ready(self) -> bool:
        self.runner.look()
        return self.call.is_over

    def wait(self) -> None:
        while not self.is_ready:
            time.sleep(LOOK_EVERY_S)


class Runner:
    """The calls of one process of the site; of several threads, too."""

    def __init__(self, command: tuple[str, ...] = COMMAND, answers: Answers | None = None) -> None:
        self.command, self.answers = command, answers or Answers()
        self._calls: dict[bytes, _Call] = {}
        self._lock = threading.Lock()

    def ask(self, source: str, *arguments: Any) -> dict[str, Any]:
        """What `assign` returned for these arguments (members, partitions, ...), or its error with its line. Raises
        Held until it is known, and AssignorLost."""
        order = json.dumps({"source": source, "arguments": arguments}).encode()
        key = hashlib.sha256(order).digest()
        with self._lock:
            answer = self.answers.get(key)
            if answer is None:
                call = self._calls.setdefault(key, _Call(order))
                self._look()
                if not call.is_over:
                    raise Waiting(self, call)
                del self._calls[key]
                if call.answer is None:
                    raise AssignorLost(f"no process could run the assignor to its end, in {TRIES} tries")
                answer = call.answer
                self.answers.keep(key, answer)
        return _read(answer)

    def run(self, source: str, *arguments: Any) -> dict[str, Any]:
        """`ask`, and wait for the answer."""
        while True:
            try:
                return self.ask(source, *arguments)
            except Held as held:
                held.wait()

    def look(self) -> None:
        """See which processes have ended, and begin those that wait for their turn."""
        with self._lock:
            self._look()

    def _look(self) -> None:
        now_s = time.monotonic()
        for call in self._calls.values():
            if call.process is not None:
                self._reap(call, now_s)
        free = AT_ONCE - sum(call.process is not None for call in self._calls.values())
        for call in [call for call in self._calls.values() if call.process is None and not call.is_over][
            : max(0, free)
        ]:
            self._begin(call, now_s)
        for key in [
            key for key, call in self._calls.items() if call.is_over and now_s - call.over_s > UNCLAIMED_S
        ]:
            del self._calls[key]  # its lab is gone

    def _begin(self, call: _Call, now_s: float) -> None:
        call.answer_file, call.begun_s, call.tries = tempfile.TemporaryFile(), now_s, call.tries + 1  # noqa: SIM115  # until `_reap`
        with tempfile.TemporaryFile() as order:
            order.write(call.order)
            order.seek(0)
            # a session of its own: what ends the worker must not look like the function's end
            call.process = subprocess.Popen(
                self.command,
                stdin=order,
                stdout=call.answer_file,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                cwd="/",
                start_new_session=True,
            )

    def _reap(self, call: _Call, now_s: float) -> None:
        process, answer_file = call.process, call.answer_file
        assert process is not None and answer_file is not None
        if process.poll() is None:
            if now_s - call.begun_s < WALL_S:
                return
            process.kill()
            process.wait()
        call.process = call.answer_file = None
        with answer_file:
            answer_file.seek(0)
            call.answer = _answer(process.returncode, answer_file.read(ANSWER_BYTES_MAX + 1))
        call.is_lost, call.over_s = call.answer is None and call.tries >= TRIES, now_s


def _answer(code: int, said: bytes) -> bytes | None:
    """What the end of a process says of the function; None: nothing."""
    if code == 0 and len(said) <= ANSWER_BYTES_MAX:
        return said
    if code == 0:
        return _failed("long_answer", mb=ANSWER_BYTES_MAX >> 20)
    if code == -signal.SIGXCPU:
        return _failed("cpu", seconds=CPU_S)
    return _failed("crashed", signal=CRASHES[code]) if code in CRASHES else None


def _read(answer: bytes) -> dict[str, Any]:
    try:
        said = json.loads(answer)
    except RecursionError:
        said = json.loads(_failed("deep_answer"))
    except ValueError:
        said = None
    if not isinstance(said, dict) or not ("assignment" in said or "line" in said):
        said = json.loads(_failed("unreadable"))
    return said


def _failed(code: str, **params: int | str) -> bytes:
    return json.dumps({"code": code, "params": params, "line": 0}).encode()


RUNNER = Runner()


@cache
def is_available() -> bool:
    """Whether this machine can run users' assignors: whether its kernel filters system calls. Looked at once
    in a process."""
    answer = RUNNER.run("def assign(members, partitions):\n    return {}\n", {}, {})
    return answer.get("code") != OFF
