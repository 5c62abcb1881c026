"""The picture of a consumer group says what coordinator and programs say: at rest, mid-rebalance, with a
silent member, without a coordinator."""

import json

import pytest

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.group.classic.states import TRANSITIONS as CLASSIC_TRANSITIONS
from broker_core.kafka.group.consumer.states import TRANSITIONS as CONSUMER_TRANSITIONS
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

pytestmark = pytest.mark.slow

SECOND = 1_000_000
PROTOCOLS = ("classic", "consumer")


def lab_of(protocol: str = "classic", consumers: int = 3, algorithm: str = "range", **options: object) -> Lab:
    lane = {
        "model": "kafka",
        "brokers": 3,
        "group_protocol": protocol,
        "algorithm": algorithm,
        "offsets_partitions": 5,
        **options,
    }
    return Lab(scenario_from_json({"lanes": [lane], "consumers": consumers}))


def order(lab: Lab, kind: str, consumer: str | None = None, **args: object) -> None:
    position = lab.position + 1
    lab.submit(
        {
            "command_id": f"x{position}",
            "kind": kind,
            "lane": "kafka",
            "consumer": consumer,
            "args": args,
            "position": position,
        }
    )


def group(lab: Lab) -> Json:
    found: Json = lab.view()["lanes"]["kafka"]["group"]
    assert json.loads(json.dumps(found)) == found
    return found


def run(lab: Lab, seconds: float) -> Json:
    lab.advance_to(lab.now_us + round(seconds * SECOND))
    return group(lab)


def owners(view: Json) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, partition in view["partitions"].items():
        if partition["owner"] is not None:
            found.setdefault(partition["owner"], []).append(int(number))
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_at_rest_all_that_is_said_of_a_partition_agrees(protocol: str) -> None:
    view = run(lab_of(protocol), 20)
    assert (view["state"], view["coordinator"] is not None, view["protocol"]) == ("Stable", True, protocol)
    assert view["assignor"] == ("range" if protocol == "classic" else "uniform")
    reads = owners(view)
    assert sorted(number for numbers in reads.values() for number in numbers) == list(range(12))
    for key, member in view["members"].items():
        assert member["owned"] == member["assigned"] == reads[key]
        assert (member["condition"], member["verbs"][-1]) == ("running", "crash")
        assert member["topics"] == ["flights"]
        assert member["target"] == (None if protocol == "classic" else member["assigned"])
    for partition in view["partitions"].values():
        assert (
            partition["start"]
            <= (partition["committed"] or 0)
            <= partition["position"]
            <= partition["high_watermark"]
            <= partition["end"]
        )
        assert partition["owner"] == partition["given"] and partition["dark_us"] is None


def test_a_parked_join_a_silent_member_and_the_timers_that_decide() -> None:
    lab = lab_of()
    run(lab, 20)
    order(lab, "crash", "c2")
    order(lab, "join")
    view = run(lab, 6)
    assert view["state"] == "PreparingRebalance"
    assert {key: member["awaits"] for key, member in view["members"].items()} == {
        "c1": "join",
        "c2": None,
        "c3": "join",
        "c4": "join",
    }
    assert (view["members"]["c2"]["condition"], view["members"]["c2"]["verbs"]) == (
        "crashed",
        ["rejoin", "leave"],
    )
    assert all(
        partition["owner"] is None and partition["dark_us"] is not None
        for partition in view["partitions"].values()
    )
    session, join = view["timers"]["session:c2"], view["timers"]["join"]
    assert (session["member"], session["of_us"], join["member"], join["of_us"]) == (
        "c2",
        45 * SECOND,
        None,
        300 * SECOND,
    )
    until_us = session["until_us"]
    lab.advance_to(until_us - 1)
    assert "c2" in group(lab)["members"]
    view = run(lab, 0.5)
    assert (
        view["members"]["c2"]["member_id"] is None and view["generation"] == 2
    )  # its session, and nothing else, held the others up


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_consumer_that_has_expired_stays_in_sight_and_can_be_started_again(protocol: str) -> None:
    lab = lab_of(protocol)
    run(lab, 20)
    order(lab, "crash", "c2")
    view = run(lab, 120)
    member = view["members"]["c2"]
    assert (member["member_id"], member["condition"], member["verbs"], member["owned"]) == (
        None,
        "crashed",
        ["rejoin", "leave"],
        [],
    )
    order(lab, "rejoin", "c2")
    view = run(lab, 30)
    assert [member["condition"] for member in view["members"].values() if member["consumer"] == "c2"] == [
        "running"
    ]
    order(lab, "crash", "c2")
    run(lab, 120)
    order(lab, "leave", "c2")
    assert "c2" not in {member["consumer"] for member in run(lab, 1)["members"].values()}


