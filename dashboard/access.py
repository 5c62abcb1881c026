"""Who may command a lab: the program that holds its owner token, or the browser whose cookie made it. Reading
needs nothing.

Only hashes are stored: a copy of the database gives nobody a lab.
"""

import hashlib
import hmac
import re
import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dashboard.models import Lab

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")


def token_new() -> str:
    return secrets.token_urlsafe(32)


def is_token(text: str) -> bool:
    """Whether it can be a token of ours, or one that a program made like it."""
    return _TOKEN.fullmatch(text) is not None


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def visitor_of(request: HttpRequest) -> str | None:
    """The visitor's token from the cookie, None for a browser that is new here (or a cookie that is none of
    ours)."""
    token = request.COOKIES.get(settings.VISITOR_COOKIE, "")
    return token if is_token(token) else None


def visitor_remember(response: HttpResponse, visitor: str) -> None:
    """Give the browser its visitor token, which scripts cannot read and other sites cannot send along."""
    response.set_cookie(
        settings.VISITOR_COOKIE,
        visitor,
        max_age=settings.VISITOR_COOKIE_AGE_S,
        secure=settings.VISITOR_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def bearer_of(request: HttpRequest) -> str | None:
    """The token of `Authorization: Bearer ...`, None without that header."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def is_owner(lab: Lab, *, bearer: str | None, visitor: str | None) -> bool:
    """Whether this token, or else this visitor, owns the lab. A token that is given decides alone."""
    if bearer is not None:
        return hmac.compare_digest(token_hash(bearer), lab.owner_hash)
    return visitor is not None and hmac.compare_digest(token_hash(visitor), lab.visitor_hash)
