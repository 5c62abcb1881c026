"""The view as words and figures: what the templates draw in the first frame.

What is said, and how, is in static/js/stage/present.js, which also says every later frame in the browser.
"""

from collections.abc import Mapping
from typing import Any

from dashboard.page_scripts import call

Json = dict[str, Any]


def present(view: Json, words: Mapping[str, str]) -> Json:
    """Everything written on the Stage: `slots` by name, and `lanes` in the view's order."""
    shown: Json = call("stage/present", "present", view, words)
    return shown


def lesson_panel(view: Json, words: Mapping[str, str]) -> Json | None:
    """What the panel of the view's lesson says, with its caption; None: the lab plays none."""
    shown: Json | None = call("lesson/words", "lessonPanel", view, words)
    return shown


def tab_names(view: Json, words: Mapping[str, str]) -> dict[str, str]:
    """What the tabs of a page of one lane call each of the view's, by id."""
    names: dict[str, str] = call("lane/name", "tabNames", view, words)
    return names


def lane_story(view: Json, words: Mapping[str, str], lane: str | None) -> Json:
    """The two lines above a page of this lane that adds nothing of its own, as parts of text."""
    shown: Json = call("frame/story", "firstStory", view, words, lane)
    return shown


def paint(color: int | None) -> str:
    """The fill of a consumer's colour, which the lane's CSS or a pattern of the page knows."""
    return str(call("drawing/paint", "paint", color))


def textures() -> Json:
    """The patterns that paint refers to: {diagonal, dots, draining: [{id, hue}]}."""
    made: Json = call("drawing/paint", "textures")
    return made
