"""A recording as text of a capsule, with as many of its moments as there is room for.

Two blocks, each JSON packed by gzip and written in base64, as DecompressionStream reads it:

    run    {from_us, until_us, times: [[at_us, position, hash, stays]], views: [view, patch, ...], events, marks, asked}
    why    {times: [at_us], answers: [{lane: {thing: answer}}, patch, ...]}

A patch is the feed's own (broker_core/lab/patch.py). Where it is too much, "Why?" is answered at fewer moments first,
then there are fewer pictures; those of changes stay.
"""

import gzip
import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator

from broker_core.events import Json
from broker_core.lab.patch import diff
from dashboard.labs.capsules.recording import Kept, Recording
from dashboard.labs.frames import encode

THINNER = (1, 2, 4)
RARER = (1, 2, 4, 8, 16, 32, 64)
RUN_SHARE = 0.75
"""Of the room, for pictures; beyond it there are fewer of them, so that "Why?" has some, too."""


class TooLarge(Exception):
    """needs: bytes, with as few moments as there may be. room: how many there are."""

    def __init__(self, needs: int, room: int) -> None:
        super().__init__(f"needs {needs:,} bytes of {room:,}")
        self.needs, self.room = needs, room


def fitted(recording: Recording, room: int, check: Callable[[], None] = lambda: None) -> tuple[str, str]:
    """(the run, its answers of "Why?"), together at most `room` bytes. check: called between two pieces of work; what it
    raises ends it. Raises TooLarge."""
    needs = 0
    for thinner in THINNER:
        kept = [each for place, each in enumerate(recording.kept) if each.stays or place % thinner == 0]
        run = _run(recording, kept, check)
        needs = len(run)
        if needs > RUN_SHARE * room:
            continue
        for rarer in RARER:
            why = _why(kept, rarer, check)
            if len(run) + len(why) <= room:
                return run, why
            needs = len(run) + len(why)
    raise TooLarge(needs, room)


def block(value: Json) -> str:
    """JSON as a text that an HTML file can hold."""
    return b64encode(gzip.compress(encode(value).encode(), 9, mtime=0)).decode()


def _run(recording: Recording, kept: list[Kept], check: Callable[[], None]) -> str:
    return block(
        {
            "from_us": recording.from_us,
            "until_us": recording.until_us,
            "times": [[each.at_us, each.position, each.state_hash, each.stays] for each in kept],
            "views": list(_patches((each.text for each in kept), check)),
            "events": recording.events,
            "marks": recording.marks,
            "asked": recording.asked,
        }
    )


def _why(kept: list[Kept], rarer: int, check: Callable[[], None]) -> str:
    asked = [(each.at_us, each.why) for each in kept if each.why is not None]
    chosen = [each for place, each in enumerate(asked) if place % rarer == 0]
    return block(
        {
            "times": [at_us for at_us, _text in chosen],
            "answers": list(_patches((text for _at_us, text in chosen), check)),
        }
    )


def _patches(texts: Iterable[bytes], check: Callable[[], None]) -> Iterator[Json | list[Json]]:
    """The first whole, the others as what changed since the one before."""
    before: Json | None = None
    for text in texts:
        check()
        now: Json = json.loads(zlib.decompress(text))
        yield now if before is None else diff(before, now)
        before = now
