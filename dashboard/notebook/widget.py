"""What a cell of a notebook shows of a run: a capsule (labs/capsules/), the page itself with what was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anywidget
import traitlets
from django.conf import settings
from django.http import Http404
from django.test import RequestFactory
from django.utils import translation

from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.panels import PANELS
from dashboard.labs.capsules.fitting import TooLarge
from dashboard.labs.capsules.making import filled
from dashboard.labs.capsules.orders import PLAYED
from dashboard.labs.capsules.recording import record
from dashboard.labs.capsules.shell import shell_of
from dashboard.labs.frames import encode
from dashboard.labs.past.answering import picture
from dashboard.models import StoredView
from dashboard.page import THEMES
from dashboard.views.player import drawn

if TYPE_CHECKING:
    from dashboard.labs.past.kept import Past
    from dashboard.models import Lab


class Capsule(anywidget.AnyWidget):
    """html: the file that would be taken away. height: of the frame, in pixels. save() writes it to a file."""

    _esm = settings.BASE_DIR / "static" / "js" / "notebook" / "widget.js"
    html = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(640, min=200, max=4_000).tag(sync=True)

    def __repr__(self) -> str:
        return f"<{self.title}: a capsule>"

    def save(self, path: str) -> None:
        """As one HTML file that plays in any browser, offline."""
        Path(path).write_text(self.html, encoding="utf-8")


def capsule_of(
    row: Lab,
    past: Past,
    page: str,
    query: Mapping[str, str],
    part: tuple[int, int],
    language: str,
    theme: str,
) -> str:
    """The capsule's text. part: (from, until), microseconds. Raises ValueError at what is wrong."""
    from_us, until_us = part
    if page not in PLAYED:
        raise ValueError(f"page: must be one of {', '.join(PLAYED)}, not {page!r}")
    if theme not in THEMES:
        raise ValueError(f"theme: must be one of {', '.join(THEMES)}, not {theme!r}")
    if from_us >= until_us:
        raise ValueError("until_s: must be after from_s")
    begun = CoreLab(past.journal.scenario, past.journal.limits)
    view, head = picture(begun, PANELS)
    StoredView.objects.update_or_create(
        lab=row, defaults={"epoch": 0, "seq": 0, "at_us": head["at_us"], "text": encode(view)}
    )
    player = {"kind": "capsule", "from_us": from_us, "until_us": until_us}
    with translation.override(language):
        try:
            shown = drawn(RequestFactory().get("/"), row.pk, page, query, player, theme)
        except Http404:
            raise ValueError(f"page: this lab has no page {page!r} of such a lane") from None
    shell = shell_of(shown.content.decode())
    try:
        return filled(shell.html, record(row, shell.panels, from_us, until_us, lambda _share: None))
    except TooLarge as error:
        raise ValueError(f"the part {error}: take a shorter one, by from_s and until_s") from None
