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
from broker_core.lab.kafka_log.replica_bytes import EPOCH_MS
from dashboard.logs import labs, places, writer
from dashboard.logs.writer import LogWriter
from dashboard.models import Lab, StoredView
from tests.dashboard.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("run_dir")]


@pytest.fixture
def lab(world: World) -> Lab:
    """A lab that is 30 s old and rolls every 5 s."""
    lab = world.open(
        lanes=[{"model": "kafka", "partitions": 4, "segment_ms": 5_000}],
        workload={"rate": 100},
        consumers=4,
        consumer_rate=50,
    )
    world.run(30)
    return lab


def ask(lab: Lab, question: str = "", **query: Any) -> Any:
    return Client().get(f"/api/labs/{lab.pk}/kafka/log/{question}", query)


def look(world: World, lab: Lab, loop: LogWriter | None = None, **query: Any) -> Any:
    """Ask, let the shard tell and the loop write, and ask again."""
    ask(lab, **query)
    world.run(2.5)
    (loop or LogWriter()).turn()
    return ask(lab, **query).json()


def folder_of(lab: Lab, **query: str) -> Path:
    return labs.place(lab.pk, query).folder


def test_asking_makes_the_worker_write_what_the_leader_has(world: World, lab: Lab) -> None:
    first = ask(lab, partition=2).json()
    assert first["segments"] == [] and first["settings_shown"] == ["index_interval_bytes"]
    folder = look(world, lab, partition=2)
    assert folder["folder"] == "flights-2" and folder["replica"]["role"] == "leads"
    assert folder["behind_us"] <= 2_500_000
    live = [segment for segment in folder["segments"] if segment["state"] != "deleted"]
    assert len(live) > 3 and [segment["active"] for segment in live][-2:] == [False, True]
    assert folder["end_offset"] == live[-1]["next_offset"] and folder["start_offset"] > 0
    assert folder["bytes"] == sum(segment["bytes"] for segment in live)
    assert any(segment["index_entries"] > 1 for segment in live), "there is an index to search"
    assert {row["partition"] for row in folder["partitions"]} <= {0, 1, 2, 3}
    view = StoredView.objects.get(pk=lab.pk)
    assert f'"committed":{folder["committed"]}' in view.text
    disk = folder_of(lab, partition="2")
    disk = disk / str(places.state_of(disk)["generation"]) / "flights-2"
    rows = [row for row in dump_path(disk) if row.kind == "batch"]
    assert sum(segment["batches"] for segment in live) == len(rows)
    assert not [row for row in dump_path(disk, deep=True) if row.kind == "problem"]


def test_segments_that_roll_and_go_while_somebody_looks_are_reported(world: World, lab: Lab) -> None:
    loop = LogWriter()
    look(world, lab, loop, partition=2)
    for _ in range(4):
        folder = look(world, lab, loop, partition=2)
    told = [(event["kind"], event["reason"]) for event in folder["turning"]]
    assert ("rolled", "time") in told and ("deleted", "start_offset") in told
    gone = [segment for segment in folder["segments"] if segment["state"] == "deleted"]
    assert gone and 0 < gone[0]["deletes_in_ms"] <= 20_000
    assert gone[-1]["next_offset"] <= folder["start_offset"] <= folder["committed"], "all of it was read"


def test_the_index_s_density_makes_another_folder(world: World, lab: Lab) -> None:
    loop = LogWriter()
    ask(lab)
    dense = look(world, lab, loop, index_interval_bytes=0)
    usual = ask(lab).json()
    assert dense["end_offset"] == usual["end_offset"] and dense["settings"]["index_interval_bytes"] == 0
    entries = [sum(each["index_entries"] for each in folder["segments"]) for folder in (dense, usual)]
    assert entries[0] > 2 * entries[1] > 0


def test_every_question_about_a_lab_s_log(world: World, lab: Lab) -> None:
    folder = look(world, lab)
    offset = folder["end_offset"] - 3
    found = ask(lab, "lookup/", offset=offset).json()
    assert found["found"] == offset and [step["step"] for step in found["steps"]] == [
        "segment",
        "index",
        "scan",
    ]
    batch = ask(lab, "batch/", segment=found["batch"]["segment"], position=found["batch"]["position"]).json()
    assert batch == found["batch"]
    timed = ask(lab, "lookup/", timestamp=EPOCH_MS + 28_000).json()
    record = next(record for record in timed["batch"]["records"] if record["offset"] == timed["found"])
    assert record["timestamp"] >= EPOCH_MS + 28_000
    segment = folder["segments"][-1]
    stretch = ask(lab, "segment/", base=segment["base_offset"]).json()
    assert (
        len(stretch["batches"]) == segment["batches"] and len(stretch["entries"]) == segment["index_entries"]
    )
    assert ask(lab, "clean/").json() == {"log": None, "reason": "preparing"}
    messages = [ask(lab, "lookup/", offset=folder["end_offset"] + more).json()["message"] for more in (0, 1)]
    assert messages == ["offset_at_end", "offset_beyond_end"]


