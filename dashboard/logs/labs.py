"""A lab's log as its page reads it: which folder that is, what the worker has written of it so far, and the
mark that makes it go on.

The folder follows from the lab and the settings, so its name does too. A web process only reads it; each
request leaves a mark, and while marks are fresh the worker writes (`writer.py`).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.utils.translation import gettext as _

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.kafka_log.opened import OpenedLog
from broker_core.lab.kafka_log.producer import EPOCH_MS, latest_topic
from broker_core.lab.kafka_log.settings import (
    LATEST_SHOWN,
    RECORDS_SHOWN,
    LaneSettings,
    digest,
    lane_settings,
    whole_number,
)
from broker_core.lab.past import SWITCH_RECORDS_MAX
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.workload.parse import workload_from_json
from dashboard.errors import Refused, in_words
from dashboard.labs import selectors
from dashboard.limits import core_limits
from dashboard.logs import replicas
from dashboard.logs.lane_log import has_lane_log
from dashboard.logs.opened_part import opened_part
from dashboard.logs.places import BROKER, labs_dir, state_of, wish
from dashboard.logs.source import Query, Source
from dashboard.models import Lab, StoredCommand

WANTED = ".wanted"
LOCK, BEAT, ASKED = ".writer.lock", ".writer.beat", ".writer.asked"
FORMAT = 2
"""Part of a folder's name; a change in what is written makes new folders."""


class Asked(NamedTuple):
    """What a request is about. first_record: where the lane's offsets begin."""

    lab: Lab
    lane: Json
    topic: str
    partition: int
    settings: LaneSettings
    first_record: int

    @property
    def description(self) -> Json:
        """All that the folder follows from, besides the lab's own time.

        It holds the one partition that is looked at, of both topics: a log of a lab at twenty times the speed
        has to keep up with it.
        """
        return {
            "format": FORMAT,
            "lab": self.lab.pk,
            "lane": self.lane["id"],
            "topic": self.lane["topic"],
            "partition_count": self.lane["partitions"],
            "partition": self.partition,
            "settings": self.settings.to_json(),
            "first_record": self.first_record,
        }

    @property
    def folder(self) -> Path:
        return labs_dir() / self.lab.pk / "kafka" / digest(self.description)


def source_of(lab_id: str, query: Query) -> Source:
    """The partition that was asked for, as it is on disk now. Raises Refused 404 or 400 at the field."""
    asked = _place(lab_id, query)
    if isinstance(asked, replicas.AskedReplica):
        return replicas.source_of(asked)
    folder = wish(asked.folder, asked.description)
    return _source(asked, folder, state_of(folder))


