"""How many messages a second one sender may send, with two seconds' worth as a reserve."""

import time


class Allowance:
    """rate: messages a second."""

    __slots__ = ("_at_s", "_left", "_rate")

    def __init__(self, rate: float) -> None:
        self._rate, self._left, self._at_s = rate, 2.0 * rate, time.monotonic()

    def take(self) -> bool:
        """Count one message. False: it is one too many."""
        now_s = time.monotonic()
        self._left = min(2.0 * self._rate, self._left + (now_s - self._at_s) * self._rate) - 1
        self._at_s = now_s
        return self._left >= 0
