"""Folders of the server as sources: what is in them, what is refused, and that no path leads out."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from dashboard.errors import Refused
from dashboard.studies.folders import folder_path
from dashboard.studies.sources import source_for_pipeline
from tests.dashboard.studies import call, start

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def run_dir(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_DIR = tmp_path
    return tmp_path


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    root = tmp_path / "data"
    (root / "orders").mkdir(parents=True)
    (root / "orders" / "may.csv").write_text("key\na\n")
    (root / "orders" / ".hidden").write_text("x")
    (tmp_path / "secret.csv").write_text("key\nsecret\n")
    (root / "orders" / "out.csv").symlink_to(tmp_path / "secret.csv")
    (root / "orders" / "loop").symlink_to(root / "orders" / "loop")
    (root / "orders" / "inside.csv").symlink_to(root / "orders" / "may.csv")
    settings.DATA_DIRS = [root]
    return root


def test_folders_show_what_lies_inside_and_nothing_else(data_dir: Path) -> None:
    assert call("GET", "/api/studies/folders/").json()["entries"] == [
        {"name": "data", "folder": True, "bytes": None}
    ]
    entries = call("GET", "/api/studies/folders/?name=data/orders").json()["entries"]
    assert [entry["name"] for entry in entries] == ["data/orders/inside.csv", "data/orders/may.csv"]


@pytest.mark.parametrize(
    "name",
    [
        "data/../secret.csv",
        "data/orders/../../secret.csv",
        "data/orders/out.csv",
        "data/orders/loop",
        "data//etc/passwd",
        "/etc/passwd",
        "..",
        ".",
        "",
        "other",
        "data/orders/may.csv\0",
        "data/nothing",
        "x" * 5_000,
        7,
        None,
    ],
)
def test_no_name_leads_out_of_the_folders(data_dir: Path, name: Any) -> None:
    answer = start(source={"kind": "folder", "name": name, "key": "key"})
    assert answer.status_code == 404 and list(answer.json()["fields"]) == ["source.name"]


def test_partitions_of_a_folder_are_its_files(data_dir: Path) -> None:
    (data_dir / "sales" / "country=DE").mkdir(parents=True)
    (data_dir / "sales" / "country=DE" / "part-0.csv").write_text("customer\nalice\n")
    assert call("GET", "/api/studies/folders/?name=data/sales").json()["kind"] == "csv"
    source = source_for_pipeline({"kind": "folder", "name": "data/sales", "key": "country"}, None)
    assert source["kind"] == "csv"


def test_folder_of_another_format_is_refused_by_name_in_the_readers_language(data_dir: Path) -> None:
    (data_dir / "old").mkdir()
    (data_dir / "old" / "a.avro").write_bytes(b"Obj\x01")
    for name, said in (("data/old", "a.avro 是 Avro 文件"), ("data/old/a.avro", "是 Avro 文件")):
        with translation.override("zh-hans"), pytest.raises(Refused) as refused:
            source_for_pipeline({"kind": "folder", "name": name, "key": "x"}, None)
        assert refused.value.fields["source.name"][0].startswith(said)


def test_path_of_a_folder_is_in_no_row_and_no_answer(data_dir: Path) -> None:
    answer = start(source={"kind": "folder", "name": "data/orders/may.csv", "key": "key"})
    assert answer.status_code == 201, answer.content
    source = answer.json()["request"]["source"]
    assert (source["kind"], source["name"], source["format"]) == ("folder", "data/orders/may.csv", "csv")
    assert os.fspath(data_dir) not in answer.content.decode()
    assert folder_path("data/orders/may.csv") == data_dir / "orders" / "may.csv"


@pytest.fixture
def log_dir(settings: Any, tmp_path: Path) -> Path:
    """A broker's log folder with its small text files, opened for logs; a table lies beside it by mistake."""
    root = tmp_path / "logs"
    for partition in ("orders-0", "orders-1", "payments-0"):
        (root / "kafka" / partition).mkdir(parents=True)
        (root / "kafka" / partition / f"{0:020}.log").write_bytes(b"")
    (root / "kafka" / "replication-offset-checkpoint").write_text("0\n0\n")
    (root / "table.csv").write_text("key\na\n")
    settings.LOG_DIRS = [root]
    return root


def test_log_folder_tells_its_topics_and_is_read_as_a_log(log_dir: Path) -> None:
    found = call("GET", "/api/studies/folders/?name=logs/kafka").json()
    assert found["topics"] == [{"topic": "orders", "partitions": 2}, {"topic": "payments", "partitions": 1}]
    assert [entry["name"] for entry in found["entries"]] == [
        f"logs/kafka/{name}" for name in ("orders-0", "orders-1", "payments-0")
    ]
    assert call("GET", "/api/studies/folders/?name=logs").json()["topics"] is None
    answer = start(source={"kind": "folder", "name": "logs/kafka", "topic": "orders"})
    assert answer.status_code == 201, answer.content
    assert (answer.json()["request"]["source"]["format"], answer.json()["request"]["source"]["topic"]) == (
        "kafka_log",
        "orders",
    )


def test_folder_that_was_opened_for_logs_gives_nothing_else(log_dir: Path, settings: Any) -> None:
    assert [entry["name"] for entry in call("GET", "/api/studies/folders/?name=logs").json()["entries"]] == [
        "logs/kafka"
    ]
    table = {"kind": "folder", "name": "logs/table.csv", "key": "key"}
    for source in (table, {**table, "format": "csv"}):
        answer = start(source=source)
        assert answer.status_code == 400 and list(answer.json()["fields"]) == ["source.name"]
    settings.DATA_DIRS = [log_dir]
    assert start(source=table).status_code == 201


def test_live_study_of_a_log_needs_no_strategies(log_dir: Path) -> None:
    answer = call(
        "POST",
        "/api/studies/",
        {"live": True, "source": {"kind": "folder", "name": "logs/kafka", "topic": "payments", "from_ms": 5}},
    )
    assert answer.status_code == 201 and answer.json()["live"], answer.content
    unknown = call(
        "POST",
        "/api/studies/",
        {"live": True, "source": {"kind": "folder", "name": "logs/kafka", "topic": "x"}},
    )
    assert unknown.status_code == 400 and list(unknown.json()["fields"]) == ["source.topic"]
