"""Where logs are: which folders of this machine may be looked at, what a look leaves behind, and files that
are whole or absent."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dashboard.logs import places
from dashboard.logs.places import REQUEST, STATE, WATCHED, server_folders, state_of, wish, write_json

SEGMENT = f"{0:020}.log"


def partition(path: Path, *names: str) -> Path:
    path.mkdir(parents=True)
    for name in names or (SEGMENT,):
        (path / name).write_text("")
    return path


def offered() -> list[str]:
    return [folder.name for folder in server_folders()]


# -- folders of this machine ---------------------------------------------------------------------------------


def test_nothing_is_offered_where_no_folder_was_named(settings: Any) -> None:
    settings.LOG_DIRS = []
    assert server_folders() == []


def test_partitions_are_offered_by_name_one_level_below_the_folder(settings: Any, tmp_path: Path) -> None:
    root = tmp_path / "kafka-logs"
    for name in ("orders-1", "orders-0", "deep/er/orders-2"):
        partition(root / name)
    partition(root / "notes", "readme.log", "123.log", "x.index")
    (root / "file").write_text("")
    settings.LOG_DIRS = [root]
    assert offered() == ["kafka-logs/orders-0", "kafka-logs/orders-1"]


def test_the_folder_of_one_partition_may_be_named_itself(settings: Any, tmp_path: Path) -> None:
    root = partition(tmp_path / "orders-7")
    settings.LOG_DIRS = [root]
    assert offered() == ["orders-7"]
    assert server_folders()[0].path == root


def test_a_link_is_not_followed_to_where_nobody_allowed(settings: Any, tmp_path: Path) -> None:
    secret = partition(tmp_path / "elsewhere" / "secret-0")
    root = tmp_path / "kafka-logs"
    root.mkdir()
    (root / "link-0").symlink_to(secret)
    partition(root / "orders-0", "other.txt")
    (root / "orders-0" / SEGMENT).symlink_to(secret / SEGMENT)
    settings.LOG_DIRS = [root]
    assert offered() == [], "neither a linked folder nor one whose only segment is a link"


def test_a_folder_that_is_gone_takes_nothing_from_the_others(settings: Any, tmp_path: Path) -> None:
    partition(tmp_path / "there" / "orders-0")
    settings.LOG_DIRS = [tmp_path / "gone", tmp_path / "there"]
    assert offered() == ["there/orders-0"]


def test_an_id_follows_from_the_path_and_tells_nothing_of_it(settings: Any, tmp_path: Path) -> None:
    for name in ("a/orders-0", "b/orders-0"):
        partition(tmp_path / name)
    settings.LOG_DIRS = [tmp_path / "a", tmp_path / "b"]
    first, second = (folder.log for folder in server_folders())
    assert first != second and [folder.log for folder in server_folders()] == [first, second]
    assert all(log.startswith("f-") and len(log) == 18 and "orders" not in log for log in (first, second))


def test_only_so_many_are_offered(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "FOLDERS_MAX", 3)
    for number in range(5):
        partition(tmp_path / "logs" / f"orders-{number}")
    settings.LOG_DIRS = [tmp_path / "logs"]
    assert offered() == ["logs/orders-0", "logs/orders-1", "logs/orders-2"]


# -- what a look leaves behind -------------------------------------------------------------------------------


def test_the_first_look_says_what_the_folder_is_and_each_renews_its_mark(tmp_path: Path) -> None:
    folder = tmp_path / "lab" / "kafka" / "digest"
    assert wish(folder, {"lab": "x", "partition": 1}) == folder
    os.utime(folder / WATCHED, (5, 5))
    described = (folder / REQUEST).stat().st_mtime_ns
    wish(folder, {"lab": "another"})
    assert json.loads((folder / REQUEST).read_text()) == {"lab": "x", "partition": 1}, (
        "what a folder is stays"
    )
    assert (folder / WATCHED).stat().st_mtime > 5 and (folder / REQUEST).stat().st_mtime_ns == described


@pytest.mark.parametrize("content", [None, "", "{", "\x00", '{"at_us": 5}'])
def test_a_state_that_cannot_be_read_is_as_one_that_is_not_there(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / STATE).write_text(content)
    assert state_of(tmp_path) == ({"at_us": 5} if content and "at_us" in content else {})


def test_a_file_is_replaced_in_one_step_and_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"a": 1})
    before = path.stat().st_ino
    write_json(path, {"a": "é"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "é"} and path.stat().st_ino != before
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


def test_a_value_that_is_no_json_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": {1, 2}})
    assert json.loads(path.read_text()) == {"a": 1} and [each.name for each in tmp_path.iterdir()] == [
        "state.json"
    ]
