"""What a scenario may say of a Pulsar lane, beside its algorithm: the names of Pulsar's own settings, with
the least and the most that we let anybody ask for.

    {"model": "pulsar", "algorithm": "shared", "ack_timeout_us": 2000000, "priorities": {"c3": 1},
    "max_redeliver": 3, "retry_topic": true}
"""

from __future__ import annotations

from types import MappingProxyType

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import LANE_ID, consumer_name, refuse_unknown, whole
from broker_core.lab.setting import TABLE, Setting, choice, number, switch
from broker_core.pulsar.client.producer import DEFAULT, KEY_BASED
from broker_core.pulsar.commands import SUBSCRIPTION
from broker_core.pulsar.selectors import POINTS_MAX
from broker_core.pulsar.settings import DRAINING, EXCLUSIVE, FAILOVER, RECENTLY_JOINED, SHARED
from broker_core.pulsar.topic import EARLIEST, LATEST

TYPE_OF = MappingProxyType(
    {"exclusive": EXCLUSIVE, "failover": FAILOVER, "failover_document": FAILOVER, "shared": SHARED}
)
"""Algorithms of the lane that are a subscription type; every other one is a rule of Key_Shared."""
OUT_OF_ORDER = "out_of_order"
"""Beside the broker's two order rules: all consumers set allowOutOfOrderDelivery."""
ORDERS = (RECENTLY_JOINED, DRAINING, OUT_OF_ORDER)
"""The default first."""
PARTITIONS_MAX = 1000
TOPICS_MAX = 100
PRIORITY_MAX = 1000
SUBSCRIPTIONS_MAX = READERS_MAX = 8
READER_TYPES = ("exclusive", "failover", "shared")
"""Of another subscription, the default first. Key_Shared is the lane's own rule."""
HOUR_US = 3_600_000_000

SUBSCRIBING, ACKING, PRODUCER = "subscription", "acknowledgement", "producer"
"""Where a form has a setting."""
# Below 2 the client could never grant half of its queue again.
RECEIVER_QUEUE = number("receiver_queue_size", 2, 100_000, 1_000, "message", group=SUBSCRIBING)
_SIMPLE = (
    RECEIVER_QUEUE,
    number("points", 1, POINTS_MAX, group=SUBSCRIBING),
    number("partitions", 0, PARTITIONS_MAX, 12, group=SUBSCRIBING),
    number("topics", 1, TOPICS_MAX, group=SUBSCRIBING),
    number("batching_delay_us", 1, 10_000_000, 1_000, "us", group=PRODUCER),
    number("fails_every", 0, 1_000_000, 0, group=ACKING),
    number("max_redeliver", 1, 1_000, group=ACKING),
    number("nack_delay_us", 100_000, HOUR_US, 60_000_000, "us", group=ACKING),
    number("nack_backoff_max_us", 100_000, HOUR_US, unit="us", group=ACKING),
    number("ack_timeout_us", 1_000_000, HOUR_US, unit="us", group=ACKING),
    number("unacked_max", 0, 1_000_000, 50_000, "message", group=ACKING),
    number("unacked_all_max", 0, 10_000_000, 200_000, "message", group=ACKING),
    number("failover_delay_us", 0, 60_000_000, 1_000_000, "us", group=SUBSCRIBING),
    number("retention", 0, 100_000, 0, "message", group=SUBSCRIBING),
    number("delayed_every", 1, 1_000_000, group=PRODUCER),
    number("delay_us", 1, HOUR_US, unit="us", group=PRODUCER),
    number("ordering_keys", 1, 1_000_000, group=PRODUCER),
    choice("order", ORDERS, ORDERS[0], group=SUBSCRIBING, changed_by="set_order"),
    choice("batching", (DEFAULT, KEY_BASED), group=PRODUCER),
    choice("initial_position", (LATEST, EARLIEST), LATEST, group=SUBSCRIBING),
    switch("acks_cumulatively", group=ACKING),
    switch("batch_index_acks", group=ACKING),
    switch("retry_topic", group=ACKING),
    switch("failover_ring", group=SUBSCRIBING),
    switch("receipts", group=PRODUCER),
    switch("deduplication", group=PRODUCER),
)
PULSAR_SETTINGS = (
    *_SIMPLE,
    Setting("priorities", TABLE, group=SUBSCRIBING),
    Setting("subscriptions", TABLE, group=SUBSCRIBING),
)
PULSAR_FIELDS = frozenset(each.name for each in PULSAR_SETTINGS)


