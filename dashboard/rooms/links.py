"""A room's addresses, and the same as QR for a phone. The secret of a link is behind its #, which no server, proxy or
log is sent."""

import segno
from django.urls import reverse

from broker_core.events import Json

BORDER = 2  # light squares around the code: a camera looks for them


def link(origin: str, route: str, code: str, secret: str = "") -> Json:
    """{url, qr}. origin: of the site, as the presenter's browser calls it."""
    url = origin + reverse(route, args=[code]) + (f"#{secret}" if secret else "")
    return {"url": url, "qr": qr(url)}


def qr(text: str) -> Json:
    """{size, path}: the code as the path of an SVG, so many squares wide, one unit each.

    >>> qr("https://example.org/rooms/ABC2DF/")["size"]
    33
    """
    code = segno.make(text, error="m", micro=False)
    rows = list(code.matrix_iter(border=BORDER))
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark
    )
    return {"size": len(rows), "path": path}
