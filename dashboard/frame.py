"""What stands around every page of a lab: its name and the tabs of its pages."""

from collections.abc import Callable
from html import escape

from django.conf import settings
from django.urls import reverse

from dashboard import lessons
from dashboard.formats import fill
from dashboard.labs import selectors
from dashboard.labs.capsules.orders import PLAYED
from dashboard.models import Lab
from dashboard.page import Json, lane_query

EMBED = "/embed"
EMBED_SIZE = (960, 640)
"""Before the address of a page: the same for pages of other sites (views/embed.py)."""

# The pages in the order of their tabs, and which lanes each is about; an address says the lane.
TABS: tuple[tuple[str, str, Callable[[Json], bool]], ...] = (
    ("pulsar", "pulsar", lambda lane: "pulsar" in lane),
    ("cluster", "cluster", lambda lane: "cluster" in lane),
    ("groups", "groups", lambda lane: "cluster" in lane),
    ("log", "log", lambda lane: lane.get("model") == "kafka"),
    ("tubemq", "tubemq", lambda lane: "tubemq" in lane),
    ("rabbitmq", "rabbitmq", lambda lane: "rabbitmq" in lane),
    ("code", "code", lambda lane: True),
    ("compare", "lab-compare", lambda lane: True),
    ("break", "lab-break", lambda lane: not lane.get("is_open")),
)

ROUTES = {"stage": "lab"} | {name: route for name, route, _is_of in TABS}


def page_path(page: str, lab_id: str) -> str:
    """The address of a lab's page. page: one of ROUTES."""
    return reverse(ROUTES[page], args=[lab_id])


def played_at(player: Json | None, path: str) -> str:
    """Where a link to another page of a lab leads: in a page of another site to that page in the same frame, in the same
    language and colours. player: as dashboard/page.py has it."""
    if player is None or "before" not in player:
        return path
    query = player["query"]
    return EMBED + path + (("&" if "?" in path else "?") + query if query else "")


def frame_context(
    lab: Lab,
    view: Json,
    item: str,
    words: dict[str, str],
    lane: str | None = None,
    player: Json | None = None,
) -> Json:
    """The frame of a page of this lab. item: which page it is; lane: of which of the lab's lanes, None on the
    Stage; player: as dashboard/page.py has it. A tab leads to that same lane where its page knows it, else to the first
    one that it does."""
    tabs = [_tab("stage", reverse("lab", args=[lab.pk]), item)]
    for name, route, is_of in TABS:
        lanes = [each for each in view["lane_order"] if is_of(view["lanes"][each])]
        if not lanes or (name == "compare" and len(lanes) < 2):
            continue
        query = "" if name == "compare" else lane_query(view, lane if lane in lanes else lanes[0])
        tabs.append(_tab(name, reverse(route, args=[lab.pk]) + query, item))
    named = lab_named(lab) | {"lesson": view["lesson"]["title"] if view.get("lesson") else None}
    after = lessons.lesson_after(named["lesson"]) if named["lesson"] else None
    following = after and {
        "url": reverse("learn-lesson", args=[after.name]),
        "title": after.lesson.title,
    }
    return {
        **named,
        "title": title_of(named, words),
        "tabs": [tab | {"url": played_at(player if tab["plays"] else None, tab["url"])} for tab in tabs],
        "is_open": any(lane.get("is_open") for lane in view["lanes"].values()),
        "next_lesson": following,
        "embed": _embed(tabs, named["lesson"]),
    }


def frame_html(address: str, title: str, width: int, height: int) -> str:
    """What a page of another site needs to show this address; sizes in pixels. static/js/frame/embed.js writes the same."""
    return (
        f'<iframe src="{escape(address)}" title="{escape(title)}" width="{width}" height="{height}" '
        'style="border:0" loading="lazy" allowfullscreen></iframe>'
    )


def embeds() -> bool:
    """Whether any other site may show pages of this one."""
    return settings.EMBED_ANCESTORS != "'none'"


def _tab(name: str, url: str, item: str) -> Json:
    """plays: whether the page can be shown without orders, in a capsule or in a page of another site."""
    return {"id": name, "url": url, "is_current": name == item, "plays": name in PLAYED}


def _embed(tabs: list[Json], lesson: Json | None) -> Json | None:
    """{"url": of the page in a page of another site, "lesson": whether it is the lesson itself, in the site's own lab};
    None where that cannot be."""
    shown = next((tab for tab in tabs if tab["is_current"] and tab["plays"]), None)
    if shown is None or not embeds():
        return None
    name = lessons.lesson_named(lesson) if lesson else None
    url = reverse("learn-lesson", args=[name]) if name else shown["url"]
    return {"url": EMBED + url, "lesson": name is not None}


def lab_named(lab: Lab) -> Json:
    """What a lab is called, and from what it gets a title in either language while it has no name."""
    is_readable = selectors.is_readable(lab)
    kind = lab.scenario["workload"]["kind"] if is_readable else "unreadable"
    return {
        "name": selectors.lab_name(lab) if is_readable else lab.name,
        "workload_code": f"workload.{kind}",
        "created": lab.created_at.isoformat(" ", "minutes")[:16],
        "lesson": None,
    }


def title_of(named: Json, words: dict[str, str]) -> str:
    """What static/js/base/lab_title.js says: a lesson's title is in both languages, a name is as it was given."""
    if named["lesson"]:
        return str(named["lesson"][words["lesson.language"]])
    params = {"workload": words[named["workload_code"]], "time": named["created"]}
    return str(named["name"]) or fill(words["labs.unnamed"], params, words)
