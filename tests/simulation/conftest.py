"""A life that fails says how to live it again."""

from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    seed = getattr(item, "callspec", None) and item.callspec.params.get("seed")  # type: ignore[attr-defined]
    if report.failed and seed is not None:
        report.sections.append(("to repeat it", repeat(item.nodeid, seed)))
    return report


def repeat(nodeid: str, seed: int) -> str:
    """The command that lives this life alone.

    >>> repeat("tests/simulation/test_seeds.py::test_life[7]", 7)
    'make seed SEED=7 TESTS=tests/simulation/test_seeds.py'
    """
    return f"make seed SEED={seed} TESTS={nodeid.split('::')[0]}"
