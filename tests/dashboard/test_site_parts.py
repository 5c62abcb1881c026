"""Small parts that the site stands on: which address is whose, ids, vendored files, health part by part,
modules run on the server."""

import asyncio
import re
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import quickjs
from django.urls import Resolver404, resolve, reverse

from dashboard import page_modules
from dashboard.finders import VENDORED, PackageFinder
from dashboard.labs.transport import Beat
from dashboard.models import lab_id_new
from dashboard.routing import websocket_urlpatterns
from dashboard.views import health

# -- addresses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/lab/abc_-9/", "lab"),
        ("/lab/abc/kafka/log", "log"),
        ("/analyze/compare/", "analyze-compare"),
        ("/analyze/compared/", "study"),
        ("/learn/play/", "learn-play"),
        ("/learn/kafka_eager_join.toml", "learn-file"),
        ("/log/article/", "log-opened"),
        ("/api/labs/abc/commands/lab:open/", "api-command"),
    ],
)
def test_an_address_leads_to_its_page(path: str, name: str) -> None:
    assert resolve(path).url_name == name


@pytest.mark.parametrize(
    "path",
    [
        "/lab/",
        "/lab/a b/",
        "/lab/a%2e/",
        "/lab/" + "a" * 33 + "/",
        "/lab/../",
        "/learn/../x.toml",
        "/learn/a.b.toml",
        "/x",
    ],
)
def test_what_no_id_can_look_like_is_no_address(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(path)


def test_every_id_that_we_make_is_an_address() -> None:
    ids = {lab_id_new() for _time in range(200)}
    assert len(ids) == 200 and {len(lab_id) for lab_id in ids} == {12}
    assert all(resolve(reverse("lab", args=[lab_id])).kwargs == {"lab_id": lab_id} for lab_id in ids)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("ws/labs/abc_-/", 0),
        ("ws/studies/abc/", 1),
        ("ws/rooms/VJPPEC/", 2),
        ("ws/labs/abc", 3),
        ("ws/labs/a.b/", 3),
        ("ws/labs/" + "a" * 33 + "/", 3),
        ("", 3),
        ("ws/logs/x/", 3),
    ],
)
def test_a_websocket_is_a_labs_a_studys_a_rooms_or_none(path: str, place: int) -> None:
    first = next(
        number for number, pattern in enumerate(websocket_urlpatterns) if pattern.pattern.match(path)
    )
    assert first == place


# -- vendored files ------------------------------------------------------------------------------------------


def test_a_vendored_file_is_found_at_its_address_and_collected_to_it() -> None:
    finder = PackageFinder()
    for address in VENDORED:
        assert Path(finder.find(address)).is_file() and finder.find(address, find_all=True) == [
            finder.find(address)
        ]
        assert finder.find(address.rpartition("/")[2]) == [] == finder.find("vendor/other.js", find_all=True)
    collected = {f"{storage.prefix}/{name}": storage.path(name) for name, storage in finder.list(None)}  # type: ignore[attr-defined]
    assert collected == {address: finder.find(address) for address in VENDORED}


# -- health --------------------------------------------------------------------------------------------------


async def test_a_part_that_fails_or_hangs_is_told_without_the_others_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a secret of the server")

    failed, fine = await asyncio.gather(health._part(broken), health._part(lambda: {"more": 1}))
    assert (failed["ok"], failed["error"]) == (False, "ZeroDivisionError"), (
        "the kind and nothing of what it says"
    )
    assert (fine["ok"], fine["more"]) == (True, 1) and fine["latency_ms"] >= 0
    monkeypatch.setattr(health, "PART_WAIT_S", 0)
    released = threading.Event()
    try:
        hung = await health._part(released.wait)
    finally:
        released.set()
    assert (hung["ok"], hung["error"]) == (False, "no answer")


@pytest.mark.parametrize(
    ("ages_s", "expected"),
    [
        ([0.5, 1.25], {"ok": True, "latency_ms": 1250, "shards": {"0": 500, "1": 1250}}),
        ([None, 0.5], {"ok": False, "latency_ms": 500, "shards": {"0": None, "1": 500}}),
        ([None, None], {"ok": False, "latency_ms": None, "shards": {"0": None, "1": None}}),
    ],
)
def test_the_workers_are_well_when_every_shard_gives_a_sign(
    monkeypatch: pytest.MonkeyPatch, settings: Any, ages_s: Any, expected: Any
) -> None:
    settings.LAB_SHARDS = 2
    beats = [None if age_s is None else Beat(age_s, "") for age_s in ages_s]
    monkeypatch.setattr(
        health, "transport", lambda: SimpleNamespace(beats=lambda shards: [beats[shard] for shard in shards])
    )
    assert health._workers() == expected


