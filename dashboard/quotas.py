"""How much one network address may have, and everybody together.

Anybody can invent tokens, so what one token may have protects nobody; an address is dearer. Three rules, in
this order:

    one address has `each` at most
    everybody together has `total` at most
    the last RESERVE of the total is for newcomers: an address that has `newcomer` of it or more waits until
    something is free again

so that no address can use up everything, and a newcomer finds a place while others are sent away. The answer
says when to try again.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.errors import Refused

RESERVE = 0.1
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 24 * 3600


@dataclass(frozen=True, slots=True)
class Quota:
    """what: the thing in words, plural. field: where a refusal appears. total_status: 429, or 507 where it is
    storage that is full."""

    what: Any
    field: str
    each: int
    total: int
    newcomer: int = 1
    total_status: int = 429

    def is_full_for(self, mine: int, adding: int = 1) -> bool:
        """Whether the address has its share already."""
        return mine + adding > self.each

    def is_full(self, mine: int, everybody: int, adding: int = 1) -> bool:
        """Whether everybody together leaves no room for an address that has `mine`."""
        reserve = max(1, round(self.total * RESERVE))
        return everybody + adding > self.total - (0 if mine + adding <= self.newcomer else reserve)

    def check(self, *, mine: int | None, everybody: int, adding: int = 1, again_s: float) -> None:
        """Raises Refused when there is no room. mine: None for what is the server's own. again_s: when
        something will be free, in seconds."""
        if mine is not None and self.is_full_for(mine, adding):
            raise self.full_for(again_s)
        if self.is_full(mine or 0, everybody, adding):
            raise self.full(again_s)

    def full_for(self, again_s: float) -> Refused:
        text = _("your network address has reached its limit of %(what)s; try again in about %(when)s")
        return Refused(429, {self.field: text % {"what": self.what, "when": in_about(again_s)}}, again_s)

    def full(self, again_s: float) -> Refused:
        text = _("the server has no room for more %(what)s right now; try again in about %(when)s")
        return Refused(
            self.total_status, {self.field: text % {"what": self.what, "when": in_about(again_s)}}, again_s
        )


def in_about(seconds: float) -> str:
    """A time to wait, in words, rounded up.

    >>> in_about(20), in_about(150), in_about(7_000), in_about(200_000)
    ('a minute', '3 minutes', '117 minutes', '3 days')
    """
    if seconds <= MINUTE_S:
        return _("a minute")
    if seconds <= 2 * HOUR_S:
        return _("%(count)d minutes") % {"count": ceil(seconds / MINUTE_S)}
    if seconds <= 2 * DAY_S:
        return _("%(count)d hours") % {"count": ceil(seconds / HOUR_S)}
    return _("%(count)d days") % {"count": ceil(seconds / DAY_S)}


LABS = gettext_lazy("labs")
PARTS = gettext_lazy("parts of labs")
OPEN_LABS = gettext_lazy("labs open to real clients")
FILES = gettext_lazy("files")
LOGS = gettext_lazy("opened logs")
WAITING_STUDIES = gettext_lazy("waiting studies")
LIVE_STUDIES = gettext_lazy("live studies")
COMPARISONS = gettext_lazy("comparisons that are under way")
SEARCHES = gettext_lazy("searches that are under way")
CAPSULES = gettext_lazy("capsules that are being made")
KEPT_STUDIES = gettext_lazy("kept studies")
ROOMS = gettext_lazy("rooms")
SEATS = gettext_lazy("seats in a room")
WRONG_CODES = gettext_lazy("wrong codes of rooms")
