"""Files that people send: what they are, how large they may be, whose they are, and that nothing half
stays."""

import errno
import gzip
import io
import os
import struct
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from broker_core.pipeline.sources.kinds import sniff
from dashboard.access import token_hash
from dashboard.models import Study, Upload
from dashboard.studies import services, uploads

TOKEN = "a-program-of-these-tests"
CSV = b"tail_number,bytes\nN1,10\nN2,20\n"
JSONL = b'{"key": "a"}\n{"key": null}\n'


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"key": [b"a", None]}), out)
    return out.getvalue()


def segment() -> bytes:
    return struct.pack(">qiib", 0, 49, 0, 2).ljust(61, b"\0")


@pytest.mark.parametrize(
    ("name", "content", "kind", "stored"),
    [
        ("flights.csv", CSV, "csv", "data.csv"),
        ("flights", CSV, "csv", "data.csv"),
        ("flights.txt", "Schlüssel;Größe\nä;1\n".encode("latin-1"), "csv", "data.csv"),
        ("one.csv", b"key\n", "csv", "data.csv"),
        ("orders.jsonl", JSONL, "jsonl", "data.jsonl"),
        ("orders.csv", JSONL, "jsonl", "data.jsonl"),
        ("orders.json", b"\xef\xbb\xbf" + JSONL, "jsonl", "data.jsonl"),
        ("orders.ndjson", b"not json at all\n", "jsonl", "data.jsonl"),
        ("braces.csv", b"{a,b\n1,2\n", "csv", "data.csv"),
        ("x.bin", parquet(), "parquet", "data.parquet"),
        ("flights.csv.gz", gzip.compress(CSV), "csv", "data.csv.gz"),
        ("orders.gz", gzip.compress(JSONL), "jsonl", "data.jsonl.gz"),
        ("00000000000000000000.log", segment(), "kafka_log", "00000000000000000000.log"),
        ("mine.log", segment(), "kafka_log", "00000000000000000000.log"),
        ("app.log", b"2026-11-21 an ordinary log\n", "csv", "data.csv"),
        ("empty.csv", b"", None, None),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None, None),
        ("archive.gz", gzip.compress(parquet()), None, None),
        ("broken.csv.gz", b"\x1f\x8b\x08\x00broken", None, None),
        ("half.parquet", parquet()[:-4], None, None),
        ("half.csv", parquet()[:-4], None, None),
        ("junk.parquet", b"junk!", None, None),
        ("junk.parquet", b"\x93\x01j\nk", None, None),
        ("junk.parq", b"caf\xe9,1\nb,2\n", None, None),
        ("text.parquet", CSV, "csv", "data.csv"),
        ("cut.parquet", (b"\xc3\xa9" * 50 + b"\n") * 700, "csv", "data.csv"),
        ("keys.csv", b"k,v\na\0b,1\n", "csv", "data.csv"),
        ("keys.TXT", b"\0\xff;3\n", "csv", "data.csv"),
        ("keys.jsonl", b'{"k":"a\0"}\n', "jsonl", "data.jsonl"),
        ("keys", b"k,v\na\0b,1\nc,2\n", "csv", "data.csv"),
        ("keys.csv.gz", gzip.compress(b"k,v\na\0b,1\n"), "csv", "data.csv.gz"),
        ("uneven", b"k,v\na\0b,1\nc,2,3\n", None, None),
        ("segment.csv", segment(), None, None),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None, None),
    ],
    ids=lambda value: (
        value if isinstance(value, str) else "" if value is None else f"{len(value)} bytes"
    ),  # gzip puts the time into its bytes
)
def test_kind_of_a_file_is_told_by_its_content(
    tmp_path: Path, name: str, content: bytes, kind: str | None, stored: str | None
) -> None:
    path = tmp_path / "incoming"
    path.write_bytes(content)
    found = sniff(path, name)
    assert (found.kind if found else None, found.stored_name if found else None) == (kind, stored)


