"""Fixtures of the dashboard's tests."""

from typing import Any

import django
import pytest

django.setup()  # tests/conftest.py said under which settings; test modules import models

from tests.dashboard.world import World  # noqa: E402


@pytest.fixture
def world(settings: Any) -> World:
    """A shard in this process, with a clock that the test moves and a Redis that is a few lists."""
    settings.LAB_SHARDS = 1
    return World()
