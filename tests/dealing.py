"""In which order tests begin, and which of them one worker of xdist gets together.

A file is dealt as a whole: what its tests share (a module's fixture, a life that is remembered) is made once, not once
in each worker, and there are 700 files to keep account of, not 17,000 tests. Benches are dealt one by one, as each
takes as long as a file. What takes long begins first, so that no worker is left with it at the end.
"""

from pathlib import PurePosixPath

import pytest
from xdist.scheduler import LoadGroupScheduling

BENCHES = "test_bench.py"
GROUPS = ("spark", "cluster", "site", "postgres")
"""What waits for processes of its own, longest first."""
LONG = ("tests/dashboard", "tests/core/lab", "tests/simulation", "tests/scenarios", "tests/pipeline")


class Files(LoadGroupScheduling):
    """Deals groups as they are marked, and else files, in the order in which they were collected."""

    def schedule(self) -> None:
        self.config.option.loadscopereorder = False
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return dealt_with(nodeid) if group == nodeid else group


def dealt_with(nodeid: str) -> str:
    """What a test without a group is dealt with.

    >>> dealt_with("tests/core/test_a.py::test_b[1]"), dealt_with("tests/test_bench.py::test_benches[ring]")
    ('tests/core/test_a.py', 'tests/test_bench.py::test_benches[ring]')
    """
    file = nodeid.split("::")[0]
    return nodeid if PurePosixPath(file).name == BENCHES else file


def place(item: pytest.Item) -> int:
    """Where a test stands in the order: the lower, the sooner it begins."""
    mark = item.get_closest_marker("xdist_group")
    group = mark.args[0] if mark else ""
    if group:
        return GROUPS.index(group) if group in GROUPS else len(GROUPS)
    if item.path.name == BENCHES:
        return len(GROUPS)
    return len(GROUPS) + (1 if item.nodeid.startswith(LONG) else 2)
