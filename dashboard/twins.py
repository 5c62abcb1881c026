"""The pictures as tables: what a screen reader reads, and what key T shows in their place. static/js/twins.js answers the same."""

from collections.abc import Mapping
from typing import Any

from dashboard.formats import NONE, fill, number, percent

Json = dict[str, Any]
TWIN_ROWS_MAX = 60


def twin(rig: Json, words: Mapping[str, str]) -> Json:
    """`{head: [words], rows: [[words]], more: text}` of the rig's picture."""
    head, rows = _TABLES[rig["picture"]["kind"]](rig["picture"], rig, words)
    hidden = len(rows) - TWIN_ROWS_MAX
    return {
        "head": [words.get(code, code) for code in head],
        "rows": rows[:TWIN_ROWS_MAX],
        "more": fill(words["picture.more"], {"count": hidden}, words) if hidden > 0 else "",
    }


def _dash(value: int | str | None) -> str:
    if value is None:
        return NONE
    return number(value) if isinstance(value, int) else value


def _hashes(picture: Json, rig: Json, words: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    now, before = _measure(picture, picture["now"]), _measure(picture, picture["before"])
    rows = [
        [
            name,
            percent(now[0].get(place, 0) / picture["space"], 1),
            percent(before[0].get(place, 0) / picture["space"], 1) if picture["before"] else NONE,
            number(now[1].get(place, 0)),
            _dash(picture["permits"].get(name)),
        ]
        for place, name in enumerate(picture["names"])
    ]
    return ["twin.consumer", "twin.share", "twin.before", "twin.slices", "twin.permits"], rows


def _measure(picture: Json, cut: Json | None) -> tuple[dict[int, int], dict[int, int]]:
    """Slots and slices of each owner. On a ring the slots above the last bound belong to the first slice's owner."""
    slots: dict[int, int] = {}
    slices: dict[int, int] = {}
    if cut is None or not cut["bounds"]:
        return slots, slices
    last = -1
    for bound, owner in zip(cut["bounds"], cut["owners"], strict=True):
        slots[owner] = slots.get(owner, 0) + bound - last
        slices[owner] = slices.get(owner, 0) + 1
        last = bound
    if picture["kind"] == "ring":
        first = cut["owners"][0]
        slots[first] += picture["space"] - 1 - last
    return slots, slices


def _owner(partition: Json, words: Mapping[str, str]) -> str:
    """Whose the partition is, and whether it is paused, as the picture hatches it."""
    owner = _dash(partition["owner"])
    return fill(words["twin.paused"], {"owner": owner}, words) if partition["stopped"] else owner


def _grid(picture: Json, rig: Json, words: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """The two lags by their names: a client's records-lag is end - position, kafka-consumer-groups reports end - committed."""
    rows = [
        [
            key, _owner(p, words), number(p["end"]), number(p["position"]), number(p["end"] - p["position"]), number(p["committed"]),
            number(p["end"] - p["committed"]), _dash(p["before"]),
        ]
        for key, p in picture["partitions"].items()
    ]  # fmt: skip
    head = ["partition", "owner", "end", "position", "records_lag", "committed", "committed_lag", "before"]
    return [f"twin.{name}" for name in head], rows


def _clients(picture: Json, rig: Json, words: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [key, _owner(p, words), _dash(p["assigned"]), _dash(p["before"]), number(p["lag"])]
        for key, p in picture["partitions"].items()
    ]  # fmt: skip
    return ["twin.partition", "twin.owner", "twin.assigned", "twin.before", "twin.lag"], rows


def _queue(picture: Json, rig: Json, words: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    rows = []
    for name, records in picture["in_flight"].items():
        consumer = rig["consumers"].get(name)
        count = consumer["unacked"] if consumer else len(records)
        shown = ", ".join(f"#{number(item['record'])}" for item in records[:2])
        rows.append([name, number(count), shown + (" …" if count > 2 else "")])
    return ["twin.consumer", "twin.in_flight", "twin.records"], rows


_TABLES = {"ring": _hashes, "ranges": _hashes, "grid": _grid, "clients": _clients, "queue": _queue}
