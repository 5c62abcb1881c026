"""What the Stage's template needs beside the view: who looks, in which language and theme, at which lab, and
where commands go."""

from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.utils import translation

from broker_core.lab.commands.membership import DEMO_JOIN_ID
from dashboard.fidelity.answers import lane_line
from dashboard.formats import clock
from dashboard.labs.past.look import STEPS
from dashboard.labs.past.marks import AT_ONCE_US, SYSTEM
from dashboard.presentation import paint, present, textures
from dashboard.sentences import catalogue
from dashboard.sentences.glossary import TERMS_OF

Json = dict[str, Any]

THEME_COOKIE = "highwater_theme"
THEMES = ("auto", "light", "dark")
DEMO_AFTER_MS = 8000  # without a press
SPEEDS = (0.1, 0.5, 1, 4, 20)


def page_of(request: HttpRequest, item: str) -> Json:
    """What every page knows about itself; the scripts read it as JSON. player: of a page that only shows a run,
    {"kind": "capsule", "from_us", "until_us"} or as views/embed.py makes it; None for any other."""
    language = "zh-hans" if (translation.get_language() or "en").startswith("zh") else "en"
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    return {
        "item": item,
        "language": language,
        "lang": "en" if language == "en" else "zh-Hans",
        "theme": theme if theme in THEMES else "auto",
        "player": getattr(request, "player", None),
        "cookies": {"language": settings.LANGUAGE_COOKIE_NAME, "theme": THEME_COOKIE},
    }


def base_context(request: HttpRequest, item: str) -> Json:
    """The context of any page; `item` is its place in the top bar."""
    page = page_of(request, item)
    words = catalogue(item, is_player=page["player"] is not None)
    return {"page": page, "catalogue": words, "terms": TERMS_OF.get(item, ())}


def lab_page(
    lab_id: str,
    *,
    seq: int,
    epoch: int,
    is_owner: bool,
    csrf: str,
    stopped: str = "",
    demo: bool = False,
    visit: str = "",
    plays: bool = False,
    older_rules: bool = False,
    panels: Collection[str] = (),
) -> Json:
    """The part of the page that is about one lab: where its frames come from and its commands go.

    stopped: why the lab will not move again, empty while it can. demo: it is a fresh copy of the demo, which
    adds a consumer on its own when nobody presses anything for a while. visit: where the page's first call
    makes the visitor's own copy of this lab, empty where there is one;
    plays: whether that copy is then such a fresh one. older_rules: the lab was made under other rules than
    today's. panels: those of the view that the page draws; no frame has the others.
    """
    return {
        "lab": lab_id,
        "seq": seq,
        "epoch": epoch,
        "owner": is_owner,
        "csrf": csrf,
        "stopped": stopped,
        "refused": "",
        "visit": visit,
        "plays": plays,
        "older_rules": older_rules,
        "demo": {"command_id": DEMO_JOIN_ID, "after_ms": DEMO_AFTER_MS}
        if demo and is_owner and not stopped
        else None,
        "marks": {"kinds": sorted(SYSTEM), "at_once_us": AT_ONCE_US},
        "urls": {
            "commands": f"/api/labs/{lab_id}/commands/",
            "fork": f"/api/labs/{lab_id}/fork/",
            "journal": f"/api/labs/{lab_id}/journal/",
            "events": f"/api/labs/{lab_id}/events.jsonl",
            "run": f"/api/labs/{lab_id}/run.json",
            "capsules": f"/api/labs/{lab_id}/capsules/",
            "event_search": f"/api/labs/{lab_id}/events/search/",
            "own": f"/api/labs/{lab_id}/own/",
            "labs": "/api/labs/",
            "lab": "/lab/{id}/",
            "branches": f"/api/labs/{lab_id}/branches/",
            "passport": f"/api/labs/{lab_id}/passport/",
            "trial": f"/api/labs/{lab_id}/trial/",
            "why": f"/api/labs/{lab_id}/why/",
            "marks": f"/api/labs/{lab_id}/marks/?only=system",
            "beside": f"/lab/{lab_id}/beside/{{id}}/",
            "past": f"/api/labs/{lab_id}/past/",
            "past_frames": f"/api/labs/{lab_id}/past/frames/",
            "socket": f"/ws/labs/{lab_id}/" + (f"?panels={','.join(panels)}" if panels else ""),
            "plotly": static("vendor/plotly.min.js"),
        },
    }


def lane_query(view: Json, lane: str) -> str:
    """What the address of a lane's page says after its path: nothing of the first lane of its model that is
    called as the model is."""
    model = view["lanes"][lane]["model"]
    first = next(each for each in view["lane_order"] if view["lanes"][each]["model"] == model)
    return "" if lane == first == model else f"?{urlencode({'lane': lane})}"


def _steps_of(view: Json) -> Sequence[str]:
    """Without records one goes from change to change first: those are the acts of real clients."""
    if view["workload"]["kind"] != "none":
        return STEPS
    return "change", *(unit for unit in STEPS if unit not in ("record", "change"))


def time_context(view: Json) -> Json:
    """What the bar of time, below every page of a lab, shows of a view."""
    own = view.get("own_speed", view["speed"])  # views of older code have one speed
    return {
        "playing": view["playing"],
        "clock": clock(view["at_us"]),
        "seed": view["seed"],
        "units": [{"id": unit, "code": f"past.unit.{unit}"} for unit in _steps_of(view)],
        "speeds": [{"value": speed, "label": f"×{speed}", "pressed": speed == own} for speed in SPEEDS],
        "is_slow": view.get("at_changes") is not None,
    }


def stage_context(view: Json, words: dict[str, str]) -> Json:
    """The Stage's first frame: every text and figure of the view, and what the template repeats over."""
    shown = present(view, words)
    return {
        "view": view,
        "slots": shown["slots"],
        "lanes": [
            lane
            | {"query": lane_query(view, lane["id"])}
            | {"fidelity": lane_line(lane["model"], view["lanes"][lane["id"]]["algorithm"])}
            for lane in shown["lanes"]
        ],
        "story": shown["story"],
        "lesson": shown["lesson"],
        "keys": [{"id": key, "label": words[f"key.{key}"]} for key in view["workload"].get("keys") or []],
        "time": time_context(view),
        "blank": {
            "name": "",
            "state": "live",
            "paint": paint(None),
            "width": "0",
            "was_x": "0",
            "was_width": "0.0",
            "verbs": [],
        },
        "textures": textures(),
    }
