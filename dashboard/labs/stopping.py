"""How a lab stops for good: what its page and its row say about the error."""

import logging

from broker_core.events import Json
from dashboard.labs import writes
from dashboard.labs.frames import encode, feed_state, snapshot_text
from dashboard.labs.transport import Frame

REASON_MAX = 2_000  # characters of what is kept of an error
log = logging.getLogger(__name__)


def reason_of(error: Exception) -> str:
    """What a lab's page and row say about the error that stopped it. Always text that a database takes,
    whatever the error says of itself."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    return text[:REASON_MAX].replace("\0", " ").encode(errors="backslashreplace").decode()


def lab_stop(lab_id: str, epoch: int, reason: str, last: tuple[int, Json] | None) -> Frame | None:
    """Write that the lab has stopped. last: its last frame's number and view; None: as they are stored.
    Returns the frame that says so, None where no view can be sent. Raises DatabaseError when that is gone."""
    frame, stored = None, None
    try:
        seq, view = last or writes.view_stored(lab_id)
        frame, text = stopped_frame(lab_id, epoch, seq + 1, view, reason)
        stored = (frame.seq, view["at_us"], text)
    except Exception as second:
        # Never seen by anybody, or it is what cannot be sent: the row says why it stopped.
        log.warning("lab %s stopped, and its last view cannot say so: %s", lab_id, reason_of(second))
    try:
        writes.lab_fail(lab_id, epoch, reason, stored)
    except writes.DATABASE_LOST:
        raise
    except Exception:  # it is the view that the database does not take
        writes.lab_fail(lab_id, epoch, reason, None)
    return frame


def stopped_frame(lab_id: str, epoch: int, seq: int, view: Json, reason: str) -> tuple[Frame, str]:
    """(the frame, its view as text): a lab's last view, saying that it stopped and why."""
    text = encode({**view, "feed": feed_state(epoch, failed=reason)})
    return Frame(lab_id, epoch, seq, seq, True, snapshot_text(lab_id, epoch, seq, view["at_us"], text)), text
