"""The study that a command line asks for, and a field of it as it was typed."""

from __future__ import annotations

import contextlib
import json
import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from broker_core.errors import CommandError as Refused
from broker_core.pipeline.sources.encodings import ENCODINGS
from broker_core.pipeline.sources.files import ENDINGS
from broker_core.pipeline.sources.json_layout import LAYOUTS
from broker_core.pipeline.sources.kinds import ensure_none_refused, sniff
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.spec import SETTINGS
from broker_core.pipeline.sources.times import FORMATS
from broker_core.pipeline.strategies import strategies_default
from broker_core.real_files import files_below

# The log first: a broker keeps small text files beside its partitions.
KINDS = {"kafka_log": (".log",), **ENDINGS}
COLUMN_OPTIONS = ("key", "time", "size", "payload", "time_format")
# What each kind of source accepts, and what it is called where it does not.
OPTIONS = {
    **{kind: (*COLUMN_OPTIONS, *settings) for kind, settings in SETTINGS.items()},
    "flights": ("key",),
    "kafka_log": (),
}
ALL_OPTIONS = tuple(dict.fromkeys(name for names in OPTIONS.values() for name in names))
SOURCES = {
    "jsonl": "JSON lines",
    "parquet": "a Parquet file",
    "flights": "the flights",
    "kafka_log": "a Kafka log",
}
COLUMNS_NAMED = 12
_TYPED = {"nulls": "--null", "header": "--no-header"}
"""Fields of a source that have another name on the command line."""
UNKNOWN_KIND = "say what {path} is: --kind"
_ANSWERS = {"true": True, "false": False}
# What a word of --members does, by its look: +  +c5  -c2  c3x  c2~5  c2@10s  c2@10s+
CHANGE = re.compile(
    r"(?P<join>\+)(?P<joiner>[\w.-]*)|[-−](?P<leaver>[\w.][\w.-]*)|(?P<crashed>[\w.][\w.-]*)[x×]"
    r"|(?P<slowed>[\w.][\w.-]*)~(?P<rate>\d{1,6})"
    r"|(?P<restarted>[\w.][\w.-]*)@(?P<down>\d{1,5})s(?P<new>\+?)"
)
ALL = "all"
# What is said of all: "deploy 10s" is all@10s.
_DEPLOY = re.compile(r"\bdeploy\s+(?=\d{1,5}s)")
_ROLLING = re.compile(r"rolling\s+(\d+)(?:\s+(\d{1,5})s(\+?))?")


def add_file_settings(parser: ArgumentParser) -> None:
    """How a file is written, where its first rows do not tell, or tell something else."""
    parser.add_argument(
        "--delimiter", metavar="CHARACTER", help="between the columns of a CSV; tab or \\t is a tab"
    )
    parser.add_argument(
        "--no-header", dest="header", action="store_false", default=None,
        help="the first row is a record; columns are 1, 2, ...",
    )  # fmt: skip
    parser.add_argument("--header", action="store_true", default=None, help="the first row names the columns")
    parser.add_argument("--skip", type=int, metavar="N", help="lines before the header or the first row")
    parser.add_argument("--comment", metavar="CHARACTER", help="a line that begins with it is no row")
    parser.add_argument(
        "--escape",
        metavar="CHARACTER",
        help="before a quote inside quotes, as Spark, Hive and MySQL write it",
    )
    parser.add_argument(
        "--null", dest="nulls", nargs="*", metavar="WORD",
        help="words that stand for no value (default: NULL \\N NA; none given: every word is data)",
    )  # fmt: skip
    parser.add_argument(
        "--encoding", choices=ENCODINGS, help="of the text; bytes: keys are hashed as they are in the file"
    )
    parser.add_argument(
        "--layout", choices=LAYOUTS, help="of JSON: one object a line, or objects in any form"
    )
    parser.add_argument(
        "--key-separator", metavar="CHARACTER",
        help="each line is a key, this, and a value: what kcat -K and kafka-console-consumer print",
    )  # fmt: skip
    parser.add_argument(
        "--time-format", metavar="FORMAT",
        help=f"{', '.join(FORMATS)}, or a pattern as %%d.%%m.%%Y %%H:%%M; times that tell themselves need none",
    )  # fmt: skip


def typed(field: str, options: dict[str, Any]) -> str:
    """A field of the request as it was typed: source.key is --key, strategies.1 the second ID of
    --strategies."""
    part, _, rest = field.partition(".")
    match part:
        case "source" | "service" if rest:
            return "FILE" if rest == "path" else _TYPED.get(rest, f"--{rest.replace('_', '-')}")
        case "source":
            return "FILE"
        case "strategies" if rest.isdecimal() and options["strategies"]:
            return f"--strategies {options['strategies'][int(rest)]}"
        case "strategies" | "weights" | "constraints" | "name":
            return f"--{part} {rest}".rstrip()
        case "history":
            return "--members"
    return field


def request_of(options: dict[str, Any]) -> dict[str, Any]:
    """The study that the command line asks for; what is left out takes the pipeline's defaults."""
    service = {"rate": options["rate"], "consumer_rate": options["consumer_rate"]}
    wanted = {
        "name": options["name"],
        "source": source_of(options),
        "strategies": options["strategies"] or [s.id for s in strategies_default()],
        "history": history_of(options["members"]),
        "service": {name: value for name, value in service.items() if value is not None},
        "weights": _weights(options["weights"]),
        "constraints": _constraints(options["constraints"]),
    }
    return {name: value for name, value in wanted.items() if value is not None}


