"""The clock that stories move."""

from pathlib import Path

import pytest

from tests.browser import story_clock
from tests.browser.story_clock import NAME, StoryClock


def test_it_goes_as_the_wall_clock_and_further_by_what_a_story_lets_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story_clock.time, "monotonic", lambda: now_s)
    now_s, clock = 100.0, StoryClock(tmp_path / NAME)
    assert clock() == 100.0
    (tmp_path / NAME).write_text("1.5")
    now_s = 100.01
    assert clock() == 100.01, "it looks fifty times a second"
    now_s = 100.03
    assert clock() == 101.53
