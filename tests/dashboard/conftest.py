"""Fixtures of the dashboard's tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
import pytest

django.setup()  # tests/conftest.py said under which settings; test modules import models

from django.utils import translation  # noqa: E402

from dashboard.sentences import catalogue  # noqa: E402
from dashboard.studies.runner import Runner  # noqa: E402
from tests.dashboard.processes import UPLOAD_MAX, Site  # noqa: E402
from tests.dashboard.studies import FakeEngine  # noqa: E402
from tests.dashboard.world import World  # noqa: E402
from tests.quick_java import QUICK_JAVA  # noqa: E402


@pytest.fixture(autouse=True)
def _language() -> Iterator[None]:
    """A request in another language leaves it active in its thread: the next test begins in English."""
    yield
    translation.deactivate()


@pytest.fixture
def run_dir(settings: Any, tmp_path: Path) -> Path:
    """A folder of one's own for labs' logs, which stay: such tests ask once, and the machine may be busy."""
    settings.RUN_DIR = tmp_path
    settings.LAB_LOG_WATCHED_S = 600.0
    settings.LAB_LOG_KEEP_S = 6_000.0
    return tmp_path


WAIT_S = 0.1
WAITS = (
    "dashboard.logs.api.CLEAN_WAIT_S",
    "dashboard.views.api.FIRST_VIEW_WAIT_S",
    "dashboard.views.first_view.FIRST_VIEW_WAIT_S",
    "dashboard.views.log.FIRST_STATE_WAIT_S",
)


@pytest.fixture(autouse=True, scope="session")
def _requests_wait_shortly() -> Iterator[None]:
    """A request gives a worker seconds to answer; in these tests there is none but the shard that a test
    turns itself, so what is not there yet does not come."""
    with pytest.MonkeyPatch.context() as patch:
        for name in WAITS:
            patch.setattr(name, WAIT_S)
        yield


@pytest.fixture(scope="session")
def words() -> dict[str, dict[str, str]]:
    """What pages say, by language."""
    return catalogue()


@pytest.fixture
def world(settings: Any) -> World:
    """A shard in this process, with a clock that the test moves and a Redis that is a few lists."""
    settings.LAB_SHARDS = 1
    return World()


@pytest.fixture
def engine() -> FakeEngine:
    """Spark as a test says what it does."""
    return FakeEngine()


@pytest.fixture
def runner(engine: FakeEngine, settings: Any, tmp_path: Any) -> Runner:
    settings.RUN_DIR = tmp_path
    settings.DATA_DIRS = [tmp_path / "log"]
    (tmp_path / "log").mkdir()
    return Runner(engine)


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The real processes, once for all tests that kill some of them: each leaves it healthy, and none relies
    on what it began with."""
    small = {
        "HIGHWATER_UPLOAD_BYTES_MAX": str(UPLOAD_MAX),
        "SPARK_MASTER": "local[2]",
        "SPARK_DRIVER_MEMORY": "1g",
    }
    with Site(
        tmp_path_factory.mktemp("dashboard"), shards=1, analysis=True, default=True, **small, **QUICK_JAVA
    ) as running:
        yield running
