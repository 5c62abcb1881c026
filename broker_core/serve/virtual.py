"""An asyncio loop whose clock jumps: an hour of a client that waits takes no time.

    run what is ready ─► look at the sockets, without waiting ─► nothing came? ─► the clock jumps to the next timer

A client on this loop and a server on it (`run_here`) share the clock. Loopback hands bytes over within the call that sends
them, so that nothing is under way when nothing can be read. While the loop's executor works (a name is looked up, a file is
read) the clock stands, and the loop really waits for it. Of a thread that a client has started without the loop nobody
knows what it does: it gets OTHERS_S before each jump.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

OTHERS_S = 0.005
"""Seconds of real time for threads that do not belong to the loop or to a broker of ours."""
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class _Selector(selectors.DefaultSelector):
    """jump: moves the clock by so many seconds. is_busy: whether a thread works for the loop."""

    jump: Callable[[float], None]
    is_busy: Callable[[], bool]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        if timeout is None or self.is_busy():
            return super().select(None)
        if _has_others():
            found = super().select(OTHERS_S)
        if not found:
            self.jump(timeout)
        return found


def _has_others() -> bool:
    ours = ("asyncio_", "highwater")
    current = threading.current_thread()
    return any(
        each is not current and each is not threading.main_thread() and not each.name.startswith(ours)
        for each in threading.enumerate()
    )


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its `time()` begins at 0, in seconds, and moves only where nothing is left to do before the next timer."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._in_threads = 0
        selector = _Selector()
        selector.jump, selector.is_busy = self._jump, lambda: self._in_threads > 0
        super().__init__(selector)

    def time(self) -> float:
        return self._now_s

    def _jump(self, by_s: float) -> None:
        self._now_s += by_s

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._come_back)
        return future

    def _come_back(self, future: asyncio.Future[Any]) -> None:
        self._in_threads -= 1


def virtual_loop() -> VirtualLoop:
    """A new one: `asyncio.Runner(loop_factory=highwater.virtual_loop)`, or what your test runner takes."""
    return VirtualLoop()
