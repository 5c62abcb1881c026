"""A page of a lab that only shows: no orders, nobody's, with the lab's own template, styles and modules. A capsule
(views/capsules.py) is such a page in a file, an embed (views/embed.py) one in a page of another site."""

import copy
from collections.abc import Mapping

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import resolve

from broker_core.events import Json
from dashboard.frame import page_path
from dashboard.page import THEME_COOKIE


def drawn(
    request: HttpRequest, lab_id: str, page: str, query: Mapping[str, str], player: Json, theme: str = ""
) -> HttpResponse:
    """A page of a lab as a player; 503 before its first view. page: one of orders.py PLAYED, as the site shows it at its
    own address. player: as page_of has it. theme: "" for the reader's own.
    Raises Http404 where there is no such lab, or it has no such page or lane."""
    asked = copy.copy(request)
    asked.method = "GET"
    asked.META = dict(request.META)  # no token for orders is sent, as there are none
    asked.COOKIES = {
        name: text for name, text in request.COOKIES.items() if name != settings.VISITOR_COOKIE
    }  # the lab is nobody's there
    if theme:
        asked.COOKIES[THEME_COOKIE] = theme
    asked.GET = QueryDict(mutable=True)
    asked.GET.update(query)
    asked.player = player
    response: HttpResponse = async_to_sync(resolve(page_path(page, lab_id)).func)(asked, lab_id)
    response.cookies.clear()
    return response
