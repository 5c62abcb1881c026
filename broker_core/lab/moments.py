"""What happens next in a lab, of all that its lanes have on their way: so that it can be gone through message by
message."""

from collections.abc import Iterator
from typing import Any

from broker_core.lab.lab import Lab

Entry = tuple[int, int, Any, str]


def next_event(lab: Lab) -> tuple[int, bool]:
    """(when something happens next in any lane, whether a message arrives then)."""
    heaps = [lane.world.heap for lane in lab.lanes.values()]
    at_us = min([lab.next_arrival_us, *(heap[0][0] for heap in heaps if heap)])
    return at_us, any(not name for heap in heaps for _at, _made, _to, name in _due(heap, at_us))


def _due(heap: list[Entry], at_us: int, place: int = 0) -> Iterator[Entry]:
    """The entries of this time, which is the earliest. In a heap none of them is below a later one."""
    if place < len(heap) and heap[place][0] == at_us:
        yield heap[place]
        yield from _due(heap, at_us, 2 * place + 1)
        yield from _due(heap, at_us, 2 * place + 2)
