"""Asks the process that reads people's files (`reader_child.py`): the web process itself reads none of them.

At most READERS_MAX questions at one time; who finds no place within a while is told to come again.
"""

import json
import logging
import socket
import subprocess
import sys
from threading import Lock, Semaphore
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from broker_core.errors import CommandError, Names, SentenceError
from broker_core.events import Json
from dashboard.errors import Refused

log = logging.getLogger(__name__)
COMMAND = (sys.executable, "-m", "dashboard.studies.reader_child")
READERS_MAX = 2
WAIT_S = 20.0
ANSWER_S = 30.0  # more than the child's own limit: it is the machine that does not answer
ANSWER_BYTES_MAX = 16 << 20
TOO_MUCH = (
    "takes too long or too much memory to be read; a row may be very long, or the file unpacks to far more "
    "than its size"
)


class Reader:
    """The child of this process, started with the first question and again when it is gone."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._lock = Lock()
        self._places = Semaphore(READERS_MAX)

    def begin(self) -> None:
        """Have the child ready soon; asking would start it, too."""
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._start()

    def ask(self, call: str, field: str, **arguments: Any) -> Any:
        """What the core's function says to these arguments.

        field: where a question that goes beyond the limits is refused. Raises CommandError, Refused 503 when
        the child is too busy.
        """
        if not self._places.acquire(timeout=WAIT_S):
            raise _busy()
        try:
            said = self._answer(json.dumps({"call": call, "arguments": arguments}).encode())
        finally:
            self._places.release()
        if "answer" in said:
            return said["answer"]
        if "refused" in said:
            refused = _unpacked(said["refused"])
            assert isinstance(refused, CommandError)
            raise refused
        if "broken" in said:
            raise RuntimeError(said["broken"])
        raise CommandError(field, TOO_MUCH)

    def _answer(self, order: bytes) -> Json:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._hand_over(theirs)
            ours.settimeout(ANSWER_S)
            try:
                ours.sendall(order)
                ours.shutdown(socket.SHUT_WR)
                received = bytearray()
                while len(received) <= ANSWER_BYTES_MAX and (data := ours.recv(65_536)):
                    received += data
            except TimeoutError as error:
                raise _busy() from error
            except ConnectionError:
                received = bytearray()
        try:
            said: Json = json.loads(received)
        except ValueError:
            # It was ended by a limit, or by the machine, in the middle of it.
            return {"over": True}
        return said

    def _hand_over(self, theirs: socket.socket) -> None:
        with self._lock:
            for _attempt in range(2):
                if self._child is None or self._child.poll() is not None or self._control is None:
                    self._start()
                assert self._control is not None
                try:
                    socket.send_fds(self._control, [b"q"], [theirs.fileno()])
                    return
                except OSError as error:
                    log.warning("the reader of people's files is started again: %s", error)
                    self._end()
        raise _busy()

    def _start(self) -> None:
        self._end()
        self._control, theirs = socket.socketpair()
        with theirs:
            command = [*COMMAND, str(theirs.fileno())]
            self._child = subprocess.Popen(
                command, cwd=settings.BASE_DIR, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None


def _busy() -> Refused:
    return Refused(503, {"source": _("too many files are being read right now: try again in a moment")}, 5)


def _unpacked(packed: Json) -> SentenceError:
    values = {name: _value(value) for name, value in packed["values"].items()}
    if packed["field"]:
        return CommandError(packed["field"], packed["template"], **values)
    return SentenceError(packed["template"], **values)


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return _unpacked(value)
    return Names(value) if isinstance(value, list) else value


reader = Reader()
