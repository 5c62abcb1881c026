"""What people send or point at is read in a process with limits: whatever is in it, the web process keeps its
memory and its time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from broker_core.errors import CommandError
from dashboard.errors import Refused
from dashboard.models import Upload
from dashboard.studies import reader as readers
from dashboard.studies.reader import Reader, reader

pytestmark = pytest.mark.django_db
TOKEN = "t" * 32
LONG_BYTES = 100_000_000
WEB_MAY_GROW_BYTES = 40 << 20


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.RUN_DIR = tmp_path / "run"
    settings.RUN_DIR.mkdir()
    settings.DATA_DIRS = [tmp_path / "data"]
    (tmp_path / "data").mkdir()
    reader.ask("preview", "source", spec={"kind": "uniform", "keys": 3, "records": 3})  # it has begun
    return tmp_path / "data"


def preview(**source: Any) -> Any:
    return Client().post(
        "/api/studies/preview/",
        json.dumps({"source": source}),
        content_type="application/json",
        headers={"authorization": f"Bearer {TOKEN}"},
    )


def grown_bytes(act: Callable[[], Any]) -> tuple[Any, int]:
    """(what it gives, by how much this process grew meanwhile). Its peak is forgotten first: a test before this one
    may have needed more."""
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_bytes()
    return act(), peak_bytes() - before


def peak_bytes() -> int:
    (peak,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return int(peak.split()[1]) * 1024


def long_line(path: Path, start: bytes, fill: bytes, end: bytes) -> None:
    with path.open("wb") as file:
        file.write(start)
        for _block in range(LONG_BYTES // 1_000_000):
            file.write(fill * (1_000_000 // len(fill)))
        file.write(end)


PACK = """
import sys
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
copies, size = int(sys.argv[1]), 475_000_000 // int(sys.argv[1])
ends = pa.py_buffer(np.arange(copies + 1, dtype=np.int64) * size)
column = pa.LargeStringArray.from_buffers(copies, ends, pa.py_buffer(b"a" * (copies * size)))
options = {"use_dictionary": copies > 1, "write_statistics": False}
pq.write_table(pa.table({"k": column}), sys.stdout.buffer, compression="zstd", **options)
"""


@cache
def bomb(copies: int) -> bytes:
    """A Parquet file of some kilobytes that unpacks to 475 MB. Packed in a process of its own: it takes more than
    a gigabyte, which pyarrow keeps."""
    return subprocess.run(
        [sys.executable, "-c", PACK, str(copies)], stdout=subprocess.PIPE, check=True
    ).stdout


LONG = {
    "one.csv": (b"", b"x", b""),
    "header.csv": (b"k,v\na,", b"x", b"\n"),
    "quoted.csv": (b'k,v\n"', b"x\n", b'",1\n'),
    "fields.csv": (b"", b"k,", b"\n"),
    "fields_below.csv": (b"k,v\n", b"1,", b"\n"),
    "one.jsonl": (b'{"k":"', b"x", b'"}\n'),
    "fields.jsonl": (b'{"k":1', b',"v":"1"', b"}\n"),
    "nested.jsonl": (b'{"k":', b"[", b"\n"),
    "breaks.csv": (b"k\n", b"\n", b""),
}


@pytest.mark.parametrize("name", LONG)
def test_a_line_of_100_mb_costs_the_web_process_nothing(folder: Path, name: str) -> None:
    long_line(folder / name, *LONG[name])
    began_s = time.monotonic()
    answer, grown = grown_bytes(lambda: preview(kind="folder", name=f"data/{name}"))
    assert time.monotonic() - began_s < 30 and grown < WEB_MAY_GROW_BYTES
    assert answer.status_code in (200, 400) and len(answer.content) < 2_000_000
    if answer.status_code == 400:
        ((field, [text]),) = answer.json()["fields"].items()
        assert field == "source.path" and text
    assert preview(kind="uniform", keys=3, records=3).status_code == 200, "the next one is served"


@pytest.mark.parametrize("copies", [1, 20])
def test_a_parquet_file_that_unpacks_to_475_mb_is_refused_at_its_field(folder: Path, copies: int) -> None:
    (folder / "bomb.parquet").write_bytes(bomb(copies))
    answer, grown = grown_bytes(lambda: preview(kind="folder", name="data/bomb.parquet"))
    assert grown < WEB_MAY_GROW_BYTES
    assert (answer.status_code, answer.json()["fields"]) == (400, {"source.path": [readers.TOO_MUCH]})


def test_an_upload_of_it_is_refused_at_the_file_and_not_kept(folder: Path, tmp_path: Path) -> None:
    content = bomb(1)

    def send() -> Any:
        return Client(headers={"accept-language": "zh-hans"}).post(
            "/api/studies/uploads/", {"file": SimpleUploadedFile("b.parquet", content)}
        )

    answer, grown = grown_bytes(send)
    assert answer.status_code == 400 and answer.json()["fields"]["file"][0].startswith("读取耗时过长")
    assert grown < WEB_MAY_GROW_BYTES and not Upload.objects.exists()


def test_a_study_of_it_is_checked_aside_too(folder: Path) -> None:
    long_line(folder / "one.csv", b"", b"x", b"")
    request = {
        "source": {"kind": "folder", "name": "data/one.csv", "key": "k"},
        "strategies": ["kafka.range"],
    }
    answer, grown = grown_bytes(
        lambda: Client().post("/api/studies/", json.dumps(request), content_type="application/json")
    )
    assert answer.status_code == 400 and grown < WEB_MAY_GROW_BYTES
    assert "longer than" in json.dumps(answer.json()["fields"])


SLOW = """
from dashboard.studies import reader_child as child
child.CPU_S = 1
child.warm = lambda: None
def preview(spec, rows=20):
    while spec["kind"] == "endless":
        pass
    return {"rows": [[spec["kind"]]]}
