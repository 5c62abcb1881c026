"""The answer about one thing of a lane, at the lane's present."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.why import kafka, pulsar, rabbitmq, shared, tubemq
from broker_core.lab.why.figures import figure, total
from broker_core.lab.why.history import history_of
from broker_core.lab.why.known import Finder

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

THING_MAX = 300
SHARED: dict[str, Finder] = {
    "lane": shared.lane,
    "consumer": shared.consumer,
    "figure": figure,
    "total": total,
    "record": shared.record,
}
OF_MODEL: dict[str, dict[str, Finder]] = {
    "kafka": {
        "partition": kafka.partition,
        "replicas": kafka.replicas,
        "replica": kafka.replica,
        "broker": kafka.broker,
        "group": kafka.group,
    },
    "pulsar": {"slot": pulsar.slot, "partition": pulsar.partition, "cursor": pulsar.cursor},
    "tubemq": {"partition": tubemq.partition},
    "rabbitmq": {"queue": rabbitmq.queue, "exchange": rabbitmq.exchange},
}


def why(lane: Lane, thing: str, events: Iterable[Json], orders: Mapping[int, Json]) -> Json:
    """{lane, model, thing, says, sums, since_us, chain, orders}.

    thing: kind:id. events: the lane's turning points, newest first, as stored; those that it has not come to yet are
    left out. orders: the lab's, by position. says, sums: `Known`'s. chain: turning points, oldest first; since_us:
    when it became so, None where no turning point is about it. In the answer's orders are those that the chain
    names. Raises CommandError at "thing".
    """
    kind, _colon, name = thing.partition(":")
    finders = SHARED | OF_MODEL[lane.model]
    if kind not in finders:
        raise CommandError("thing", "must be one of {choices}", choices=Names(finders))
    known = finders[kind](lane, name)
    if known.is_of_change:
        bill = lane.ledger.bill
        chain, since_us = lane.why[:], None if bill is None else bill.at_us
    else:
        came = (each for each in events if int(each["id"].rpartition(":")[2]) <= lane.event_count)
        by_order = (kafka.with_silencer(event, lane.id, orders) for event in came)
        chain, since_us = history_of(known, by_order)
    causes = {(event["cause"] or {}).get("command") for event in chain}
    return {
        "lane": lane.id,
        "model": lane.model,
        "thing": thing,
        "says": known.says,
        "sums": known.sums,
        "since_us": since_us,
        "chain": chain,
        "orders": {str(place): tick for place, tick in orders.items() if place in causes},
    }