def clean_of(lab_id: str, query: Query) -> Json | None:
    """What the worker last worked out about compacting the partition; None while it has not. Raises as
    source_of."""
    asked = _place(lab_id, query)
    folder = wish(asked.folder, asked.description)
    (folder / f"clean-{asked.partition}{WANTED}").touch()
    try:
        answer: Json = json.loads((folder / f"clean-{asked.partition}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return answer


def _place(lab_id: str, query: Query) -> "Asked | replicas.AskedReplica":
    """What the request is about: a replica where it names a broker, or where the lane has no log but its brokers':
    then its leader's."""
    lab, lane = lane_asked_for(lab_id, query)
    if BROKER not in query and not has_lane_log(lab, lane):
        broker = replicas.usual_broker(lab, lane, query)
        query = query if broker is None else {**query, BROKER: str(broker)}
    return replicas.asked_for(lab, lane, query) if BROKER in query else asked_for(lab_id, query)


def cleans_wanted(folder: Path, since_s: float) -> Iterator[int]:
    """The partitions whose compaction somebody has asked about since then."""
    for mark in folder.glob(f"clean-*{WANTED}"):
        if mark.stat().st_mtime > since_s:
            yield int(mark.stem.removeprefix("clean-"))


def table_of(folder: Path, description: Json, partition: int, state: Json) -> tuple[OpenedLog, Json]:
    """A partition of the compacted topic, as `clean_json` takes it: the folder, and topic, partition,
    settings, cleaned_up_to, now_ms."""
    topic = latest_topic(description["topic"])
    told = state["logs"][f"{topic}-{partition}"]
    about = {
        "topic": topic,
        "partition": partition,
        "settings": LaneSettings(**description["settings"]).latest(),
        "cleaned_up_to": told["cleaned_up_to"],
        "now_ms": EPOCH_MS + state["at_us"] // 1000,
    }
    return opened_part(folder / f"{topic}-{partition}", told), about


def asked_for(lab_id: str, query: Query) -> Asked:
    """Check ?lane=, ?topic=, ?partition= and the settings. Raises Refused 404 or 400 at the
    field."""
    lab, lane = lane_asked_for(lab_id, query)
    topics = (lane["topic"], latest_topic(lane["topic"]))
    topic = query.get("topic", topics[0])
    try:
        if topic not in topics:
            raise CommandError("topic", "must be one of {choices}", choices=Names(topics))
        partition = whole_number("partition", query.get("partition", "0"), 0, lane["partitions"] - 1)
        settings = lane_settings(query)
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error
    return Asked(lab, lane, topic, partition, settings, _first_record(lab, lane["id"]))


def lane_asked_for(lab_id: str, query: Query) -> tuple[Lab, Json]:
    """The lab, and its Kafka lane of ?lane=. Raises Refused 404."""
    lab = selectors.lab_get(lab_id=lab_id)
    lanes = [lane for lane in lab.scenario["lanes"] if lane["model"] == "kafka"]
    asked = query.get("lane")
    lane = next((lane for lane in lanes if asked in (None, lane["id"])), None)
    if lane is None:
        raise Refused(404, {"lane": _("this lab has no such Kafka lane")})
    return lab, lane


def _first_record(lab: Lab, lane_id: str) -> int:
    """Where the lane counts from: 0, or what was left out when its algorithm was changed late in a long lab
    (`lab/past.py`)."""
    applied = lab.commands.filter(state=StoredCommand.State.APPLIED).order_by("-position").iterator()
    last = next(
        (row for row in applied if (row.body["kind"], row.body.get("lane")) == ("set_algorithm", lane_id)),
        None,
    )
    if last is None:
        return 0
    workload = workload_from_json(lab.scenario["workload"], core_limits(), lab.scenario["seed"])
    return max(0, workload.count_until(last.at_us) - SWITCH_RECORDS_MAX)


def _source(asked: Asked, folder: Path, state: Json) -> Source:
    name = f"{asked.topic}-{asked.partition}"
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    told = state.get("logs", {}).get(name, {})
    topic, table = asked.lane["topic"], latest_topic(asked.lane["topic"])
    now_ms = EPOCH_MS + state.get("at_us", 0) // 1000
    opened = opened_part(path, told)
    view = selectors.lab_snapshot(lab_id=asked.lab.pk)
    is_table = asked.topic == table
    settings = asked.settings.latest() if is_table else asked.settings.records()
    about: Json = {
        "kind": "lab",
        "lab": asked.lab.pk,
        "lane": asked.lane["id"],
        "topic": asked.topic,
        "partition": asked.partition,
        "folder": name,
        "settings": {
            **asked.settings.to_json(),
            "min_cleanable_dirty_ratio": asked.settings.latest().min_cleanable_dirty_ratio_percent / 100,
        },
        "settings_shown": LATEST_SHOWN if is_table else RECORDS_SHOWN,
        "bytes_limit": None if is_table else asked.settings.bytes_limit,
        **_lab_part(asked, state, view),
        "high_watermark": told.get("high_watermark", 0),
        "recovery_point": told.get("recovery_point", 0),
        "cleanup_policy": "compact" if is_table else "delete",
        "turning": told.get("turning", []),
        "committed": None if is_table else _committed(asked, view),
        "partitions": _partitions(asked, state),
        "topics": [topic, table],
        BROKER: None,
        "has_lane_log": has_lane_log(asked.lab, asked.lane),
        "brokers": replicas.brokers_of(
            view["view"]["lanes"].get(asked.lane["id"]) if view is not None else None
        ),
        "replica": None,
    }
    return Source(
        opened, about, now_ms,
        retention_bytes=settings.retention_bytes if settings.cleanup_delete else -1,
        retention_ms=settings.retention_ms if settings.cleanup_delete else -1,
        end_offset=told.get("end_offset", 0), cleaned_up_to=told.get("cleaned_up_to") or 0,
        deleted_at_ms={int(base): due_ms for base, due_ms in told.get("deleted", {}).items()},
    )  # fmt: skip


def _lab_part(asked: Asked, state: Json, view: Json | None) -> Json:
    """How far the lab is, and how much of it the log does not have yet: `behind` in records, `behind_us` in
    virtual time."""
    count = view["view"]["record_count"] if view is not None else 0
    at_us = state.get("at_us", 0)
    written = asked.first_record + state.get("records", 0)
    behind_us = max(0, view["at_us"] - at_us) if view is not None else 0
    return {
        "records_of_lab": count,
        "behind": max(0, count - written),
        "behind_us": behind_us,
        "at_us": at_us,
        "first_record": asked.first_record,
    }


def _committed(asked: Asked, view: Json | None) -> int | None:
    """What the lane's group has committed of the partition, as the lab's view tells: the lane's own offsets are the
    brokers' as long as it has a log of its own."""
    lane = view["view"]["lanes"].get(asked.lane["id"]) if view is not None else None
    return lane["picture"]["partitions"][str(asked.partition)]["committed"] if lane is not None else None


def _partitions(asked: Asked, state: Json) -> list[Json]:
    """All partitions of the topic. bytes: null for those that nobody has asked to be written."""
    ends = state.get("ends", {}).get(asked.topic, [0] * asked.lane["partitions"])
    logs = state.get("logs", {})
    rows = []
    for number, end in enumerate(ends):
        told = logs.get(f"{asked.topic}-{number}")
        size = None if told is None else sum(size for _base, size in told["segments"])
        rows.append({"topic": asked.topic, "partition": number, "bytes": size, "end_offset": end})
    return rows


def lane_parts(description: Json) -> Json | None:
    """What a LaneLog of this description is made of, and how far the lab is: {workload, seed, at_us}; None
    when the lab is gone."""
    lab = Lab.objects.filter(pk=description["lab"]).first()
    view = selectors.lab_snapshot(lab_id=description["lab"]) if lab is not None else None
    if lab is None or view is None:
        return None
    scenario = scenario_from_json(lab.scenario, core_limits())
    return {
        "workload": workload_from_json(scenario.workload, core_limits(), scenario.seed),
        "seed": scenario.seed,
        "at_us": view["at_us"],
    }
