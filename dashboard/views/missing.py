"""The page of an address where there is nothing: it names what is missing, and leads to where there is more of its kind."""

from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard import selectors
from dashboard.page import base_context

SHOWN_MAX = 100      # characters of an address


class Place(NamedTuple):
    """The kind that is missed (`page.no_<kind>` names it), its place in the top bar, and the page that lists it."""

    kind: str
    item: str
    to: str


LAB, LAB_LOG, LOG = Place("lab", "", "labs"), Place("lab_log", "", "labs"), Place("log", "", "stage")
STUDY, PAGE = Place("study", "analyze", "analyze"), Place("page", "", "stage")
OF_VIEW = {"lab": LAB, "log": LAB, "log-opened": LOG, "study": STUDY, "analyze-compare": STUDY}


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Any address where there is nothing, in the visitor's language and theme."""
    match = request.resolver_match
    place = OF_VIEW.get(match.url_name or "", PAGE) if match else PAGE
    if place is PAGE or match is None:
        missing = request.path
    else:
        # A page that shows several names the one that is missing with its refusal.
        missing = next(iter(match.kwargs.values()), None) or (str(exception) if isinstance(exception, Http404) else "")
    if match and match.url_name == "log" and selectors.lab_exists(lab_id=missing):
        place = LAB_LOG
    about = {"code": f"page.no_{place.kind}", "params": {"id": missing[:SHOWN_MAX]}}
    context = {**base_context(request, place.item), "about": about, "more": f"page.no_{place.kind}_more",
               "to": {"url": reverse(place.to), "code": f"page.to_{place.to}"}}  # fmt: skip
    return render(request, "404.html", context, status=404)
