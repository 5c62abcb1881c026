"""The page of a capsule, made of the page as the site serves it: styles and modules, which it asks the site for, come
along in it, and what was recorded has its place.

Nothing is drawn here: template, styles and modules are those of the page. static/js/player/unpack.js puts them in
their places when the file is opened.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from django.conf import settings
from django.templatetags.static import static

from dashboard.labs.capsules.fitting import block
from dashboard.page_modules import bundled

RUN, WHY = "<!--run-->", "<!--why-->"
"""Where the two blocks of a recording go."""
_STYLE = re.compile(r'<link rel="stylesheet"[^>]* href="([^"]+)">\n?')
_MODULE = re.compile(r'<script type="module" src="([^"]+)"></script>\n?')
_ICON = re.compile(r'(<link rel="icon" type="image/svg\+xml" href=")([^"]+)(">)')
_DATA = re.compile(r'<script id="(page|catalogue|view)" type="application/json">(.*?)</script>\n?', re.DOTALL)
START = "player/start"
PLACE = '<script type="text/plain" id="packed-{name}">{text}</script>\n'


class Shell(NamedTuple):
    """html: with RUN and WHY where the recording belongs. panels: what the page draws of a lane's view."""

    html: str
    panels: list[str]


def shell_of(html: str) -> Shell:
    """A capsule's page from the served one."""
    styles, modules = _STYLE.findall(html), _MODULE.findall(html)
    data = {name: json.loads(text) for name, text in _DATA.findall(html) if name != "view"}
    data["page"] |= {"csrf": ""}  # nobody's rights go along
    for pattern in (_STYLE, _MODULE, _DATA):
        html = pattern.sub("", html)
    html = _ICON.sub(lambda found: found[1] + _icon(found[2]) + found[3], html)
    page = block(
        {
            **data,
            "style": "\n".join(map(_text, styles)),
            "script": _script(tuple(_module(address) for address in modules)),
        }
    )
    places = "".join(
        PLACE.format(name=name, text=text) for name, text in (("page", page), ("run", RUN), ("why", WHY))
    )
    unpack = _text(static("js/player/unpack.js"))
    html = html.replace("</body>", f"{places}<script>\n{unpack}</script>\n</body>")
    query = parse_qs(urlsplit(data["page"]["urls"]["socket"]).query)
    return Shell(html, query["panels"][0].split(",") if "panels" in query else [])


def _path(address: str) -> Path:
    return Path(settings.BASE_DIR) / "static" / address.removeprefix(static(""))


def _text(address: str) -> str:
    return _path(address).read_text(encoding="utf-8")


def _module(address: str) -> str:
    return address.removeprefix(static("js/")).removesuffix(".js")


def _icon(address: str) -> str:
    return f"data:image/svg+xml,{quote(_text(address))}"


@cache
def _script(modules: tuple[str, ...]) -> str:
    return bundled((START, *modules))
