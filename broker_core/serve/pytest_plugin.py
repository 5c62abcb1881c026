"""Fixtures for pytest: `rabbitmq`, a RabbitMQ server that is empty at the beginning of each test, and `highwater`, the one of
the session.

    session: one server in a thread ─ each test: reset ─► test ─► a fault that has struck nothing fails it
                                                          └─ failed: the run is kept as a file, its last events are printed

With xdist each worker has its own. docs/clients/pytest.md.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from broker_core.errors import CommandError

if TYPE_CHECKING:
    from broker_core.serve.handles import Threaded

FOLDER = "highwater_folder"
NAME_MAX = 150
EVENTS = 20
_RABBITMQ = pytest.StashKey["Threaded"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        FOLDER, "where the run of a failed test is kept; without it, among pytest's temporary folders"
    )


@pytest.fixture(scope="session")
def highwater_options() -> dict[str, Any]:
    """Arguments of `highwater.run()` for the session's server; a project may have a fixture of this name that gives its
    own."""
    return {}


@pytest.fixture(scope="session")
def highwater(highwater_options: dict[str, Any]) -> Iterator[Threaded]:
    """The server of the session. What a test leaves there the next one finds, unless it asks for `rabbitmq`."""
    from broker_core.serve.running import run  # for those who want it

    with run(**highwater_options) as server:
        yield server


@pytest.fixture
def rabbitmq(highwater: Threaded, request: pytest.FixtureRequest) -> Iterator[Threaded]:
    """The server with nothing in it but what `highwater_options` begin with: url, fault(), wait_for_queue() ..."""
    failed = highwater.control.server.failed
    if failed.done():
        raise failed.result()
    highwater.reset()
    item = request.node
    item.stash[_RABBITMQ] = highwater
    try:
        yield highwater
    finally:
        del item.stash[_RABBITMQ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    server = item.stash.get(_RABBITMQ, None)
    unmet = [] if server is None else server.unmet()
    if unmet:
        pytest.fail("\n".join(map(_unmet, unmet)), pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    server = item.stash.get(_RABBITMQ, None)
    if server is not None and report.failed:
        report.sections.append(("highwater", _keep(item, server)))
    return report


def _unmet(fault: dict[str, Any]) -> str:
    own = ("id", "matches", "hits", "held", "is_over")
    said = ", ".join(f"{name}={value!r}" for name, value in fault.items() if name not in own)
    why = f"{fault['matches']} methods fitted it" if fault["matches"] else "no method fitted it"
    return f"fault {fault['id']} ({said}) has struck nothing: {why}; must_hit=False allows that"


def _keep(item: pytest.Item, server: Threaded) -> str:
    """The run as a file, and what it says in words."""
    try:
        path = server.save(_folder(item) / (re.sub(r"[^\w.-]+", "-", item.nodeid)[-NAME_MAX:] + ".highwater"))
        return "\n".join([f"the run is kept: {path}", *server.events(EVENTS)])
    except (OSError, CommandError) as error:
        return f"the run cannot be kept: {error}"


def _folder(item: pytest.Item) -> Path:
    """Raises OSError."""
    given = str(item.config.getini(FOLDER))
    if given:
        folder = item.config.rootpath / given
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    factory: pytest.TempPathFactory = item.config._tmp_path_factory  # type: ignore[attr-defined]
    return factory.getbasetemp()
