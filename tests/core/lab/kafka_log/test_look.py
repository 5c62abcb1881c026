"""Looking into a partition's folder: the article's walks, and what a look-up answers."""

from itertools import pairwise
from pathlib import Path

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.log.codecs import Codec
from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.settings import LogSettings
from broker_core.lab.kafka_log.article import FOLDER, LOG_END_OFFSET, SEGMENTS, TIME, build_article_log
from broker_core.lab.kafka_log.batch_view import batch_json, stretch_json
from broker_core.lab.kafka_log.cleaning import clean_json
from broker_core.lab.kafka_log.folder_view import retention_json, segments_json
from broker_core.lab.kafka_log.lookup import lookup_offset, lookup_timestamp
from broker_core.lab.kafka_log.opened import OpenedLog, summarize


@pytest.fixture(scope="module")
def article(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("article")
    build_article_log(path)
    return path / FOLDER


def test_index_rows_of_batches_that_do_not_count_yet_do_not_count_either(folder: Path) -> None:
    whole = OpenedLog(folder)
    base = whole.live[-1]
    batches = stretch_json(whole, whole.segment(base), 0, whole.bytes_of(base))["batches"]
    end_offset, size = batches[2]["base_offset"], batches[2]["position"]
    log = OpenedLog(folder, sizes={f"{base:020d}.log": size}, end_offset=end_offset)
    segment = segments_json(
        log, {(base, ""): summarize(log, base, check=False)}, now_ms=0, deleted_at_ms={}, cleaned_up_to=0
    )[-1]
    assert (segment["bytes"], segment["records"], segment["next_offset"]) == (size, 2, end_offset)
    assert segment["index_entries"] < whole.segment(base).offset_index.row_count
    assert all(offset < end_offset and position < size for offset, position in segment["entries"])
    assert segment["time_index_entries"] < whole.segment(base).time_index.row_count and segment[
        "max_timestamp"
    ] == 1_000 + 10 * (end_offset - 1)


# -- the article


def test_the_article_s_offset_walk_with_its_numbers(article: Path) -> None:
    answer = lookup_offset(OpenedLog(article), 6506155, LOG_END_OFFSET)
    segment, index, scan = answer["steps"]
    assert segment["chosen"] == 3257573 and segment["candidates"] == [base for base, *_ in SEGMENTS]
    assert index["entries"] == 228_537 and index["result"] == {"offset": 6506150, "position": 1073707263}
    assert len(index["probes"]) <= 18 and index["around"][
        index["result_slot"] - index["around_first_slot"]
    ] == [6506150, 1073707263]
    assert (scan["from"], scan["to"], scan["skipped"], scan["bytes"]) == (1073707263, 1073711499, 5, 1765)
    assert [batch["base_offset"] for batch in scan["batches"]] == list(range(6506150, 6506162))
    assert (
        answer["found"] == 6506155 and answer["batch"]["position"] == 1073709028 and answer["batch"]["crc_ok"]
    )


@pytest.mark.parametrize(
    ("rule", "row", "entry"),
    [
        ("kafka", (TIME + 500, 6506228), (6506217, 1073730060)),
        ("document", (TIME + 503, 6506240), (6506229, 1073734174)),
    ],
)
def test_the_article_s_time_walk_by_both_rules(
    article: Path, rule: str, row: tuple[int, int], entry: tuple[int, int]
) -> None:
    answer = lookup_timestamp(OpenedLog(article), TIME + 501, rule)
    segment, times, offsets, _scan = answer["steps"]
    assert segment["chosen"] == 3257573 and (times["kind"], offsets["kind"]) == ("time", "offset")
    assert times["result"] == {"timestamp": row[0], "offset": row[1]}
    assert offsets["result"] == {"offset": entry[0], "position": entry[1]}
    assert (answer["found"], answer["message"]) == (6506240, None)


def test_the_article_s_folder_has_its_sizes_and_is_sparse(article: Path) -> None:
    for base, log_bytes, index_rows, time_rows, _written in SEGMENTS:
        log = article / f"{base:020d}.log"
        assert log.stat().st_size == log_bytes and log.stat().st_blocks * 512 < 1 << 20
        segment = OpenedLog(article).segment(base)
        assert (segment.offset_index.row_count, segment.time_index.row_count) == (index_rows, time_rows)
    walked = OpenedLog(article).segment(3257573)
    walked.check()


LISTED = {
    "00000000000000000000": {"index": 1835920, "log": 1073741684, "timeindex": 2737884},
    "00000000000003257573": {"index": 1828296, "log": 1073741513, "timeindex": 2725512},
    "00000000000006506251": {"index": 1834744, "log": 1073741771, "timeindex": 2736072},
    "00000000000009751854": {"index": 1832152, "log": 1073740984, "timeindex": 2731572},
    "00000000000012999310": {"index": 1808792, "log": 1073741584, "snapshot": 10, "timeindex": 2694564},
    "00000000000016260431": {"index": 10485760, "log": 278255892, "snapshot": 10, "timeindex": 10485756},
}
"""The article's listing, file by file; and beside them leader-epoch-checkpoint with 8 bytes."""


def test_the_folder_has_every_file_of_the_article_s_listing(article: Path) -> None:
    listed = {
        f"{base}.{suffix}": size for base, files in LISTED.items() for suffix, size in files.items()
    } | {"leader-epoch-checkpoint": 8}
    assert {path.name: path.stat().st_size for path in article.iterdir()} == listed
    assert sum(path.stat().st_blocks * 512 for path in article.iterdir()) < 32 << 20
    log = OpenedLog(article)
    (active,) = [
        row for row in segments_json(log, {}, now_ms=0, deleted_at_ms={}, cleaned_up_to=0) if row["active"]
    ]
    assert {(file["name"], file["bytes"]) for file in active["files"]} == {
        row for row in listed.items() if row[0].startswith("00000000000016260431")
    }
    assert (active["index_entries"], active["time_index_entries"]) == SEGMENTS[-1][2:4], (
        "zeros after the last row are room, not rows"
    )
    assert log.other_files() == ["leader-epoch-checkpoint"]


def test_where_the_article_s_log_is_hollow_the_answer_says_so(article: Path) -> None:
    answer = lookup_offset(OpenedLog(article), 5_000_000, LOG_END_OFFSET)
    assert (answer["found"], answer["message"]) == (None, "hollow")
    assert [step["step"] for step in answer["steps"]] == ["segment", "index"]
    assert summarize(OpenedLog(article), 3257573, check=False).damage[0].kind == "zeros"


# -- look-ups


def test_every_offset_is_found_in_its_own_batch(folder: Path) -> None:
    log = OpenedLog(folder)
    for offset in range(60):
        answer = lookup_offset(log, offset, 60)
        assert answer["found"] == offset and answer["message"] is None
        assert answer["batch"]["base_offset"] == offset
        scan = answer["steps"][-1]
        assert scan["skipped"] == sum(
            batch["position"] < answer["batch"]["position"] for batch in scan["batches"]
        )
        assert answer["steps"][0]["chosen"] == max(base for base in log.live if base <= offset)


def test_every_time_gives_the_first_record_at_or_after_it(folder: Path) -> None:
    log = OpenedLog(folder)
    for time in range(995, 1595, 5):
        answer = lookup_timestamp(log, time, "kafka")
        assert answer["found"] == max(0, -(-(time - 1_000) // 10)), time


def test_the_article_s_rule_says_when_it_missed_records(folder: Path) -> None:
    answers = [lookup_timestamp(OpenedLog(folder), time, "document") for time in range(1_000, 1_590, 10)]
    missed = [answer for answer in answers if answer["message"] == "missed"]
    assert missed and all(answer["kafka_found"] < answer["found"] for answer in missed)


@pytest.mark.parametrize(
    ("offset", "message"), [(60, "offset_at_end"), (61, "offset_beyond_end"), (2**62, "offset_beyond_end")]
)
def test_an_offset_that_is_not_there_is_an_answer(folder: Path, offset: int, message: str) -> None:
    answer = lookup_offset(OpenedLog(folder), offset, 60)
    assert (answer["found"], answer["message"], answer["steps"], answer["batch"]) == (None, message, [], None)


def test_an_offset_below_the_log_start_and_a_time_behind_the_last(folder: Path) -> None:
    assert lookup_offset(OpenedLog(folder, start_offset=30), 29, 60)["message"] == "offset_below_start"
    assert lookup_timestamp(OpenedLog(folder), 1_591, "kafka")["message"] == "time_beyond_last"
    with pytest.raises(CommandError):
        lookup_timestamp(OpenedLog(folder), 1_000, "newest")


def test_an_offset_that_compaction_took_gives_the_next_one(tmp_path: Path) -> None:
    log = PartitionLog.open(DiskFolder(tmp_path), LogSettings(cleanup_compact=True), now_ms=0)
    for offset in (0, 3, 4):
        batch = log.append_pairs([(b"k", b"v")], now_ms=0)
        assert batch.first_offset == log.log_end_offset - 1
        log.log_end_offset = {0: 3, 3: 4, 4: 5}[offset]  # as after a round that took 1 and 2
    log.flush(0)
    answer = lookup_offset(OpenedLog(tmp_path), 1, 5)
    assert (answer["found"], answer["message"]) == (3, "next_kept")


# -- batches


def test_a_batch_names_each_byte_and_knows_its_neighbours(folder: Path) -> None:
    log = OpenedLog(folder)
    place, count = {"segment": 0, "position": 0}, 0
    before = None
    while place is not None:
        batch = batch_json(log, log.segment(place["segment"]), place["position"])
        assert batch["previous"] == before and batch["base_offset"] == count
        assert batch["fields"][0]["start"] == 0 and batch["fields"][-1]["end"] == batch["bytes"]
        assert all(one["end"] == two["start"] for one, two in pairwise(batch["fields"]))
        assert batch["records"][0]["key"]["text"] == f"key-{count % 7}"
        before, place, count = place, batch["next"], count + 1
    assert count == 60


def test_a_byte_inside_a_batch_is_no_place_for_one(folder: Path) -> None:
    log = OpenedLog(folder)
    for position in (1, 61, 2000, 10**9):
        with pytest.raises(CommandError):
            batch_json(log, log.segment(0), position)
    with pytest.raises(CommandError):
        log.segment(1)


def test_compressed_records_are_one_field_and_still_read(tmp_path: Path) -> None:
    log = PartitionLog.open(DiskFolder(tmp_path), now_ms=0)
    log.append_pairs([(b"k", b"v" * 1000), (None, b"\xff\x00"), (b"", None)], now_ms=0, codec=Codec.ZSTD)
    log.flush(0)
    batch = batch_json(OpenedLog(tmp_path), OpenedLog(tmp_path).segment(0), 0)
    assert batch["codec"] == "zstd" and batch["fields"][-1]["name"] == "compressed_records"
    first, second, third = batch["records"]
    assert (
        first["value"]["bytes"] == 1000
        and second["key"] is None
        and second["value"] == {"text": None, "hex": "ff00", "bytes": 2}
    )
    assert third["key"] == {"text": "", "hex": "", "bytes": 0} and third["value"] is None


def test_a_stretch_gives_its_batches_and_index_rows(folder: Path) -> None:
    log = OpenedLog(folder)
    segment = log.segment(0)
    whole = stretch_json(log, segment, 0, segment.size)
    assert sum(batch["bytes"] for batch in whole["batches"]) == segment.size
    assert [row[1] for row in whole["entries"]] == [row[1] for row in segment.offset_index.rows()]
    part = stretch_json(log, segment, 500, 900)
    assert [b for b in whole["batches"] if 500 <= b["position"] < 900] == part["batches"]
    assert part["entries"] == [row for row in whole["entries"] if 500 <= row[1] < 900]


# -- the folder, and what is wrong with it


def test_the_folder_tells_its_segments(folder: Path) -> None:
    log = OpenedLog(folder)
    summaries = {(base, ""): summarize(log, base, check=True) for base in log.live}
    rows = segments_json(log, summaries, now_ms=0, deleted_at_ms={}, cleaned_up_to=0)
    assert [row["base_offset"] for row in rows] == log.live and len(rows) > 2
    assert sum(row["records"] for row in rows) == 60 and [row["active"] for row in rows][-2:] == [False, True]
    assert all(row["damage"] == [] for row in rows)
    assert all(one["next_offset"] == two["base_offset"] for one, two in pairwise(rows))
    retention = retention_json(rows, retention_bytes=3000, retention_ms=100, now_ms=1_590)
    assert retention["reaches_position"] == sum(row["bytes"] for row in rows) - 3000
    assert retention["reaches_position_ms"] == sum(
        row["bytes"] for row in rows if row["max_timestamp"] < 1_490
    )
    assert retention_json(rows, retention_bytes=-1, retention_ms=-1, now_ms=0)["reaches_position"] is None


# -- compaction


def test_the_cleaner_s_round_is_told_record_by_record(folder: Path) -> None:
    settings = LogSettings(cleanup_compact=True)
    answer = clean_json(
        OpenedLog(folder), topic="orders", partition=0, settings=settings, cleaned_up_to=None, now_ms=0
    )
    active = OpenedLog(folder).live[-1]
    assert {row["zone"] for row in answer["before"]} == {"dirty", "active"}
    last = {f"key-{offset % 7}": offset for offset in range(active)}
    for row in answer["before"]:
        assert row["kept"] == (row["offset"] >= active or last[row["key"]] == row["offset"])
    assert [row["offset"] for row in answer["after"]] == [
        row["offset"] for row in answer["before"] if row["kept"]
    ]
    assert (answer["records_before"], answer["dirty_ratio"], answer["due"]) == (60, 1.0, True)
    assert answer["records_after"] == 7 + 60 - active and answer["bytes_after"] < answer["bytes_before"]
    closed = clean_json(
        OpenedLog(folder),
        topic="orders",
        partition=0,
        settings=settings,
        cleaned_up_to=None,
        now_ms=0,
        is_open=False,
    )
    assert {row["zone"] for row in closed["before"]} == {"dirty"} and closed["records_after"] == 7, (
        "of closed files the last one too"
    )
