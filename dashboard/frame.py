"""What stands around every page of a lab: its name and the tabs of its pages."""

from collections.abc import Callable

from django.urls import reverse

from dashboard import lessons
from dashboard.formats import fill
from dashboard.labs import selectors
from dashboard.models import Lab
from dashboard.page import Json, lane_query

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
    ("break", "lab-break", lambda lane: True),
)


def frame_context(lab: Lab, view: Json, item: str, words: dict[str, str], lane: str | None = None) -> Json:
    """The frame of a page of this lab. item: which page it is; lane: of which of the lab's lanes, None on the
    Stage. A tab leads to that same lane where its page knows it, else to the first one that it does."""
    tabs = [{"id": "stage", "url": reverse("lab", args=[lab.pk]), "is_current": item == "stage"}]
    for name, route, is_of in TABS:
        lanes = [each for each in view["lane_order"] if is_of(view["lanes"][each])]
        if not lanes or (name == "compare" and len(lanes) < 2):
            continue
        query = "" if name == "compare" else lane_query(view, lane if lane in lanes else lanes[0])
        tabs.append({"id": name, "url": reverse(route, args=[lab.pk]) + query, "is_current": item == name})
    named = lab_named(lab) | {"lesson": view["lesson"]["title"] if view.get("lesson") else None}
    after = lessons.lesson_after(named["lesson"]) if named["lesson"] else None
    following = after and {
        "url": reverse("learn-lesson", args=[after.name]),
        "title": after.lesson.title,
    }
    return {**named, "title": title_of(named, words), "tabs": tabs, "next_lesson": following}


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
