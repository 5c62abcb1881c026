"""What a scenario may say of a RabbitMQ lane, beside its algorithm."""

from __future__ import annotations

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.rabbitmq.topology import PREFETCH_MAX, check_topology
from broker_core.lab.setting import TABLE, Setting, number

QUEUE = "queue"
"""Where a form has a setting."""
DAY_MS = 86_400_000
_SIMPLE = (
    # Instead of the number in the algorithm's name, until the lane is switched to another.
    number("prefetch", 0, PREFETCH_MAX, unit="message", group=QUEUE, changed_by="rabbitmq_consume"),
    number("consumer_timeout_ms", 0, DAY_MS, 1_800_000, "ms", group=QUEUE),
)
TOPOLOGY = Setting("topology", TABLE, group=QUEUE)
BEGAN = number("began_us", 0, 1 << 53, unit="us", group=QUEUE)
"""What the server's clock says at the lab's time 0, microseconds since 1970, of a lane that real clients come to and nobody
else; on no form."""
RABBITMQ_SETTINGS = (*_SIMPLE, TOPOLOGY)


def _check_open(entry: Json, where: str) -> None:
    """What clients of the server find is what they and its operator bring, at once."""
    for name in (TOPOLOGY.name, "network_delay_us", *(each.name for each in _SIMPLE)):
        if entry.get(name) is not None:
            raise CommandError(f"{where}.{name}", "a server that is open to clients has none: leave this out")


def check_rabbitmq(entry: Json, where: str) -> Json:
    """The options of a RabbitMQ lane. Raises CommandError at the field that is wrong."""
    options: Json = {}
    for setting in _SIMPLE:
        if setting.name in entry:
            options[setting.name] = setting.check(entry[setting.name], f"{where}.{setting.name}")
    if BEGAN.name in entry:
        _check_open(entry, where)
        options[BEGAN.name] = BEGAN.check(entry[BEGAN.name], f"{where}.{BEGAN.name}")
    if entry.get(TOPOLOGY.name) is not None:
        options[TOPOLOGY.name] = check_topology(entry[TOPOLOGY.name], f"{where}.{TOPOLOGY.name}")
    return options