def test_the_initial_delay_is_told_apart_from_the_join_phase() -> None:
    lab = lab_of()
    view = run(lab, 1)
    assert (view["state"], list(view["timers"])[-1], view["timers"]["initial_delay"]["of_us"]) == (
        "PreparingRebalance",
        "initial_delay",
        3 * SECOND,
    )


def test_who_does_not_poll_has_a_timer_of_its_own() -> None:
    lab = lab_of()
    run(lab, 20)
    assert not any(name.startswith("poll") for name in group(lab)["timers"])
    order(lab, "group_stick", "c1")
    view = run(lab, 10)
    timer = view["timers"]["poll:c1"]
    assert (timer["kind"], timer["of_us"], view["members"]["c1"]["is_stuck"]) == ("poll", 300 * SECOND, True)
    assert 285 * SECOND < timer["until_us"] - lab.now_us <= 298 * SECOND


def test_without_a_coordinator_there_are_no_members_and_with_the_next_one_they_are_back() -> None:
    lab = lab_of()
    view = run(lab, 20)
    members = {key: member["member_id"] for key, member in view["members"].items()}
    order(lab, "cluster_crash", broker=view["coordinator"])
    at_once = group(lab)
    assert (at_once["coordinator"], at_once["state"], at_once["generation"]) == (None, None, None)
    assert (
        all(member["member_id"] is None for member in at_once["members"].values())
        and len(at_once["members"]) == 3
    )
    later = run(lab, 20)
    assert later["coordinator"] not in (None, view["coordinator"])
    assert {key: member["member_id"] for key, member in later["members"].items()} == members


def test_epochs_follow_each_other_in_the_consumer_protocol() -> None:
    lab = lab_of("consumer")
    run(lab, 20)
    order(lab, "join")
    behind = False
    for _ in range(80):
        view = run(lab, 0.1)
        epochs = [member["epoch"] for member in view["members"].values() if member["epoch"] is not None]
        assert max(epochs) <= view["assignment_epoch"] <= view["generation"]
        behind = behind or min(epochs) < view["generation"]
        for key, member in view["members"].items():
            assert not set(member["assigned"]) & {
                number for other, one in view["members"].items() if other != key for number in one["assigned"]
            }
    assert behind and set(epochs) == {view["generation"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "table"), [("classic", CLASSIC_TRANSITIONS), ("consumer", CONSUMER_TRANSITIONS)]
)
def test_no_group_ever_goes_a_way_that_its_table_does_not_have(
    protocol: str, table: dict[tuple[str, str], str]
) -> None:
    ways: dict[str, set[str]] = {}
    for (state, _event), after in table.items():
        ways.setdefault(state, set()).add(after)

    def reachable(state: str) -> set[str]:
        found, fresh = {state}, [state]
        while fresh:
            for after in ways.get(fresh.pop(), ()):
                if after not in found:
                    found.add(after)
                    fresh.append(after)
        return found

    lab = lab_of(protocol, consumers=0)
    before, seen = group(lab)["state"], set()
    for kind, name in (
        ("join", None),
        ("join", None),
        ("crash", "c1"),
        ("leave", "c2"),
        ("join", None),
        ("leave", "c3"),
    ):
        order(lab, kind, name)
        for _ in range(60):
            state = run(lab, 0.9)["state"]
            assert state in reachable(before)
            before = state
            seen.add(state)
    assert {"Empty", "Stable"} <= seen <= {state for state, _ in table}


CONDITIONS = {"live": (), "crashed": ("crash",), "frozen": ("group_freeze",), "stuck": ("group_stick",)}
OF_A_MEMBER = (
    "leave",
    "crash",
    "rejoin",
    "group_freeze",
    "group_thaw",
    "group_stick",
    "group_unstick",
    "group_restart",
    "group_subscribe",
)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_member_is_offered_just_what_is_not_refused(condition: str) -> None:
    for verb in OF_A_MEMBER:
        lab = lab_of()
        run(lab, 7)
        for kind in CONDITIONS[condition]:
            order(lab, kind, "c2")
        if verb in group(lab)["members"]["c2"]["verbs"]:
            order(lab, verb, "c2")
        else:
            with pytest.raises(CommandError):
                order(lab, verb, "c2")


def test_more_partitions_are_dark_until_members_learn_of_them() -> None:
    lab = lab_of(metadata_max_age_ms=5_000)
    before = run(lab, 12)
    assert before["verbs"] == ["join", "cluster_add_partitions"] and before["topics"] == ["flights"]
    order(lab, "cluster_add_partitions", topic="flights", count=14)
    later = run(lab, 20)
    assert sorted(number for numbers in owners(later).values() for number in numbers) == list(range(14))
    assert later["generation"] == before["generation"] + 1


def test_a_shorter_session_is_shown_as_long_as_it_is() -> None:
    for protocol in PROTOCOLS:
        lab = lab_of(protocol, session_timeout_ms=9_000)
        assert {
            timer["of_us"] for timer in run(lab, 12)["timers"].values() if timer["kind"] == "session"
        } == {9 * SECOND}


