"""Folders of this machine as sources and as logs, with links in them that lead out: nothing of the outside is
read, listed or counted."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

from broker_core.errors import CommandError
from broker_core.kafka.log.checkpoints import LEADER_EPOCH, REPLICATION
from broker_core.pipeline.live_windows import high_watermarks
from broker_core.pipeline.sources.files import Part, PartReader, head_of, source_files
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from broker_core.pipeline.sources.kafka_log_plan import map_file
from broker_core.pipeline.sources.parquet_rows import parquet_part, parquet_schema
from broker_core.pipeline.sources.rows import SourceFailed
from tests.dashboard.test_logs_opening import make_log

pytestmark = pytest.mark.django_db
SECRET = "the-secret-key"
SEGMENT = f"{0:020}.log"


def write(path: Path, kind: str, key: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "csv":
            path.write_text(f"key,n\n{key},1\n")
        case "jsonl":
            path.write_text(json.dumps({"key": key}) + "\n")
        case "parquet":
            pq.write_table(pa.table({"key": [key]}), path)


@pytest.fixture
def data(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIRS = [tmp_path / "data"]
    return tmp_path / "data"


def preview(name: str, **more: Any) -> Any:
    source = {"kind": "folder", "name": name, **more}
    return Client().post(
        "/api/studies/preview/", json.dumps({"source": source}), content_type="application/json"
    )


def link_out(folder: Path, secret: Path, ending: str) -> None:
    """Every kind of link to the secret file, before and after the folder's own by name."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"0-file.{ending}").symlink_to(secret)
    (folder / f"0-relative.{ending}").symlink_to(os.path.relpath(secret, folder))
    (folder / f"0-chain.{ending}").symlink_to(f"0-file.{ending}")
    (folder / "0-folder").symlink_to(secret.parent)
    (folder / "nested").mkdir()
    (folder / "nested" / f"0.{ending}").symlink_to(os.path.relpath(secret, folder / "nested"))
    (folder / "nested" / "out").symlink_to("../../..")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_folder_that_is_the_source_gives_only_its_own_files(data: Path, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "outside" / f"s.{kind}"
    write(secret, kind, SECRET)
    link_out(data / "orders", secret, kind)
    for name in ("data/orders", "data"):
        only_links = preview(name, format=kind)
        assert only_links.status_code == 400 and SECRET not in only_links.content.decode(), (
            "no file of its own"
        )
        assert SECRET not in preview(name).content.decode()
    write(data / "orders" / f"z-own.{kind}", kind, "own-key")
    for name in ("data/orders", "data"):
        answer = preview(name, format=kind)
        assert (
            answer.status_code == 200
            and "own-key" in answer.content.decode()
            and SECRET not in answer.content.decode()
        )
        assert answer.json()["bytes"] == (data / "orders" / f"z-own.{kind}").stat().st_size
    listed = Client().get("/api/studies/folders/?name=data/orders").json()["entries"]
    assert [entry["name"] for entry in listed] == ["data/orders/nested", f"data/orders/z-own.{kind}"]
    assert preview("data/orders").json()["kind"] == kind


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_file_that_becomes_a_link_before_it_is_opened_is_not_read(
    data: Path, tmp_path: Path, kind: str
) -> None:
    write(tmp_path / "outside" / f"s.{kind}", kind, SECRET)
    own = data / "orders" / f"own.{kind}"
    write(own, kind, "own-key")
    [file] = source_files(kind, data / "orders")
    own.unlink()
    own.symlink_to(tmp_path / "outside" / f"s.{kind}")
    with pytest.raises((SourceFailed, CommandError)):
        if kind == "parquet":
            parquet_schema(file)
        else:
            head_of(file, 100)
    with pytest.raises(SourceFailed):
        if kind == "parquet":
            list(parquet_part({"key": "key"}, Part(str(file), 0, 1)))
        else:
            list(PartReader(Part(str(file))).blocks())


def test_a_folder_that_becomes_a_link_before_its_files_are_opened_is_not_read(
    data: Path, tmp_path: Path
) -> None:
    write(tmp_path / "outside" / "own.csv", "csv", SECRET)
    write(data / "orders" / "own.csv", "csv", "own-key")
    [file] = source_files("csv", data / "orders")
    shutil.rmtree(data / "orders")
    (data / "orders").symlink_to(tmp_path / "outside")
    with pytest.raises(CommandError):
        head_of(file, 100)


@pytest.fixture
def logs(tmp_path: Path, settings: Any) -> Path:
    """A broker's folder whose second partition is all links, and a foreign log outside."""
    root = tmp_path / "kafka-logs"
    make_log(root / "orders-0")
    make_log(tmp_path / "outside" / "secret-0")
    (tmp_path / "outside" / "epochs").write_text(f"0\n1\n7 {SECRET}\n")
    (tmp_path / "outside" / "hw").write_text("0\n1\norders 0 4711\n")
    (root / "orders-1").mkdir()
    for file in (tmp_path / "outside" / "secret-0").iterdir():
        (root / "orders-1" / file.name).symlink_to(file)
    (root / "orders-2").symlink_to(tmp_path / "outside" / "secret-0")
    (root / "orders-0" / f"{9_999:020}.log").symlink_to(tmp_path / "outside" / "secret-0" / SEGMENT)
    (root / "orders-0" / LEADER_EPOCH).unlink(missing_ok=True)
    (root / "orders-0" / LEADER_EPOCH).symlink_to(tmp_path / "outside" / "epochs")
    (root / REPLICATION).unlink(missing_ok=True)
    (root / REPLICATION).symlink_to(tmp_path / "outside" / "hw")
    settings.LOG_DIRS = [root]
    return root


def test_links_are_no_segments_and_no_partitions_of_a_source(logs: Path) -> None:
    [partition] = partition_folders(logs)
    assert (partition.topic, partition.partition) == ("orders", 0)
    assert [base for base, _file in partition.segments if base == 9_999] == []
    with pytest.raises(CommandError):
        partition_folders(logs / "orders-1")
    listed = Client().get("/api/studies/folders/?name=kafka-logs").json()
    assert listed["topics"] == [{"topic": "orders", "partitions": 1}]
    assert high_watermarks(logs) == {}


def test_a_segment_or_an_index_that_becomes_a_link_is_not_read(logs: Path, tmp_path: Path) -> None:
    [partition] = partition_folders(logs)
    _base, file = partition.segments[0]
    file.unlink()
    file.symlink_to(tmp_path / "outside" / "secret-0" / SEGMENT)
    with pytest.raises(OSError):
        map_file(file)


def test_the_log_page_reads_none_of_them(logs: Path) -> None:
    [folder] = Client().get("/api/logs/").json()["folders"]
    assert folder["name"] == "kafka-logs/orders-0"
    found = Client().get(f"/api/logs/{folder['log']}/").json()
    own = [path for path in (logs / "orders-0").glob("*.log") if not path.is_symlink()]
    assert found["high_watermark"] is None and [row["bytes"] for row in found["partitions"]] == [
        sum(path.stat().st_size for path in own)
    ]
    for name in (LEADER_EPOCH, f"../{REPLICATION}"):
        answer = Client().get(f"/api/logs/{folder['log']}/file/?name={name}")
        assert answer.status_code == 404 and SECRET not in answer.content.decode()
    assert Client().get(f"/api/logs/{folder['log']}/batch/?segment=9999&position=0").status_code in (400, 404)


def test_the_folder_of_the_setting_may_be_a_link_itself(logs: Path, tmp_path: Path, settings: Any) -> None:
    (tmp_path / "var-log").symlink_to(logs)
    settings.LOG_DIRS = [tmp_path / "var-log"]
    [folder] = Client().get("/api/logs/").json()["folders"]
    assert folder["name"] == "var-log/orders-0"
    assert Client().get(f"/api/logs/{folder['log']}/").json()["segments"]
