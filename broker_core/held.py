"""What a step cannot go on without, and what is worked out outside the core.

    a node's wake ─ raises Held ─► the world puts the moment back ─► the lab's step stops with it (`lab/pieces.py`) ─► ready: the same step again

So nothing in the core waits for wall time, and what comes of a step depends on the answer alone, not on when
it came.
"""

from abc import abstractmethod


class Held(Exception):  # noqa: N818  # no error: the same call is asked again
    """Raised before the step that needs the answer has changed anything."""

    @property
    @abstractmethod
    def is_ready(self) -> bool:
        """Whether the answer is there, so that the step can go on."""

    @abstractmethod
    def wait(self) -> None:
        """Return once it is there: for a caller that has nothing else to do meanwhile."""
