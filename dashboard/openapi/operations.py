"""Every route below /api/ and its methods: what it takes and answers. The sentence of each is
`api.<name of the route>.<method>` in dashboard/sentences/api.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from broker_core.lab.question import FIGURES
from dashboard.labs import runs
from dashboard.labs.capsules import orders as capsules
from dashboard.labs.past import look
from dashboard.openapi.schemas import FREE, NAME, answer, ref
from dashboard.rooms import answers, selectors, shown, tasks
from dashboard.rooms import services as rooms

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer", "minimum": 0}
NUMBER: Json = {"type": "number", "minimum": 0}
FLAG: Json = {"enum": ["true", "false", ""]}
FILE: Json = {"type": "string", "format": "binary"}


@dataclass(frozen=True, slots=True)
class Operation:
    """query: name -> schema, those of `needs` have to be there. body: of a JSON request; forms: of a multipart one.
    status and answer: where it is granted; media: of an answer that is no JSON."""

    route: str
    method: str
    group: str
    answer: Json
    status: int = 200
    query: Mapping[str, Json] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    body: Json | None = None
    form: Json | None = None
    media: str = "application/json"

    @property
    def code(self) -> str:
        return f"api.{self.route}.{self.method.lower()}"


LABS, PAST, LANES, ROOMS, LOGS, STUDIES = "labs", "past", "lanes", "rooms", "logs", "studies"
GROUPS = (LABS, PAST, LANES, ROOMS, LOGS, STUDIES)
LANE = {"lane": TEXT}
LOOKED: Mapping[str, Json] = {
    **dict.fromkeys(("at_us", "position", "until_us", "every_us", "count", "record", "next"), WHOLE),
    **dict.fromkeys(("panels", "key", "lane", "consumer", "thing", "of"), TEXT),
    "step": {"enum": list(look.STEPS)},
    "by": {"type": "integer", "minimum": -look.BY_MAX, "maximum": look.BY_MAX},
    "kind": {"enum": list(look.CHANGES)},
    "only": {"enum": [look.SYSTEM_ONLY]},
    "look": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
}
"""What may be asked of a lab's past: the names of each question are those that its check knows."""


def looked(kind: str) -> dict[str, Json]:
    return {name: LOOKED[name] for name in look.FIELDS[kind]}


LOG = {
    "topic": TEXT,
    "partition": WHOLE,
    "lane": TEXT,
    "broker": WHOLE,
    "retention_ms": WHOLE,
    "retention_bytes": WHOLE,
}
MOMENT = {"until_us": WHOLE, "until_position": WHOLE, "look": LOOKED["look"]}
ASKED = {
    **LOG, "offset": WHOLE, "timestamp": WHOLE, "rule": {"enum": ["kafka", "document"]}, "segment": WHOLE, "position": WHOLE,
    "base": WHOLE, "from": WHOLE, "to": WHOLE, "name": TEXT,
}  # fmt: skip
WEIGHTS = {
    **{
        name: {"type": "number", "minimum": 0, "maximum": 100} for name in ("skew", "churn", "pause", "order")
    },
    "keeps_order": FLAG,
    "keeps_up": FLAG,
    "no_idle": FLAG,
    "wait_s_max": WHOLE,
    "wait_percent_max": NUMBER,
    "drain_s_max": NUMBER,
    "skew_max": NUMBER,
}
STUDY = answer("id", "state")
SOURCE: Json = {"type": "object", "required": ["kind"], "properties": {"kind": TEXT}}
STUDY_REQUEST: Json = {
    "type": "object",
    "required": ["source"],
    "properties": {
        "name": TEXT, "source": SOURCE, "strategies": {"type": "array", "items": FREE}, "history": FREE, "service": FREE,
        "weights": FREE, "constraints": FREE, "live": {"type": "boolean"},
    },
}  # fmt: skip
FORK: Json = {
    "type": "object",
    "properties": {
        "workload": FREE, "seed": WHOLE, "until_us": WHOLE, "until_position": WHOLE,
        "speed": {"type": "number", "minimum": 0.1, "maximum": 20}, "name": NAME,
    },
}  # fmt: skip
CAPSULE: Json = {
    "type": "object",
    "properties": {
        "page": {"enum": list(capsules.PLAYED)},
        "lane": TEXT,
        "from_us": WHOLE,
        "until_us": WHOLE,
    },
}
ROOM = answer("code", "seq", "lab", "path", "role")
ASKED_ROOM = answer("code", "seq", "lab", "path", "asked")
TASK_ROOM = answer("code", "seq", "lab", "path", "task")
ROOM_TASK: Json = {
    "type": "object",
    "properties": {
        "check": WHOLE, "lane": TEXT, "consumer": TEXT, "figure": TEXT, "comparison": {"enum": list(tasks.COMPARISONS)},
        "value": {"type": "number"}, "for_s": WHOLE, "note": TEXT,
    },
}  # fmt: skip
ROOM_QUESTION: Json = {
    "type": "object",
    "anyOf": [{"required": ["lane"]}, {"required": ["slide", "question"]}],
    "properties": {
        "kind": LOOKED["kind"], "consumer": TEXT, "lane": TEXT, "figure": {"enum": list(FIGURES)}, "next": {"const": "1"},
        "at_us": WHOLE, "position": WHOLE, "slide": WHOLE, "question": WHOLE,
    },
}  # fmt: skip
SHOWN: Json = {
    "type": "object",
    "properties": {
        "page": {"enum": list(shown.PAGES)}, "lecture": TEXT, "query": TEXT, "at_us": {**WHOLE, "type": ["integer", "null"]},
        "position": {**WHOLE, "type": ["integer", "null"]}, "chosen": {"type": "object", "additionalProperties": TEXT},
        "thing": {"type": ["string", "null"]},
    },
}  # fmt: skip

