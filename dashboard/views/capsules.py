"""A run as one file that plays offline (dashboard/labs/capsules/).

POST /api/labs/<id>/capsules/                  {page?, lane?, from_us?, until_us?}     202 what is known of it
GET  /api/labs/<id>/capsules/<capsule>/                                                200 {id, state, from_us, until_us, share, reason, bytes?}
GET  /api/labs/<id>/capsules/<capsule>.html                                            200 the file
"""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.labs import selectors
from dashboard.labs.capsules import orders
from dashboard.labs.capsules.shell import shell_of
from dashboard.serializers import json_body, json_response
from dashboard.views.api import api
from dashboard.views.player import drawn


@api("POST")
def capsules(request: HttpRequest, lab_id: str) -> HttpResponse:
    """Have a capsule made."""
    lab = selectors.lab_get(lab_id=lab_id)
    page, lane, from_us, until_us = orders.part_of(lab, json_body(request))
    orders.check_quota(address_of(request))
    player = {"kind": "capsule", "from_us": from_us, "until_us": until_us}
    html = _shown(request, lab_id, page, {"lane": lane} if lane else {}, player)
    found = orders.capsule_start(
        lab=lab, shell=shell_of(html), from_us=from_us, until_us=until_us, address=address_of(request)
    )
    return json_response(found, 202)


@api("GET")
def capsule(request: HttpRequest, lab_id: str, capsule: str) -> HttpResponse:
    """What is known of one."""
    return json_response(orders.capsule_get(lab_id=lab_id, capsule=capsule))


@api("GET")
def capsule_file(request: HttpRequest, lab_id: str, capsule: str) -> HttpResponseBase:
    """The file itself. It is not shown here: a site does not hand its own address to a page with scripts of its own."""
    path = orders.capsule_file(lab_id=lab_id, capsule=capsule)
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"{lab_id}.capsule.html")


def _shown(request: HttpRequest, lab_id: str, page: str, query: Json, player: Json) -> str:
    """Raises Refused 404 where the lab has no such page or lane, 503 before its first view."""
    try:
        response = drawn(request, lab_id, page, query, player)
    except Http404 as error:
        raise Refused(404, {"page": _("this lab has no such page")}) from error
    if response.status_code != 200:
        raise Refused(503, {"lab": _("the lab has no picture yet: try again in a moment")}, 1.0)
    return response.content.decode()
