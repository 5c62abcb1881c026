"""No link leads out of a folder: not to a file, not to a folder, not relative, not through another, not one
that comes between look and open."""

import os
from pathlib import Path

import pytest

from broker_core.real_files import (
    file_names,
    files_below,
    open_file,
    open_folder,
    read_file,
    real_below,
    stat_file,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file of its own beside, and links of every kind to what is outside."""
    (tmp_path / "secret" / "deep").mkdir(parents=True)
    (tmp_path / "secret" / "s.csv").write_text("secret")
    (tmp_path / "secret" / "deep" / "s.csv").write_text("secret")
    root = tmp_path / "root"
    (root / "sub" / "subsub").mkdir(parents=True)
    (root / "a.csv").write_text("own a")
    (root / "sub" / "b.csv").write_text("own b")
    (root / "to-own.csv").symlink_to("sub/b.csv")
    (root / "sub" / "to-own-above.csv").symlink_to("../a.csv")
    (root / "file.csv").symlink_to(tmp_path / "secret" / "s.csv")
    (root / "sub" / "relative.csv").symlink_to("../../secret/s.csv")
    (root / "sub" / "subsub" / "nested.csv").symlink_to("../../../secret/deep/s.csv")
    (root / "folder").symlink_to(tmp_path / "secret")
    (root / "sub" / "relative-folder").symlink_to("../../secret/deep")
    (root / "chain.csv").symlink_to("file.csv")
    (root / "through.csv").symlink_to("folder/s.csv")
    (root / "dangling.csv").symlink_to(tmp_path / "nothing")
    (root / "round.csv").symlink_to("round.csv")
    (root / "up").symlink_to("..")
    (root / "self").symlink_to(".")
    (root / "proc.csv").symlink_to("/proc/self/environ")
    (root / "fd.csv").symlink_to("/dev/stdin")
    os.mkfifo(root / "pipe.csv")
    (tmp_path / "root-beside").mkdir()
    (tmp_path / "root-beside" / "s.csv").write_text("secret")
    (root / "same-beginning.csv").symlink_to(tmp_path / "root-beside" / "s.csv")
    return root


def test_what_is_below_is_found_and_nothing_else(root: Path) -> None:
    found = [str(path.relative_to(root)) for path in files_below(root)]
    assert found == ["a.csv", "sub/b.csv", "a.csv", "sub/b.csv"], "twice, for the two links that stay inside"
    assert all("secret" not in read_file(path).decode() for path in files_below(root))


def test_a_link_is_opened_in_no_part_of_a_path(root: Path) -> None:
    inside = {root / "a.csv", root / "sub" / "b.csv"}
    names = [
        Path(folder, name) for folder, _folders, names in os.walk(root, followlinks=False) for name in names
    ]
    through = [
        root / "folder" / "s.csv",
        root / "up" / "root" / "a.csv",
        root / "self" / "a.csv",
        root / "sub" / "relative-folder" / "s.csv",
    ]
    for path in [*names, *through]:
        if path in inside:
            assert read_file(path).startswith(b"own")
        else:
            with pytest.raises(OSError):
                open_file(path)


def test_folders_list_only_files_of_their_own(root: Path) -> None:
    assert file_names(root) == ["a.csv"] and file_names(root / "sub") == ["b.csv"]
    for path in (
        root / "folder",
        root / "self",
        root / "up",
        root / "sub" / "relative-folder",
        root / "a.csv",
    ):
        with pytest.raises(OSError):
            file_names(path)


def test_a_link_is_asked_about_and_not_its_target(root: Path) -> None:
    assert stat_file(root / "a.csv").st_size == 5
    assert stat_file(root / "file.csv").st_size == len(str((root / "file.csv").readlink()))
    with pytest.raises(OSError):
        stat_file(root / "folder" / "s.csv")


def test_what_becomes_a_link_between_look_and_open_is_an_error(root: Path) -> None:
    looked = files_below(root)
    (root / "a.csv").unlink()
    (root / "a.csv").symlink_to(root.parent / "secret" / "s.csv")
    (root / "sub").rename(root / "was")
    (root / "sub").symlink_to(root.parent / "secret")
    (root.parent / "secret" / "b.csv").write_text("secret")
    for path in looked:
        with pytest.raises(OSError):
            open_file(path)


def test_no_descriptor_stays_open(root: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in root.rglob("*"):
        try:
            open_file(path).close()
            os.close(open_folder(path))
        except OSError:
            continue
    file_names(root)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("name", ["a.csv", "to-own.csv", "sub/to-own-above.csv"])
def test_links_that_stay_inside_count_as_what_they_lead_to(root: Path, name: str) -> None:
    assert real_below(root / name, root) in {root / "a.csv", root / "sub" / "b.csv"}
