"""Things of a RabbitMQ lane: queue and exchange, by name; of another virtual host than "/" as name@vhost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.lab.rabbitmq.reading import RabbitMqReading
from broker_core.lab.rabbitmq.views.server import rabbitmq_view
from broker_core.lab.why.known import Known, parts_of, said, sum_of, told_of, unknown

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

OF_READERS = ("rabbitmq.consumer.", "rabbitmq.channel.", "rabbitmq.connection.", "rabbitmq.queue.")


def _found(lane: Lane, table: str, name: str) -> tuple[Json, Json, str]:
    """(the virtual host, the row, its own name)."""
    assert isinstance(lane.reads, RabbitMqReading)
    hosts = rabbitmq_view(lane, lane.reads)["vhosts"]
    own, at, vhost = name.rpartition("@")
    for host, wanted in (("/", name), (vhost, own) if at else ("/", name)):
        if host in hosts and wanted in hosts[host][table]:
            return hosts[host], hosts[host][table][wanted], wanted
    raise unknown(table.removesuffix("s"), name)


def queue(lane: Lane, name: str) -> Known:
    host, known, own = _found(lane, "queues", name)
    readers = [each for each in host["consumers"].values() if each["queue"] == own]
    ready, unacked, acked, published = (known[each] for each in ("ready", "unacked", "acked", "published"))
    sums = []
    if published == ready + unacked + acked:
        sums.append(sum_of("queue", published=published, ready=ready, unacked=unacked, acked=acked))
    if unacked and unacked == sum(each["unacked"] for each in readers):
        items = [{"consumer": each["name"], "unacked": each["unacked"]} for each in readers]
        sums.append(sum_of("unacked_by", parts_of("unacked", items), unacked=unacked))
    consumers = {each["name"] for each in readers}
    return Known(
        said("queue", queue=own, ready=ready, unacked=unacked, consumers=len(readers)),
        lambda event: _is_about_queue(event, own, consumers),
        sums,
    )


def _is_about_queue(event: Json, name: str, consumers: set[str]) -> bool:
    told = told_of(event)
    if name in (told.get("queue"), told.get("name")):
        return True
    return event["kind"].startswith(OF_READERS) and told.get("consumer") in consumers


def exchange(lane: Lane, name: str) -> Known:
    host, known, own = _found(lane, "exchanges", name)
    bound = [each for each in host["bindings"].values() if each["source"] == own]
    params = {"exchange": own, "type": known["type"], "bindings": len(bound)}
    counts = {name: known[name] for name in ("published", "unroutable", "dropped")}
    sums = [sum_of("exchange", **counts)]
    items = [
        {"destination": each["destination"], "buckets": each["buckets"]} for each in bound if each["buckets"]
    ]
    if items:
        buckets = sum(each["buckets"] for each in items)
        sums.append(sum_of("buckets", parts_of("buckets", items), buckets=buckets))
    return Known(
        said("exchange", **params),
        lambda event: own != "" and own in (told_of(event).get("exchange"), told_of(event).get("name")),
        sums,
    )
