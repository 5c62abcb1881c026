"""Work in pieces: a generator that stops between two parts of a long step, so that whoever drives several labs can serve another in between.

    submit(command) = whole(submitting(command))        submitting: lane 1 ─┬─ lane 2 ─┬─ lane 3 ─► turning points
                                                                            └ a stop ──┘
Stops change no result. Between the first piece and the last one, nothing else may be asked of what is being worked on.
"""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Pieces = Generator[None, None, T]


def whole(pieces: Pieces[T]) -> T:
    """All pieces at once.

    >>> def halves():
    ...     yield
    ...     return 2
    >>> whole(halves())
    2
    """
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            result: T = end.value
            return result
