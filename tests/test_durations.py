"""The table of what each folder of tests took."""

from types import SimpleNamespace

import pytest

from tests.durations import Folders, folder_of


@pytest.mark.parametrize(("file", "folder"), [
    ("tests/core/kafka/log/test_retention.py", "tests/core/kafka"),
    ("tests/core/test_rng.py", "tests/core"),
    ("tests/dashboard/test_api.py", "tests/dashboard"),
    ("tests/test_bench.py", "tests"),
])  # fmt: skip
def test_rooms_of_the_core_have_lines_of_their_own(file: str, folder: str) -> None:
    assert folder_of(f"{file}::test_a[b/c]") == folder


def test_phases_of_all_workers_are_added_up_and_the_dearest_folder_comes_first() -> None:
    folders, lines = Folders(), []
    for file, when, wall_s, cpu_s in [
        ("tests/core/lab/test_a.py", "setup", 1.0, 0.5),
        ("tests/core/lab/test_a.py", "call", 2.0, 1.5),
        ("tests/browser/test_b.py", "setup", 4.0, 0.25),
    ]:
        report = SimpleNamespace(nodeid=f"{file}::test", when=when, duration=wall_s, cpu_s=cpu_s)
        report.skipped = "browser" in file
        folders.pytest_runtest_logreport(report)
    folders.pytest_terminal_summary(SimpleNamespace(section=lines.append, line=lines.append))
    assert [line.split() for line in lines[2:5]] == [
        ["tests/browser", "1", "1", "4.0", "0.2"],
        ["tests/core/lab", "1", "0", "3.0", "2.0"],
        ["all", "2", "1", "7.0", "2.2"],
    ]
