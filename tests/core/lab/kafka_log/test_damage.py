"""A partition's folder with damage, old formats, links: what is wrong is shown and never repaired."""

import hashlib
import zlib
from pathlib import Path
from typing import Any

import pytest

from broker_core.errors import InvariantError
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings
from broker_core.lab.kafka_log.batch_view import batch_json
from broker_core.lab.kafka_log.cleaning import clean_json
from broker_core.lab.kafka_log.lookup import lookup_offset, lookup_timestamp
from broker_core.lab.kafka_log.opened import OpenedLog, summarize
from broker_core.lab.kafka_log.read_only import ReadOnlyFolder

NAME = "00000000000000000000"


def fingerprint(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def look_at_everything(folder: Path) -> list[Any]:
    log = OpenedLog(folder)
    seen: list[Any] = [summarize(log, base, check=True) for base in log.live]
    seen += [lookup_offset(log, offset, 60)["found"] for offset in range(0, 61, 5)]
    seen += [
        lookup_timestamp(log, time, rule)["found"]
        for time in range(900, 1700, 90)
        for rule in ("kafka", "document")
    ]
    seen.append(
        clean_json(
            log,
            topic="orders",
            partition=0,
            settings=LogSettings(cleanup_compact=True),
            cleaned_up_to=None,
            now_ms=0,
        )
    )
    return seen


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        (lambda folder: flip(folder / f"{NAME}.log", 200), "crc"),
        (
            lambda folder: (folder / f"{NAME}.log").write_bytes((folder / f"{NAME}.log").read_bytes()[:-7]),
            "cut",
        ),
        (
            lambda folder: (folder / f"{NAME}.log").write_bytes(
                (folder / f"{NAME}.log").read_bytes() + b"no batch at all, but bytes"
            ),
            "no_batch",
        ),
        (
            lambda folder: (folder / f"{NAME}.log").write_bytes(
                (folder / f"{NAME}.log").read_bytes() + bytes(500)
            ),
            "zeros",
        ),
        (lambda folder: flip(folder / f"{NAME}.index", 12), "index"),
        (lambda folder: (folder / f"{NAME}.index").unlink(), "index"),
        (lambda folder: (folder / f"{NAME}.timeindex").write_bytes(b"\1" * 30), "index"),
        (lambda folder: (folder / f"{NAME}.log.cleaned").write_bytes(b""), "unfinished"),
    ],
    ids=[
        "flipped",
        "cut",
        "garbage",
        "zeros",
        "index-damaged",
        "index-lost",
        "timeindex-damaged",
        "cleaned-left",
    ],
)
def test_damage_is_told_and_nothing_on_disk_changes(folder: Path, harm: Any, kind: str) -> None:
    harm(folder)
    before = fingerprint(folder)
    look_at_everything(folder)
    kinds = {damage.kind for damage in summarize(OpenedLog(folder), 0, check=True).damage}
    assert kind in kinds
    assert fingerprint(folder) == before


def test_a_damaged_batch_can_still_be_looked_at(folder: Path) -> None:
    flip(folder / f"{NAME}.log", 75)
    log = OpenedLog(folder)
    batch = batch_json(log, log.segment(0), 0)
    assert batch["crc_ok"] is False and "crc" in batch["problem"]


def test_messages_of_the_old_formats_are_told_as_far_as_they_go(tmp_path: Path) -> None:
    # Offset 0, then size; crc, magic 1, attributes, time, key "k", value "v".
    body = b"\x01\x00" + (5_000).to_bytes(8) + (1).to_bytes(4) + b"k" + (1).to_bytes(4) + b"v"
    message = zlib.crc32(body).to_bytes(4) + body
    (tmp_path / f"{NAME}.log").write_bytes((0).to_bytes(8) + len(message).to_bytes(4) + message)
    log = OpenedLog(tmp_path)
    summary = summarize(log, 0, check=True)
    assert (summary.formats, summary.records, summary.max_timestamp, summary.next_offset) == (
        (1,),
        1,
        5_000,
        1,
    )
    assert lookup_offset(log, 0, 1)["message"] == "old_format"
    batch = batch_json(log, log.segment(0), 0)
    assert batch["magic"] == 1 and batch["records"][0]["key"]["text"] == "k" and batch["crc_ok"]


