"""What all tests share: the settings they run under, in a run folder of their own, and the messages as the tree has them."""

import os

import pytest

from mqsite.keeper import ROOT
from mqsite.messages import compile_messages

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mqsite.settings.test")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the catalogues, once, before any worker of xdist starts: they are not in the repository."""
    if not hasattr(config, "workerinput"):
        compile_messages(ROOT / "locale")
