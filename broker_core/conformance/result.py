"""What became of one recorded case, and the one frame in which a case may fail in any way at all.

A *case* is one scenario, sequence, trace or listed string of a vector file. An adapter (`kafka.py`,
`pulsar.py`, `tubemq.py`) yields one `CaseResult` per case; the command in `__main__.py` counts and prints
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case: its id, how it went, and what to show.

    expected, got: plain values, shown for a failed case. reason: why a case was skipped; never empty for a
    skip.
    beyond: of a case that has to match only up to a point, how many steps after it match, and how many there
    are.
    """

    id: str
    outcome: Literal["passed", "failed", "skipped"]
    expected: object = None
    got: object = None
    reason: str = ""
    beyond: tuple[int, int] | None = None


def passed(case_id: str) -> CaseResult:
    """The case holds."""
    return CaseResult(case_id, "passed")


def compare(case_id: str, expected: object, got: object) -> CaseResult:
    """Passed when `got == expected`, else failed with both.

    >>> compare("mod-1", 1, 2)
    CaseResult(id='mod-1', outcome='failed', expected=1, got=2, reason='')
    """
    return passed(case_id) if got == expected else CaseResult(case_id, "failed", expected, got)


def skipped(case_id: str, reason: str) -> CaseResult:
    """The case is left out, and says why."""
    return CaseResult(case_id, "skipped", reason=reason)


def case(case_id: str, run: Callable[[], CaseResult]) -> CaseResult:
    """Run one case; whatever it raises is a failure of that case, with the exception as what we got.

    run: no arguments, gives the result (`compare(...)`, `passed(...)`, `skipped(...)`).

    >>> case("x", lambda: compare("x", 1, 1 // 0)).got
    'ZeroDivisionError: integer division or modulo by zero'
    """
    try:
        return run()
    # A broad except is right here and only here: a case hands arbitrary recorded input to the rule under
    # test, so any exception is the answer that the rule gave, to be shown beside the recorded one while the
    # other cases go on.
    except Exception as error:  # noqa: BLE001
        return CaseResult(case_id, "failed", "an answer", f"{type(error).__name__}: {error}")