# -- by the API ----------------------------------------------------------------------------------------------

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def run_dir(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_DIR = tmp_path
    return tmp_path


def send(
    content: bytes = CSV,
    name: str = "flights.csv",
    field: str = "file",
    token: str | None = TOKEN,
    **headers: str,
) -> Any:
    given = {"Authorization": f"Bearer {token}"} if token else {}
    return Client().post(
        "/api/studies/uploads/", {field: SimpleUploadedFile(name, content)}, headers={**given, **headers}
    )


def nothing_is_left(run_dir: Path) -> bool:
    return not Upload.objects.exists() and not any((run_dir / "uploads").glob("*"))


def test_file_is_kept_for_its_owner_with_a_preview(run_dir: Path) -> None:
    answer = send()
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["name"], body["bytes"], body["kind"]) == ("flights.csv", len(CSV), "csv")
    assert [column["name"] for column in body["preview"]["columns"]] == ["tail_number", "bytes"]
    assert body["preview"]["rows"][0] == ["N1", "10"]
    assert (run_dir / "uploads" / body["upload"] / "data.csv").read_bytes() == CSV
    mine = Client().get("/api/studies/uploads/", headers={"Authorization": f"Bearer {TOKEN}"}).json()
    assert [entry["upload"] for entry in mine["uploads"]] == [body["upload"]]
    assert Client().get("/api/studies/uploads/").json()["uploads"] == []


def test_program_without_a_token_is_given_one() -> None:
    answer = send(token=None).json()
    assert Upload.objects.get(pk=answer["upload"]).owner_hash == token_hash(answer["owner_token"])


def test_somebody_elses_file_is_unknown() -> None:
    source = {"kind": "csv", "upload": send().json()["upload"], "key": "tail_number"}
    stranger = Client().post("/api/studies/preview/", {"source": source}, content_type="application/json")
    assert stranger.status_code == 404 and list(stranger.json()["fields"]) == ["source.upload"]


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "empty.csv", "is empty"),
        (b"\x89PNG\0", "x.png", "is not a CSV, JSON lines, Parquet or Kafka log segment file"),
        (b"junk!", "junk.parquet", "is not a CSV, JSON lines, Parquet or Kafka log segment file"),
        (
            b"Obj\x01" + bytes(90),
            "x.avro",
            "is an Avro file: write it as Parquet, or as JSON lines with avro-tools tojson",
        ),
        (b"k,v\ra,1\r", "x.csv", "line ends must be LF or CRLF"),
    ],
)
def test_file_that_no_source_reads_is_refused_and_not_kept(
    run_dir: Path, content: bytes, name: str, said: str
) -> None:
    answer = send(content, name)
    assert (answer.status_code, answer.json()) == (400, {"fields": {"file": [said]}})
    assert nothing_is_left(run_dir)


def test_file_above_the_limit_is_refused_before_it_is_read(run_dir: Path, settings: Any) -> None:
    settings.UPLOAD_BYTES_MAX = 1_000
    answer = send(b"k\n" + b"x" * 100_000)
    assert answer.status_code == 413 and list(answer.json()["fields"]) == ["file"]
    assert nothing_is_left(run_dir)


def test_file_just_above_the_limit_is_refused_while_it_comes(run_dir: Path, settings: Any) -> None:
    settings.UPLOAD_BYTES_MAX = 1_000
    assert send(b"k\n" + b"x" * 1_000).status_code == 413
    assert nothing_is_left(run_dir)
    assert send(b"k\n" + b"x" * 998).status_code == 201


def test_owners_quota_is_for_all_their_files(settings: Any) -> None:
    settings.UPLOADS_OWNER_MAX = 2
    assert [send().status_code for _ in range(3)] == [201, 201, 429]
    assert send(token="another-program-of-these").status_code == 201