OPERATIONS = (
    Operation("api-labs", "POST", LABS, ref("OpenedLab"), 201, body=ref("LabRequest")),
    Operation("api-check", "POST", LABS, answer("scenario", "parts", "texts"), body=ref("LabRequest")),
    Operation("api-visit", "POST", LABS, answer("lab"), 201),
    Operation("api-lab", "GET", LABS, ref("Lab")),
    Operation("api-lab", "PATCH", LABS, ref("Lab"), body={"type": "object", "required": ["name"], "properties": {"name": NAME}}),
    Operation("api-lab", "DELETE", LABS, answer("id", "undo_s")),
    Operation("api-own", "POST", LABS, ref("Lab")),
    Operation("api-restore", "POST", LABS, ref("Lab")),
    Operation("api-commands", "POST", LABS, answer("lab", "command_id", "position", "state"), 202, body=ref("Command")),
    Operation("api-command", "GET", LABS, answer("command_id", "state")),
    Operation("api-settings", "POST", LABS, answer("orders", "rest"), body=ref("LabRequest")),
    Operation("api-snapshot", "GET", LABS, answer("seq", "at_us", "view")),
    Operation("api-journal", "GET", LABS, answer("rules", "scenario", "commands")),
    Operation(
        "api-run", "GET", LABS, answer(*runs.FIELDS), query={"until_us": WHOLE, "until_position": WHOLE},
    ),
    Operation("api-capsules", "POST", LABS, answer("id", "state", "share"), 202, body=CAPSULE),
    Operation("api-capsule", "GET", LABS, answer("id", "state", "share")),
    Operation("api-capsule-file", "GET", LABS, {}, media="text/html"),
    Operation("api-open", "POST", LABS, ref("OpenedLab"), 201, body={"type": "object", "required": list(runs.FIELDS)}),
    Operation("api-events", "GET", LABS, answer("events"), query={"after": WHOLE}),
    Operation(
        "api-event-search", "GET", LABS, answer("events", "next", "scanned", "kinds", "consumers"),
        query={**dict.fromkeys(("text", "kind", "lane", "consumer"), TEXT), "newest": {"enum": ["1", ""]}, "after": WHOLE},
    ),
    Operation("api-event-lines", "GET", LABS, {}, query={"until_us": WHOLE}, media="application/jsonl"),
    Operation("api-fork", "POST", LABS, ref("OpenedLab"), 201, body=FORK),
    Operation("api-branches", "GET", LABS, answer("branches")),
    Operation(
        "api-past",
        "GET",
        PAST,
        answer("at_us", "position", "state_hash", "view"),
        query=looked(look.VIEW),
        needs=("at_us",),
    ),
    Operation(
        "api-past-frames",
        "GET",
        PAST,
        answer("frames"),
        query=looked(look.FRAMES),
        needs=("at_us", "until_us", "every_us"),
    ),
    Operation("api-marks", "GET", PAST, answer("at_us", "marks"), query=looked(look.MARKS)),
    Operation("api-trial", "GET", PAST, answer("at_us", "position", "order", "lanes"), query=looked(look.TRIAL)),
    Operation(
        "api-passport", "GET", PAST, answer("record", "key", "sent_us", "until_us", "row", "lanes"),
        query=looked(look.PASSPORT),
    ),
    Operation(
        "api-why", "GET", PAST, answer("at_us", "position", "lane", "model", "thing", "says", "sums", "since_us", "chain", "orders"),
        query=looked(look.WHY), needs=("lane", "thing"),
    ),
    Operation("api-code", "GET", PAST, FREE, query=looked(look.CODE)),
    Operation("api-lab-pulsar-key", "GET", LANES, FREE, query={"key": TEXT, "name": TEXT, **LANE}),
    Operation("api-lab-pulsar-ranges", "GET", LANES, answer("ranges"), query={"consumer": TEXT, "ranges": TEXT, **LANE}),
    Operation(
        "api-lab-rabbitmq-try", "GET", LANES, FREE,
        query={"vhost": TEXT, "exchange": TEXT, "key": TEXT, "headers": TEXT, "user": TEXT, **LANE},
    ),
    Operation(
        "api-lab-rabbitmq-path", "GET", LANES, FREE,
        query={"message": WHOLE, "by_hand": WHOLE, "vhost": TEXT, "way": TEXT, **LANE},
    ),
    Operation(
        "api-lab-rabbitmq-allowed", "GET", LANES, answer("refused"),
        query={"vhost": TEXT, "user": TEXT, "operation": TEXT, "queue": TEXT, "exchange": TEXT, "key": TEXT, **LANE},
    ),
    Operation("api-lab-rabbitmq-definitions", "GET", LANES, FREE, query=LANE),
    Operation("api-comparison", "GET", LANES, answer("state", "rows")),
    Operation("api-comparison", "POST", LANES, answer("state", "rows"), 202),
    Operation("api-break", "GET", LANES, answer("state")),
    Operation(
        "api-break", "POST", LANES, answer("state", "tries"), 202,
        body={
            "type": "object", "required": ["promise", "may"],
            "properties": {
                "lane": TEXT, "promise": FREE, "may": FREE, "lasts_s": WHOLE, "seconds": WHOLE, "seed": WHOLE,
            },
        },
    ),
    Operation("api-break", "DELETE", LANES, answer("state")),
    Operation("api-break-open", "POST", LANES, ref("OpenedLab"), 201),
    Operation(
        "api-rooms", "POST", ROOMS, ROOM, 201,
        body={"type": "object", "properties": {"lab": TEXT, "shown": SHOWN}},
    ),
    Operation("api-room", "GET", ROOMS, ROOM),
    Operation(
        "api-room", "PATCH", ROOMS, ROOM,
        body={
            "type": "object",
            "properties": {"shown": SHOWN, "lab": TEXT, "locked": {"type": "boolean"}, "recall": {"type": "boolean"}},
        },
    ),
    Operation("api-room", "DELETE", ROOMS, answer("code")),
    Operation("api-room-seat", "POST", ROOMS, answer("path", "name"), body={"type": "object", "properties": {"name": TEXT}}),
    Operation("api-room-copy", "POST", ROOMS, answer("id"), 201, body=FORK),
    Operation(
        "api-room-links", "POST", ROOMS, answer("url", "qr"), 201,
        body={"type": "object", "required": ["for"], "properties": {"for": {"enum": list(rooms.LINKS)}}},
    ),
    Operation(
        "api-room-press", "POST", ROOMS, answer("presses"), 202,
        body={"type": "object", "required": ["press"], "properties": {"press": {"enum": list(rooms.PRESSES)}}},
    ),
    Operation("api-room-take", "POST", ROOMS, answer("path")),
    Operation("api-room-question", "POST", ROOMS, ASKED_ROOM, 201, body=ROOM_QUESTION),
    Operation(
        "api-room-question", "PATCH", ROOMS, ASKED_ROOM,
        body={
            "type": "object", "required": ["number"],
            "properties": {"number": WHOLE, "stage": {"enum": list(selectors.STAGES)}, "bars_shown": {"type": "boolean"}},
        },
    ),
    Operation("api-room-question", "DELETE", ROOMS, ASKED_ROOM),
    Operation("api-room-task", "GET", ROOMS, answer("checks", "lanes")),
    Operation("api-room-task", "POST", ROOMS, TASK_ROOM, 201, body=ROOM_TASK),
    Operation("api-room-task", "DELETE", ROOMS, TASK_ROOM, query={"recall": {"enum": ["1"]}}),
    Operation(
        "api-room-task-copy", "POST", ROOMS, answer("id"), 201,
        body={"type": "object", "required": ["number"], "properties": {"number": WHOLE}},
    ),
    Operation(
        "api-room-answer", "POST", ROOMS, answer("number", "chosen", "marks"),
        body={
            "type": "object", "required": ["number"],
            "properties": {
                "number": WHOLE, "chosen": WHOLE,
                "marks": {"type": "array", "items": TEXT, "maxItems": answers.MARKS_MAX},
            },
        },
    ),
    Operation("api-lab-log", "GET", LOGS, FREE, query={**LOG, **MOMENT}),
    Operation("api-lab-log-clean", "GET", LOGS, answer("log"), query={**LOG, **MOMENT}),
    Operation("api-lab-log-question", "GET", LOGS, FREE, query={**ASKED, **MOMENT}),
    Operation("api-logs", "GET", LOGS, answer("folders", "limits")),
    Operation(
        "api-logs", "POST", LOGS, answer("log", "url"), 201,
        form={"type": "object", "properties": {"file": {"type": "array", "items": FILE}, "folder": TEXT}},
    ),
    Operation("api-log", "GET", LOGS, FREE, query=LOG),
    Operation("api-log-clean", "GET", LOGS, answer("log"), query=LOG),
    Operation("api-log-question", "GET", LOGS, FREE, query=ASKED),
    Operation("api-studies", "GET", STUDIES, answer("studies")),
    Operation("api-studies", "POST", STUDIES, STUDY, 201, body=STUDY_REQUEST),
    Operation("api-study-uploads", "GET", STUDIES, answer("uploads", "limits")),
    Operation(
        "api-study-uploads", "POST", STUDIES, answer("upload", "name", "bytes", "kind", "preview"), 201,
        form={"type": "object", "required": ["file"], "properties": {"file": FILE}},
    ),
    Operation("api-study-folders", "GET", STUDIES, answer("entries"), query={"name": TEXT}),
    Operation(
        "api-study-preview", "POST", STUDIES, answer("columns", "key", "time", "rows"),
        body={"type": "object", "required": ["source"], "properties": {"source": SOURCE}},
    ),
    Operation("api-study-strategies", "GET", STUDIES, answer("strategies", "default")),
    Operation(
        "api-study-history", "POST", STUDIES, answer("history", "steps", "thinned"),
        body={"type": "object", "properties": {"history": FREE, "service": FREE}},
    ),
    Operation("api-study", "GET", STUDIES, STUDY),
    Operation("api-study", "DELETE", STUDIES, {}, 204),
    Operation("api-study-cancel", "POST", STUDIES, STUDY),
    Operation("api-study-result", "GET", STUDIES, FREE),
    Operation("api-study-ranking", "GET", STUDIES, answer("weights", "ranking", "verdict", "feasibility"), query=WEIGHTS),
    Operation("api-study-windows", "GET", STUDIES, answer("version", "rows"), query={"after": WHOLE}),
    Operation("api-study-data", "GET", STUDIES, {}, media="application/octet-stream"),
    Operation(
        "api-study-open", "POST", STUDIES, answer("id", "left_out"), 201,
        body={"type": "object", "properties": {"strategies": {"type": "array", "items": TEXT}}},
    ),
    Operation("api-places", "GET", LABS, answer("pages", "labs", "lessons")),
    Operation("api-document", "GET", LABS, answer("openapi", "paths")),
)  # fmt: skip
