"""Kafka's log over HTTP: a lab's, written by the worker's loop in this process; the article's; and every
wrong question at its field."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from broker_core.kafka.log.dump import dump_path
from broker_core.lab.kafka_log.producer import EPOCH_MS
from broker_core.lab.past import SWITCH_RECORDS_MAX
from dashboard.logs import labs, places, writer
from dashboard.logs.writer import LogWriter
from dashboard.models import Lab, StoredCommand, StoredView
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def run_dir(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_DIR = tmp_path
    settings.LAB_LOG_WATCHED_S = 600.0  # these tests ask once, and the machine may be busy
    settings.LAB_LOG_KEEP_S = 6_000.0
    return tmp_path


@pytest.fixture
def lab(world: World) -> Lab:
    """A lab that is 12 s old; it is paused from then on."""
    lab = world.open(lanes=[{"model": "kafka", "partitions": 4}], workload={"rate": 100})
    world.run(12)
    return lab


def ask(lab: Lab, question: str = "", **query: Any) -> Any:
    return Client().get(f"/api/labs/{lab.pk}/kafka/log/{question}", query)


def write(loop: LogWriter) -> None:
    while loop.turn():
        pass


def folder_of(lab: Lab, **query: str) -> Path:
    return labs.asked_for(lab.pk, query).folder


def test_asking_makes_the_worker_write_what_the_lane_has(lab: Lab) -> None:
    first = ask(lab, partition=2).json()
    assert first["segments"] == [] and first["behind"] == first["records_of_lab"] > 1000
    assert first["behind_us"] > 1_000_000 and first["settings_shown"][2:] == [
        "retention_bytes",
        "retention_ms",
    ]
    table = ask(lab, partition=2, topic="flights-latest").json()
    assert table["settings_shown"][2:] == ["min_cleanable_dirty_ratio", "delete_retention_ms"]
    assert (
        set(table["settings_shown"]) <= table["settings"].keys()
        and table["settings"]["min_cleanable_dirty_ratio"] == 0.5
    )
    write(LogWriter())
    folder = ask(lab, partition=2).json()
    assert folder["folder"] == "flights-2" and folder["behind"] <= 125 and folder["behind_us"] <= 250_000
    assert [segment["active"] for segment in folder["segments"] if segment["state"] == "live"][-1]
    assert folder["end_offset"] == folder["high_watermark"] == folder["segments"][-1]["next_offset"]
    assert folder["bytes"] == sum(
        segment["bytes"] for segment in folder["segments"] if segment["state"] != "deleted"
    )
    assert {event["kind"] for event in folder["turning"]} >= {"rolled"}
    assert [row["partition"] for row in folder["partitions"]] == [0, 1, 2, 3]
    assert (
        sum(row["end_offset"] for row in folder["partitions"]) == folder["records_of_lab"] - folder["behind"]
    )
    view = StoredView.objects.get(pk=lab.pk)
    assert f'"committed":{folder["committed"]}' in view.text
    disk = folder_of(lab, partition="2") / "flights-2"
    rows = [row for row in dump_path(disk) if row.kind == "batch"]
    assert sum(segment["batches"] for segment in folder["segments"]) == len(rows)
    assert not [row for row in dump_path(disk, deep=True) if row.kind == "problem"]


def test_settings_of_the_query_make_another_folder(lab: Lab) -> None:
    ask(lab)
    ask(lab, segment_bytes=4096, retention_bytes=8192, index_interval_bytes=0)
    write(LogWriter())
    usual, small = (
        ask(lab).json(),
        ask(lab, segment_bytes=4096, retention_bytes=8192, index_interval_bytes=0).json(),
    )
    assert usual["end_offset"] == small["end_offset"]
    assert small["start_offset"] > usual["start_offset"] and small["settings"]["segment_bytes"] == 4096
    assert all(segment["bytes"] <= 4096 for segment in small["segments"])
    assert 0 <= small["retention"]["reaches_position"] + 8192 == small["bytes"]
    assert {event["reason"] for event in small["turning"] if event["kind"] == "deleted"} == {
        "retention_bytes"
    }


def test_every_question_about_a_lab_s_log(lab: Lab) -> None:
    ask(lab)
    write(LogWriter())
    folder = ask(lab).json()
    offset = folder["end_offset"] - 3
    found = ask(lab, "lookup/", offset=offset).json()
    assert found["found"] == offset and [step["step"] for step in found["steps"]] == [
        "segment",
        "index",
        "scan",
    ]
    batch = ask(lab, "batch/", segment=found["batch"]["segment"], position=found["batch"]["position"]).json()
    assert batch == found["batch"]
    timed = ask(lab, "lookup/", timestamp=EPOCH_MS + 9_000).json()
    record = next(record for record in timed["batch"]["records"] if record["offset"] == timed["found"])
    assert record["timestamp"] >= EPOCH_MS + 9_000
    segment = folder["segments"][-1]
    stretch = ask(lab, "segment/", base=segment["base_offset"]).json()
    assert (
        len(stretch["batches"]) == segment["batches"] and len(stretch["entries"]) == segment["index_entries"]
    )


def test_compaction_is_worked_out_by_the_worker(lab: Lab) -> None:
    assert ask(lab, "clean/", partition=1).json() == {"log": None, "reason": "preparing"}
    write(LogWriter())
    answer = ask(lab, "clean/", partition=1).json()
    assert answer["log"] == {"topic": "flights-latest", "partition": 1}, answer
    assert 0 < answer["records_after"] <= answer["records_before"] and len(answer["before"]) <= 64
    table = ask(lab, topic="flights-latest", partition=1).json()
    assert table["cleanup_policy"] == "compact" and table["committed"] is None
    assert table["retention"]["reaches_position"] is None


@pytest.mark.parametrize(
    ("question", "query", "status", "field"),
    [
        ("", {"partition": "4"}, 400, "partition"),
        ("", {"partition": "-1"}, 400, "partition"),
        ("", {"partition": "two"}, 400, "partition"),
        ("", {"topic": "orders"}, 400, "topic"),
        ("", {"topic": "../../etc"}, 400, "topic"),
        ("", {"lane": "pulsar"}, 404, "lane"),
        ("", {"segment_bytes": "0"}, 400, "segment_bytes"),
        ("", {"segment_bytes": "lots"}, 400, "segment_bytes"),
        ("", {"retention_bytes": "99999999"}, 400, "retention_bytes"),
        ("lookup/", {}, 400, "offset"),
        ("lookup/", {"offset": "ten"}, 400, "offset"),
        ("lookup/", {"offset": "-1"}, 400, "offset"),
        ("lookup/", {"offset": "1" * 40}, 400, "offset"),
        ("lookup/", {"timestamp": "yesterday"}, 400, "timestamp"),
        ("lookup/", {"timestamp": "1", "rule": "newest"}, 400, "rule"),
        ("batch/", {}, 400, "segment"),
        ("batch/", {"segment": "7", "position": "0"}, 400, "segment"),
        ("batch/", {"segment": "0"}, 400, "position"),
        ("batch/", {"segment": "0", "position": "1"}, 400, "position"),
        ("segment/", {"base": "0", "from": "x"}, 400, "from"),
        ("nothing/", {}, 404, "address"),
    ],
)
def test_wrong_question_is_refused_at_its_field(
    world: World, question: str, query: dict[str, str], status: int, field: str
) -> None:
    lab = world.open(lanes=[{"model": "kafka", "partitions": 4}])
    world.run(1)
    ask(lab)
    write(LogWriter())
    answer = ask(lab, question, **query)
    assert (answer.status_code, list(answer.json()["fields"])) == (status, [field]), answer.content


def test_refusals_speak_the_visitor_s_language(lab: Lab) -> None:
    answer = Client().get(
        f"/api/labs/{lab.pk}/kafka/log/", {"segment_bytes": "1"}, headers={"Accept-Language": "zh-hans"}
    )
    assert answer.json()["fields"]["segment_bytes"] == ["必须是 4\u202f096 到 1\u202f048\u202f576 的整数"]
    unknown = Client().get("/api/logs/nobody/", headers={"Accept-Language": "zh-hans"})
    assert unknown.status_code == 404 and unknown.json()["fields"]["log"] == [
        "没有这个日志；上传的文件保留一天"
    ]


def test_offset_that_is_not_there_is_an_answer(lab: Lab) -> None:
    ask(lab)
    write(LogWriter())
    end = ask(lab).json()["end_offset"]
    assert [ask(lab, "lookup/", offset=end + more).json()["message"] for more in (0, 1)] == [
        "offset_at_end",
        "offset_beyond_end",
    ]


def test_lab_without_a_kafka_lane_and_no_lab_at_all(world: World) -> None:
    lab = world.open(lanes=[{"model": "pulsar"}])
    assert ask(lab).status_code == 404
    assert Client().get("/api/labs/nobody/kafka/log/").status_code == 404
    assert Client().post(f"/api/labs/{lab.pk}/kafka/log/").status_code == 405


def test_a_lane_that_was_switched_late_counts_from_there(lab: Lab) -> None:
    late_us = 300_000_000
    command = {
        "kind": "set_algorithm",
        "lane": "kafka",
        "args": {"algorithm": "sticky"},
        "consumer": None,
        "command_id": "late",
    }
    StoredCommand.objects.create(
        lab=lab, command_id="late", position=99, at_us=late_us, body=command, state="applied"
    )
    assert labs.asked_for(lab.pk, {}).first_record == 30_000 - SWITCH_RECORDS_MAX


def test_what_nobody_looks_at_is_closed_and_later_removed(lab: Lab, settings: Any) -> None:
    ask(lab)
    loop = LogWriter()
    write(loop)
    folder = folder_of(lab)
    long_ago = time.time() - settings.LAB_LOG_WATCHED_S - 1
    os.utime(folder / places.WATCHED, (long_ago, long_ago))
    loop.turn()
    assert (folder / ".kafka_cleanshutdown").exists()
    assert ask(lab).json()["end_offset"] > 0, "what was written is still there"
    older = time.time() - settings.LAB_LOG_KEEP_S - 1
    os.utime(folder / places.WATCHED, (older, older))
    loop._swept_s = 0.0
    loop.turn()
    assert not folder.exists() and not (places.labs_dir() / lab.pk).exists()


def test_folder_that_cannot_be_read_is_begun_anew(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "AGAIN_S", 0.0)
    ask(lab)
    write(LogWriter())
    folder = folder_of(lab)
    before = ask(lab).json()["end_offset"]
    (folder / places.STATE).write_text(json.dumps({"at_us": "no number", "boot": writer._boot()}))
    loop = LogWriter()
    loop.turn()
    write(loop)
    assert ask(lab).json()["end_offset"] == before


def test_folder_that_cannot_even_be_emptied_keeps_no_other_waiting(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = folder_of(lab, partition="1"), folder_of(lab, partition="2")
    ask(lab, partition=2)
    ask(lab, partition=1)  # looked at last, so written first
    real, empty = LogWriter._write, writer._empty

    def full(self: LogWriter, folder: Path) -> bool:
        if folder == broken:
            raise OSError(28, "No space left on device")
        return real(self, folder)

    def stuck(folder: Path) -> None:
        if folder == broken:
            raise PermissionError(folder)
        empty(folder)

    monkeypatch.setattr(LogWriter, "_write", full)
    monkeypatch.setattr(writer, "_empty", stuck)
    write(LogWriter())
    assert (sound / places.STATE).exists() and not (broken / places.STATE).exists()


def test_folder_from_before_the_machine_was_started_is_begun_anew(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(lab)
    loop = LogWriter()
    write(loop)
    loop._close(folder_of(lab))
    before = ask(lab).json()["end_offset"]
    log = next((folder_of(lab) / "flights-0").glob("*.log"))
    log.write_bytes(bytes(log.stat().st_size))  # what a power cut may leave of bytes that were never synced
    monkeypatch.setattr(writer, "_boot", lambda: "another start")
    write(LogWriter())
    assert ask(lab).json()["end_offset"] == before
    assert not ask(lab).json()["segments"][0]["damage"]


def test_only_one_loop_writes(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "IDLE_S", 0.0)
    first = LogWriter()
    assert first.run() is True
    places.labs_dir().mkdir(exist_ok=True)
    with writer._only_one(places.labs_dir() / labs.LOCK) as mine:
        assert mine and LogWriter().run() is False


def test_the_article_s_log_opens_for_everybody() -> None:
    folder = Client().get("/api/logs/article/").json()
    assert folder["folder"] == "nginx_access_log-1" and len(folder["segments"]) == 6 and not folder["reading"]
    assert folder["segments"][1]["index_entries"] == 228_537
    found = Client().get("/api/logs/article/lookup/", {"timestamp": 1570793423501, "rule": "document"}).json()
    assert found["found"] == 6506240
    assert Client().get("/api/logs/article/clean/").json() == {"log": None}
    assert places.logs_dir().joinpath("article", "nginx_access_log-1").is_dir()


def test_the_pages_open(lab: Lab) -> None:
    ask(lab)
    write(LogWriter())
    for path in (
        f"/lab/{lab.pk}/kafka/log",
        f"/lab/{lab.pk}/kafka/log?partition=3&topic=flights-latest",
        "/log/article/",
    ):
        for language in ("en", "zh-hans"):
            assert Client().get(path, headers={"Accept-Language": language}).status_code == 200, path
    assert Client().get(f"/lab/{lab.pk}/kafka/log?partition=99").status_code == 200
    for path in ("/lab/nobody/kafka/log", "/log/nobody/"):
        assert Client().get(path).status_code == 404


def test_the_page_s_address_may_end_in_a_slash() -> None:
    answer = Client().get("/lab/someone/kafka/log/", {"partition": "2"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/lab/someone/kafka/log?partition=2")
