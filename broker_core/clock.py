"""The only time there is in the core: virtual microseconds, advanced by the driver of the lab."""

from dataclasses import dataclass

from broker_core.errors import InvariantError

SECOND_US = 1_000_000
MILLISECOND_US = 1_000


@dataclass(slots=True)
class VirtualClock:
    """Virtual time in integer microseconds since the lab began.

    >>> clock = VirtualClock()
    >>> clock.advance_to(5)
    >>> clock.now_us
    5
    """

    now_us: int = 0

    def advance_to(self, at_us: int) -> None:
        """Move to `at_us`. Raises InvariantError if that is in the past: time travel is replay, never a clock
        that runs back."""
        if at_us < self.now_us:
            raise InvariantError(f"the clock stands at {self.now_us} us and was told {at_us} us")
        self.now_us = at_us