@pytest.mark.parametrize(
    ("question", "query", "status", "field"),
    [
        ("", {"partition": "4"}, 400, "partition"),
        ("", {"partition": "-1"}, 400, "partition"),
        ("", {"partition": "two"}, 400, "partition"),
        ("", {"topic": "orders"}, 400, "topic"),
        ("", {"topic": "../../etc"}, 400, "topic"),
        ("", {"lane": "pulsar"}, 404, "lane"),
        ("", {"index_interval_bytes": "-1"}, 400, "index_interval_bytes"),
        ("", {"index_interval_bytes": "lots"}, 400, "index_interval_bytes"),
        ("", {"file_delete_delay_ms": "99999999"}, 400, "file_delete_delay_ms"),
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
    look(world, lab)
    answer = ask(lab, question, **query)
    assert (answer.status_code, list(answer.json()["fields"])) == (status, [field]), answer.content


def test_refusals_speak_the_visitor_s_language(lab: Lab) -> None:
    answer = Client().get(
        f"/api/labs/{lab.pk}/kafka/log/",
        {"index_interval_bytes": "-1"},
        headers={"Accept-Language": "zh-hans"},
    )
    assert answer.json()["fields"]["index_interval_bytes"] == ["必须是 0 到 1\u202f048\u202f576 的整数"]
    unknown = Client().get("/api/logs/nobody/", headers={"Accept-Language": "zh-hans"})
    assert unknown.status_code == 404 and unknown.json()["fields"]["log"] == [
        "没有这个日志；上传的文件保留一天"
    ]


def test_lab_without_a_kafka_lane_and_no_lab_at_all(world: World) -> None:
    lab = world.open(lanes=[{"model": "pulsar"}])
    assert ask(lab).status_code == 404
    assert Client().get("/api/labs/nobody/kafka/log/").status_code == 404
    assert Client().post(f"/api/labs/{lab.pk}/kafka/log/").status_code == 405


def test_before_the_lane_has_begun_its_log_is_being_prepared(world: World) -> None:
    lab = world.open(lanes=[{"model": "kafka"}])
    StoredView.objects.filter(pk=lab.pk).delete()
    answer = ask(lab)
    assert (answer.status_code, list(answer.json()["fields"])) == (503, ["log"])
    assert Client().get(f"/lab/{lab.pk}/kafka/log").status_code == 503


def test_the_page_of_a_lab_that_stopped_before_it_told_of_its_log_leads_to_its_stage(lab: Lab) -> None:
    Lab.objects.filter(pk=lab.pk).update(status=Lab.Status.FAILED, failed_reason="a broken law")
    answer = Client().get(f"/lab/{lab.pk}/kafka/log")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/lab/{lab.pk}/")
    assert ask(lab).status_code == 409


def test_what_nobody_looks_at_is_closed_and_later_removed(world: World, lab: Lab, settings: Any) -> None:
    loop = LogWriter()
    look(world, lab, loop)
    folder = folder_of(lab)
    long_ago = time.time() - settings.LAB_LOG_WATCHED_S - 1
    os.utime(folder / places.WATCHED, (long_ago, long_ago))
    loop.turn()
    assert not loop._open
    assert ask(lab).json()["end_offset"] > 0, "what was written is still there"
    older = time.time() - settings.LAB_LOG_KEEP_S - 1
    os.utime(folder / places.WATCHED, (older, older))
    loop._swept_s = 0.0
    loop.turn()
    assert not folder.exists() and not (places.labs_dir() / lab.pk).exists()


def test_a_folder_that_cannot_be_written_is_begun_again(
    world: World, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "AGAIN_S", 0.0)
    before = look(world, lab)["end_offset"]
    folder = folder_of(lab)
    told = (folder / places.REPLICA).read_text()
    (folder / places.REPLICA).write_text(json.dumps({"at_us": "no number"}))
    loop = LogWriter()
    loop.turn()
    assert not (folder / places.STATE).exists()
    (folder / places.REPLICA).write_text(told)
    loop.turn()
    assert ask(lab).json()["end_offset"] == before


def test_folder_that_cannot_even_be_emptied_keeps_no_other_waiting(
    world: World, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = folder_of(lab, partition="1"), folder_of(lab, partition="2")
    ask(lab, partition=2)
    ask(lab, partition=1)  # looked at last, so written first
    world.run(2.5)
    real, empty = LogWriter._write, writer._empty

    def full(self: LogWriter, folder: Path) -> None:
        if folder == broken:
            raise OSError(28, "No space left on device")
        real(self, folder)

    def stuck(folder: Path) -> None:
        if folder == broken:
            raise PermissionError(folder)
        empty(folder)

    monkeypatch.setattr(LogWriter, "_write", full)
    monkeypatch.setattr(writer, "_empty", stuck)
    LogWriter().turn()
    assert (sound / places.STATE).exists() and not (broken / places.STATE).exists()


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


def test_the_pages_open(world: World, lab: Lab) -> None:
    look(world, lab)
    for path in (
        f"/lab/{lab.pk}/kafka/log",
        f"/lab/{lab.pk}/kafka/log?topic=__consumer_offsets",
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
