"""A lab and those that left it or the same lab at a moment: what a page shows as tabs.

A branch is a copy of a lab at a moment. It is named as it was called when it was made or since; else what it was last
ordered that the others were not says what it is: "c3 crashed". Of the other branches the list has those that the same
browser made, or for a program those that programs made: who knows a lab does not thereby know everybody's copies.
"""

from collections.abc import Mapping

from django.db.models import Q

from broker_core.events import Json
from dashboard import access
from dashboard.labs.selectors import is_readable, lab_name
from dashboard.models import Lab, StoredView
from dashboard.page_scripts import call
from dashboard.sentences import LANGUAGES, catalogue
from dashboard.stored import object_in

BRANCHES_MAX = 50


def branches_of(*, lab: Lab, visitor: str | None) -> list[Json]:
    """The lab itself (`is`: self), its parent, siblings and children, the newest of them, by the time they were made,
    each as {id, is, name, did {en, zh-hans} or null, mark {kind, color} or null, left_at_us, left_position, at_us,
    position, status}."""
    family: dict[str, str] = {lab.pk: "self"}
    parent = lab.parent if lab.left_at_us is not None else None
    if parent is not None and parent.deleted_at is None:
        family[parent.pk] = "parent"
    own = Q(visitor_hash=access.token_hash(visitor) if visitor else "")
    kin = Q(parent=lab) | (Q(parent=parent) if parent is not None else Q(pk=lab.pk))
    others = Lab.objects.filter(own & kin, left_at_us__isnull=False).exclude(pk=lab.pk)
    for other in others.order_by("-created_at")[:BRANCHES_MAX]:
        family[other.pk] = "child" if other.parent_id == lab.pk else "sibling"
    rows = [row for row in Lab.objects.filter(pk__in=family).order_by("created_at") if is_readable(row)]
    views = dict(StoredView.objects.filter(pk__in=family).values_list("pk", "text"))
    return _told(rows, family, {pk: object_in(text) or {} for pk, text in views.items()})


def _told(rows: list[Lab], family: Mapping[str, str], views: Mapping[str, Json]) -> list[Json]:
    ticks = {row.pk: _last_tick(row, rows, views.get(row.pk, {})) for row in rows}
    said = [tick for tick in ticks.values() if tick]
    words = catalogue()
    in_words = {
        language: iter(call("base/marks", "captions", said, words[language])) for language in LANGUAGES
    }
    return [
        {
            "id": row.pk,
            "is": family[row.pk],
            "name": lab_name(row),
            "did": {language: next(in_words[language]) for language in LANGUAGES} if ticks[row.pk] else None,
            "mark": {"kind": tick["kind"], "color": tick["color"]} if (tick := ticks[row.pk]) else None,
            "left_at_us": row.left_at_us,
            "left_position": row.left_position,
            "at_us": views.get(row.pk, {}).get("at_us", row.clock_floor_us),
            "position": row.position,
            "status": row.status,
        }
        for row in rows
    ]


def _last_tick(row: Lab, rows: list[Lab], view: Json) -> Json | None:
    """The last order of a lab that is not of the past which it shares with its parent; of one without a parent here,
    with the first that left it."""
    left = row.left_position
    if left is None:
        left = min((other.left_position for other in rows if other.parent_id == row.pk), default=None)
    own = [
        tick
        for position, tick in view.get("timeline", {}).items()
        if left is not None and int(position) > left
    ]
    return own[-1] if own else None
