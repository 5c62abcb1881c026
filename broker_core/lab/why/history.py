"""What made a thing so: the last turning point about it, and the chain of causes back to an order.

Turning points come newest first, and are read only as far back as they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.events import Json
from broker_core.lab.why.known import UNSAID, Known

CHAIN_MAX = 40


def history_of(known: Known, events: Iterable[Json]) -> tuple[list[Json], int | None]:
    """(the chain, oldest first; since when it is so, None where no turning point is about the thing).

    The chain holds the last turning point about the thing and the last one that a rule decided, each with its
    causes. A partition is so since its consumer got it, whatever was said of it after that. What a lane went through
    before its rule was switched is another lane's: that switch is the beginning.
    """
    search = _Search(known)
    for event in events:
        search.look_at(event)
        if search.is_over:
            break
    return sorted(search.found, key=lambda event: event["seq"])[-CHAIN_MAX:], search.since_us


class _Search:
    def __init__(self, known: Known) -> None:
        self.known = known
        self.found: list[Json] = []
        self.since_us: int | None = None
        self.is_over = False
        self._wanted: set[str] = set()  # ids of causes
        self._has_last = self._has_rule = False
        self._seeks_owner = known.owner_after is not None and known.owner is not None

    def look_at(self, event: Json) -> None:
        is_switch = event["kind"].endswith(".algorithm_switched")
        is_about = is_switch or self.known.is_about(event)
        needed = is_about and (not self._has_last or (event["rule"] is not None and not self._has_rule))
        if needed or event["id"] in self._wanted or (is_switch and self._seeks_owner):
            self._keep(event)
        if is_about:
            if not self._has_last and self.since_us is None:
                self.since_us = max(0, event["at_us"])
            self._has_last = True
            self._has_rule = self._has_rule or event["rule"] is not None or is_switch
        if self._seeks_owner:
            self._follow_owner(event, is_switch)
        self.is_over = is_switch or (
            self._has_last and self._has_rule and not self._wanted and not self._seeks_owner
        )

    def _keep(self, event: Json) -> None:
        self.found.append(event)
        self._wanted.discard(event["id"])
        cause = (event["cause"] or {}).get("event")
        if cause is not None:
            self._wanted.add(cause)

    def _follow_owner(self, event: Json, is_switch: bool) -> None:
        assert self.known.owner_after is not None
        after = self.known.owner_after(event)
        if is_switch or after is not UNSAID:
            if after is UNSAID or after == self.known.owner:
                self.since_us = max(0, event["at_us"])
            else:
                self._seeks_owner = False
