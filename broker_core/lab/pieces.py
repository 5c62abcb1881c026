"""Work in pieces: a generator that stops between two parts of a long step, so that whoever drives several
labs can serve another in between.

    submit(command) = whole(submitting(command))        submitting: lane 1 ─┬─ lane 2 ─┬─ lane 3 ─► turning points
                                                                            └ a stop ──┘
Stops change no result. Between the first piece and the last one, nothing else may be asked of what is being
worked on. A stop says None, or what the work is held by: there is no use in going on before that is ready.
"""

from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

from broker_core.held import Held

T = TypeVar("T")
Pieces = Generator[Held | None, None, T]
Stops = Iterable[Held | None]


def whole(pieces: Pieces[T], check: Callable[[], None] = lambda: None) -> T:
    """All pieces at once, waiting where they are held. check: called before each piece; what it raises ends the work.

    >>> def halves():
    ...     yield
    ...     return 2
    >>> whole(halves())
    2
    """
    while True:
        check()
        try:
            held = next(pieces)
        except StopIteration as end:
            result: T = end.value
            return result
        if held is not None:
            held.wait()
