"""A replica of a lab's cluster as the log page reads it: any broker's, of any topic, also of
`__consumer_offsets`.

    request ─► mark ─► the lab's shard: replica.json (teller.py) ─► the writer's loop: files (replica_writer.py) ─► this

The folder follows from the lab and what was asked for, and a web process only reads it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from django.utils.translation import gettext as _

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.state import DOWN
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.lab.kafka.group import GROUP_ID
from broker_core.lab.kafka.views.replica import LOST, STOPPED
from broker_core.lab.kafka_log.opened import OpenedLog
from broker_core.lab.kafka_log.replica_bytes import EPOCH_MS
from broker_core.lab.kafka_log.settings import FolderSettings, digest, folder_settings, whole_number
from dashboard.errors import Refused, in_words, listed
from dashboard.labs import selectors
from dashboard.labs.transport import transport
from dashboard.logs.opened_part import opened_part
from dashboard.logs.places import BROKER, MOMENT, REPLICA, labs_dir, state_of, wish
from dashboard.logs.source import Query, Source
from dashboard.models import Lab

FORMAT = 3
"""Part of a folder's name; a change in what is written makes new folders."""
BROKERS_MAX, PARTITION_MAX = 9, 9_999
OFFSETS_PARTITIONS = 50
SEGMENTS = ("segment_ms", "segment_bytes")
RETENTION = ("retention_bytes", "retention_ms")
COMPACTION = ("min_cleanable_dirty_ratio", "delete_retention_ms")


class Seen(NamedTuple):
    """A lane as it is shown. view: its brokers, partitions and picture, {} before it has begun. moment: the virtual
    time and the position of what is past; None: it is the present, as it was stored last."""

    view: Json
    at_us: int
    record_count: int
    moment: tuple[int, int] | None = None


class AskedReplica(NamedTuple):
    """What a request is about."""

    lab: Lab
    lane: Json
    seen: Seen
    broker: int
    topic: str
    partition: int
    settings: FolderSettings

    @property
    def view(self) -> Json:
        return self.seen.view

    @property
    def description(self) -> Json:
        """All that the folder follows from, besides the lab itself."""
        return {
            "format": FORMAT,
            "lab": self.lab.pk,
            "lane": self.lane["id"],
            BROKER: self.broker,
            "topic": self.topic,
            "partition": self.partition,
            "settings": self.settings.to_json(),
            **({} if self.seen.moment is None else {MOMENT: list(self.seen.moment)}),
        }

    @property
    def folder(self) -> Path:
        return labs_dir() / self.lab.pk / "kafka" / digest(self.description)

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


def brokers_of(view: Json | None) -> list[Json]:
    """The cluster's brokers as the page lists them, [{id, condition}]; [] before the lane has begun."""
    cluster = (view or {}).get("cluster")
    brokers = {} if cluster is None else cluster["brokers"]
    return [{"id": int(broker), "condition": _condition(each)} for broker, each in brokers.items()]


def _usual_broker(view: Json, brokers: list[int], name: str) -> int:
    """Whose replica of a partition is shown where a request names no broker: its leader's, or of one that nobody
    leads its preferred leader's."""
    known = view["cluster"]["partitions"].get(name)
    if known is None:
        return brokers[0]
    leader: int = known["leader"] if known["leader"] in brokers else known["replicas"][0]
    return leader


def _condition(broker: Json) -> str:
    if broker["disk"] == "lost":
        return LOST
    return STOPPED if broker["stage"] == DOWN else str(broker["stage"])


def lane_asked_for(lab: Lab, query: Query) -> Json:
    """The lab's Kafka lane of ?lane=, the first without it. Raises Refused 404."""
    lanes: list[Json] = [lane for lane in lab.scenario["lanes"] if lane["model"] == "kafka"]
    asked = query.get("lane")
    lane = next((lane for lane in lanes if asked in (None, lane["id"])), None)
    if lane is None:
        raise Refused(404, {"lane": _("this lab has no such Kafka lane")})
    return lane


def seen_now(lab: Lab, lane: Json) -> Seen:
    """The lane as it was stored last."""
    stored = selectors.lab_snapshot(lab_id=lab.pk)
    if stored is None:
        return Seen({}, 0, 0)
    view = stored["view"]["lanes"].get(lane["id"]) or {}
    return Seen(view, stored["at_us"], stored["view"]["record_count"])


