"""How far a group is behind, in records and in time, and what that means: a status by rules over a window of
commits, as Burrow has them.

    lag         high watermark - committed offset: what kafka-consumer-groups.sh --describe shows
    lag_ms      how long ago the first record that is not committed was written; 0 with none
    status      of one partition, by the first rule that fits the window of its last 10 commits, one a second at most:

        no_lag     the lag is 0                                                                    ok
        stopped    no commit for longer than the whole window lasted                               error
        caught_up  the lag was 0 at some commit of the window                                      ok
        young      fewer than 3 commits: nothing more can be said                                  ok
        rewound    a commit went back                                                              error
        stalled    commits come, and the offset stays the same                                     error
        falling    the offset moves on, and the lag never fell from one commit to the next         warning
        moving     anything else                                                                   ok

Source: LinkedIn Burrow, Consumer Lag Evaluation Rules and its caching evaluator, in whose order the rules are
asked; its `min-distance` of a second is kept. Kafka 3.9 tools ConsumerGroupCommand for the lag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

WINDOW, WINDOW_MIN = 10, 3
OK, WARNING, ERROR = "ok", "warning", "error"
_WORSE = (OK, WARNING, ERROR)
FALLING, STOPPED = "falling", "stopped"
"""The rules by which a member may be slow, or only have records in hand, or commit less often than it just
did."""


class Commit(NamedTuple):
    """A commit as it was when it was seen. at_ms: by the broker's clock."""

    at_ms: int
    offset: int
    lag: int


class Status(NamedTuple):
    """rule: which of the above decided."""

    status: str
    rule: str


def lag_of(end: int, committed: int | None, start: int = 0) -> int:
    """Records between the committed offset and the end; from the log start where nothing is committed.

    >>> lag_of(10, 7), lag_of(10, None, start=4), lag_of(5, 7)
    (3, 6, 0)
    """
    return max(0, end - (start if committed is None else committed))


def lags_of(ends: Iterable[int], committed: Iterable[int | None], starts: Iterable[int]) -> list[int]:
    """`lag_of` of many partitions.

    >>> lags_of([10, 5], [7, None], [0, 5])
    [3, 0]
    """
    found = []
    for end, offset, start in zip(ends, committed, starts, strict=True):
        lag = end - (start if offset is None else offset)
        found.append(max(0, lag))
    return found


def note_commit(window: list[Commit], commit: Commit) -> None:
    """Keep a commit that is new: of several within a second the last.

    >>> window = [Commit(1_000, 5, 0)]
    >>> note_commit(window, Commit(1_400, 6, 1)); note_commit(window, Commit(2_500, 8, 2)); window
    [Commit(at_ms=1400, offset=6, lag=1), Commit(at_ms=2500, offset=8, lag=2)]
    """
    if window and commit.at_ms <= window[-1].at_ms:
        return
    if window and commit.at_ms // 1_000 == window[-1].at_ms // 1_000:
        window.pop()
    window.append(commit)
    del window[:-WINDOW]


def status_of(window: Sequence[Commit], lag_now: int, now_ms: int) -> Status:
    """What a partition's window says at this moment.

    >>> status_of([Commit(0, 5, 1), Commit(5_000, 5, 2), Commit(10_000, 5, 3)], 3, 11_000)
    Status(status='error', rule='stalled')
    """
    if lag_now == 0:
        return Status(OK, "no_lag")
    if _is_stopped(window, now_ms):
        return Status(ERROR, STOPPED)
    if any(commit.lag == 0 for commit in window):
        return Status(OK, "caught_up")
    if len(window) < WINDOW_MIN:
        return Status(OK, "young")
    pairs = list(pairwise(window))
    if any(later.offset < earlier.offset for earlier, later in pairs):
        return Status(ERROR, "rewound")
    if window[-1].offset == window[0].offset:
        return Status(ERROR, "stalled")
    never_fell = all(later.lag >= earlier.lag for earlier, later in pairs)
    return Status(WARNING, FALLING) if never_fell else Status(OK, "moving")


def _is_stopped(window: Sequence[Commit], now_ms: int) -> bool:
    return len(window) >= WINDOW_MIN and now_ms - window[-1].at_ms > window[-1].at_ms - window[0].at_ms


def worst(statuses: Iterable[str]) -> str:
    """The status of a whole group.

    >>> worst(["ok", "error", "warning"]), worst([])
    ('error', 'ok')
    """
    return max(statuses, key=_WORSE.index, default=OK)
