"""The log page's first frame: its two lines of words, the table of segments and the fields of the settings.

Pure: a folder (plain JSON) and the words of one language in, plain dicts out. static/js/log/ writes the same
for what comes after; tests/dashboard/test_log_page.py runs both on the same folder. Pictures are the
browser's.
"""

from collections.abc import Mapping
from typing import Any

from dashboard.formats import NARROW, NONE, fill, half_up, number

Json = dict[str, Any]
Words = Mapping[str, str]

UNITS = ("B", "kB", "MB", "GB", "TB")
COLUMNS = ("base_offset", "bytes", "records", "index_entries")
GONE = ("crashed", "stopped", "disk_lost", "paused")
BEHIND_MOST = 100  # records that a lab's log may lack before the page says so
# name, in what unit, the words that explain it, the term of the glossary
SETTINGS = (
    ("index_interval_bytes", "log.unit_bytes", "log.index_interval_bytes", "index"),
    ("retention_bytes", "log.unit_bytes", "log.retention_bytes_about", "retention"),
    ("retention_ms", "log.unit_ms", "log.retention_ms_about", "retention"),
)


def size(count: int | None) -> str:
    """Bytes in decimal units with three digits.

    >>> [size(count).replace(NARROW, "_") for count in (999, 16_331, 1_073_741_513)]
    ['999_B', '16.3_kB', '1.07_GB']
    """
    if count is None:
        return NONE
    value, unit = float(count), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{count if unit == 0 else half_up(value, digits)}{NARROW}{UNITS[unit]}"


def log_context(folder: Json, words: Words) -> Json:
    """What the template writes of a folder: `title`, `sub`, `behind`, `replica`, `table` {head, rows},
    `settings` (one dict a field), `selects`."""
    return {
        "title": folder["folder"],
        "sub": _sub(folder, words),
        "behind": _behind(folder, words),
        "replica": replica_words(folder, words),
        "selects": _selects(folder, words),
        "table": _table(folder, words),
        "settings": [
            {
                "name": name,
                "title": name.replace("_", "."),
                "value": folder["settings"][name],
                "unit": unit,
                "about": about,
                "term": term,
            }
            for name, unit, about, term in SETTINGS
            if name in _chosen_here(folder)
        ],
    }


def _chosen_here(folder: Json) -> set[str]:
    """The settings that the page may change: those that act on the log, and are not its topic's own."""
    acting = set(folder.get("settings_shown", folder["settings"])) & folder["settings"].keys()
    return acting - set(folder.get("settings_fixed", ()))


def _selects(folder: Json, words: Words) -> list[Json]:
    """Which log: the broker, its topic, its partition; as static/js/log/replica.js writes them."""
    lists = choices(folder, words)
    chosen = {
        "broker": str(folder.get("broker") or ""),
        "topic": folder["topic"],
        "partition": str(folder["partition"]),
    }
    return [
        {
            "name": name,
            "word": f"log.{'of' if name == 'broker' else name}",
            "options": lists[name],
            "chosen": chosen[name],
        }
        for name in lists
    ]


def choices(folder: Json, words: Words) -> dict[str, list[tuple[str, str]]]:
    """The options of each select, (value, text)."""

    def broker(each: Json) -> str:
        code = f"log.broker.{each['condition']}" if each["condition"] in GONE else "log.broker"
        return fill(words[code], {"broker": each["id"]}, words)

    brokers = [(str(each["id"]), broker(each)) for each in folder.get("brokers") or ()]
    is_replica = folder.get("broker") is not None

    def partition(row: Json) -> str:
        about = {"partition": row["partition"], "end": number(row["end_offset"] or 0)}
        return (
            fill(words["log.partition_end"], about, words)
            if is_replica and row["end_offset"]
            else str(row["partition"])
        )

    return {
        "broker": brokers,
        "topic": [(topic, topic) for topic in folder.get("topics") or ()],
        "partition": [(str(row["partition"]), partition(row)) for row in folder.get("partitions") or ()],
    }


