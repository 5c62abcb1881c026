"""auto.offset.reset of a lane's group: where it begins without a committed offset, what it never reads for
that, and what none means."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.kafka.test_group_commands import LANE, SECOND, kinds, lab_of, lane_of, order

pytestmark = pytest.mark.slow


def total(lab: Lab) -> Any:
    return lane_of(lab)["group_health"]["passed_over"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_new_group_begins_at_the_end_under_latest_and_at_the_beginning_else(protocol: str) -> None:
    for where, is_read in (("earliest", True), (None, True), ("latest", False)):
        lab = lab_of(group_protocol=protocol, **({} if where is None else {"auto_offset_reset": where}))
        view = lane_of(lab)
        passed = {number: part["passed_over"] for number, part in view["group"]["partitions"].items()}
        assert (sum(passed.values()) == 0) is is_read and total(lab) == sum(passed.values())
        finished = sum(member["finished"] for member in view["group"]["members"].values())
        assert finished + sum(passed.values()) + view["lag"] == lab.record_count, (
            "each record is read, waits, or was passed over"
        )
        assert view["group"]["auto_offset_reset"] == (where or "earliest")
    told = [event for event in lane_of(lab)["why"] if event["kind"] == "kafka.consumer.offset_reset"]
    assert sum(event["data"]["passed_over"] for event in told) == total(lab) > 0
    assert view["sentence"] == {"code": "kafka.passed_over", "params": {"records": total(lab)}}


def test_a_group_whose_offsets_have_expired_jumps_to_the_end() -> None:
    lab = lab_of(
        40, auto_offset_reset="latest", offsets_retention_minutes=1, offsets_retention_check_interval_ms=1_000
    )
    before = total(lab)
    for name in ("c1", "c2", "c3"):
        order(lab, "leave", 1, consumer=name)
    lab.advance_to(lab.now_us + 70 * SECOND)
    assert {part["committed"] for part in lane_of(lab)["group"]["partitions"].values()} == {None}
    order(lab, "join", 10)
    assert total(lab) - before > 60 * 20, "all that came while the group was empty"
    assert lane_of(lab)["tally"]["redelivered"] == 0


def test_none_ends_the_program_of_every_member_that_has_no_offset() -> None:
    lab = lab_of(5, auto_offset_reset="none")
    told = lab.advance_to(15 * SECOND)
    threw = [event for event in told if event["kind"] == "kafka.consumer.threw"]
    assert {event["data"]["consumer"] for event in threw} == {"c1", "c2", "c3"}
    assert {event["data"]["error"] for event in threw} == {"NoOffsetForPartitionException"}
    view = lane_of(lab)
    assert {member["failed"] for member in view["group"]["members"].values()} == {
        "NoOffsetForPartitionException"
    }
    assert view["group"]["state"] == "Empty" and all(
        part["owner"] is None for part in view["group"]["partitions"].values()
    )
    assert view["sentence"]["code"] == "kafka.threw" and total(lab) == 0, (
        "nothing is passed over: it waits for who comes with an offset"
    )
    assert "kafka.group.member_left" in kinds(told), "the program closes its consumer, which leaves the group"


def test_it_is_one_of_three() -> None:
    entry = {"model": "kafka", "auto_offset_reset": "newest"}
    reason = "must be one of latest, earliest, none"
    with pytest.raises(CommandError) as refused:
        scenario_from_json({"lanes": [entry], "workload": {"kind": "uniform", "keys": 5, "rate": 1}})
    assert (refused.value.field, refused.value.reason) == ("lanes.0.auto_offset_reset", reason)


def test_a_lab_goes_on_the_same_after_a_checkpoint() -> None:
    whole = lab_of(20, auto_offset_reset="latest")
    half = lab_of(10, auto_offset_reset="latest")
    restored = Lab.restore(half.scenario, half.checkpoint())
    restored.advance_to(20 * SECOND)
    assert lane_of(restored) == lane_of(whole) and LANE["partitions"] == 6