def test_looking_changes_nothing() -> None:
    lab, other = lab_of(), lab_of()
    for _ in range(30):
        run(lab, 0.5)
    other.advance_to(lab.now_us)
    assert lab.view() == other.view() and lab.checkpoint() == other.checkpoint()


def test_a_lanes_groups_may_have_the_old_coordinator() -> None:
    """It serves a classic group through crash and failover, restores the same, and knows nothing of the
    consumer protocol."""
    lab = lab_of(group_coordinator="old", static_members=True)
    view = run(lab, 20)
    assert view["is_old"] and view["state"] == "Stable" and sum(map(len, owners(view).values())) == 12
    order(lab, "crash", "c2")
    run(lab, 50)
    committed = {number: partition["committed"] for number, partition in group(lab)["partitions"].items()}
    lab.submit(
        {
            "command_id": "f",
            "kind": "cluster_crash",
            "lane": "kafka",
            "args": {"broker": group(lab)["coordinator"]},
        }
    )
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        view = run(each, 40)
    assert lab.view() == other.view() and view["state"] == "Stable"
    assert set(owners(view)) == {"c1", "c3"} and all(
        view["partitions"][number]["committed"] >= offset for number, offset in committed.items()
    )
    assert not run(lab_of(), 1)["is_old"]
    with pytest.raises(CommandError) as refused:
        lab_of("consumer", group_coordinator="old")
    assert refused.value.field == "lanes.0.group_coordinator"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_static_member_that_restarts_is_one_member_all_the_time(protocol: str) -> None:
    lab = lab_of(protocol, static_members=True)
    run(lab, 20)
    order(lab, "group_restart", "c2")
    seen = []
    for _ in range(25):
        view = run(lab, 0.1)
        (member,) = [(key, each) for key, each in view["members"].items() if each["consumer"] == "c2"]
        seen.append((member[0], member[1]["condition"], len(member[1]["assigned"]), member[1]["verbs"][0]))
        assert view["timers"]["session:c2~2"]["member"] == "c2~2"
        assert [part["given"] for part in view["partitions"].values()].count("c2~2") == 4
    assert list(dict.fromkeys(seen)) == [
        ("c2~2", "gone", 4, "group_subscribe"),
        ("c2~2", "running", 4, "group_subscribe"),
    ]


def test_a_dead_process_that_is_no_member_is_not_shown_beside_its_next_life() -> None:
    lab = lab_of(static_members=True)
    run(lab, 20)
    order(lab, "crash", "c2")
    run(lab, 2)
    order(lab, "rejoin", "c2")
    view = run(lab, 0.2)
    assert [
        (key, each["member_id"] is None) for key, each in view["members"].items() if each["consumer"] == "c2"
    ] == [("c2~2", False)]


def test_a_next_life_that_was_refused_stands_beside_the_former_one() -> None:
    lab = lab_of("consumer", static_members=True)
    run(lab, 20)
    order(lab, "crash", "c2")
    run(lab, 2)
    order(lab, "rejoin", "c2")
    view = run(lab, 0.2)
    assert [(key, each["failed"]) for key, each in view["members"].items() if each["consumer"] == "c2"] == [
        ("c2", None), ("c2~2", "UNRELEASED_INSTANCE_ID"),
    ]  # fmt: skip


def test_a_subscription_by_pattern_is_told_with_the_topics_that_it_means() -> None:
    lab = lab_of(more_topics=[{"name": "audit", "partitions": 2}])
    run(lab, 20)
    assert {(member["pattern"], *member["topics"]) for member in group(lab)["members"].values()} == {
        (None, "flights")
    }
    order(lab, "group_subscribe", "c2", pattern="fl.*|au.+")
    view = run(lab, 12)
    assert (view["members"]["c2"]["pattern"], view["members"]["c2"]["topics"]) == (
        "fl.*|au.+",
        ["audit", "flights"],
    )
    with pytest.raises(CommandError) as refused:
        order(lab, "group_subscribe", "c2", pattern="(a+)+")
    assert refused.value.field == "args.pattern"


def test_members_that_are_upgraded_one_by_one_say_what_they_speak_and_one_assignor_is_for_all() -> None:
    lab = lab_of(algorithm="cooperative-sticky", migration_policy="bidirectional")
    view = run(lab, 15)
    assert view["assignor"] == "cooperative-sticky" and {
        member["protocol"] for member in view["members"].values()
    } == {"classic"}
    order(lab, "group_restart", "c1", protocol="consumer")
    view = run(lab, 12)
    assert (view["protocol"], view["assignor"]) == ("consumer", "uniform")
    assert {member["consumer"]: member["protocol"] for member in view["members"].values()} == {
        "c1": "consumer",
        "c2": "classic",
        "c3": "classic",
    }
