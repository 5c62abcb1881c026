"""Pulsar's recorded answers against our rules: the hash, auto-split ranges, three hash rings, sticky ranges.
All cases are exact.

A case is a sequence of consumers that come and go; each step is checked whole (map or digest, selection,
reported and impacted ranges, refusals). A check is (what, expected, got); the first that differs is what a
failed case shows. Fields that a file leaves out are not checked; a field that is there always is.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any

from broker_core.conformance.result import CaseResult, case, passed
from broker_core.hashing.hash_range import taken_ranges
from broker_core.hashing.murmur3 import MASK_31, murmur3_31, murmur3_32
from broker_core.pulsar.selectors.auto_split import AutoSplitSelector
from broker_core.pulsar.selectors.consistent_hash import RING_3_2_0, RING_3_2_1, RING_CURRENT, RingSelector
from broker_core.pulsar.selectors.protocol import AssignRefused, Range, Selector
from broker_core.pulsar.selectors.sticky_ranges import (
    StickyCurrentSelector,
    StickySelector,
    check_client_ranges,
)

Json = dict[str, Any]
Check = tuple[str, object, object]

RINGS = {"3.2.0": RING_3_2_0, "3.2.1": RING_3_2_1, "current": RING_CURRENT}
STICKY: dict[str, type[StickySelector] | type[StickyCurrentSelector]] = {
    "3.2": StickySelector,
    "current": StickyCurrentSelector,
}
CLIENT_RESULTS = {
    "empty_ranges": "empty",
    "out_of_bounds": "out_of_bounds",
    "own_ranges_overlap": "overlap",
    "start_gt_end": "end_lt_start",
}
"""Our word for a refusal -> the file's."""


def run_murmur(document: Json) -> Iterator[CaseResult]:
    """One case per string and per byte string: the hash, whole and masked, and the slots that follow from
    it."""
    for index, row in enumerate(document.get("strings", [])):
        yield checked(f"strings[{index}]", partial(_murmur, row, row["s"]))
    for index, row in enumerate(document.get("bytes", [])):
        yield checked(f"bytes[{index}]", partial(_murmur, row, b64decode(row["bytes_b64"])))


def run_auto_split(document: Json) -> Iterator[CaseResult]:
    """One case per sequence of joins and leaves."""
    for row in document.get("cases", []):
        yield checked(row["id"], partial(_auto_split, row))


def run_consistent_hash(document: Json) -> Iterator[CaseResult]:
    """One case per sequence, in every version that its steps expect something of."""
    for row in document.get("cases", []):
        yield checked(row["id"], partial(_consistent_hash, row))


def run_sticky_ranges(document: Json) -> Iterator[CaseResult]:
    """One case per sequence, in both versions, and one per list of ranges that the client validates."""
    for row in document.get("cases", []):
        yield checked(row["id"], partial(_sticky_ranges, row))
    for index, row in enumerate(document.get("client_validate", [])):
        yield checked(f"client_validate[{index}]", partial(_client_validate, row))


def checked(case_id: str, checks: Callable[[], Iterable[Check]]) -> CaseResult:
    def run() -> CaseResult:
        for what, expected, got in checks():
            if expected != got:
                return CaseResult(case_id, "failed", {what: expected}, {what: got})
        return passed(case_id)

    return case(case_id, run)


def _present(row: Json, prefix: str, answers: Mapping[str, Callable[[], object]]) -> Iterator[Check]:
    """A check for each answer that the file records."""
    for name, answer in answers.items():
        if name in row:
            yield prefix + name, row[name], answer()


# -- murmur --------------------------------------------------------------------------------------------------


def _murmur(row: Json, key: str | bytes) -> Iterator[Check]:
    hash32 = murmur3_32(key)
    yield from _present(
        row,
        "",
        {
            "unsigned": lambda: hash32,
            "masked": lambda: murmur3_31(key),
            "slot_3_2": lambda: StickySelector().slot(hash32),
            "slot_current": lambda: StickyCurrentSelector().slot(hash32),
            "ring_current": lambda: RING_CURRENT.slot(hash32),
        },
    )


# -- auto-split ----------------------------------------------------------------------------------------------


def _auto_split(row: Json) -> Iterator[Check]:
    selector = AutoSplitSelector(row["range_size"])
    hashes = [murmur3_32(key) for key in row["keys"]]
    slots = [selector.slot(hash32) for hash32 in hashes]
    # Current reserves slot 0 for "no hash"; its selector is the same otherwise, and must choose the same.
    slots_current = [slot or 1 for slot in slots]
    answers: Json = {
        "murmur31": [hash32 & MASK_31 for hash32 in hashes],
        "slot_3.2": slots,
        "slot_current": slots_current,
    }
    yield from ((name, row[name], answer) for name, answer in answers.items() if name in row)
    for index, step in enumerate(row["steps"]):
        at = f"step {index}: "
        before = selector.ranges()
        refusal = _apply(selector, step)
        yield at + "error", step.get("error"), None if refusal is None else "ConsumerAssignException"
        yield from _present(
            step,
            at,
            {
                "message": lambda refusal=refusal: None if refusal is None else refusal.message,  # type: ignore[misc]
                "map": lambda: [
                    list(pair) for pair in zip(selector.uppers, _ids(selector.owners), strict=True)
                ],
                "map_sha256": lambda: _digest(
                    ";".join(
                        f"{upper}:{owner}"
                        for upper, owner in zip(selector.uppers, selector.owners, strict=True)
                    )
                ),
                "reported_ranges": lambda: _plain(selector.ranges()),
                "impacted_current": lambda before=before: _impacted(before, selector.ranges()),  # type: ignore[misc]
                "selected": lambda: _ids(selector.select(hash32) for hash32 in hashes),
            },
        )
        if "selected" in step:
            yield (
                at + "selected (current)",
                step["selected"],
                _ids(selector.owner_at(slot) for slot in slots_current),
            )


