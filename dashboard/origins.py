"""Whether a request or a socket comes from a page of this very site. A program sends neither header, and goes
on."""

from django.conf import settings
from django.http.request import split_domain_port, validate_host


def is_ours(*, host: str, origin: str | None, site: str | None = None) -> bool:
    """host: the Host header. origin: the Origin header, site: `Sec-Fetch-Site`, None where there is none.

    >>> is_ours(host="127.0.0.1:8000", origin="http://127.0.0.1:8000"), is_ours(host="127.0.0.1", origin="null")
    (True, False)
    """
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS) or site == "cross-site":
        return False
    if origin is None:
        return True
    scheme, _separator, origin_host = origin.partition("://")
    return scheme in {"http", "https"} and origin_host.lower() == host.lower()
