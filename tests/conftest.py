"""What all tests share: the settings they run under, in their own run folder, and the messages as the tree
has them."""

import gc
import os
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest
from _pytest.nodeid import coerce_node_id

from mqsite.keeper import ROOT
from mqsite.messages import compile_messages
from tests.dealing import Files, place
from tests.durations import Folders

CORE = ROOT / "tests" / "core"
STORIES = ROOT / "tests" / "browser"
SHARED = ("spark", "site", "postgres")
"""Fixtures that take seconds to make: all who ask for one share it, in one worker of xdist."""
GENERATIONS = (50_000, 20, 4)
"""When garbage is looked for: a lab of a test is some 100,000 objects that all live as long as the test."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.test")

# A law holds however busy the machine is: no example has a deadline. `make test` tries the same examples each
# time, so what is green here is green anywhere; `make simulate` looks for new ones.
hypothesis.settings.register_profile("same", deadline=None, derandomize=True)
hypothesis.settings.register_profile("new", deadline=None)
hypothesis.settings.load_profile("new" if os.environ.get("HIGHWATER_NEW_EXAMPLES") else "same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--folders", action="store_true", help="say at the end what each folder of tests took")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the catalogues, once, before any worker of xdist starts: they are not in the repository."""
    config.addinivalue_line(
        "markers", "alone: runs real processes against the clock, so nothing else may run beside it"
    )
    config.addinivalue_line(
        "markers", "long: takes a minute of real processes, so `make test` leaves it to `make simulate`"
    )
    config.addinivalue_line(
        "markers", "story: played in a browser on a site of its worker's, four of them side by side"
    )
    config.addinivalue_line(
        "markers", "slow: takes seconds of processor time, so `make check` leaves it to `make test`"
    )
    if config.getoption("folders"):
        config.pluginmanager.register(Folders(), "folders")
    if not hasattr(config, "workerinput"):
        compile_messages(ROOT / "locale")


@pytest.hookimpl(optionalhook=True)  # there is none without xdist
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: some worker always waits for a Java, a site or PostgreSQL that it started."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Files | None:
    return Files(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: 16,000 tests and all modules stay, and each look would walk
    through them again."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(*GENERATIONS)
    gc.enable()
    return collected


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest selects by marks, and after pytest-django sorts
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Stories: a worker's site serves them one after another, and four workers run side by side. Elsewhere all
    who ask for a site, Spark or PostgreSQL share one, but for those who name a group of their own because
    they take long. What takes long begins first."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if item.get_closest_marker("alone"):
            if CORE in item.path.parents:
                raise pytest.UsageError(
                    f"{item.nodeid} is marked alone, and `make test` looks for those outside of tests/core"
                )
        elif "site" in fixtures and STORIES in item.path.parents:
            item.add_marker(pytest.mark.story)
        elif item.get_closest_marker("xdist_group") is None:
            for name in (name for name in SHARED if name in fixtures):
                item.add_marker(pytest.mark.xdist_group(name))
    yield
    items.sort(key=place)


@pytest.hookimpl(tryfirst=True)  # before xdist tells what it has collected
def pytest_collection_finish(session: pytest.Session) -> None:
    """xdist 3.8 writes an item's group into `_nodeid`, and pytest 9 reads the id from `_id`: without this each
    worker has a Spark of its own."""
    for item in session.items:
        if named := vars(item).get("_nodeid"):
            item._id = coerce_node_id(named)
