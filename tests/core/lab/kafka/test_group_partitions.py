"""Orders about one partition: pause, resume, seek and a given commit at a member, an operator's reset, a
record with a partition of its own."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.producer.partitioner import positive_key_hash
from broker_core.lab.lab import Lab
from tests.core.lab.kafka.test_group_commands import SECOND, kinds, lab_of, lane_of, order

pytestmark = pytest.mark.slow


def part(lab: Lab, number: int = 0) -> Any:
    return lane_of(lab)["group"]["partitions"][str(number)]


def owner(lab: Lab, number: int = 0) -> str:
    return str(lane_of(lab)["picture"]["partitions"][str(number)]["owner"])


def other(lab: Lab, number: int = 0) -> str:
    return next(name for name in ("c1", "c2", "c3") if name != owner(lab, number))


def refused(lab: Lab, kind: str, **parts: Any) -> dict[str, Any]:
    before = lab.view()
    with pytest.raises(CommandError) as error:
        order(lab, kind, **parts)
    assert lab.view() == before, "its state is untouched"
    return {error.value.field: error.value.reason}


def at(number: int = 0, **more: Any) -> dict[str, Any]:
    return {"partition": number, **more}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_paused_partition_is_read_by_nobody_until_it_is_resumed(protocol: str) -> None:
    lab = lab_of(20, group_protocol=protocol)
    name = owner(lab)
    told = order(lab, "group_pause_partition", 10, consumer=name, args=at())
    (paused,) = [event for event in told if event["kind"] == "kafka.member.partition_paused"]
    assert paused["data"] == {"consumer": name, "topic": "records", "partition": 0} and paused["cause"] == {
        "command": 1
    }
    view = lane_of(lab)
    assert (
        view["group"]["members"][name]["paused"] == [0] and view["group"]["partitions"]["0"]["owner"] == name
    )
    assert view["group"]["partitions"]["0"]["end"] - view["group"]["partitions"]["0"]["position"] > 15
    assert view["group_health"]["findings"][0] | {"timer": None} == {
        "code": "paused_owner",
        "member": name,
        "timer": None,
        "ends_us": None,
        "partitions": [0],
        "count": 0,
    }
    assert all(part(lab, number)["end"] - part(lab, number)["position"] < 5 for number in range(1, 6)), (
        "the others are read on"
    )
    assert "paused_owner" not in {
        finding["code"] for finding in lane_of(lab_of(20))["group_health"]["findings"]
    }
    assert refused(lab, "group_pause_partition", consumer=name, args=at()) == {
        "args.partition": f"{name} has paused records-0 already"
    }
    order(lab, "group_resume_partition", 10, consumer=name, args=at())
    assert (
        part(lab)["end"] - part(lab)["position"] < 5
        and lane_of(lab)["group"]["members"][name]["paused"] == []
    )
    assert refused(lab, "group_resume_partition", consumer=name, args=at()) == {
        "args.partition": f"{name} has not paused records-0"
    }


def test_a_seek_back_reads_again_and_a_seek_to_the_end_passes_over() -> None:
    lab = lab_of(20, auto_commit_interval_ms=500)
    name = owner(lab)
    order(lab, "group_pause_partition", 10, consumer=name, args=at())
    waits = part(lab)["high_watermark"] - part(lab)["position"]
    redelivered = lane_of(lab)["tally"]["redelivered"]
    told = order(lab, "group_seek", 0.5, consumer=name, args=at(to="end"))
    (sought,) = [event for event in told if event["kind"] == "kafka.consumer.sought"]
    assert waits <= sought["data"]["passed_over"] == part(lab)["passed_over"] <= waits + 2
    assert (
        sought["data"]["offset"] == part(lab)["position"]
        and lane_of(lab)["sentence"]["code"] == "kafka.passed_over"
    )
    passed = part(lab)["passed_over"]
    order(lab, "group_resume_partition", 1, consumer=name, args=at())
    order(lab, "group_seek", 5, consumer=name, args=at(offset=sought["data"]["offset"] - passed))
    assert part(lab)["passed_over"] == 0, "who goes back reads them after all"
    assert lane_of(lab)["tally"]["redelivered"] - redelivered < 10, (
        "and for the first time: only what came since is read twice"
    )


def test_a_seek_to_the_beginning_and_one_beyond_the_end() -> None:
    for where, is_reset in (({"to": "beginning"}, False), ({"offset": 1_000_000}, True)):
        lab = lab_of(21)
        name = owner(lab)
        start = part(lab)["start"]
        told = order(lab, "group_seek", 1, consumer=name, args=at(**where))
        assert ("kafka.consumer.offset_reset" in kinds(told)) is is_reset
        sought = next(event for event in told if event["kind"] == "kafka.consumer.sought")
        assert sought["data"]["offset"] == where.get("offset", start)
        lab.advance_to(lab.now_us + 8 * SECOND)
        assert part(lab)["end"] - part(lab)["position"] < 5, (
            "by auto.offset.reset it goes on from the earliest offset"
        )


def test_under_none_a_seek_beyond_the_end_ends_the_program() -> None:
    lab = lab_of(1, auto_offset_reset="none", initial_rebalance_delay_ms=0)
    lab.advance_to(10 * SECOND)
    for name in ("c1", "c2", "c3"):
        order(lab, "leave", 1, consumer=name)
    for number in range(6):
        order(lab, "group_reset_offsets", 0.5, args=at(number, offset=0))
    order(lab, "join", 8)
    assert owner(lab) == "c4" and part(lab)["position"] > 0, "with committed offsets nothing has to be reset"
    told = order(lab, "group_seek", 2, consumer="c4", args=at(offset=1_000_000))
    assert [event["data"]["error"] for event in told if event["kind"] == "kafka.consumer.threw"] == [
        "OffsetOutOfRangeException"
    ]


def test_what_is_sought_is_committed_by_who_closes() -> None:
    lab = lab_of(20)
    name, start = owner(lab), part(lab)["start"]
    order(lab, "group_pause_partition", 0, consumer=name, args=at())
    order(lab, "group_seek", 0, consumer=name, args=at(offset=start))
    order(lab, "leave", 0.2, consumer=name)
    assert part(lab)["committed"] == start


def test_a_given_commit_counts_for_who_comes_next() -> None:
    lab = lab_of(20, commits="never")
    name = other(lab)
    told = order(lab, "group_commit", 0.5, consumer=name, args=at(offset=12))
    assert [event["data"] for event in told if event["kind"] == "kafka.consumer.committed"] == [
        {"consumer": name, "topic": "records", "partitions": [0]}
    ]
    assert part(lab)["committed"] == 12 and lane_of(lab)["sentence"]["code"] == "kafka.partition_commits"
    before = part(lab)["position"]
    assert before > 12, "its reader goes on where it is"
    order(lab, "leave", 1, consumer=owner(lab))
    while part(lab)["position"] is None:
        lab.advance_to(lab.now_us + 100_000)
    assert 12 <= part(lab)["position"] < before


def test_a_commit_of_who_is_no_member_is_refused_and_told() -> None:
    lab = lab_of(20)
    name = owner(lab)
    order(lab, "group_freeze", 15, consumer=name)
    order(lab, "group_thaw", 0, consumer=name)
    told = order(lab, "group_commit", 1, consumer=name, args=at(offset=12))
    assert [event["data"]["error"] for event in told if event["kind"] == "kafka.consumer.commit_refused"] == [
        "UNKNOWN_MEMBER_ID"
    ]
    assert part(lab)["committed"] != 12


def test_an_operator_resets_offsets_of_an_empty_group_within_the_log_and_of_no_other() -> None:
    lab = lab_of(20)
    assert refused(lab, "group_reset_offsets", args=at(offset=5)) == {
        "lane": "the group is Stable: offsets can be reset only while it has no members"
    }
    for name in ("c1", "c2", "c3"):
        order(lab, "leave", 2, consumer=name)
    start, committed = part(lab)["start"], part(lab)["committed"]
    told = order(lab, "group_reset_offsets", 1, args=at(offset=10_000_000))
    assert [event["kind"] for event in told if "admin" in event["kind"]] == [
        "kafka.admin.resets_offsets",
        "kafka.admin.offsets_committed",
    ]
    end = part(lab)["committed"]
    assert committed < end <= part(lab)["high_watermark"]
    order(lab, "join", 10)
    assert part(lab)["passed_over"] == end - committed, "what the operator jumped over is never read"
    assert part(lab)["start"] >= start


def test_a_record_goes_where_the_sender_says_whatever_its_key() -> None:
    lab = lab_of(20)
    number = next(number for number in range(6) if number != positive_key_hash(b"k") % 6)
    ends, key_count = [part(lab, each)["end"] for each in range(6)], lab.view()["key_count"]
    order(lab, "pause_lab")
    told = order(lab, "cluster_send_record", 0, args=at(number, key="k"))
    (named,) = [event for event in told if event["kind"] == "kafka.producer.partition_named"]
    assert (
        named["inputs"] == {"key": "k", "by_key": positive_key_hash(b"k") % 6}
        and named["data"]["partition"] == number
    )
    quiet = lab_of(20)
    for each in (lab, quiet):
        each.advance_to(21 * SECOND)
    more = [part(lab, each)["end"] - part(quiet, each)["end"] for each in range(6)]
    assert more == [int(each == number) for each in range(6)] and min(ends) > 0
    assert lab.view()["key_count"] == quiet.view()["key_count"] >= key_count, "the workload does not know it"


@pytest.mark.parametrize(
    ("kind", "args", "field", "reason"),
    [
        ("group_seek", {"partition": 6, "offset": 1}, "args.partition", "records has 6 partitions"),
        (
            "group_seek",
            {"partition": -1, "offset": 1},
            "args.partition",
            "must be a whole number from 0 to 999",
        ),
        ("group_seek", {"partition": 0}, "args.offset", "must be a whole number from 0 to 9007199254740991"),
        (
            "group_seek",
            {"partition": 0, "offset": -1},
            "args.offset",
            "must be a whole number from 0 to 9007199254740991",
        ),
        ("group_seek", {"partition": 0, "to": "middle"}, "args.to", "must be beginning or end"),
        (
            "group_seek",
            {"partition": 0, "to": "end", "offset": 3},
            "args.to",
            "give either an offset or where to",
        ),
        (
            "group_commit",
            {"partition": 0, "offset": 1, "topic": "none-such"},
            "args.topic",
            "there is no topic none-such",
        ),
        (
            "group_commit",
            {"partition": 0, "offset": 1, "topic": 7},
            "args.topic",
            "must be the name of a topic",
        ),
        (
            "group_pause_partition",
            {"partition": "0"},
            "args.partition",
            "must be a whole number from 0 to 999",
        ),
        ("group_reset_offsets", {"partition": 9, "offset": 1}, "args.partition", "records has 6 partitions"),
        ("cluster_send_record", {"partition": 6}, "args.partition", "records has 6 partitions"),
        (
            "cluster_send_record",
            {"partition": 0, "topic": "__consumer_offsets"},
            "args.topic",
            "must be the name of a topic",
        ),
        (
            "cluster_send_record",
            {"partition": 0, "key": ""},
            "args.key",
            "must be 1 to 64 printable characters",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(
    kind: str, args: dict[str, Any], field: str, reason: str
) -> None:
    lab = lab_of(12)
    who = {} if kind in ("group_reset_offsets", "cluster_send_record") else {"consumer": owner(lab)}
    assert refused(lab, kind, args=args, **who) == {field: reason}


def test_who_does_not_own_it_or_does_not_come_back_from_a_record_cannot_call() -> None:
    lab = lab_of(20)
    stranger = other(lab)
    for kind, args in (
        ("group_seek", at(offset=0)),
        ("group_pause_partition", at()),
        ("group_resume_partition", at()),
    ):
        assert refused(lab, kind, consumer=stranger, args=args) == {
            "args.partition": f"{stranger} does not own records-0 now"
        }
    order(lab, "group_stick", 2, consumer=owner(lab))
    assert list(refused(lab, "group_seek", consumer=owner(lab), args=at(offset=0))) == ["consumer"]


def test_it_goes_on_the_same_after_a_checkpoint() -> None:
    lab = lab_of(20)
    order(lab, "group_pause_partition", 1, consumer=owner(lab), args=at())
    order(lab, "group_seek", 0.001, consumer=owner(lab), args=at(to="end"))
    restored = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, restored):
        each.advance_to(30 * SECOND)
    assert lane_of(restored) == lane_of(lab)
