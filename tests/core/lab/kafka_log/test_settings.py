"""The settings of a lab's log: what a person may type, and what is left out."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.kafka_log.settings import BOUNDS, FolderSettings, digest, folder_settings, whole_number


def refused(raw: dict[str, str]) -> str | None:
    try:
        folder_settings(raw)
    except CommandError as error:
        return error.field
    return None


@pytest.mark.parametrize("field", BOUNDS)
def test_each_setting_has_its_bounds_and_says_them(field: str) -> None:
    low, high = BOUNDS[field]
    for value in (low, high):
        assert getattr(folder_settings({field: str(value)}), field) == value
    for value in (low - 1, high + 1):
        assert refused({field: str(value)}) == field


@pytest.mark.parametrize(
    "text", ["", "-", "--5", "+5", "5.0", " 5", "5 ", "٥", "0x5", "1e3", "9" * 20, "5\n", "1_000"]
)
def test_text_that_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="must be a whole number from -1 to 9"):
        whole_number("f", text, -1, 9)


@pytest.mark.parametrize(("text", "number"), [("-1", -1), ("0", 0), ("007", 7), ("-0", 0)])
def test_text_that_is_one(text: str, number: int) -> None:
    assert whole_number("f", text, -1, 9) == number


def test_unknown_settings_are_passed_over_and_missing_ones_have_their_default() -> None:
    assert folder_settings({"colour": "red", "segment_bytes": "1"}) == FolderSettings()
    given = folder_settings({"index_interval_bytes": "5"})
    assert given.to_json() == {**FolderSettings().to_json(), "index_interval_bytes": 5}


def test_folder_is_named_after_what_it_was_made_from_whatever_the_order_of_its_fields() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) and len(digest({})) == 16
    assert len({digest({"a": 1}), digest({"a": 2}), digest({"a": "1"}), digest({"b": 1})}) == 4