def asked_for(lab: Lab, lane: Json, query: Query, seen: Seen) -> AskedReplica:
    """Check ?broker=, ?topic= and ?partition= and the settings. Raises Refused 404 or 400 at the field, 503 before
    the lane has begun."""
    view = seen.view
    brokers = [each["id"] for each in brokers_of(view)]
    if not brokers:
        raise Refused(503, {"log": _("is being prepared: try again")})
    try:
        counts = topics_of(lane, view)
        topic = query.get("topic", lane["topic"])
        if topic not in counts:
            raise CommandError("topic", "must be one of {choices}", choices=Names(counts))
        usual = coordinator_partition(GROUP_ID, counts[topic]) if topic == OFFSETS_TOPIC else 0
        partition = whole_number(
            "partition", query.get("partition", str(usual)), 0, min(PARTITION_MAX, counts[topic] - 1)
        )
        usual_broker = _usual_broker(view, brokers, f"{topic}-{partition}")
        broker = whole_number(BROKER, query.get(BROKER, str(usual_broker)), 1, BROKERS_MAX)
        settings = folder_settings(query)
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error
    if broker not in brokers:
        raise Refused(404, {BROKER: _("there is no broker %(broker)s; the cluster has %(brokers)s") % {
            "broker": broker, "brokers": listed(map(str, brokers))}})  # fmt: skip
    asked = AskedReplica(lab, lane, seen, broker, topic, partition, settings)
    if not _may_be_there(asked, partition):
        raise _no_replica(asked)
    return asked


def _may_be_there(asked: AskedReplica, number: int) -> bool:
    """Whether the broker has, or may have, a replica of this partition of the topic, as far as the view
    says."""
    cluster = asked.view["cluster"]
    known = cluster["partitions"].get(f"{asked.topic}-{number}")
    return (
        known is None
        or str(asked.broker) in known["copies"]
        or cluster["brokers"][str(asked.broker)]["disk"] == "lost"
    )


def _no_replica(asked: AskedReplica) -> Refused:
    return Refused(
        404,
        {
            "partition": _("broker %(broker)s has no replica of %(name)s")
            % {"broker": asked.broker, "name": asked.name}
        },
    )


def topics_of(lane: Json, view: Json) -> dict[str, int]:
    """The cluster's topics with their numbers of partitions: the lane's first, people's others, last the one
    of the groups' offsets."""
    counts: dict[str, int] = {}
    for name in view["cluster"]["partitions"]:
        topic, _dash, number = name.rpartition("-")
        counts[topic] = max(counts.get(topic, 0), int(number) + 1)
    first = {lane["topic"]: counts.pop(lane["topic"])} if lane["topic"] in counts else {}
    return {**first, **counts, OFFSETS_TOPIC: lane.get("offsets_partitions", OFFSETS_PARTITIONS)}


def source_of(asked: AskedReplica) -> Source:
    """The replica as it is on disk at the moment that is shown. Raises Refused 404 at `partition` where the broker has none, 409 for
    a lab that has stopped before."""
    folder = wish(asked.folder, asked.description)
    state = state_of(folder)
    seen = asked.seen
    if seen.moment is None:
        _ask_shard(asked, folder, state, seen.at_us)
    told = state.get("logs", {}).get(asked.name, {})
    replica = state.get("replica")
    condition = state.get(BROKER, {}).get("condition")
    if state and replica is None and condition != LOST:
        raise _no_replica(asked)
    path = folder / str(state.get("generation", 0)) / asked.name
    path.mkdir(parents=True, exist_ok=True)
    behind_us = max(0, seen.at_us - state.get("at_us", 0))
    about: Json = {
        "kind": "lab",
        "lab": asked.lab.pk,
        "lane": asked.lane["id"],
        "topic": asked.topic,
        "partition": asked.partition,
        "folder": asked.name,
        "settings": _settings(asked, replica),
        **_shown(replica),
        "records_of_lab": seen.record_count,
        "is_past": seen.moment is not None,
        "behind": 0,
        "behind_us": behind_us,
        "at_us": state.get("at_us", 0),
        "high_watermark": told.get("high_watermark", 0),
        "recovery_point": told.get("recovery_point", 0),
        "cleanup_policy": _policy(replica),
        "turning": told.get("turning", []),
        "committed": _committed(asked),
        "partitions": _partitions(asked, state),
        "topics": list(topics_of(asked.lane, asked.view)),
        BROKER: asked.broker,
        "brokers": brokers_of(asked.view),
        "replica": None if not state else _replica_part(replica, condition, told),
    }
    return Source(
        opened_part(path, told),
        about,
        EPOCH_MS + state.get("at_us", 0) // 1000,
        **_retention(replica),
        end_offset=told.get("end_offset", 0),
        cleaned_up_to=told.get("cleaned_up_to") or 0,
        deleted_at_ms={int(base): due_ms for base, due_ms in told.get("deleted", {}).items()},
    )