child.CALLS["preview"] = preview
child.main()
"""


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader of its own, whose child has one second and may be asked for something endless."""
    monkeypatch.setattr(readers, "COMMAND", (sys.executable, "-c", SLOW))
    own = Reader()
    assert own.ask("preview", "source", spec={"kind": "begun"})
    yield own
    own._end()


def test_what_takes_too_long_ends_and_another_is_served_meanwhile(slow: Reader) -> None:
    with ThreadPoolExecutor() as pool:
        stuck = pool.submit(slow.ask, "preview", "source.path", spec={"kind": "endless"})
        assert slow.ask("preview", "source", spec={"kind": "quick"}) == {"rows": [["quick"]]}
        assert not stuck.done()
        with pytest.raises(CommandError) as refused:
            stuck.result(30)
    assert str(refused.value) == f"source.path: {readers.TOO_MUCH}"


def test_a_third_is_told_to_come_again(slow: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "WAIT_S", 0.1)
    with ThreadPoolExecutor() as pool:
        stuck = [
            pool.submit(slow.ask, "preview", "source.path", spec={"kind": "endless"})
            for _place in range(readers.READERS_MAX)
        ]
        time.sleep(0.3)
        with pytest.raises(Refused) as refused:
            slow.ask("preview", "source", spec={"kind": "quick"})
        assert (refused.value.status, refused.value.again_s) == (503, 5)
        for one in stuck:
            assert isinstance(one.exception(30), CommandError)
    assert slow.ask("preview", "source", spec={"kind": "quick"})


def test_a_machine_that_does_not_answer_holds_nobody_for_ever(
    slow: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "ANSWER_S", 0.5)
    assert slow._child is not None
    os.kill(slow._child.pid, signal.SIGSTOP)
    with pytest.raises(Refused, match="try again"):
        slow.ask("preview", "source", spec={"kind": "quick"})
    os.kill(slow._child.pid, signal.SIGCONT)


def test_previews_of_generated_data_have_an_end(folder: Path) -> None:
    """The dearest that the limits allow: within the time, or the sentence."""
    for source in (
        {"kind": "zipf", "keys": 10**6, "exponent": 4, "records": 10**9},
        {"kind": "uniform", "keys": 10**9, "records": 10**10},
        {"kind": "flights", "records": 10**9, "rate": 5_000},
    ):
        began_s = time.monotonic()
        answer, grown = grown_bytes(lambda source=source: preview(**source))
        assert (
            answer.status_code in (200, 400)
            and time.monotonic() - began_s < 30
            and grown < WEB_MAY_GROW_BYTES
        ), source


def test_refusals_keep_their_names_and_numbers_in_the_readers_language(folder: Path) -> None:
    (folder / "a.csv").write_text("k,v\na,1\n")
    request = {
        "source": {"kind": "folder", "name": "data/a.csv", "key": "nope"},
        "strategies": ["kafka.range"],
    }
    answers = [
        Client(headers={"accept-language": language}).post(
            "/api/studies/", json.dumps(request), content_type="application/json"
        )
        for language in ("en", "zh-hans")
    ]
    texts = [next(iter(answer.json()["fields"].values()))[0] for answer in answers]
    assert "k, v" in texts[0] and ("k、v" in texts[1] or "k，v" in texts[1]), texts


def test_the_child_is_started_again_when_it_is_gone(folder: Path) -> None:
    assert reader._child is not None
    reader._child.kill()
    reader._child.wait()
    assert preview(kind="uniform", keys=3, records=3).status_code == 200
