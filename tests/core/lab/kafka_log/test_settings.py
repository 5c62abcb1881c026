"""The settings of a lab's log: what a person may type, what is left out, and what each of the two topics is
set to."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.kafka_log.settings import BOUNDS, LaneSettings, digest, lane_settings, whole_number


def refused(raw: dict[str, str]) -> str | None:
    try:
        lane_settings(raw)
    except CommandError as error:
        return error.field
    return None


@pytest.mark.parametrize("field", BOUNDS)
def test_each_setting_has_its_bounds_and_says_them(field: str) -> None:
    low, high = BOUNDS[field]
    room = {"segment_bytes": str(1 << 20)} if field == "retention_bytes" else {}
    for value in (low, high):
        assert getattr(lane_settings({**room, field: str(value)}), field) == value
    for value in (low - 1, high + 1):
        assert refused({**room, field: str(value)}) == field


@pytest.mark.parametrize(
    "text", ["", "-", "--5", "+5", "5.0", " 5", "5 ", "٥", "0x5", "1e3", "9" * 20, "5\n", "1_000"]
)
def test_text_that_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="must be a whole number from -1 to 9"):
        whole_number("f", text, -1, 9)


@pytest.mark.parametrize(("text", "number"), [("-1", -1), ("0", 0), ("007", 7), ("-0", 0)])
def test_text_that_is_one(text: str, number: int) -> None:
    assert whole_number("f", text, -1, 9) == number


def test_lab_keeps_no_more_than_64_full_segments_whatever_retention_says() -> None:
    assert refused({"segment_bytes": "4096", "retention_bytes": str(64 * 4096)}) is None
    assert refused({"segment_bytes": "4096", "retention_bytes": str(64 * 4096 + 1)}) == "retention_bytes"
    unlimited = lane_settings({"segment_bytes": "4096", "retention_bytes": "-1"})
    assert unlimited.records().retention_bytes == unlimited.bytes_limit == 64 * 4096
    assert lane_settings({"retention_bytes": "0"}).records().retention_bytes == 0


def test_unknown_settings_are_passed_over_and_missing_ones_have_their_default() -> None:
    assert lane_settings({"colour": "red"}) == LaneSettings()
    assert lane_settings({"retention_ms": "5"}).to_json() == {**LaneSettings().to_json(), "retention_ms": 5}


def test_topic_of_records_deletes_and_the_table_compacts() -> None:
    made = lane_settings(
        {
            "segment_bytes": "8192",
            "index_interval_bytes": "7",
            "file_delete_delay_ms": "3",
            "retention_ms": "9",
            "delete_retention_ms": "11",
        }
    )
    records, latest = made.records(), made.latest()
    for topic in (records, latest):
        assert (
            topic.segment_bytes,
            topic.index_interval_bytes,
            topic.message_bytes_max,
            topic.file_delete_delay_ms,
        ) == (8192, 7, 8192, 3)
    assert (records.cleanup_delete, records.cleanup_compact, records.retention_ms) == (True, False, 9)
    assert (latest.cleanup_delete, latest.cleanup_compact, latest.delete_retention_ms) == (False, True, 11)


def test_folder_is_named_after_what_it_was_made_from_whatever_the_order_of_its_fields() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) and len(digest({})) == 16
    assert len({digest({"a": 1}), digest({"a": 2}), digest({"a": "1"}), digest({"b": 1})}) == 4