def is_compacted(state: Json) -> bool:
    """Whether the replica is of a compacted topic, as far as its state says."""
    return bool((state.get("replica") or {}).get("is_compacted"))


def table_of(folder: Path, description: Json, state: Json) -> tuple[OpenedLog, Json]:
    """A replica of a compacted topic as `clean_json` takes it: the folder, and topic, partition, settings,
    cleaned_up_to, now_ms."""
    name = f"{description['topic']}-{description['partition']}"
    told, replica = state["logs"][name], state["replica"]
    settings = LogSettings(**replica["settings"], cleanup_compact=True)
    about = {"topic": description["topic"], "partition": description["partition"], "settings": settings,
             "cleaned_up_to": told["cleaned_up_to"], "now_ms": EPOCH_MS + state["at_us"] // 1000}  # fmt: skip
    return opened_part(folder / str(state["generation"]) / name, told), about


def _ask_shard(asked: AskedReplica, folder: Path, state: Json, at_us: int) -> None:
    """A lab that rests says nothing on its own. Raises Refused 409 for one that never will."""
    if state.get("at_us", -1) >= at_us:
        return
    if asked.lab.status == Lab.Status.FAILED:
        if not state:
            raise selectors.lab_has_stopped(asked.lab.failed_reason)
        return
    if not (folder / REPLICA).exists() or state.get("at_us", -1) < at_us:
        transport().wake(asked.lab.shard, asked.lab.pk)


def _settings(asked: AskedReplica, replica: Json | None) -> Json:
    """Those of the topic, and what the page chooses."""
    chosen = asked.settings.to_json()
    if not replica:
        return chosen
    own = replica["settings"]
    return {
        **chosen,
        **{name: own[name] for name in (*SEGMENTS, *RETENTION, "delete_retention_ms")},
        "min_cleanable_dirty_ratio": own["min_cleanable_dirty_ratio_percent"] / 100,
    }


def _shown(replica: Json | None) -> Json:
    """settings_shown: those that act on this topic. settings_fixed: those of them that are the topic's own."""
    if not replica:
        return {"settings_shown": ["index_interval_bytes"], "settings_fixed": []}
    fixed = [
        *SEGMENTS,
        *(RETENTION if replica["settings"]["cleanup_delete"] else ()),
        *(COMPACTION if replica["is_compacted"] else ()),
    ]
    return {"settings_shown": ["index_interval_bytes", *fixed], "settings_fixed": fixed}


def _policy(replica: Json | None) -> str:
    is_compacted = bool(replica and replica["is_compacted"])
    deletes = not replica or replica["settings"]["cleanup_delete"]
    return ",".join(word for word, is_there in (("compact", is_compacted), ("delete", deletes)) if is_there)


def _retention(replica: Json | None) -> Json:
    """How long the topic keeps its records."""
    if not replica or not replica["settings"]["cleanup_delete"]:
        return {"retention_bytes": -1, "retention_ms": -1}
    return {name: replica["settings"][name] for name in RETENTION}


def _replica_part(replica: Json | None, condition: str | None, told: Mapping[str, int]) -> Json:
    """role, leader and the leader's log end as this broker's process believes; condition: of the process, or
    of the disk."""
    if replica is None:
        return {"condition": condition, "role": None, "leader": None, "leader_end": None, "gaps": 0}
    return {"condition": condition, "gaps": told.get("gaps", 0)} | {
        name: replica[name] for name in ("role", "leader", "leader_end")
    }


def _committed(asked: AskedReplica) -> int | None:
    """What the lane's group has committed of the partition."""
    if asked.topic != asked.lane["topic"]:
        return None
    found = asked.view["picture"]["partitions"].get(str(asked.partition))
    return None if found is None else found["committed"]


def _partitions(asked: AskedReplica, state: Json) -> list[Json]:
    """Those of the topic of which the broker has a replica; all of them while nobody has said which."""
    if not state or state.get(BROKER, {}).get("condition") == LOST:
        return [
            {"topic": asked.topic, "partition": number, "bytes": None, "end_offset": 0, "leads": False}
            for number in range(topics_of(asked.lane, asked.view)[asked.topic])
            if _may_be_there(asked, number)
        ]
    return [{"topic": topic, "partition": number, "bytes": None, "end_offset": end, "leads": leads}
            for topic, number, _start, end, leads in state["replicas"] if topic == asked.topic]  # fmt: skip
