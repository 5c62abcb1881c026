"""Opening somebody's segments: uploads are streamed, bounded and never changed; of this machine only what the
setting allows."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.settings import LogSettings
from dashboard.logs import opened, places, tasks

pytestmark = pytest.mark.django_db

NAME = "00000000000000000000"
BATCH = bytes(encode_batch([Record(0, 1_000, b"k", b"v")]).data)


@pytest.fixture(autouse=True)
def run_dir(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_DIR = tmp_path / "run"
    settings.RUN_DIR.mkdir()
    return settings.RUN_DIR


def make_log(path: Path) -> Path:
    log = PartitionLog.open(
        DiskFolder(path), LogSettings(segment_bytes=3000, index_interval_bytes=300), now_ms=0
    )
    for number in range(100):
        log.append_pairs(
            [(b"key-%d" % (number % 5), b"value-%d" % number)], timestamp=1_000 + number, now_ms=0
        )
    log.close(0)
    return path


def send(files: Sequence[tuple[str, bytes]], **fields: str) -> Any:
    return Client().post(
        "/api/logs/", {"file": [SimpleUploadedFile(name, content) for name, content in files], **fields}
    )


def files_of(folder: Path) -> list[tuple[str, bytes]]:
    return [
        (path.name, path.read_bytes())
        for path in sorted(folder.iterdir())
        if path.suffix in (".log", ".index", ".timeindex")
    ]


def test_an_uploaded_folder_is_browsed_like_any_other(tmp_path: Path) -> None:
    made = make_log(tmp_path / "orders-3")
    answer = send(files_of(made), folder="orders-3")
    assert answer.status_code == 201
    log = answer.json()["log"]
    folder = Client().get(f"/api/logs/{log}/").json()
    assert (folder["kind"], folder["topic"], folder["partition"], folder["folder"]) == (
        "upload",
        "orders",
        3,
        "orders-3",
    )
    assert folder["end_offset"] == 100 and folder["high_watermark"] is None and not folder["reading"]
    assert not any(segment["active"] for segment in folder["segments"]), (
        "nobody writes to files that somebody brought along"
    )
    assert sum(segment["records"] for segment in folder["segments"]) == 100
    assert all(segment["damage"] == [] for segment in folder["segments"])
    assert Client().get(f"/api/logs/{log}/lookup/?offset=42").json()["found"] == 42
    what_if = Client().get(f"/api/logs/{log}/?retention_bytes=4000&retention_ms=20").json()["retention"]
    assert what_if["reaches_position"] == folder["bytes"] - 4000 and what_if["reaches_position_ms"] > 0
    assert Client().get(answer.json()["url"]).status_code == 200
    kept = places.logs_dir() / log / "orders-3"
    assert [(path.name, path.read_bytes()) for path in sorted(kept.iterdir())] == files_of(made), (
        "looked at, and not changed"
    )


def test_a_lone_log_under_any_name_gets_its_own(tmp_path: Path) -> None:
    made = make_log(tmp_path / "orders-3")
    second = sorted(made.glob("*.log"))[1]
    log = send([("my segment (1).log", second.read_bytes())]).json()["log"]
    folder = Client().get(f"/api/logs/{log}/").json()
    assert folder["segments"][0]["base_offset"] == int(second.stem)
    assert (folder["topic"], folder["folder"], folder["topics"]) == (None, "my segment (1).log", [])
    assert (folder["high_watermark"], folder["segments"][0]["active"]) == (None, False), (
        "nobody knows what came behind it"
    )
    assert "my segment (1).log" in Client().get(f"/log/{log}/").content.decode()
    assert {damage["kind"] for damage in folder["segments"][0]["damage"]} == {"index"}, (
        "the indexes are missing"
    )
    offset = int(second.stem) + 2
    assert Client().get(f"/api/logs/{log}/lookup/?offset={offset}").json()["found"] == offset


@pytest.mark.parametrize(
    ("files", "fields", "status", "field"),
    [
        ([], {}, 400, "file"),
        ([("readme.txt", b"hello")], {}, 400, "file"),
        ([(f"{NAME}.index", b"\0" * 8)], {}, 400, "file"),
        ([(f"{NAME}.log", BATCH), ("..%2f..%2fetc.passwd", b"x")], {}, 400, "file"),
        ([(f"{NAME}.log", b"x"), (f"{NAME}.log", b"y")], {}, 400, "file"),
        ([("one.log", b"x"), ("two.log", b"y")], {}, 400, "file"),
        ([(f"{NAME}.log", BATCH)], {"folder": "../orders-1"}, 400, "folder"),
        ([(f"{NAME}.log", BATCH)], {"folder": ".."}, 400, "folder"),
        ([(f"{NAME}.log", BATCH)], {"folder": "a" * 250}, 400, "folder"),
    ],
)
def test_wrong_upload_is_refused_and_leaves_nothing(
    files: Any, fields: dict[str, str], status: int, field: str
) -> None:
    answer = send(files, **fields)
    assert (answer.status_code, list(answer.json()["fields"])) == (status, [field]), answer.content
    assert not places.logs_dir().exists() or not list(places.logs_dir().iterdir())


def test_name_with_a_path_keeps_only_its_end(tmp_path: Path) -> None:
    made = make_log(tmp_path / "orders-3")
    log = send([(f"../../../{NAME}.log", (made / f"{NAME}.log").read_bytes())]).json()["log"]
    assert [path.name for path in (places.logs_dir() / log / "segment-0").iterdir()] == [f"{NAME}.log"]


def test_too_much_is_refused_and_leaves_nothing(settings: Any) -> None:
    settings.LOG_UPLOAD_BYTES_MAX = 1000
    answer = send([(f"{NAME}.log", b"x" * 600), (f"{NAME}.index", b"y" * 600)])
    assert answer.status_code == 413 and list(answer.json()["fields"]) == ["file"]
    assert not places.logs_dir().exists() or not list(places.logs_dir().iterdir())
    early = Client().post("/api/logs/", {"file": SimpleUploadedFile(f"{NAME}.log", b"x" * 400_000)})
    assert early.status_code == 413


def test_other_bodies_and_methods_are_refused() -> None:
    assert Client().post("/api/logs/", "{}", content_type="application/json").status_code == 415
    assert Client().delete("/api/logs/").status_code == 405
    assert Client().post("/api/logs/article/").status_code == 405


def test_a_browser_needs_its_csrf_token(settings: Any) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies[settings.VISITOR_COOKIE] = "v" * 40
    files = {"file": SimpleUploadedFile(f"{NAME}.log", BATCH)}
    assert list(browser.post("/api/logs/", files).json()["fields"]) == ["csrf"]
    browser.cookies["csrftoken"] = "a" * 32
    files = {"file": SimpleUploadedFile(f"{NAME}.log", BATCH)}
    assert browser.post("/api/logs/", files, headers={"X-CSRFToken": "a" * 32}).status_code == 201


def test_one_person_s_uploads_are_bounded(settings: Any) -> None:
    settings.LOG_UPLOADS_OWNER_MAX = 1
    assert send([(f"{NAME}.log", BATCH)]).status_code == 201
    assert send([(f"{NAME}.log", BATCH)]).status_code == 429


def test_uploads_go_when_their_time_is_over(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = send([(f"{NAME}.log", BATCH)]).json()["log"]
    assert Client().get(f"/api/logs/{log}/").status_code == 200
    later_s = time.time() + settings.LOG_KEEP_S + 1
    monkeypatch.setattr(time, "time", lambda: later_s)
    assert Client().get(f"/api/logs/{log}/").status_code == 404
    assert opened.logs_sweep() == 1 and not (places.logs_dir() / log).exists()


def test_a_damaged_upload_is_shown_with_its_damage(tmp_path: Path) -> None:
    made = make_log(tmp_path / "orders-3")
    data = bytearray((made / f"{NAME}.log").read_bytes())
    data[300] ^= 4
    log = send([(f"{NAME}.log", bytes(data[:-5]))]).json()["log"]
    (segment,) = Client().get(f"/api/logs/{log}/").json()["segments"]
    assert {damage["kind"] for damage in segment["damage"]} == {"crc", "cut", "index"}
    garbage = send([(f"{NAME}.log", BATCH + b"no batch at all, only words")]).json()["log"]
    (segment,) = Client().get(f"/api/logs/{garbage}/").json()["segments"]
    assert "no_batch" in {damage["kind"] for damage in segment["damage"]}
    assert Client().get(f"/api/logs/{garbage}/lookup/?offset=1").json()["found"] is None


@pytest.mark.parametrize(
    "content",
    [b"no batch at all, only words", b"x", bytes(100), b"\xff" * 100],
    ids=["words", "short", "zeros", "ones"],
)
def test_a_lone_log_that_is_none_is_refused_by_name(content: bytes) -> None:
    answer = send([("words.log", content)])
    assert answer.status_code == 400
    assert answer.json()["fields"]["file"] == ["no Kafka batch at byte 0 of words.log"]
    assert send([(f"{NAME}.log", b"")]).status_code == 201, "an empty segment is one"


def test_numbers_that_a_browser_cannot_hold_are_text() -> None:
    first = 2**53 + 1
    log = send([("far.log", bytes(encode_batch([Record(first, 1_000, b"k", b"v")]).data))]).json()["log"]
    folder = Client().get(f"/api/logs/{log}/").json()
    assert folder["segments"][0]["base_offset"] == folder["start_offset"] == str(first)
    assert folder["end_offset"] == str(first + 1) and folder["segments"][0]["bytes"] < 100
    assert Client().get(f"/api/logs/{log}/lookup/?offset={first}").json()["found"] == str(first)
    page = Client().get(f"/log/{log}/")
    tasks.clean_log(log)
    assert Client().get(f"/api/logs/{log}/clean/").json()["before"][0]["offset"] == str(first)
    assert page.status_code == 200 and page.context["folder"]["end_offset"] == str(first + 1)


def test_a_large_log_is_counted_by_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.logs.source.COUNT_INLINE_BYTES", 100)
    log = send(files_of(make_log(tmp_path / "orders-3"))).json()["log"]
    before = Client().get(f"/api/logs/{log}/").json()
    assert before["reading"] and before["segments"][0]["records"] is None
    tasks.count_log(log)
    after = Client().get(f"/api/logs/{log}/").json()
    assert not after["reading"] and sum(segment["records"] for segment in after["segments"]) == 100


def test_what_compaction_would_do_to_an_upload(tmp_path: Path) -> None:
    log = send(files_of(make_log(tmp_path / "orders-3")), folder="orders-3").json()["log"]
    assert Client().get(f"/api/logs/{log}/clean/").json()["reason"] == "preparing"
    tasks.clean_log(log)
    answer = Client().get(f"/api/logs/{log}/clean/").json()
    assert (
        answer["log"] == {"topic": "orders", "partition": 3}
        and answer["records_after"] < answer["records_before"] == 100
    )
    assert answer["before"][-1]["offset"] == 99 and answer["before"][-1]["kept"], (
        "the newest are shown, for they stay"
    )
    assert "active" not in {row["zone"] for row in answer["before"]} and answer["uncleanable_offset"] == 100


# -- folders of this machine


def test_only_the_setting_s_folders_are_offered(settings: Any, tmp_path: Path) -> None:
    root = tmp_path / "kafka-logs"
    make_log(root / "orders-0")
    make_log(root / "orders-1")
    make_log(tmp_path / "elsewhere" / "secret-0")
    (root / "leads-out").symlink_to(tmp_path / "elsewhere" / "secret-0")
    (root / "orders-1" / "00000000000000009999.log").symlink_to("/etc/hostname")
    assert Client().get("/api/logs/").json()["folders"] == []
    settings.LOG_DIRS = [root]
    folders = Client().get("/api/logs/").json()["folders"]
    assert [folder["name"] for folder in folders] == ["kafka-logs/orders-0", "kafka-logs/orders-1"]
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and not path.is_symlink()}
    log = folders[1]["log"]
    folder = Client().get(f"/api/logs/{log}/").json()
    assert folder["kind"] == "folder" and [row["partition"] for row in folder["partitions"]] == [0, 1]
    assert 9999 not in [segment["base_offset"] for segment in folder["segments"]]
    assert Client().get(folders[1]["url"]).status_code == 200
    for offset in (0, 50, 99):
        assert Client().get(f"/api/logs/{log}/lookup/?offset={offset}").json()["found"] == offset
    assert {path: path.read_bytes() for path in before} == before, "only read"
    settings.LOG_DIRS = []
    assert Client().get(f"/api/logs/{log}/").status_code == 404


@pytest.mark.parametrize(
    "log", ["..", ".", "%2e%2e", "f-", "f-0000000000000000", ".draft-x", "a" * 300, "%00"]
)
def test_an_id_is_never_a_path(log: str) -> None:
    assert Client().get(f"/api/logs/{log}/").status_code == 404


def test_the_broker_s_own_checkpoints_are_read(settings: Any, tmp_path: Path) -> None:
    root = tmp_path / "kafka-logs"
    make_log(root / "orders-0")
    (root / "replication-offset-checkpoint").write_text("0\n1\norders 0 90\n")
    (root / "log-start-offset-checkpoint").write_text("0\n1\norders 0 7\n")
    for name in (".lock", "meta.properties", "somebody-elses"):
        (root / name).write_text("#\n" * (name == "meta.properties"))
    settings.LOG_DIRS = [root]
    log = Client().get("/api/logs/").json()["folders"][0]["log"]
    folder = Client().get(f"/api/logs/{log}/").json()
    assert folder["top_files"] == [
        {"name": ".lock", "bytes": 0},
        {"name": "meta.properties", "bytes": 2},
        {"name": "log-start-offset-checkpoint", "bytes": 15},
        {"name": "replication-offset-checkpoint", "bytes": 16},
    ]
    assert (folder["start_offset"], folder["high_watermark"], folder["end_offset"]) == (7, 90, 100)
    assert Client().get(f"/api/logs/{log}/lookup/?offset=3").json()["message"] == "offset_below_start"
    assert (
        json.loads(Client().get("/api/logs/").content)["limits"]["bytes_max"] == settings.LOG_UPLOAD_BYTES_MAX
    )


def test_an_articles_folder_that_older_code_made_is_made_again(settings: Any, tmp_path: Path) -> None:
    settings.RUN_DIR = tmp_path
    old = opened.logs_dir() / opened.ARTICLE
    (old / "nginx_access_log-1").mkdir(parents=True)
    (old / "counted.json").write_text("{}")
    path = opened.article_path()
    assert (path / "00000000000003257573.log").exists() and not (old / "counted.json").exists()
    made_at = path.stat().st_mtime_ns
    assert opened.article_path() == path and path.stat().st_mtime_ns == made_at
    assert [entry.name for entry in opened.logs_dir().iterdir()] == [opened.ARTICLE]
