"""A folder of `__consumer_offsets` on the log page: records with their fields by name, and tombstones as
such."""

from __future__ import annotations

from pathlib import Path

from broker_core.kafka.group import records as r
from broker_core.kafka.group.record_bytes import key_bytes, value_bytes
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.lab.kafka_log.batch_view import batch_json
from broker_core.lab.kafka_log.opened import OpenedLog


def records_of(folder: Path) -> list[dict]:
    folder.mkdir()
    log = PartitionLog.open(DiskFolder(folder), now_ms=0)
    key = r.OffsetCommitKey("g", "t", 3)
    log.append_pairs(
        [
            (key_bytes(key), value_bytes(r.OffsetCommitValue(42, 1, "", 1_000))),
            (key_bytes(key), None),
            (b"\x00\x63", b"?"),
        ],
        now_ms=0,
    )
    log.close(0)
    opened = OpenedLog(folder)
    records: list[dict] = batch_json(opened, opened.segment(0), 0)["records"]
    return records


def test_its_records_have_the_names_of_their_fields(tmp_path):
    commit, tombstone, unknown = records_of(tmp_path / "__consumer_offsets-7")
    assert commit["key"]["text"] == "OffsetCommit group=g topic=t partition=3"
    assert commit["value"]["text"].startswith('offset=42 leader_epoch=1 metadata=""')
    assert tombstone["key"]["text"] == commit["key"]["text"] and tombstone["value"] is None
    assert unknown["key"]["hex"] == "0063" and unknown["value"]["text"] == "?"


def test_another_topics_records_stay_what_they_are(tmp_path):
    commit, _, _ = records_of(tmp_path / "t-7")
    assert commit["key"]["text"] is None
