"""What a scenario may say of a TubeMQ lane.

brokers        each has as many of the topic's partitions
masters        1, or 2 of which one is a standby
source_count   -1: clients start without the group's count, so that the master checks nothing and the modulo gives nobody anything
scale_out      restart_all: a join or a leave stops all clients and starts them with the new count; newcomer_first:
               the newcomer starts with it beside those that run with the old one
over           configured: rules that deal partitions out share all that is configured, as the article advises; subscribable:
               only those that may be subscribed now
"""

from __future__ import annotations

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import whole
from broker_core.lab.tubemq.nodes import MASTERS, NEWCOMER_FIRST, NOT_USED, RESTART_ALL
from broker_core.lab.tubemq.sharing import OVER

BROKERS_MAX = 100
TUBEMQ_FIELDS = frozenset({"brokers", "masters", "source_count", "scale_out", "over"})
CHOICES = {"scale_out": (RESTART_ALL, NEWCOMER_FIRST), "over": OVER}


def check_tubemq(entry: Json, where: str, partitions: int) -> Json:
    """The options of a lane; those that it does not name and that have no number are left out. Raises CommandError."""
    options: Json = {"brokers": whole(f"{where}.brokers", entry.get("brokers", 3), 1, BROKERS_MAX)}
    if partitions % options["brokers"]:
        raise CommandError(f"{where}.partitions", "must be a multiple of the number of brokers")
    if "masters" in entry:
        options["masters"] = whole(f"{where}.masters", entry["masters"], 1, len(MASTERS))
    if entry.get("source_count") is not None:
        if entry["source_count"] != NOT_USED or isinstance(entry["source_count"], bool):
            raise CommandError(f"{where}.source_count", "must be -1 or left out")
        options["source_count"] = NOT_USED
    for name, choices in CHOICES.items():
        if name in entry:
            if entry[name] not in choices:
                raise CommandError(f"{where}.{name}", "must be one of {choices}", choices=Names(choices))
            options[name] = entry[name]
    return options
