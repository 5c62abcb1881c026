"""TubeMQ's recorded answers against our rules: modulo assignment, metadata, the assigner's pass. All cases
are exact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.result import CaseResult, case, compare
from broker_core.hashing.java_hash import string_hash, string_hash_unsigned
from broker_core.tubemq.assignment import (
    SUCCESS,
    Call,
    Connect,
    Disconnect,
    assigner_pass,
    is_owned,
    node_of,
    owned_by,
)
from broker_core.tubemq.metadata import PartitionMetadata

Json = dict[str, Any]


def run_mod_assign(document: Json) -> Iterator[CaseResult]:
    """`cases`: who owns what; `scale_changes`: what moves with the count; `single_checks`: one key and one
    node."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_assignment, row))
    for row in document.get("scale_changes", []):
        yield case(row["id"], partial(_scale_change, row))
    for index, row in enumerate(document.get("single_checks", [])):
        yield case(_single_id(index, row), partial(_single_check, index, row))


def run_meta_expand(document: Json) -> Iterator[CaseResult]:
    """A first list of topics, then a second one that may be ignored."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_metadata, row))


def run_set_difference(document: Json) -> Iterator[CaseResult]:
    """One pass of the assigner: what is assigned, the calls in order, what is registered afterwards."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_pass, row))


def _assignment(row: Json) -> CaseResult:
    keys, count = row["partitions"], row["source_count"]
    owned = {str(node): owned_by(keys, count, node) for node in range(count)}
    got: Json = {
        "java_string_hash": {key: string_hash(key) for key in keys},
        # Nodes without a partition may be listed or absent in a file; they say the same.
        "owned_by_node": {node: mine for node, mine in owned.items() if mine},
        "max_per_node": max(len(mine) for mine in owned.values()),
        "min_per_node": min(len(mine) for mine in owned.values()),
    }
    expected = {name: row[name] for name in got}
    expected["owned_by_node"] = {node: mine for node, mine in row["owned_by_node"].items() if mine}
    return compare(row["id"], expected, got)


def _scale_change(row: Json) -> CaseResult:
    before, after = row["from_source_count"], row["to_source_count"]
    moves = [(key, node_of(key, before), node_of(key, after)) for key in row["partitions"]]
    moved = [f"{key} {old}->{new}" for key, old, new in moves if old != new]
    got = {"moved": moved, "moved_count": len(moved), "total": len(moves)}
    return compare(row["id"], {name: row[name] for name in got}, got)


def _single_id(index: int, row: Json) -> str:
    return f"single-{index} {row['partition']} count {row['source_count']} node {row['node_id']}"


def _single_check(index: int, row: Json) -> CaseResult:
    key = row["partition"]
    got = {
        "hash_int32": string_hash(key),
        "hash_uint32": string_hash_unsigned(key),
        "mine": is_owned(key, row["source_count"], row["node_id"]),
    }
    return compare(_single_id(index, row), {name: row[name] for name in got}, got)


def _metadata(row: Json) -> CaseResult:
    broker_ids = [int(broker.split(":")[0]) for broker in row["brokers"]]
    first = PartitionMetadata().updated(row["meta_id"], row["topic_meta"], broker_ids)
    second = first.updated(row["second_meta_id"], row["second_topic_meta"], broker_ids)
    got = {"status": first.status, "status_after_second": second.status}
    return compare(row["id"], {name: row[name] for name in got}, got)


def _pass(row: Json) -> CaseResult:
    registered = set(row["registered_before"])
    assigned: list[str] = []
    calls: list[list[object]] = []
    # A metadata query that failed ends the pass before it begins.
    if row["meta_query_error"] is None:
        assigned = owned_by(row["partition_subscribable"], row["source_count"], row["node_id"])
        steps = assigner_pass(
            row["partition_subscribable"],
            row["registered_before"],
            source_count=row["source_count"],
            node_id=row["node_id"],
            saved_offsets=row["stored_offsets"],
            call=partial(_scripted_code, row),
        )
        for call, code in steps:
            match call:
                case Disconnect(key):
                    calls.append(["disconnect", key, code])
                    if code == SUCCESS:
                        registered.remove(key)
                case Connect(key, bootstrap_offset):
                    calls.append(["connect", key, bootstrap_offset, code])
                    if code == SUCCESS:
                        registered.add(key)
    got = {"assigned": assigned, "calls": calls, "registered_after": sorted(registered)}
    expected = {
        "assigned": row["assigned"] or [],
        "calls": row["calls"],
        "registered_after": row["registered_after"],
    }
    return compare(row["id"], expected, got)


def _scripted_code(row: Json, call: Call) -> int:
    errors = row["disconnect_error"] if isinstance(call, Disconnect) else row["connect_error"]
    return int(errors.get(call.key, SUCCESS))
