"""A lane's older name, `rig`: what was written before 27 November 2026 (journals, scenarios, links to them) and the
programs of then say it. It is read here, and nowhere else."""

from broker_core.errors import CommandError
from broker_core.events import Json

OLDER = {"lane": "rig", "lanes": "rigs"}


def renamed(raw: Json, name: str, where: str = "") -> Json:
    """`raw` with what it has under the older name of `name` under today's. Raises CommandError where it has both.
    where: the way to `raw`, with its dot.

    >>> renamed({"kind": "join", "rig": "kafka"}, "lane")
    {'kind': 'join', 'lane': 'kafka'}
    """
    older = OLDER[name]
    if older not in raw:
        return raw
    if name in raw:
        raise CommandError(
            where + name, "give either {name} or {older}, which is the older name", name=name, older=older
        )
    return {name if each == older else each: value for each, value in raw.items()}