def test_full_disk_is_told_and_leaves_nothing(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opening: Callable[..., Any] = Path.open

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(path: Path, *arguments: Any, **rest: Any) -> Any:
        return Full(str(path), "wb+") if path.suffix == ".part" else opening(path, *arguments, **rest)

    monkeypatch.setattr(Path, "open", full)
    answer = send()
    assert answer.status_code == 507 and list(answer.json()["fields"]) == ["file"]
    assert nothing_is_left(run_dir)


def test_disk_without_room_is_told_before_the_file_comes(run_dir: Path, settings: Any) -> None:
    settings.DISK_SPARE_BYTES = 2**60
    assert send().status_code == 507
    assert nothing_is_left(run_dir)


def test_wrong_bodies_are_told_at_their_field(run_dir: Path) -> None:
    client, headers = Client(), {"Authorization": f"Bearer {TOKEN}"}
    assert list(send(field="other").json()["fields"]) == ["file"]
    plain = client.post("/api/studies/uploads/", CSV, content_type="text/csv", headers=headers)
    assert plain.status_code == 415
    broken = client.post(
        "/api/studies/uploads/",
        b"not a form",
        content_type="multipart/form-data; boundary=x",
        headers=headers,
    )
    assert broken.status_code == 400 and list(broken.json()["fields"]) == ["file"]
    without = client.post(
        "/api/studies/uploads/", b"not a form", content_type="multipart/form-data", headers=headers
    )
    assert without.status_code == 400 and list(without.json()["fields"]) == ["body"]
    two = client.post(
        "/api/studies/uploads/",
        {"file": [SimpleUploadedFile("a.csv", CSV), SimpleUploadedFile("b.csv", CSV)]},
        headers=headers,
    )
    assert two.status_code == 400 and two.json() == {"fields": {"file": ["must be one file"]}}
    assert nothing_is_left(run_dir)
    short = client.post(
        "/api/studies/uploads/",
        {"file": SimpleUploadedFile("a.csv", CSV)},
        headers={"Authorization": "Bearer short"},
    )
    assert short.status_code == 401


def test_browsers_cookie_needs_its_csrf_token(run_dir: Path, settings: Any) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies[settings.VISITOR_COOKIE] = "v" * 40
    answer = browser.post("/api/studies/uploads/", {"file": SimpleUploadedFile("a.csv", CSV)})
    assert answer.status_code == 403 and list(answer.json()["fields"]) == ["csrf"]
    assert nothing_is_left(run_dir)
    browser.cookies["csrftoken"] = "a" * 32
    answer = browser.post(
        "/api/studies/uploads/", {"file": SimpleUploadedFile("a.csv", CSV)}, headers={"X-CSRFToken": "a" * 32}
    )
    assert answer.status_code == 201


def test_refusals_speak_chinese() -> None:
    answer = send(b"", "empty.csv", **{"Accept-Language": "zh-hans"})
    assert answer.json() == {"fields": {"file": ["是空文件"]}}


def test_names_are_only_shown() -> None:
    body = send(name="../../etc/pass\u202ewd\n.csv").json()
    stored = Upload.objects.get(pk=body["upload"])
    assert "/" not in stored.name and stored.name.isprintable() and stored.stored_name == "data.csv"


def test_files_expire_but_not_under_a_study_that_waits(run_dir: Path, settings: Any) -> None:
    old, needed, fresh = (send().json()["upload"] for _ in range(3))
    long_ago = timezone.now() - timedelta(seconds=settings.UPLOAD_KEEP_S + 1)
    Upload.objects.filter(pk__in=[old, needed]).update(used_at=long_ago)
    Study.objects.create(
        name="s", request={"source": {"kind": "csv", "upload": needed}}, owner_hash=token_hash(TOKEN)
    )
    orphan = run_dir / "uploads" / "orphan.part"
    orphan.write_bytes(b"x")
    os.utime(orphan, (0, 0))
    services.studies_tend(sweep=True)
    assert set(Upload.objects.values_list("pk", flat=True)) == {needed, fresh}
    assert {entry.name for entry in (run_dir / "uploads").iterdir()} == {needed, fresh}


def test_reading_a_file_leaves_no_part_behind(run_dir: Path) -> None:
    send()
    assert not list(uploads.uploads_dir().glob("*.part"))
