"""What all tests share: the settings they run under, in a run folder of their own, and the messages as the tree has them."""

import os

import hypothesis
import pytest

from mqsite.keeper import ROOT
from mqsite.messages import compile_messages

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.test")

# A law holds however busy the machine is: no example has a deadline.
hypothesis.settings.register_profile("highwater", deadline=None)
hypothesis.settings.load_profile("highwater")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the catalogues, once, before any worker of xdist starts: they are not in the repository."""
    config.addinivalue_line("markers", "real: runs real processes, some against the clock: in turn, and not beside what works all the time")
    if not hasattr(config, "workerinput"):
        compile_messages(ROOT / "locale")


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks and xdist reads its groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who asks for a real site is `real`: `make test` runs the others first, then these in two rows, the browser's stories beside those of
    programs, as both wait more than they work. All who ask for Spark share one, but for those who name a group because they take long."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "site" in fixtures:
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.xdist_group("browser" if "browser" in fixtures else "programs"))
        if "spark" in fixtures and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("spark"))
