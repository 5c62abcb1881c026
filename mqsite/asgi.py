"""The ASGI entrance: HTTP goes to static files and else to Django, websockets to the live feed. Served by `mqsite.web`; any ASGI
server will do."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

import django
from django.core.handlers.asgi import ASGIHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.dev")
django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402  (Django must be set up first)

from dashboard.routing import websocket_urlpatterns  # noqa: E402
from mqsite.static_files import StaticFiles  # noqa: E402

BODY_FILE = "highwater.body"  # as in mqsite/web.py, which cannot be imported here: it chooses the reactor


class ReceivedBody:
    """The server's `receive` for a body that has come in already, as a file. What is left to receive is the
    client's going away."""

    def __init__(self, receive: Callable[[], Awaitable[Any]], file: Any) -> None:
        self._receive, self.file = receive, file

    async def __call__(self) -> Any:
        message = await self._receive()
        return await self._receive() if message["type"] == "http.request" else message


class Handler(ASGIHandler):
    """Django's, which reads a long body from the file where mqsite.web has put it instead of copying it once
    more."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        file = scope.get("extensions", {}).get(BODY_FILE)
        await super().__call__(scope, ReceivedBody(receive, file) if file is not None else receive, send)

    async def read_body(self, receive: Any) -> Any:
        return receive.file if isinstance(receive, ReceivedBody) else await super().read_body(receive)


application = ProtocolTypeRouter(
    {"http": StaticFiles(Handler()), "websocket": URLRouter(websocket_urlpatterns)}
)
