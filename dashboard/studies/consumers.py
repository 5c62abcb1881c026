"""The websocket entrance of studies: how far one is, to one browser. The browser sends nothing."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.cookie import parse_cookie
from django.utils import translation

from broker_core.events import Json
from dashboard.consumers import CLOSE_BAD_MESSAGE, CLOSE_FORBIDDEN, CLOSE_NO_ROOM, origin_is_ours
from dashboard.doors import CountedConsumer
from dashboard.labs.feed import CLOSE_UNKNOWN_LAB
from dashboard.studies import reasons, selectors
from dashboard.studies.watch import Watcher, watch
from dashboard.threads import in_thread


class StudyConsumer(CountedConsumer):
    """Joins the watch of one study; its messages are sent by the watch itself."""

    watcher: Watcher | None = None

    async def connect(self) -> None:
        await self.send({"type": "websocket.accept"})  # only an open socket can receive a code
        study_id = self.scope["url_route"]["kwargs"]["study_id"]
        if not origin_is_ours(self.scope):
            await self.close(CLOSE_FORBIDDEN)
        elif not self.enter():
            await self.close(CLOSE_NO_ROOM)
        elif not await in_thread(selectors.study_exists)(study_id=study_id):
            await self.close(CLOSE_UNKNOWN_LAB)
        else:
            self.watcher = Watcher(study_id, self._send_text, _words(self.scope))
            await watch().join(self.watcher)

    async def receive(self, message: Json) -> None:
        await self.close(CLOSE_BAD_MESSAGE)

    async def _send_text(self, text: str) -> None:
        await self.send({"type": "websocket.send", "text": text})

    def leave(self) -> None:
        if self.watcher is not None:
            watch().leave(self.watcher)
            self.watcher = None


def _words(scope: Json) -> Callable[[Json | None], str | None]:
    """Reasons in the language that this browser's pages are in."""
    language = language_of(scope)

    def words(stored: Json | None) -> str | None:
        with translation.override(language):
            return reasons.in_words(stored)

    return words


def language_of(scope: Json) -> str:
    """What LocaleMiddleware would choose for a request with these headers."""
    headers = {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope["headers"]}
    request = HttpRequest()
    request.COOKIES = parse_cookie(headers.get("cookie", ""))
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get("accept-language", "")
    return translation.get_language_from_request(request)