# -- hash rings ----------------------------------------------------------------------------------------------


def _consistent_hash(row: Json) -> Iterator[Check]:
    hashes = [murmur3_32(key) for key in row["keys"]]
    for version, rule in (("3.2", RING_3_2_1), ("current", RING_CURRENT)):
        if version in row.get("key_hash", {}):
            yield f"key_hash {version}", row["key_hash"][version], [rule.slot(hash32) for hash32 in hashes]
    versions = dict.fromkeys(version for step in row["steps"] for version in step["expect"])
    for version in versions:
        selector = RingSelector(RINGS[version], row["points"])
        for index, step in enumerate(row["steps"]):
            before = selector.ranges() if "impacted" in step["expect"].get(version, {}) else {}
            _apply(selector, step, row["names"])
            yield from _ring_step(
                selector, hashes, before, step["expect"].get(version, {}), f"step {index} {version}: "
            )


def _ring_step(
    selector: RingSelector, hashes: list[int], before: Mapping[str, list[Range]], expect: Json, at: str
) -> Iterator[Check]:
    ring = selector.ring
    points = ring.points

    def shown(points: list[int]) -> list[list[object]]:
        return [[point, _ids(ring.holders(point))] for point in points]

    yield from _present(
        expect,
        at,
        {
            "size": lambda: len(points),
            "collisions": lambda: len(ring.shared),
            "sha256": lambda: _digest(
                ";".join(f"{point}:{','.join(ring.holders(point))}" for point in points)
            ),
            "ring": lambda: shown(points),
            "first": lambda: shown(points[:4]),
            "last": lambda: shown(points[-4:]),
            "selected": lambda: _ids(selector.select(hash32) for hash32 in hashes),
            "reported_ranges": lambda: _plain(selector.ranges()),
            "impacted": lambda: _impacted(before, selector.ranges()),
        },
    )


# -- sticky --------------------------------------------------------------------------------------------------


def _sticky_ranges(row: Json) -> Iterator[Check]:
    hashes = [murmur3_32(key) for key in row["keys"]]
    versions = dict.fromkeys(version for step in row["steps"] for version in step["expect"])
    for version in versions:
        selector = STICKY[version](row["range_size"])
        if version in row.get("key_slot", {}):
            yield (
                f"key_slot {version}",
                row["key_slot"][version],
                [selector.slot(hash32) for hash32 in hashes],
            )
        for index, step in enumerate(row["steps"]):
            refusal = _apply(selector, step)
            expect, at = step["expect"].get(version, {}), f"step {index} {version}: "
            if expect:
                named = None if refusal is None or refusal.conflict is None else int(refusal.conflict)
                yield at + "ok", expect.get("ok", False), refusal is None
                yield at + "error", expect.get("error"), None if refusal is None else refusal.kind
                yield at + "with", expect.get("with"), named
            yield from _present(
                expect,
                at,
                {
                    "assigned": partial(_assigned, selector),
                    "selected_keys": partial(_selected, selector, hashes),
                    "selected_slots": partial(_selected_slots, selector, row["slots"]),
                },
            )


def _assigned(selector: Selector) -> object:
    return _plain(selector.ranges())


def _selected(selector: Selector, hashes: list[int]) -> object:
    return _ids(selector.select(hash32) for hash32 in hashes)


def _selected_slots(selector: StickySelector | StickyCurrentSelector, slots: list[int]) -> object:
    return _ids(selector.owner_at(slot) for slot in slots)


def _client_validate(row: Json) -> Iterator[Check]:
    result: str = "ok"
    message: str | None = None
    try:
        check_client_ranges([(start, end) for start, end in row["ranges"]])
    except AssignRefused as refusal:
        result, message = CLIENT_RESULTS[refusal.kind], refusal.message
    yield "result", row["result"], result
    if "message" in row:
        yield "message", row["message"], message


# -- what they share -----------------------------------------------------------------------------------------


def _apply(selector: Selector, step: Json, names: Mapping[str, str] | None = None) -> AssignRefused | None:
    """One join or leave. Consumers are whole numbers in the files, text here."""
    consumer = str(step["c"])
    match step["op"]:
        case "add":
            ranges = step.get("ranges")
            asked = None if ranges is None else [(start, end) for start, end in ranges]
            try:
                selector.add(consumer, None if names is None else names[consumer], asked)
            except AssignRefused as refusal:
                return refusal
        case "remove":
            selector.remove(consumer)
        case other:
            raise ValueError(f"unknown operation {other!r}")
    return None


def _ids(owners: Iterable[str | None]) -> list[int | None]:
    return [None if owner is None else int(owner) for owner in owners]


def _plain(ranges: Mapping[str, Iterable[Range]]) -> dict[str, list[list[int]]]:
    return {owner: [list(pair) for pair in pairs] for owner, pairs in ranges.items()}


def _impacted(before: Mapping[str, list[Range]], after: Mapping[str, list[Range]]) -> Json:
    return {"removed": _plain(taken_ranges(before, after)), "added": _plain(taken_ranges(after, before))}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
