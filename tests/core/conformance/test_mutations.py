"""One expected value changed, per kind and per list of a kind: the command fails and names that case.

This is the proof that an adapter compares what it reads: a runner that looked away would pass the changed
file too.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from broker_core.conformance.__main__ import main, run_file
from broker_core.conformance.kinds import KINDS
from broker_core.conformance.report import shown_id

VECTORS = Path(__file__).parents[2] / "vectors"
ROWS_KEPT = 6
ROW_CHANGED = 3

Row = dict[str, Any]


def swap_owner(assignment: dict[str, list[str]]) -> None:
    """Take the first partition that anybody has away from its owner."""
    next(partitions for partitions in assignment.values() if partitions).pop(0)


def plus_one(*path: str | int) -> Callable[[Row], None]:
    """A change that adds 1 to the number at that path."""

    def change(row: Row) -> None:
        place: Any = row
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = (place[path[-1]] or 0) + 1

    return change


def other(*path: str | int) -> Callable[[Row], None]:
    """A change that puts another word, or the other truth value, at that path."""

    def change(row: Row) -> None:
        place: Any = row
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = not place[path[-1]] if isinstance(place[path[-1]], bool) else "something else"

    return change


def one_more_ready(row: Row) -> None:
    counts = next(counts for vhost in row["final"].values() for counts in vhost["queues"].values())
    counts[0] += 1


def first_status(row: Row) -> None:
    key = next(iter(row["status"]))
    row["status"][key] = not row["status"][key]


CHANGES: list[tuple[str, str, str, Callable[[Row], None]]] = [
    ("pulsar", "murmur", "strings", plus_one("masked")),
    ("pulsar", "murmur", "bytes", plus_one("unsigned")),
    ("pulsar", "auto_split", "cases", plus_one("steps", 0, "selected", 0)),
    ("pulsar", "consistent_hash", "cases", plus_one("steps", 0, "expect", "3.2.0", "selected", 0)),
    ("pulsar", "sticky_ranges", "cases", plus_one("steps", 0, "expect", "3.2", "selected_keys", 0)),
    ("pulsar", "sticky_ranges", "client_validate", other("result")),
    ("pulsar", "failover", "cases", plus_one("steps", 0, "active", 0)),
    ("pulsar", "shared_dispatch", "cases", plus_one("steps", 0, "index_after")),
    ("pulsar", "key_shared_order_3_2", "cases", plus_one("steps", 0, "expect", "mark_delete")),
    ("kafka", "partitioner", "murmur2", plus_one("partitions", 0)),
    ("kafka", "partitioner", "groups", plus_one("partition_50")),
    ("kafka", "partitioner", "sticky", plus_one("picks", 0, 1)),
    ("kafka", "assignors", "scenarios", lambda row: swap_owner(row["results"]["range"]["assignment"])),
    ("kafka", "assignors_rack", "scenarios", lambda row: swap_owner(row["results"]["sticky"]["assignment"])),
    (
        "kafka",
        "assignor_sequences",
        "sequences",
        lambda row: swap_owner(row["steps"][0]["rounds"][0]["assignment"]),
    ),
    ("kafka", "consumer_protocol", "subscriptions", plus_one("decoded", "v2", "generation")),
    ("kafka", "consumer_protocol", "assignments", other("user_data")),
    ("kafka", "consumer_protocol", "sticky_user_data", plus_one("generation")),
    (
        "kafka",
        "consumer_protocol",
        "malformed_or_newer",
        lambda row: row["subscription_outcome"].update(user_data="00"),
    ),
    (
        "kafka/group",
        "group_coordinator",
        "cases",
        plus_one("steps", 2, "timers", 0, "completed", 0, "answer", "generationId"),
    ),
    (
        "kafka/group",
        "group_coordinator_old",
        "cases",
        plus_one("steps", 2, "timers", 0, "completed", 0, "answer", "generationId"),
    ),
    ("kafka/records", "batches", "batches_sets", plus_one("batches", 0, "records", 0, "offset")),
    ("kafka/records", "corrupt", "cases", plus_one("batches_seen")),
    ("kafka/records", "compaction_filter", "cases", plus_one("max_timestamp")),
    ("kafka/records", "varint_crc", "malformed", plus_one("read_varlong")),
    ("kafka/replication", "controller", "cases", plus_one("steps", 0, "after", "leader_epoch")),
    ("kafka/replication", "epoch_cache", "cases", plus_one("steps", 0, "entries", 0, 1)),
    ("kafka/replication", "fetcher", "cases", plus_one("steps", -1, "after", "2", "hw")),
    ("kafka/replication", "partition", "cases", plus_one("steps", 0, "after", "followers", 0, "leo")),
    ("kafka/replication", "producer_state", "cases", plus_one("steps", 0, "after", "producers", 0, "epoch")),
    ("kafka/replication", "unified_log", "cases", plus_one("steps", 0, "answer", "last_offset")),
    ("tubemq", "mod_assign", "cases", lambda row: swap_owner(row["owned_by_node"])),
    ("tubemq", "mod_assign", "scale_changes", plus_one("moved_count")),
    ("tubemq", "mod_assign", "single_checks", other("mine")),
    ("tubemq", "meta_expand", "cases", first_status),
    ("tubemq", "set_difference", "cases", plus_one("calls", 0, -1)),
    ("tubemq", "client_life", "cases", plus_one("steps", 1, "result", "code")),
    ("tubemq", "server_start_assign", "cases", plus_one("resource_check", "current_rate")),
    ("tubemq", "server_cycles", "cases", other("cycles", 0, "rule")),
    ("tubemq", "server_resource_rate", "cases", plus_one("steps", 0, "status")),
    ("tubemq", "master_register", "cases", plus_one("steps", 0, "result", "code")),
    ("rabbitmq", "sessions", "sessions", one_more_ready),
    ("rabbitmq", "topology", "scenarios", other("steps", 2, "recv", "A.1", 0, "m")),
    ("rabbitmq", "topic_routing", "multi", lambda row: row["messages"][0][1].append("another")),
    (
        "rabbitmq",
        "direct_fanout_headers",
        "cases",
        lambda row: row["messages"][0]["queues"].append("another"),
    ),
    ("rabbitmq", "erlang_hash", "phash2", plus_one("hash")),
    ("rabbitmq", "erlang_hash", "jump", plus_one("bucket")),
    ("rabbitmq", "frames", "sessions", other("frames", 1, "method")),
    ("tubemq", "broker_register", "cases", plus_one("steps", 0, "result", "curr_offset")),
]


def slice_of(folder: str, kind: str, section: str) -> dict[str, Any]:
    """A few rows of one list, the other lists empty: enough to be told by its content, and quick to run."""
    file_name = next(known.file_names[0] for known in KINDS if known.name == kind)
    document = json.loads(gzip.decompress((VECTORS / folder / f"{file_name}.json.gz").read_bytes()))
    for name, rows in document.items():
        if isinstance(rows, list) and rows and isinstance(rows[0], dict | list):
            document[name] = rows[:ROWS_KEPT] if name == section else []
    return document


@pytest.mark.parametrize(
    ("folder", "kind", "section", "change"),
    CHANGES,
    ids=[f"{kind}-{section}" for _, kind, section, _ in CHANGES],
)
def test_one_changed_value_fails_its_case(
    folder: str,
    kind: str,
    section: str,
    change: Callable[[Row], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = slice_of(folder, kind, section)
    path = tmp_path / folder / "slice.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    whole = run_file(path)
    assert whole is not None
    assert [result.outcome for result in whole] == ["passed"] * ROWS_KEPT
    assert len({result.id for result in whole}) == ROWS_KEPT, "an id names one case"

    change(document[section][ROW_CHANGED])
    path.write_text(json.dumps(document), encoding="utf-8")
    assert main([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path.parent.name}/slice.json: {ROWS_KEPT - 1} passed, 1 failed, 0 skipped"
    assert lines[1].startswith(f"  failed {shown_id(whole[ROW_CHANGED].id)}")
    assert lines[2].startswith("    expected ") and lines[3].startswith("    got ")
    assert lines[-1] == f"{ROWS_KEPT - 1} passed, 1 failed, 0 skipped"


def test_every_kind_is_changed_once() -> None:
    assert {kind for _, kind, _, _ in CHANGES} == {kind.name for kind in KINDS}
    assert {(kind, section) for _, kind, section, _ in CHANGES} == {
        (kind.name, section) for kind in KINDS for section in kind.sections
    }
