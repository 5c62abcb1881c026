"""What crawlers are asked: to read pages, and not to call what a page's scripts call, which makes labs."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

TEXT = "User-agent: *\nDisallow: /api/\nDisallow: /ws/\n"


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """The site's robots.txt."""
    return HttpResponse(TEXT, content_type="text/plain; charset=utf-8")
