"""What a lab's timeline shows since 0:00: what was ordered, and what the system did on its own.

The latter are turning points of the kinds below: what a broker noticed by its own clock, who it then elected or
removed, and what it began. Those of one kind in one lane that come at once are one mark with their count.
"""

from collections.abc import Iterable

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.lab import Lab as CoreLab
from dashboard.models import StoredEvent
from dashboard.page_scripts import call
from dashboard.sentences import LANGUAGES, catalogue
from dashboard.stored import Damaged

SYSTEM = frozenset(
    {
        "kafka.broker.fenced",
        "kafka.broker.unfenced",
        "kafka.consumer.assignor_failed",
        "kafka.consumer.assignor_refused",
        "kafka.consumer.failed",
        "kafka.consumer.fenced",
        "kafka.consumer.poll_timeout",
        "kafka.consumer.threw",
        "kafka.group.coordinator_loaded",
        "kafka.group.member_expired",
        "kafka.group.member_removed",
        "kafka.group.rebalance_started",
        "kafka.group.upgraded",
        "kafka.log.segments_deleted",
        "kafka.partition.isr_changed",
        "kafka.partition.leader_changed",
        "kafka.partition.writes_refused",
        "kafka.producer.batch_expired",
        "kafka.producer.failed",
        "kafka.replica.truncated",
        "kafka.transaction.coordinator_elected",
        "kafka.transaction.producer_fenced",
        "kafka.transaction.timed_out",
        "pulsar.connection.silent",
        "pulsar.consumer.let_go",
        "pulsar.producer.sent_again",
        "pulsar.subscription.active_changed",
        "pulsar.topic.active_changed",
        "rabbitmq.channel.timed_out",
        "rabbitmq.connection.missed_heartbeats",
        "tubemq.broker.registration_timed_out",
        "tubemq.client.map_changed",
        "tubemq.master.consumer_timed_out",
    }
)
AT_ONCE_US = SECOND_US
"""What comes of a broker's crash for its partitions comes within so long."""


def marks_of(lab: CoreLab, lab_id: str) -> list[Json]:
    """All marks up to the lab's present, by time, with what is said of each. lab: at its present."""
    ordered = [
        {"lane": None, "by": "person", **tick, "position": position}
        for position, tick in lab.timeline.items()
    ]
    done = system_marks(lab_id, lab.now_us)
    for mark in done:
        mark |= {"color": lab.seen.get(mark["consumer"] or ""), "position": None}
    marks = sorted(
        [*ordered, *done], key=lambda mark: mark["at_us"]
    )  # stable: of one time, orders come first
    return captioned(marks)


def captioned(marks: list[Json]) -> list[Json]:
    """The marks with what is said of each, in place of the turning point that it is."""
    words = catalogue()
    captions = {language: call("base/marks", "captions", marks, words[language]) for language in LANGUAGES}
    return [
        {name: value for name, value in mark.items() if name != "event"}
        | {"caption": {language: captions[language][place] for language in LANGUAGES}}
        for place, mark in enumerate(marks)
    ]


def system_marks(lab_id: str, until_us: int) -> list[Json]:
    """What the system did on its own up to a time, as {at_us, kind, lane, consumer, count, by, event}."""
    return _system(_stored(lab_id, until_us, "seq"))


def marks_in(events: Iterable[Json]) -> list[Json]:
    """What the system did on its own among turning points, as the timeline's marks with what is said of each."""
    return captioned(_system(events))


def told_in(lab_id: str, lane: str, until_us: int) -> Iterable[Json]:
    """A lane's turning points up to a time, the newest first."""
    return (event for event in _stored(lab_id, until_us, "-seq") if event["lane"] == lane)


def _stored(lab_id: str, until_us: int, order: str) -> Iterable[Json]:
    rows = StoredEvent.objects.filter(lab_id=lab_id, at_us__lte=until_us).order_by(order)
    return (row.event for row in rows.iterator(200) if not isinstance(row.event, Damaged))


def _event_mark(event: Json) -> Json:
    consumer = {**event["inputs"], **event["data"]}.get("consumer")
    return {
        "at_us": max(0, event["at_us"]),
        "kind": event["kind"],
        "lane": event["lane"],
        "consumer": consumer if isinstance(consumer, str) else None,
        "count": 1,
        "by": "system",
        "event": event,
    }


def _system(events: Iterable[Json]) -> list[Json]:
    return _merged(_event_mark(event) for event in events if event.get("kind") in SYSTEM)


def _merged(marks: Iterable[Json]) -> list[Json]:
    """Those of one kind, lane and consumer within AT_ONCE_US of the first one as that one."""
    found: list[Json] = []
    newest: dict[tuple[str, str, str | None], Json] = {}
    for mark in marks:
        one = mark["kind"], mark["lane"], mark["consumer"]
        first = newest.get(one)
        if first is not None and mark["at_us"] - first["at_us"] < AT_ONCE_US:
            first["count"] += 1
        else:
            newest[one] = mark
            found.append(mark)
    return found