def source_of(options: dict[str, Any]) -> dict[str, Any]:
    path = Path(options["file"])
    is_flights = options["file"] == "flights" and not path.exists()
    kind = "flights" if is_flights else options["kind"] or kind_of(path)
    given = {name: options[name] for name in ALL_OPTIONS if options.get(name) is not None}
    if is_flights and options["kind"]:
        given["kind"] = options["kind"]
    for name in given:
        if name not in OPTIONS[kind]:
            raise Refused(f"source.{name}", "does not apply to {source}", source=SOURCES[kind])
    match kind:
        case "flights":
            return {"kind": kind, "key": "tail_number"} | given
        case "kafka_log":
            return {"kind": kind, "path": str(path)}
    source = {"kind": kind, "path": str(path)} | given
    if not options["key"]:
        shown = source_preview(source)
        if not shown.get("read_as", {}).get("key_separator"):
            raise _key_missing(shown)
    return source


def _key_missing(shown: dict[str, Any]) -> Refused:
    """Which column the key could be, by how its first values repeat. shown: the preview."""
    use = next(
        (
            column["use"]["params"]
            for column in shown["columns"]
            if column["name"] == shown["key"] and "use" in column
        ),
        None,
    )
    if use is None:
        names = ", ".join(column["name"] for column in shown["columns"][:COLUMNS_NAMED])
        return Refused(
            "--key",
            "name the column with the key; in the first rows of none do values repeat: {columns}",
            columns=names,
        )
    values = {"column": shown["key"], "values": use["values"], "rows": use["rows"]}
    return Refused(
        "--key",
        "name the column with the key; {column} fits: {values} different values in the first {rows} rows",
        **values,
    )


def kind_of(path: Path) -> str:
    """What a file is by its bytes, or a folder by the names in it."""
    if path.is_file() and path.stat().st_size:
        if found := sniff(path, path.name):
            return found.kind
        ensure_none_refused([path], is_alone=True)
    names = [file.name.lower() for file in path.rglob("*")] if path.is_dir() else [path.name.lower()]
    kind = next(
        (kind for kind, endings in KINDS.items() if any(name.endswith(endings) for name in names)), None
    )
    if kind is None:
        if not path.exists():
            raise Refused("FILE", "{path} does not exist", path=path)
        if path.is_dir():
            ensure_none_refused(files_below(path.resolve()), is_alone=False)
        raise Refused("FILE", UNKNOWN_KIND, path=path)
    return kind


def history_of(text: str) -> Any:
    text = text.strip()
    if text.startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            raise Refused("--members", "is not JSON") from None
    if scale := re.fullmatch(r"(\d+)\s*\.\.\s*(\d+)", text):
        return {"kind": "autoscale", "from": int(scale[1]), "to": int(scale[2])}
    if rolling := _ROLLING.fullmatch(text):
        restart = _restart(rolling[2], rolling[3]) if rolling[2] else {}
        return {"kind": "rolling_restart", "consumers": int(rolling[1]), **restart}
    if storm := re.fullmatch(r"storm\s+(\d+)\s+(\d+)", text):
        return {"kind": "crash_storm", "consumers": int(storm[1]), "crashes": int(storm[2])}
    start, *words = _DEPLOY.sub(f"{ALL}@", text).split() or [""]
    if not start.isdecimal():
        raise Refused(
            "--members",
            "must be like {example}",
            example='"4 + + -c2", "4 deploy 10s", "2..64", "rolling 8" or "storm 16 8"',
        )
    return {"kind": "given", "start": int(start), "changes": _changes(words)}


def _changes(words: list[str]) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = []
    down: set[str] = set()
    for word in words:
        match = CHANGE.fullmatch(word)
        if match is None:
            raise Refused(
                "--members",
                "{word} is not a change: + or +name joins, -name leaves, namex crashes, name~N slows, "
                "name@10s restarts (name@10s+ under a new name), deploy 10s restarts all",
                word=word,
            )
        if match["slowed"]:
            changes.append({"kind": "slow", "consumer": match["slowed"], "rate": int(match["rate"])})
            continue
        if match["restarted"]:
            named = None if match["restarted"] == ALL else match["restarted"]
            changes.append(
                {"kind": "restart", "consumer": named, **_restart(match["down"], match["new"] or "")}
            )
            continue
        name = match["joiner"] or match["leaver"] or match["crashed"]
        if match["join"]:
            kind = "rejoin" if name in down else "join"
        else:
            kind = "leave" if match["leaver"] else "crash"
        down = down | {name} if kind == "crash" else down - {name}
        changes.append({"kind": kind, "consumer": name or None})
    return changes


def _restart(down: str, new: str) -> dict[str, Any]:
    return {"down_s": int(down), "names": "new" if new else "own"}


def _weights(text: str | None) -> dict[str, Any] | None:
    return (
        None
        if text is None
        else {
            name: int(value) if value.isdecimal() else value
            for name, value in _pairs("weights", text).items()
        }
    )


def _constraints(text: str | None) -> dict[str, Any] | None:
    return (
        None
        if text is None
        else {name: _constraint(value) for name, value in _pairs("constraints", text).items()}
    )


def _constraint(value: str) -> Any:
    """As the request has it; what is neither an answer nor a number stays a text, which the check refuses."""
    with contextlib.suppress(ValueError):
        return _ANSWERS[value] if value in _ANSWERS else float(value)
    return value


def _pairs(option: str, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in pairs:
            raise Refused(f"{option}.{name}", "is given twice")
        pairs[name] = value
    return pairs
