"""The page of an address where there is nothing: it names what is missing, and leads to where there is more
of its kind."""

from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.labs import selectors
from dashboard.page import base_context

SHOWN_MAX = 100  # characters of an address


class Place(NamedTuple):
    """The kind that is missed (`page.no_<kind>` names it), its place in the top bar, and the page that lists
    it."""

    kind: str
    item: str
    to: str


LAB, LAB_PAGE, LOG = Place("lab", "", "labs"), Place("lab_page", "", "labs"), Place("log", "", "stage")
STUDY, PAGE = Place("study", "analyze", "analyze"), Place("page", "", "stage")
OF_ID = {"lab_id": LAB, "log_id": LOG, "study_id": STUDY}
"""By what an address names, so that each page of a lab has it."""


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Any address where there is nothing, in the visitor's language and theme."""
    place, missing = _missing(request, exception)
    about = {"code": f"page.no_{place.kind}", "params": {"id": missing[:SHOWN_MAX]}}
    context = {**base_context(request, place.item), "about": about, "more": f"page.no_{place.kind}_more",
               "to": {"url": reverse(place.to), "code": f"page.to_{place.to}"}}  # fmt: skip
    return render(request, "404.html", context, status=404)


def _missing(request: HttpRequest, exception: Exception) -> tuple[Place, str]:
    """What is missing, and its name."""
    match = request.resolver_match
    if match and match.url_name == "analyze-compare":
        # It shows two studies: its refusal names the one that is missing.
        return STUDY, str(exception) if isinstance(exception, Http404) else ""
    for name, value in match.kwargs.items() if match else ():
        if name in OF_ID:
            is_page = name == "lab_id" and selectors.lab_exists(lab_id=value)
            return LAB_PAGE if is_page else OF_ID[name], value
    return PAGE, request.path
