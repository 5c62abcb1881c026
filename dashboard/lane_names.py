"""A lane has two names in commands: `lane`, and `rig`, its older one, which stays good. (Of a scenario's `lanes` and `rigs` the core knows.)

What is kept and sent (journals, scenarios, views, events) has the older name, as the programs that read it know it. So a command is put into
that name here, at the API's edge, and a refusal comes back under the name that the request had.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.errors import Refused

NAME, OLDER = "lane", "rig"


@contextmanager
def either_name(body: Json) -> Iterator[Json]:
    """The command under the older name. Raises Refused 400 where both are given."""
    if NAME not in body:
        yield body
        return
    if OLDER in body:
        raise Refused(400, {NAME: _("give either lane or rig, which is the older name")})
    try:
        yield {OLDER if name == NAME else name: value for name, value in body.items()}
    except Refused as refused:
        refused.fields = {NAME if field == OLDER else field: texts for field, texts in refused.fields.items()}
        raise
