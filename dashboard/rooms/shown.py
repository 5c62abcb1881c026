"""What a presenter's page says that it shows: a page of the lab or a lecture's deck, a moment of the past, what is chosen
and what is pointed at. It is checked here, because it travels to everybody's browser."""

import re
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.errors import Refused, listed
from dashboard.frame import ROUTES, page_path
from dashboard.lectures.shelf import shelf

QUERY = re.compile(r"(\?[A-Za-z0-9_.~,:%+=&-]{0,300})?")
CHOSEN_MAX, TEXT_MAX, DIGITS_MAX = 12, 200, 15
DECK = "deck"
PAGES = (*ROUTES, DECK)
FIELDS = ("page", "lecture", "query", "at_us", "position", "chosen", "thing")
NOTHING: Json = {
    "page": "stage",
    "lecture": "",
    "query": "",
    "at_us": None,
    "position": None,
    "chosen": {},
    "thing": None,
}


def checked_shown(given: Any) -> Json:
    """`given` with all of FIELDS. page: a tab of the lab, or DECK: of this lecture, whose slide is among the chosen.
    query: of the page's address, "" or from its "?" on.
    at_us: the moment of the past that is looked at, None: the lab as it goes on; position: its place in the journal.
    chosen: what else is chosen there, texts by name. thing: what is pointed at, a text that the pages' own modules
    understand, or None.

    Raises Refused 400 at the field.
    """
    if not isinstance(given, dict):
        raise Refused(400, {"shown": _("must be an object")})
    if unknown := sorted(set(given) - set(FIELDS)):
        raise Refused(400, {f"shown.{unknown[0][:64]}": _("is unknown")})
    shown = NOTHING | given
    if not isinstance(shown["page"], str) or shown["page"] not in PAGES:
        raise Refused(400, {"shown.page": _("must be %(names)s") % {"names": listed(PAGES)}})
    lectures = tuple(shelf()) if is_deck(shown) else ("",)
    if not isinstance(shown["lecture"], str) or shown["lecture"] not in lectures:
        text = _("must be %(names)s") % {"names": listed(lectures)} if is_deck(shown) else _("is for a deck")
        raise Refused(400, {"shown.lecture": text})
    if not isinstance(shown["query"], str) or not QUERY.fullmatch(shown["query"]):
        raise Refused(400, {"shown.query": _("must be the query of an address, at most 300 letters")})
    for name in ("at_us", "position"):
        value = shown[name]
        is_whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**DIGITS_MAX
        if value is not None and not is_whole:
            raise Refused(400, {f"shown.{name}": _("must be a whole number of 0 or more")})
    chosen = shown["chosen"]
    if (
        not isinstance(chosen, dict)
        or len(chosen) > CHOSEN_MAX
        or not all(_is_text(text) for pair in chosen.items() for text in pair)
    ):
        text = _("must be at most %(count)d short texts by name")
        raise Refused(400, {"shown.chosen": text % {"count": CHOSEN_MAX}})
    if shown["thing"] is not None and not _is_text(shown["thing"]):
        text = _("must be 1 to %(count)d letters")
        raise Refused(400, {"shown.thing": text % {"count": TEXT_MAX}})
    return shown


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= TEXT_MAX and value.isprintable()


def is_deck(shown: Json) -> bool:
    return bool(shown["page"] == DECK)


def path_of(lab_id: str | None, shown: Json) -> str:
    """The address of the page that is shown. lab_id: None where a room has shown nothing but a deck."""
    if lab_id is None or is_deck(shown):
        return reverse("lecture-deck", args=[shown["lecture"]]) + str(shown["query"])
    return page_path(shown["page"], lab_id) + str(shown["query"])