def test_the_room_a_running_broker_keeps_in_its_indexes_is_no_row(folder: Path) -> None:
    rows = OpenedLog(folder).segment(0).offset_index.row_count
    for suffix in ("index", "timeindex"):
        path = folder / f"{NAME}.{suffix}"
        path.write_bytes(path.read_bytes() + bytes(120))
    log = OpenedLog(folder)
    assert log.segment(0).offset_index.row_count == rows
    assert not [damage for damage in summarize(log, 0, check=True).damage if damage.kind == "index"]


def test_a_read_only_folder_refuses_every_change(folder: Path) -> None:
    read_only = ReadOnlyFolder(folder)
    for change in (
        lambda: read_only.remove("x"),
        lambda: read_only.rename("x", "y"),
        lambda: read_only.replace("x", b""),
        lambda: read_only.set_modified_ms("x", 0),
        lambda: read_only.open(f"{NAME}.log").truncate(0),
        lambda: read_only.open(f"{NAME}.log").append(b"x"),
    ):
        with pytest.raises(InvariantError):
            change()


def test_a_link_in_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    (folder / "00000000000000000999.log").symlink_to(secret)
    log = OpenedLog(folder)
    assert 999 not in log.live and "00000000000000000999.log" not in log.names
    assert ReadOnlyFolder(folder).open("00000000000000000999.log").size == 0


def test_the_cleaner_says_where_damage_has_stopped_it(folder: Path) -> None:
    about = {
        "topic": "orders",
        "partition": 0,
        "settings": LogSettings(cleanup_compact=True),
        "cleaned_up_to": None,
        "now_ms": 0,
    }
    assert "stopped_at" not in clean_json(OpenedLog(folder), **about)
    base = OpenedLog(folder).live[1]
    start = [found.position for found in OpenedLog(folder).segment(base).batches()][4]
    file = folder / f"{base:020d}.log"
    data = bytearray(file.read_bytes())
    data[start + 30] ^= 1
    file.write_bytes(data)
    answer = clean_json(OpenedLog(folder), **about)
    assert (answer["stopped_in"], answer["stopped_at"]) == (base, start)
    assert answer["records_before"] == base + 4


# -- streams that unpack to more than anybody has room for


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_stream_that_swells_is_told_and_not_unpacked(tmp_path: Path, codec: Codec) -> None:
    log = PartitionLog.open(DiskFolder(tmp_path), LogSettings(message_bytes_max=1 << 30), now_ms=0)
    log.append_pairs([(b"k", b"small" * 100)], now_ms=5, codec=codec)
    log.append_pairs([(b"k", bytes(9 << 20))], now_ms=6, codec=codec)
    log.flush(0)
    found = OpenedLog(tmp_path)
    assert [damage.kind for damage in summarize(found, 0, check=True).damage] == ["records"]
    assert lookup_offset(found, 0, 2)["batch"]["records"][0]["value"]["bytes"] == 500
    answer = lookup_offset(found, 1, 2)
    assert answer["message"] == "damaged" and answer["batch"]["records"] == [] and answer["batch"]["crc_ok"]
    assert lookup_timestamp(found, 6, "kafka")["message"] == "damaged"
    about = {
        "topic": "t",
        "partition": 0,
        "settings": LogSettings(cleanup_compact=True),
        "cleaned_up_to": None,
        "now_ms": 0,
    }
    second = found.segment(0).batches()
    next(second)
    assert clean_json(found, **about) == {
        "log": None,
        "reason": "damaged",
        "stopped_in": 0,
        "stopped_at": next(second).position,
    }