def replica_words(folder: Json, words: Words) -> str:
    """What the replica is, in sentences; "" of a log that is none."""
    replica = folder.get("replica")
    if replica is None:
        return ""
    about = {
        "broker": folder["broker"],
        "leader": replica["leader"],
        "hw": number(folder["high_watermark"]),
        "leo": number(folder["end_offset"]),
        "start": number(folder["start_offset"]),
    }
    if replica["condition"] == "disk_lost":
        return fill(words["log.replica.disk_lost"], about, words)
    behind = 0 if replica["leader_end"] is None else replica["leader_end"] - folder["end_offset"]
    parts = [(replica["condition"] if replica["role"] == "not_running" else replica["role"], about)]
    if replica["role"] == "follows" and behind:
        parts.append(("behind" if behind > 0 else "ahead", {"count": abs(behind)}))
    if replica["condition"] == "paused":
        parts.append(("paused", about))
    parts.append(("marks", about))
    if replica["gaps"]:
        parts.append(("gaps", {"count": replica["gaps"]}))
    return " ".join(fill(words[f"log.replica.{code}"], params, words) for code, params in parts).replace(
        "。 ", "。"
    )


def _behind(folder: Json, words: Words) -> str:
    if folder["behind"] <= BEHIND_MOST:
        return words["log.counting"] if folder.get("reading") else ""
    us = folder.get("behind_us") or 0
    if us < 1_000_000:
        return fill(words["log.behind"], {"count": folder["behind"]}, words)
    return fill(words["log.behind_time"], {"count": folder["behind"], "time": span(us, words)}, words)


def span(us: int, words: Words) -> str:
    """A span of virtual time in its two largest units, rounded down.

    >>> units = {"second": "s", "minute": "min", "log.hour": "h", "log.day": "d"}
    >>> [span(seconds * 1_000_000, units).replace(NARROW, "_") for seconds in (42, 750, 6_000, 7_200, 273_600)]
    ['42_s', '12_min', '1_h 40_min', '2_h', '3_d 4_h']
    """
    seconds = us // 1_000_000
    if seconds < 60:
        return f"{seconds}{NARROW}{words['second']}"
    minutes, hours = seconds // 60, seconds // 3600
    if hours < 1:
        parts = [(minutes, "minute")]
    elif hours < 48:
        parts = [(hours, "log.hour"), (minutes % 60, "minute")]
    else:
        parts = [(hours // 24, "log.day"), (hours % 24, "log.hour")]
    return " ".join(f"{value}{NARROW}{words[code]}" for value, code in parts if value)


def _sub(folder: Json, words: Words) -> str:
    deleted = sum(segment["state"] == "deleted" for segment in folder["segments"])
    if folder["end_offset"] == folder["start_offset"] and not folder["bytes"]:
        is_preparing = not folder["segments"] or folder["behind"] > BEHIND_MOST
        return words["log.sub_preparing" if is_preparing else "log.sub_empty"]
    return fill(
        words["log.sub_waiting" if deleted else "log.sub"],
        {
            "segments": len(folder["segments"]) - deleted, "deleted": deleted, "size": size(folder["bytes"]),
            "from": folder["start_offset"], "to": folder["end_offset"] - 1,
        },
        words,
    )  # fmt: skip


def _table(folder: Json, words: Words) -> Json:
    return {
        "head": [words[f"log.column.{code}"] for code in ("base", "size", "count", "entries", "state")],
        "rows": [
            [*(_figure(segment[name]) for name in COLUMNS), _state(segment, words)]
            for segment in folder["segments"]
        ],
    }


def _figure(value: int | None) -> str:
    return NONE if value is None else number(value)


def _state(segment: Json, words: Words) -> str:
    if segment["state"] == "deleted" and segment["deletes_in_ms"] is None:
        return words["log.state.gone"]  # in a broker's folder nobody has noted when
    if segment["state"] == "deleted":
        left_us = -(-segment["deletes_in_ms"] // 1000) * 1_000_000
        return fill(words["log.state.deleted"], {"left_us": left_us}, words)
    return words["log.state.active" if segment["active"] else f"log.state.{segment['state']}"]
