"""The pages of rooms: where a code is typed, where one joins, the presenter's remote, and where another presenter
takes over. What their buttons do is in static/js/join/."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.address import address_of
from dashboard.errors import Refused
from dashboard.page import base_context
from dashboard.rooms import codes, selectors
from dashboard.rooms.selectors import Role
from dashboard.serializers import retry_after

JOIN, REMOTE, TAKE = "join", "remote", "take"


@require_safe
@never_cache
def rooms(request: HttpRequest) -> HttpResponse:
    """Where a code is typed; ?code= goes there."""
    typed = request.GET.get("code", "")
    if code := codes.code_in(typed):
        return HttpResponseRedirect(reverse("room", args=[code]))
    return _page(request, JOIN, typed=typed)


@require_safe
@never_cache
def room(request: HttpRequest, code: str) -> HttpResponse:
    """Where one joins; the presenter comes back to the room here."""
    visitor = access.visitor_of(request) or access.token_new()
    try:
        found = selectors.room_get(code=code, visitor=visitor, address=address_of(request))
    except Refused as refused:
        return retry_after(_page(request, JOIN, typed=code, refused=refused), refused)
    if code != found.code:
        return HttpResponseRedirect(reverse("room", args=[found.code]))
    role, seat = selectors.role_of(found, visitor=visitor), selectors.seat_of(found, visitor)
    path = selectors.room_state(found)["path"]
    response = _page(request, JOIN, code=found.code, path=path, role=role, name=seat.name if seat else "")
    access.visitor_remember(response, visitor)
    return response


@require_safe
@never_cache
def remote(request: HttpRequest, code: str) -> HttpResponse:
    """The presenter's second device. Its right is the secret behind the address's #, which only the page reads."""
    return _secret_page(request, REMOTE, code)


@require_safe
@never_cache
def take(request: HttpRequest, code: str) -> HttpResponse:
    """Where the next presenter takes over, with the same kind of secret."""
    return _secret_page(request, TAKE, code)


def _secret_page(request: HttpRequest, mode: str, code: str) -> HttpResponse:
    visitor = access.visitor_of(request) or access.token_new()
    try:
        found = selectors.room_get(code=code, visitor=visitor, address=address_of(request))
    except Refused as refused:
        return retry_after(_page(request, JOIN, typed=code, refused=refused), refused)
    response = _page(request, mode, code=found.code)
    access.visitor_remember(response, visitor)
    return response


def _page(
    request: HttpRequest,
    mode: str,
    *,
    code: str = "",
    typed: str = "",
    path: str = "",
    role: str = Role.VISITOR,
    name: str = "",
    refused: Refused | None = None,
) -> HttpResponse:
    """refused: why the code that was typed leads nowhere."""
    wrong = [text for texts in refused.fields.values() for text in texts] if refused else []
    context = base_context(request, "room")
    context["page"] |= {"csrf": get_token(request), "code": code, "mode": mode, "role": role, "path": path}
    context |= {"mode": mode, "code": code, "typed": typed, "name": name, "wrong": wrong}
    context["is_presenter"] = role == Role.PRESENTER
    return render(request, "dashboard/room.html", context, status=refused.status if refused else 200)
