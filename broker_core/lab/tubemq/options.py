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

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.setting import choice, number
from broker_core.lab.tubemq.nodes import MASTERS, NEWCOMER_FIRST, NOT_USED, RESTART_ALL
from broker_core.lab.tubemq.sharing import OVER

BROKERS_MAX = 100
CLUSTER, CLIENTS = "cluster", "clients"
"""Where a form has a setting."""
BROKERS = number("brokers", 1, BROKERS_MAX, 3, group=CLUSTER)
_SIMPLE = (
    number("masters", 1, len(MASTERS), 1, group=CLUSTER),
    choice("scale_out", (RESTART_ALL, NEWCOMER_FIRST), RESTART_ALL, group=CLIENTS),
    choice("over", OVER, OVER[0], group=CLIENTS),
)
SOURCE_COUNT = choice("source_count", (NOT_USED,), group=CLIENTS)
TUBEMQ_SETTINGS = (BROKERS, *_SIMPLE, SOURCE_COUNT)
TUBEMQ_FIELDS = frozenset(each.name for each in TUBEMQ_SETTINGS)


def check_tubemq(entry: Json, where: str, partitions: int) -> Json:
    """The options of a lane; those that it does not name and that have no number are left out. Raises CommandError."""
    options: Json = {"brokers": BROKERS.check(entry.get("brokers", BROKERS.default), f"{where}.brokers")}
    if partitions % options["brokers"]:
        raise CommandError(f"{where}.partitions", "must be a multiple of the number of brokers")
    if entry.get("source_count") is not None:
        if entry["source_count"] != NOT_USED or isinstance(entry["source_count"], bool):
            raise CommandError(f"{where}.source_count", "must be -1 or left out")
        options["source_count"] = NOT_USED
    for setting in _SIMPLE:
        if setting.name in entry:
            options[setting.name] = setting.check(entry[setting.name], f"{where}.{setting.name}")
    return options
