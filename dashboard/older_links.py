"""Links of before 27 November 2026 have a lane's older name (broker_core/lab/older_names.py): they lead to the address
of today."""

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.utils.deprecation import MiddlewareMixin

from broker_core.lab.older_names import OLDER


class OlderLinksMiddleware(MiddlewareMixin):
    """Sends an address with the older name on to ?lane=. Where it has both, today's counts."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        older = OLDER["lane"]
        if request.method not in ("GET", "HEAD") or older not in request.GET:
            return None
        query = request.GET.copy()
        lanes = query.pop(older)
        if "lane" not in query:
            query.setlist("lane", lanes)
        return HttpResponsePermanentRedirect(f"{request.path}?{query.urlencode()}")
