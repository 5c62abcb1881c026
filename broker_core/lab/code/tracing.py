"""A function's last call while a lab runs: which lines it went through, and its variables at each.

    with Trace(function, lane) as counted:                        the lab is brought on (dashboard/labs/past/code.py)
    with Trace(function, lane, of=counted.calls) as trace:        and, from where it was, once more
    trace.call                                                    None: it has not run

The interpreter's own trace function sees each call; only the one that is wanted is followed line by line, and only those
below the lane that is asked about count. What is traced is not changed by it.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, Self

from broker_core.lab.code.values import DEPTH, text_of
from broker_core.lab.shared.lane import Lane

STEPS_MAX = 400
OF_ITSELF = 2
"""How deep the object goes whose method runs: it is there at each line."""


@dataclass(slots=True)
class Step:
    """Before a line is executed. changed: variable -> its new value."""

    line: int
    changed: dict[str, str]


@dataclass(slots=True)
class Call:
    """at_us: virtual time of the lane. given: the arguments. result: what it gave back; raised: the name of what it
    raised instead, "" else. cut: how many steps more it took than are kept."""

    at_us: int
    given: dict[str, str]
    steps: list[Step] = field(default_factory=list)
    result: str = ""
    raised: str = ""
    cut: int = 0


class Trace:
    """lane: the lane's id. of: which call is followed, from 1; 0: none, they are counted. calls: how many there were."""

    def __init__(self, function: Callable[..., Any], lane: str, of: int = 0) -> None:
        self.code: CodeType = getattr(function, "__wrapped__", function).__code__
        self.lane = lane
        self.calls, self.of = 0, of
        self.call: Call | None = None
        self._frame: FrameType | None = None
        self._running: Call | None = None
        self._known: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code is not self.code or self._frame is not None:  # of a recursion the outermost
            return None
        lane = self._lane_of(frame)
        if lane is None:
            return None
        self.calls += 1
        if self.calls != self.of:
            return None
        given = self._variables(frame)
        self._frame, self._known = frame, dict(given)
        self._running = Call(lane.now_us, given)
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, arg: Any) -> Any:
        call = self._running
        if frame is not self._frame or call is None:
            return None
        if event == "exception":
            call.raised = arg[0].__name__
        elif event == "line":
            call.raised = ""
            if len(call.steps) < STEPS_MAX:
                call.steps.append(Step(frame.f_lineno, self._changes(frame)))
            else:
                call.cut += 1
        elif event == "return":
            if call.raised == "" or arg is not None:
                call.result = text_of(arg)
            call.steps.append(Step(frame.f_lineno, self._changes(frame)))
            self.call, self._running, self._frame = call, None, None
        return self._stepped

    def _changes(self, frame: FrameType) -> dict[str, str]:
        now = self._variables(frame)
        changed = {name: text for name, text in now.items() if self._known.get(name) != text}
        self._known = now
        return changed

    def _variables(self, frame: FrameType) -> dict[str, str]:
        return {
            name: text_of(value, depth=OF_ITSELF if name == "self" else DEPTH)
            for name, value in frame.f_locals.items()
            if not name.startswith(".")
        }

    def _lane_of(self, frame: FrameType) -> Lane | None:
        """The lane below which the frame runs, if it is the one that is asked about."""
        above: FrameType | None = frame.f_back
        while above is not None:
            found = above.f_locals.get("self")
            if isinstance(found, Lane):
                return found if found.id == self.lane else None
            above = above.f_back
        return None