@pytest.mark.parametrize(
    ("beat", "expected"),
    [(Beat(0.25, ""), {"ok": True, "latency_ms": 250}), (None, {"ok": False, "latency_ms": None})],
)
def test_the_worker_of_open_labs_is_well_when_its_shard_gives_a_sign(
    monkeypatch: pytest.MonkeyPatch, settings: Any, beat: Beat | None, expected: Any
) -> None:
    signs = {settings.WIRE_SHARD: beat}
    beats = SimpleNamespace(beats=lambda shards: [signs[shard] for shard in shards])
    monkeypatch.setattr(health, "transport", lambda: beats)
    assert health._clients() == expected


@pytest.mark.parametrize(
    ("age_s", "is_ok", "latency_ms"),
    [(None, False, None), (4.9, True, 4900), (5.0, False, 5000), (12.3456, False, 12346)],
)
def test_a_worker_beside_is_silent_after_a_while(
    monkeypatch: Any, age_s: float | None, is_ok: bool, latency_ms: int | None
) -> None:
    monkeypatch.setattr(health, "transport", lambda: SimpleNamespace(worker_age_s={"past.here": age_s}.get))
    assert health._worker("past.here") == {"ok": is_ok, "latency_ms": latency_ms}


# -- the page's modules on the server ------------------------------------------------------------------------


@pytest.fixture
def modules(settings: Any, tmp_path: Path) -> Path:
    """An empty folder of modules; what is written there is run as the server runs the page's."""
    settings.BASE_DIR = tmp_path
    folder = tmp_path / "static" / "js"
    folder.mkdir(parents=True)
    return folder


def run(module: str, call: str) -> Any:
    return quickjs.Context().eval(page_modules.bundled([module]) + f'modules["{module}"].{call}')


def test_modules_are_written_after_those_they_import_and_each_once(modules: Path) -> None:
    for folder in ("base", "stage"):
        (modules / folder).mkdir()
    (modules / "base" / "count.js").write_text("let made = 0;\nexport const next = () => ++made;\n")
    (modules / "stage" / "left.js").write_text(
        'import { next } from "../base/count.js";\nexport function left() { return next(); }\n'
    )
    (modules / "stage" / "top.js").write_text(
        'import { left } from "./left.js";\nimport {\n  next,\n} from "../base/count.js";\n'
        "export const sum = () => left() * 10 + next();\n"
    )
    written: dict[str, page_modules.Written] = {}
    page_modules.write("stage/top", written)
    assert list(written) == ["base/count", "stage/left", "stage/top"]
    assert run("stage/top", "sum()") == 12, "one counter for both"


def test_what_a_module_keeps_to_itself_is_not_the_others(modules: Path) -> None:
    (modules / "own.js").write_text(
        "const secret = 1;\nfunction hidden() { return secret; }\nexport const shown = () => hidden() + "
        "secret;\n"
    )
    assert run("own", "shown()") == 2 and run("own", "hidden") is None
    with pytest.raises(FileNotFoundError):
        page_modules.bundled(["never"])


def test_constants_of_one_line_and_a_packed_librarys_names_are_exported(modules: Path) -> None:
    (modules / "sizes.js").write_text('export const WIDTH = 280, HEIGHT = 20 + 1, NAME = "a";\n')
    (modules / "packed.js").write_text("var f=()=>7,g=1;export{f as seven,g};\n")
    (modules / "top.js").write_text(
        'import * as sizes from "./sizes.js";\nimport { seven as counted } from "./packed.js";\n'
        "export const sum = () => sizes.WIDTH + sizes.HEIGHT + counted();\n"
    )
    assert run("top", "sum()") == 280 + 21 + 7


def test_a_name_that_no_module_exports_is_refused(modules: Path) -> None:
    (modules / "one.js").write_text("const hidden = 1;\nexport const shown = hidden;\n")
    (modules / "top.js").write_text('import { shown, hidden } from "./one.js";\n')
    with pytest.raises(ValueError, match="imports \\['hidden'\\] of one"):
        page_modules.bundled(["top"])


@pytest.mark.parametrize("page", ["stage", "cluster", "groups", "pulsar", "tubemq", "rabbitmq"])
def test_every_page_of_a_capsule_is_bundled_whole(page: str) -> None:
    text = page_modules.bundled(["player/start", f"{page}/page"])
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    assert text.index('modules["player/start"]') < text.index(f'modules["{page}/page"] =')
