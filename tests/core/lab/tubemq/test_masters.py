"""A lane's masters: one that dies is succeeded after the time of an election, and comes back as a standby; an operator's
order to consume from the end."""

from __future__ import annotations

import pytest

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.panels import panels_of
from tests.core.lab.tubemq.tubemq_lab import at, kinds, lab_of, lane_of, seen

SMALL = {"consumers": 2, "partitions": 6, "brokers": 3}


def panel(lab: Lab) -> Json:
    shown: Json = panels_of(lane_of(lab), ["tubemq"])["tubemq"]
    return shown


def masters(lab: Lab) -> dict[str, tuple[bool, str, int]]:
    shown = panel(lab)["masters"]
    return {name: (each["is_active"], each["condition"], each["clients"]) for name, each in shown.items()}


@pytest.mark.parametrize("algorithm", ["modulo", "server"])
def test_standby_is_elected_five_seconds_after_the_active_master_died_and_nothing_moves(
    algorithm: str,
) -> None:
    lab = lab_of(masters=2, algorithm=algorithm, **SMALL)
    at(lab, 90)
    before = {name: sorted(each["has"]) for name, each in panel(lab)["clients"].items()}
    assert sum(map(len, before.values())) == 6
    at(lab, 90, "tubemq_master_offline", master=1)
    at(lab, 94.9)
    assert masters(lab) == {"master": (False, "crashed", 0), "master-2": (False, "running", 0)}
    events = at(lab, 95.1)
    assert [event["at_us"] for event in events if event["kind"] == "tubemq.master.took_over"] == [95_000_000]
    at(lab, 170)
    assert masters(lab) == {"master": (False, "crashed", 0), "master-2": (True, "running", 2)}
    assert {name: sorted(each["has"]) for name, each in panel(lab)["clients"].items()} == before
    at(lab, 170, "tubemq_master_online", master=1)
    at(lab, 180)
    assert masters(lab) == {"master": (False, "running", 0), "master-2": (True, "running", 2)}


def test_only_master_that_comes_back_is_elected_and_learns_its_clients_again() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15, "tubemq_master_offline", master=1)
    at(lab, 40)
    assert masters(lab) == {"master": (False, "crashed", 0)}
    at(lab, 40, "tubemq_master_online", master=1)
    at(lab, 80)
    assert masters(lab) == {"master": (True, "running", 2)}
    assert all(each["unread"] is None for each in panel(lab)["partitions"].values())


def test_what_makes_no_sense_of_a_master_is_refused_at_its_field() -> None:
    lab = lab_of(masters=2, **SMALL)
    at(lab, 15, "tubemq_master_offline", master=2)
    for kind, master, field in (
        ("tubemq_master_offline", 2, "args.master"), ("tubemq_master_online", 1, "args.master"),
        ("tubemq_master_online", 3, "args.master"), ("tubemq_failover", None, "lane"),
    ):  # fmt: skip
        with pytest.raises(CommandError) as refused:
            at(lab, 15, kind, **({} if master is None else {"master": master}))
        assert refused.value.field == field


def test_group_that_consumes_from_the_end_leaves_out_what_waits() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15, "slow", "c1", rate=1)
    at(lab, 60)
    reads = lane_of(lab).reads
    clients = [reads.client(consumer.incarnation) for consumer in lane_of(lab).consumers.values()]
    ends = {key: end // 28 for client in clients for key, (_, end, _) in client.consumer.offsets.items()}
    out = [key for key in ends if reads.place(key).offset < ends[key]]
    assert out and len(ends) == 6, "what c1 has read and does not get done with"
    events = at(lab, 60, "tubemq_consume_from_max")
    assert "group.from_max" in kinds(events)
    events = at(lab, 75)
    jumped = [event["data"] for event in events if event["kind"] == "tubemq.client.from_max"]
    assert sorted(data["consumer"] for data in jumped) == ["c1", "c2"]
    assert sum(data["partitions"] for data in jumped) == 6
    reads.forget()
    assert all(reads.place(key).offset >= ends[key] for key in ends)
    at(lab, 130)
    assert [event for event in at(lab, 140) if event["kind"] == "tubemq.client.from_max"] == [], "once"
    at(lab, 141, "join", count=1)
    assert "client.from_max" not in kinds(at(lab, 170)), "who comes later has nothing to leave out"
    assert seen(lab)["consumers"]["c3"]["state"] == "live"
