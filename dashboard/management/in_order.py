"""A signal ends a command in order: the work runs in its own thread, is asked to stop, and leaves when it has
put everything away.

    Ctrl-C, SIGTERM, a closed terminal ─► asked ─► Spark's jobs are cancelled, the work asks `is_cancelled` and ends ─► Stopped, one sentence

Interrupted there, the work would leave a call to Spark's Java unanswered, and pyspark's own handler would
make another within it.
"""

import io
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAKE_S = 0.2
AGAIN_S = 1.0
"""What `timeout` sends twice within a moment, to the process and to its group, is one signal."""
PATIENCE = 2


class Stopped(Exception):
    """The work did not come to its end, because a signal asked it to stop. number: the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by signal {number}")
        self.number = number


def run_in_order(work: Callable[[Callable[[], bool]], None], cancel: Callable[[], None]) -> None:
    """Run `work(is_cancelled)`. Raises what it raises; Stopped if it ended early after a signal.

    cancel: called again and again from the first signal until the work has ended, as it may just have begun
    another job. A second signal ends the wait. From the first signal on, no logs or other threads' tracebacks
    appear, after Stopped until the process ends: a SIGTERM for all its processes ends Java too, which breaks
    much. Call it from the main thread, which alone hears signals.
    """
    asked: list[int] = []
    asked_at = 0.0
    failed: list[Exception] = []
    errors = sys.stderr

    def ask(number: int, _: FrameType | None) -> None:
        nonlocal asked_at
        if asked and time.monotonic() - asked_at < AGAIN_S:
            return
        asked.append(number)
        asked_at = time.monotonic()
        logging.disable()
        sys.stderr = io.StringIO()

    def body() -> None:
        try:
            work(lambda: bool(asked))
        except Exception as error:  # whatever it is, the caller hears of it
            failed.append(error)

    thread = threading.Thread(target=body, daemon=True)
    # What is ignored stays so: a shell's background job is not ended by Ctrl-C.
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, ask) for number in heard}
    try:
        thread.start()
        while thread.is_alive() and len(asked) < PATIENCE:
            thread.join(WAKE_S)
            if asked:
                with suppress(Exception):  # a Spark that is going has nothing left to cancel
                    cancel()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked and (failed or thread.is_alive()):
        raise Stopped(asked[0])
    if asked:
        logging.disable(logging.NOTSET)
        sys.stderr = errors
    if failed:
        raise failed[0]
