"""A person's verbs on members of a group on a cluster: what each does, which timer notices it, and what the
two time-outs tell apart."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.assignors import custom
from broker_core.lab.commands import command_from_json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.small import stored

pytestmark = pytest.mark.slow

SECOND = 1_000_000
LANE: dict[str, Any] = {
    "model": "kafka",
    "brokers": 3,
    "offsets_partitions": 3,
    "partitions": 6,
    "session_timeout_ms": 10_000,
    "max_poll_interval_ms": 20_000,
}


def lab_of(seconds: int = 15, **options: Any) -> Lab:
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [{**LANE, **options}],
                "consumers": 3,
                "consumer_rate": 50,
                "workload": {"kind": "uniform", "keys": 40, "rate": 20},
            }
        )
    )
    lab.advance_to(seconds * SECOND)
    return lab


def order(lab: Lab, kind: str, seconds: float = 0, **parts: Any) -> list[Any]:
    """Give an order and let time pass. Returns what was reported."""
    told = lab.submit({"command_id": f"t{lab.position + 1}", "kind": kind, **parts})
    return told + lab.advance_to(lab.now_us + int(seconds * SECOND))


def kinds(told: list[Any]) -> list[str]:
    return [event["kind"] for event in told]


def lane_of(lab: Lab) -> Any:
    return lab.view()["lanes"]["kafka"]


def owners(lab: Lab) -> set[Any]:
    return {partition["owner"] for partition in lane_of(lab)["picture"]["partitions"].values()}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_frozen_member_is_noticed_by_its_session_and_comes_back_as_a_zombie(protocol: str) -> None:
    lab = lab_of(group_protocol=protocol)
    order(lab, "group_freeze", 0.1, consumer="c2")
    view = lane_of(lab)
    row = view["consumers"]["c2"]
    assert row["state"] == "frozen" and 5 * SECOND < row["deadline_us"] - lab.now_us <= 10 * SECOND
    assert (
        view["sentence"]["code"] == "kafka.frozen"
        and sum(part["stopped"] for part in view["picture"]["partitions"].values()) == 2
    )
    told = lab.advance_to(lab.now_us + 20 * SECOND)
    expired = [event for event in told if event["kind"] == "kafka.group.member_expired"]
    assert [event["at_us"] for event in expired] == [
        row["deadline_us"]
    ] and "kafka.consumer.poll_timeout" not in kinds(told)
    assert owners(lab) == {"c1", "c3"} and lane_of(lab)["consumers"]["c2"]["deadline_us"] is None
    assert (
        lane_of(lab)["sentence"]["code"] == "kafka.frozen_noticed"
        and lane_of(lab)["bill"]["partitions_moved"] >= 2
    )
    told = order(lab, "group_thaw", 12, consumer="c2")
    assert "kafka.consumer.revoked" in kinds(told) and "kafka.consumer.assigned" in kinds(told)
    assert owners(lab) == {"c1", "c2", "c3"} and lane_of(lab)["consumers"]["c2"]["state"] == "live"
    assert lane_of(lab)["bill"]["settled"]


def test_a_zombie_holds_nothing_of_what_its_partitions_new_owner_has_committed() -> None:
    lab = lab_of()
    order(lab, "group_freeze", 40, consumer="c2")
    assert lane_of(lab)["consumers"]["c2"]["unacked"] == 0


def test_a_short_pause_is_nobodys_business_but_its_own_partitions() -> None:
    lab = lab_of()
    generation = lane_of(lab)["picture"]["generation"]
    order(lab, "group_freeze", 4, consumer="c1")
    told = order(lab, "group_thaw", 12, consumer="c1")
    assert "kafka.group.member_expired" not in kinds(told)
    view = lane_of(lab)
    assert view["picture"]["generation"] == generation and view["tally"]["redelivered"] == 0
    assert not any(part["stopped"] for part in view["picture"]["partitions"].values())


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_stuck_poll_is_noticed_by_max_poll_interval_while_heartbeats_go_on(protocol: str) -> None:
    lab = lab_of(group_protocol=protocol)
    order(lab, "group_stick", 0.1, consumer="c2")
    assert lane_of(lab)["consumers"]["c2"]["state"] == "stuck"
    told = lab.advance_to(lab.now_us + 12 * SECOND)
    assert "kafka.group.member_expired" not in kinds(told) and owners(lab) == {"c1", "c2", "c3"}, (
        "its session lives"
    )
    told = lab.advance_to(lab.now_us + 16 * SECOND)
    assert "kafka.consumer.poll_timeout" in kinds(told) and "kafka.group.member_expired" not in kinds(told)
    assert owners(lab) == {"c1", "c3"} and lane_of(lab)["sentence"]["code"] == "kafka.stuck_noticed"
    order(lab, "group_unstick", 12, consumer="c2")
    assert owners(lab) == {"c1", "c2", "c3"} and lane_of(lab)["consumers"]["c2"]["state"] == "live"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_static_members_restart_moves_nothing(protocol: str) -> None:
    lab = lab_of(static_members=True, group_protocol=protocol)
    before, generation = lane_of(lab)["picture"]["partitions"], lane_of(lab)["picture"]["generation"]
    for name in ("c1", "c2", "c3"):
        order(lab, "group_restart", 6, consumer=name)
    view = lane_of(lab)
    assert {number: part["owner"] for number, part in view["picture"]["partitions"].items()} == {
        number: part["owner"] for number, part in before.items()
    }  # fmt: skip
    assert view["picture"]["generation"] == generation
    assert (
        not any(part["stopped"] for part in view["picture"]["partitions"].values())
        and view["bill"]["settled"]
    )
    assert 1.9 * SECOND < view["bill"]["pause_us"] < 5 * SECOND


def test_a_dynamic_members_restart_is_a_leave_and_a_join() -> None:
    lab = lab_of()
    generation = lane_of(lab)["picture"]["generation"]
    order(lab, "group_restart", 12, consumer="c1")
    assert lane_of(lab)["picture"]["generation"] == generation + 2 and owners(lab) == {"c1", "c2", "c3"}


def test_two_rolling_bounces_lead_from_range_to_cooperative_sticky() -> None:
    lab = lab_of(algorithm="range")
    for strategies in (["cooperative-sticky", "range"], ["cooperative-sticky"]):
        for name in ("c1", "c2", "c3"):
            told = order(lab, "group_restart", 14, consumer=name, args={"assignors": strategies})
            assert "kafka.consumer.failed" not in kinds(told)
            assert owners(lab) == {"c1", "c2", "c3"}
            assert lane_of(lab)["group"]["is_cooperative"] is (
                strategies == ["cooperative-sticky"] and name == "c3"
            ), "when the last one is"
    told = order(lab, "leave", 12, consumer="c3")
    revoked = {event["data"]["consumer"] for event in told if event["kind"] == "kafka.consumer.revoked"}
    assert revoked == {"c3"} and owners(lab) == {"c1", "c2"}, "nobody who stays gives anything up"


def test_one_bounce_alone_is_refused_by_the_group() -> None:
    """A member that knows only CooperativeSticky shares no strategy with members that know only Range."""
    lab = lab_of(algorithm="range")
    told = order(lab, "group_restart", 14, consumer="c1", args={"assignors": ["cooperative-sticky"]})
    failed = [event for event in told if event["kind"] == "kafka.consumer.failed"]
    assert failed and failed[0]["inputs"]["error_code"] == 23, "INCONSISTENT_GROUP_PROTOCOL"
    assert owners(lab) == {"c2", "c3"}


def test_a_classic_group_is_migrated_while_it_runs() -> None:
    lab = lab_of(algorithm="cooperative-sticky", migration_policy="bidirectional")
    told = order(lab, "group_restart", 14, consumer="c1", args={"protocol": "consumer"})
    assert "kafka.group.upgraded" in kinds(told) and owners(lab) == {"c1", "c2", "c3"}, (
        "two members still speak the classic protocol"
    )
    for name in ("c2", "c3"):
        order(lab, "group_restart", 14, consumer=name, args={"protocol": "consumer"})
    assert owners(lab) == {"c1", "c2", "c3"} and lane_of(lab)["picture"]["leader"] is None


def test_without_the_policy_the_migration_is_refused() -> None:
    lab = lab_of()
    told = order(lab, "group_restart", 14, consumer="c1", args={"protocol": "consumer"})
    assert "kafka.consumer.failed" in kinds(told) and owners(lab) == {"c2", "c3"}


def test_a_changed_subscription_rebalances() -> None:
    lab = lab_of(more_topics=[{"name": "audit", "partitions": 4}])
    generation = lane_of(lab)["picture"]["generation"]
    order(lab, "group_subscribe", 12, consumer="c3", args={"topics": ["audit"]})
    assert owners(lab) == {"c1", "c2"} and lane_of(lab)["picture"]["generation"] > generation
    order(lab, "group_subscribe", 12, consumer="c3")
    assert owners(lab) == {"c1", "c2", "c3"}


def test_a_pattern_takes_in_a_topic_that_matches() -> None:
    lab = lab_of(more_topics=[{"name": "recent", "partitions": 4}, {"name": "audit", "partitions": 2}])
    order(lab, "group_subscribe", 12, consumer="c1", args={"pattern": "rec.*"})
    state = lab.lanes["kafka"].world.slots["c1"].node.state
    assert state.subscribed.topics == ["recent", "records"] and {topic for topic, _ in state.owned} == {
        "recent",
        "records",
    }


def test_a_topic_that_comes_later_and_matches_a_pattern_begins_a_rebalance() -> None:
    lab = lab_of(metadata_max_age_ms=5_000)
    order(lab, "group_subscribe", 12, consumer="c1", args={"pattern": "rec.*"})
    told = order(
        lab, "cluster_create_topic", 14, args={"topic": "recent", "partitions": 4, "replication_factor": 3}
    )
    assert "kafka.group.rebalance_started" in kinds(told)
    state = lab.lanes["kafka"].world.slots["c1"].node.state
    assert state.subscribed.topics == ["recent", "records"]
    assert {number for topic, number in state.owned if topic == "recent"} == {0, 1, 2, 3}, (
        "nobody else reads it"
    )
    assert "kafka.group.rebalance_started" not in kinds(order(lab, "cluster_create_topic", 14, args={
        "topic": "audit", "partitions": 2, "replication_factor": 3,
    })), "another one begins none"  # fmt: skip


def test_more_partitions_are_found_at_the_next_look_at_the_metadata() -> None:
    lab = lab_of(metadata_max_age_ms=5_000)
    told = order(lab, "cluster_add_partitions", 12, args={"topic": "records", "count": 8})
    assert "kafka.group.rebalance_started" in kinds(told)
    parts = lane_of(lab)["picture"]["partitions"]
    assert len(parts) == 8 and owners(lab) == {"c1", "c2", "c3"}
    lab.advance_to(lab.now_us + 10 * SECOND)
    assert sum(part["end"] for part in list(lane_of(lab)["picture"]["partitions"].values())[6:]) > 0, (
        "keys move to the new ones"
    )
    assert lane_of(lab)["lag"] < 40


@pytest.mark.parametrize(("kind", "parts", "field"), [
    ("group_thaw", {"consumer": "c1"}, "consumer"), ("group_unstick", {"consumer": "c1"}, "consumer"),
    ("group_freeze", {"consumer": "c9"}, "consumer"),
    ("group_restart", {"consumer": "c1", "args": {"assignors": ["nobody"]}}, "args.assignors"),
    ("group_restart", {"consumer": "c1", "args": {"protocol": "new"}}, "args.protocol"),
    ("group_restart", {"consumer": "c1", "args": {"down_s": 0}}, "args.down_s"),
    ("group_subscribe", {"consumer": "c1", "args": {"topics": []}}, "args.topics"),
    ("group_subscribe", {"consumer": "c1", "args": {"pattern": "(a*)*"}}, "args.pattern"),
    ("group_subscribe", {"consumer": "c1", "args": {"topics": ["a"], "pattern": "a"}}, "args.pattern"),
    ("cluster_add_partitions", {"args": {"topic": "records", "count": 6}}, "args.count"),
    ("cluster_add_partitions", {"args": {"topic": "nowhere", "count": 6}}, "args.topic"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused_at_its_field_and_changes_nothing(
    kind: str, parts: Any, field: str
) -> None:
    lab = lab_of(6)
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refused:
        order(lab, kind, **parts)
    assert refused.value.field == field and lab.checkpoint() == before
    with pytest.raises(CommandError) as foreseen:
        command_from_json({"command_id": "x", "kind": kind, **parts}).check(stored(lab))
    assert foreseen.value.field == field


def test_a_frozen_one_can_only_go_on_or_crash() -> None:
    lab = lab_of()
    order(lab, "group_freeze", consumer="c1")
    for kind in ("pause", "resume", "slow", "leave", "group_stick", "group_restart", "group_freeze"):
        with pytest.raises(CommandError):
            order(lab, kind, consumer="c1")
    order(lab, "crash", 25, consumer="c1")
    assert owners(lab) == {"c2", "c3"}


def test_without_a_cluster_there_is_no_group_to_do_this_to() -> None:
    lab = Lab(scenario_from_json({"lanes": [{"model": "tubemq"}]}))
    with pytest.raises(CommandError) as refused:
        order(lab, "group_freeze", consumer="c1")
    assert refused.value.field == "lane"


def test_a_held_group_goes_on_the_same_after_a_checkpoint_and_under_another_rule() -> None:
    lab = lab_of(static_members=True)
    order(lab, "group_freeze", 3, consumer="c1")
    order(lab, "group_stick", 3, consumer="c2")
    order(lab, "group_restart", 1, consumer="c3")
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        each.advance_to(each.now_us + 30 * SECOND)
        order(each, "group_thaw", 12, consumer="c1")
    assert lab.view() == other.view() and lab.checkpoint() == other.checkpoint()
    order(lab, "set_algorithm", lane="kafka", args={"algorithm": "roundrobin"})
    assert lane_of(lab)["consumers"]["c2"]["state"] == "stuck"


@pytest.mark.parametrize("kind", ["group_freeze", "group_restart", "crash", "leave"])
def test_a_stuck_zombie_reads_on_what_another_member_has_when_that_one_stops(kind: str) -> None:
    lab = lab_of()
    order(
        lab, "group_stick", 30, consumer="c1"
    )  # the group has given its partitions to the others; it cannot know yet
    assert owners(lab) == {"c2", "c3"}
    for name in ("c2", "c3"):
        order(lab, kind, 8, consumer=name)
    order(lab, "group_unstick", 40, consumer="c1")
    assert owners(lab) == ({"c1", "c2", "c3"} if kind == "group_restart" else {"c1"})


def test_members_that_are_out_of_the_group_may_read_the_same_partitions() -> None:
    lab = lab_of(max_poll_interval_ms=1_000, max_poll_records=500)
    order(lab, "slow", 0, consumer="c1", args={"rate": 1})
    order(lab, "slow", 0, consumer="c2", args={"rate": 1})
    told = order(
        lab, "slow", 60, consumer="c3", args={"rate": 1}
    )  # a batch takes longer than max.poll.interval.ms: each is put out in turn
    assert {
        event["data"]["consumer"] for event in told if event["kind"] == "kafka.consumer.poll_timeout"
    } == {"c1", "c2", "c3"}


def test_what_a_member_finishes_at_an_order_is_counted_before_a_checkpoint() -> None:
    lab = lab_of()
    order(lab, "group_stick", 5, consumer="c2")
    order(lab, "group_unstick", consumer="c2")  # it comes back from its record at once
    copy = Lab.restore(lab.scenario, lab.checkpoint())
    assert copy.advance_to(25 * SECOND) == lab.advance_to(25 * SECOND)
    assert copy.view() == lab.view() and copy.checkpoint() == lab.checkpoint()


@pytest.mark.parametrize("rule", ["range_global", "round_robin_hashed"])
def test_a_rule_that_knows_no_unequal_subscriptions_ends_the_leader_and_not_the_lab(rule: str) -> None:
    lab = lab_of(algorithm=rule, more_topics=[{"name": "audit", "partitions": 2}])
    told = order(lab, "group_subscribe", 20, consumer="c2", args={"topics": ["audit"]})
    refused = [event for event in told if event["kind"] == "kafka.consumer.assignor_refused"]
    assert refused[0]["data"] == {"assignor": rule, "consumer": "c1"}
    assert "kafka.consumer.assignor_failed" not in kinds(told), (
        "a rule of the lab's is no assignor of the user's own"
    )


def test_what_a_cooperative_assignor_of_ones_own_violates_is_in_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def moves_everything(_source: str, members: dict[str, Any], partitions: dict[str, int]) -> dict[str, Any]:
        last = max(members, key=lambda member: not members[member]["owned"])
        return {
            "assignment": {
                last: [[topic, number] for topic, count in partitions.items() for number in range(count)]
            }
        }

    monkeypatch.setattr(custom, "_runner", moves_everything)
    lab = lab_of()
    order(
        lab,
        "group_assignor",
        20,
        args={"source": "COOPERATIVE = True\ndef assign(members, partitions):\n    return {}\n"},
    )
    told = order(lab, "join", 20)
    assert "kafka.consumer.assignor_failed" in kinds(told)
    assert Lab.restore(lab.scenario, lab.checkpoint()).view() == lab.view()
