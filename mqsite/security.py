"""What Django leaves open: the content security policy, the permissions policy, and changes ordered by pages
of other sites."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from dashboard import origins
from dashboard.errors import Refused
from dashboard.views.failed import refused_response

SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")


class ContentSecurityPolicyMiddleware(MiddlewareMixin):
    """Everything comes from this host, and nothing inline runs: a name that slipped through an escape stays a
    name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        super().__init__(get_response)
        self.policy = settings.CONTENT_SECURITY_POLICY

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """A view that may stand in pages of other sites says in which: `frame_ancestors` of its response."""
        framed = {"frame-ancestors": getattr(response, "frame_ancestors", self.policy["frame-ancestors"])}
        text = "; ".join(f"{name} {value}" for name, value in {**self.policy, **framed}.items())
        response.headers.setdefault("Content-Security-Policy", text)
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        return response


class OwnPagesMiddleware(MiddlewareMixin):
    """A page of another site changes nothing here, with or without a cookie: a visitor's browser would pay
    with its address's quotas.

    Before anything reads the body. Programs send neither header, and go on.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        headers = request.headers
        if request.method in SAFE_METHODS:
            return None
        if origins.is_ours(
            host=request.get_host(), origin=headers.get("Origin"), site=headers.get("Sec-Fetch-Site")
        ):
            return None
        return refused_response(
            request, Refused(403, {"origin": _("a page of another site cannot change anything here")})
        )
