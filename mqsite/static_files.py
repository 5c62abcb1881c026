"""Static files, answered before Django: a page of a lab is some 130 small modules, and Django's handlers and threads cost
0.3 s of the server's processor time for a visitor who has none of them yet (0.76 s a page, 0.46 s without).

Which files there are, their types, ages, packed forms and conditional answers are WhiteNoise's; the headers that stand on
every response are those of Django's own middleware.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware
from whitenoise import WhiteNoise

from mqsite.security import ContentSecurityPolicyMiddleware

Raw = list[tuple[bytes, bytes]]


class StaticFiles:
    """An ASGI application for HTTP: a file of STATIC_ROOT as it was when this was made, and anything else from `application`."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.files: dict[str, Any] = WhiteNoise(None, settings.STATIC_ROOT, settings.STATIC_URL).files
        self.headers = raw(headers_of_all())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        file = self.files.get(scope["path"])
        if file is None:
            await self.application(scope, receive, send)
            return
        asked = {f"HTTP_{name.decode('latin1').upper().replace('-', '_')}": value.decode("latin1")
                 for name, value in scope["headers"]}  # fmt: skip
        answer = file.get_response(scope["method"], asked)
        body = b""
        if answer.file is not None:
            with answer.file:
                body = answer.file.read()
        headers = [*raw(answer.headers), *self.headers]
        await send({"type": "http.response.start", "status": int(answer.status), "headers": headers})
        await send({"type": "http.response.body", "body": body})


def raw(headers: Any) -> Raw:
    return [(name.encode("latin1"), value.encode("latin1")) for name, value in headers]


def headers_of_all() -> list[tuple[str, str]]:
    """What the middleware that knows nothing of a request puts on every response."""
    request, empty = HttpRequest(), HttpResponse()
    del empty.headers["Content-Type"]
    said = ContentSecurityPolicyMiddleware(lambda _: empty).process_response(request, empty)
    if settings.SECURE_HSTS_SECONDS:
        request.META["HTTP_X_FORWARDED_PROTO"] = "https"
    return list(SecurityMiddleware(lambda _: said).process_response(request, said).headers.items())
