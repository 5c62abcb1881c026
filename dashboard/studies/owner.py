"""Whose a study or an upload is: the program's that brings a bearer token, else the browser's with its
cookie.

A program may bring its own token, or take the one that its first request is answered with. Only hashes are
stored.
"""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard import access
from dashboard.errors import Refused


@dataclass(frozen=True, slots=True)
class Owner:
    """hash: None for somebody who has nothing yet. token: a new one, to be shown once."""

    hash: str | None
    token: str | None = None

    @property
    def told(self) -> Json:
        """What the answer says about it: the new token, or nothing."""
        return {"owner_token": self.token} if self.token else {}


def owner_of(request: HttpRequest, *, make: bool = False) -> Owner:
    """Who asks. make: give a token to a program that brings none. Raises Refused 401 for a bearer token that
    cannot be one."""
    bearer = access.bearer_of(request)
    if bearer is not None and not access.is_token(bearer):
        raise Refused(401, {"authorization": _("must be Bearer and 16 to 128 letters, digits, _ or -")})
    known = bearer or access.visitor_of(request)
    if known is not None:
        return Owner(access.token_hash(known))
    if not make:
        return Owner(None)
    token = access.token_new()
    return Owner(access.token_hash(token), token)