def check_pulsar(entry: Json, where: str) -> Json:
    """The options of a Pulsar lane. Raises CommandError at the field that is wrong."""
    options: Json = {RECEIVER_QUEUE.name: RECEIVER_QUEUE.default}
    for setting in _SIMPLE:
        if setting.name in entry:
            options[setting.name] = setting.check(entry[setting.name], f"{where}.{setting.name}")
    if "topics" in options and "partitions" in options:
        raise CommandError(
            f"{where}.topics", "give either topics, none of which has partitions, or partitions of one topic"
        )
    if options.get("deduplication") and not options.get("receipts"):
        raise CommandError(
            f"{where}.deduplication", "needs receipts: a producer that waits for none sends nothing twice"
        )
    if "delayed_every" in entry and "delay_us" not in entry:
        raise CommandError(f"{where}.delayed_every", "needs delay_us, how much later these are delivered")
    if options.get("nack_backoff_max_us", HOUR_US) < options.get("nack_delay_us", 0):
        raise CommandError(
            f"{where}.nack_backoff_max_us", "must be at least nack_delay_us, with which it begins"
        )
    if "priorities" in entry:
        options["priorities"] = check_priorities(entry["priorities"], f"{where}.priorities")
    if "subscriptions" in entry:
        options["subscriptions"] = check_subscriptions(entry["subscriptions"], f"{where}.subscriptions")
    return options


def check_subscriptions(raw: object, field: str) -> dict[str, Json]:
    """Other subscriptions on the topic, by name, each with its type, consumers and records a second that one
    of them takes; defaults filled in."""
    if not isinstance(raw, dict) or len(raw) > SUBSCRIPTIONS_MAX:
        raise CommandError(field, "must be an object of at most {high} subscriptions", high=SUBSCRIPTIONS_MAX)
    found: dict[str, Json] = {}
    for name, wanted in raw.items():
        if not isinstance(name, str) or not LANE_ID.fullmatch(name) or name == SUBSCRIPTION:
            raise CommandError(
                field, "must be 1 to 32 lower-case letters, digits, _ or -, and not {name}", name=SUBSCRIPTION
            )
        where = f"{field}.{name}"
        if not isinstance(wanted, dict):
            raise CommandError(where, "must be an object")
        refuse_unknown(wanted, ("type", "consumers", "rate"), f"{where}.", where)
        kind = wanted.get("type", READER_TYPES[0])
        if kind not in READER_TYPES:
            raise CommandError(f"{where}.type", "must be one of {choices}", choices=Names(READER_TYPES))
        most = 1 if kind == READER_TYPES[0] else READERS_MAX  # a second one would be refused
        found[name] = {
            "type": kind, "consumers": whole(f"{where}.consumers", wanted.get("consumers", 1), 1, most),
            "rate": whole(f"{where}.rate", wanted.get("rate", 100), 1, 100_000),
        }  # fmt: skip
    return found


def check_priorities(raw: object, field: str) -> dict[str, int]:
    """Consumer's name -> its priority level, 0 is best."""
    if not isinstance(raw, dict):
        raise CommandError(field, "must be an object of consumer names and levels")
    return {
        consumer_name(name, field): whole(f"{field}.{name}", level, 0, PRIORITY_MAX)
        for name, level in raw.items()
    }
