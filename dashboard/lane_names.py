"""A lane has two names in requests: `lane`, and `rig`, its older one, which stays good.

What is kept and sent (journals, scenarios, views, events) has the older name, as the programs that read it know it. So a request is put into
that name here, at the API's edge, and a refusal comes back under the name that the request had.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.errors import Refused

OLDER = {"lane": "rig", "lanes": "rigs"}


@contextmanager
def either_name(body: Json) -> Iterator[Json]:
    """The body under the older names. Raises Refused 400 where both are given."""
    used: dict[str, str] = {}
    renamed = _renamed(body, used)
    if isinstance(scenario := renamed.get("scenario"), dict):
        renamed["scenario"] = _renamed(scenario, used)
    try:
        yield renamed
    except Refused as refused:
        refused.fields = {_back(field, used): texts for field, texts in refused.fields.items()}
        raise


def _renamed(body: Json, used: dict[str, str]) -> Json:
    renamed = dict(body)
    for name, older in OLDER.items():
        if name in body:
            if older in body:
                raise Refused(400, {name: _("give either {name} or {older}, which is its older name").format(name=name, older=older)})
            renamed[older] = renamed.pop(name)
            used[older] = name
    return renamed


def _back(field: str, used: dict[str, str]) -> str:
    head, dot, rest = field.partition(".")
    return f"{used.get(head, head)}{dot}{rest}"
