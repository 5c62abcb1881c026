"""The Pulsar lane on its world: what it says of each change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError, InvariantError
from broker_core.lab.lab import Lab
from broker_core.lab.pulsar.owners import Assignment, RawSlices
from broker_core.lab.shared.hero import hero_view
from broker_core.pulsar.selectors import SELECTORS, make_selector
from tests.core.lab.pulsar.pulsar_lab import SECOND, bill_of, lab_of, lane_of, order, sentence

acts = st.tuples(
    st.integers(0, 20 * SECOND),
    st.sampled_from(("join", "ten", "leave", "crash", "rejoin", "pause", "resume", "slow", "switch")),
    st.integers(1, 6),
)


lives = st.lists(acts, max_size=8).map(sorted)


def act(lab, kind, number):
    try:
        if kind in ("join", "ten"):
            return order(lab, "join", count=10 if kind == "ten" else 1)
        if kind == "switch":
            return order(lab, "set_algorithm", lane="pulsar", algorithm=list(SELECTORS)[number])
        return order(lab, kind, f"c{number}")
    except CommandError:
        return []


def test_restored_in_the_middle_of_ten_that_join_it_tells_the_same():
    lab = lab_of()
    lab.advance_to(10 * SECOND)
    order(lab, "join", count=10)
    lab.advance_to(10 * SECOND + 1_350)  # a few of them are in
    again = Lab.restore(lab.scenario, lab.checkpoint())
    assert len(lane_of(lab).why) in range(1, 10)
    assert again.advance_to(11 * SECOND) == lab.advance_to(11 * SECOND)
    assert again.checkpoint() == lab.checkpoint()


@given(st.sampled_from(sorted(SELECTORS)), lives)
@settings(deadline=None, max_examples=20)
def test_keys_belong_to_whom_the_brokers_selector_names(algorithm, life):
    lab = lab_of(algorithm)
    for at_us, kind, number in life:
        lab.advance_to(at_us)
        if kind != "switch":
            act(lab, kind, number)
    lab.advance_to(lab.now_us + 1_500)
    lane = lane_of(lab)
    rules, broker = lane.reads, lane.reads.broker()
    picked = [rules.subscription().selector.select(rules.owners.hashes[code]) for code in lab.keys.codes]
    names = {
        key: broker.state.connections[connection].consumers[number].name
        for key, (connection, number) in broker.consumers.items()
    }
    assert (
        lane.reads.key_owners()
        == [None if key is None else names[key] for key in picked][: len(lane.reads.key_owners())]
    )
    assert lane.reads.weights() == {
        name: sum(
            rules.notes.key_counts[code]
            for code, owner in zip(lab.keys.codes, lane.reads.key_owners(), strict=False)
            if owner == name
        )
        for name in names.values()
    }


def test_newcomers_connect_in_the_order_in_which_they_are_started():
    lab = lab_of("auto_split", consumers=0)
    order(lab, "join", count=10)
    connected = [
        event["data"]["consumer"]
        for event in lab.advance_to(SECOND)
        if event["kind"] == "pulsar.consumer.connected"
    ]
    assert connected == [f"c{number}" for number in range(1, 11)]


def test_order_crosses_the_network_and_its_effect_names_it_as_the_cause():
    lab = lab_of(consumers=0)
    assert order(lab, "join") == []
    assert lane_of(lab).state_word(lane_of(lab).consumers["c1"]) == "waiting"
    (event,) = lab.advance_to(10_000)
    assert (event["kind"], event["cause"], event["data"]["consumer"]) == (
        "pulsar.consumer.connected",
        {"command": 1},
        "c1",
    )
    assert 1_000 <= event["at_us"] <= 1_100 and event["data"]["permits"] == 1000


def test_keys_stay_in_order_unless_the_lane_says_otherwise():
    """Pulsar's own default: allowOutOfOrderDelivery is false, so a newcomer waits for everything before its
    join."""
    lab = lab_of()
    lab.advance_to(10 * SECOND)
    order(lab, "join")
    lab.advance_to(10 * SECOND + 10_000)
    lane = lane_of(lab)
    assert sentence(lab)["code"] == "pulsar.join_waits" and lane.state_word(lane.consumers["c4"]) == "waiting"
    lab.advance_to(40 * SECOND)
    assert (
        sentence(lab)["code"] == "pulsar.let_go"
        and lab.view()["lanes"]["pulsar"]["consumers"]["c4"]["rate"] > 0
    )
    lab.advance_to(60 * SECOND)
    assert lab.view()["lanes"]["pulsar"]["tally"]["out_of_order"] == 0


def test_newcomer_takes_keys_and_a_leaver_gives_its_own_to_the_others():
    lab = lab_of(order="out_of_order")
    lab.advance_to(10 * SECOND)
    order(lab, "join")
    (joined,) = lab.advance_to(11 * SECOND)
    assert (
        sentence(lab)["code"] == "pulsar.join"
        and sentence(lab)["params"]["keys_moved"] == bill_of(lab)["keys_moved"] > 0
    )
    assert sum(entry["keys"] for entry in joined["data"]["taken"]) == bill_of(lab)["keys_moved"]
    order(lab, "leave", "c2")
    (left,) = lab.advance_to(12 * SECOND)
    assert sum(entry["keys"] for entry in left["data"]["given"]) == bill_of(lab)["keys_moved"] > 0
    unacked, moved = left["inputs"]["unacked"], bill_of(lab)["keys_moved"]
    told = {"consumer": "c2", "redelivered": unacked, "keys_moved": moved, "several": 1, "other": ""}
    assert sentence(lab) == {"code": "pulsar.leave", "params": told}
    assert bill_of(lab)["redelivered"] == unacked and bill_of(lab)["settled"]
    assert hero_view(lane_of(lab)) == {"code": "moved", "part": moved, "whole": bill_of(lab)["keys_total"]}


def test_everybody_gone_and_somebody_new():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    for name in ("c1", "c2", "c3"):
        order(lab, "leave", name)
    lab.advance_to(21 * SECOND)
    assert sentence(lab)["code"] == "pulsar.leave_last" and hero_view(lane_of(lab))["code"] == "empty"
    assert (
        lane_of(lab).reads.dark_units() == (10_000, 10_000) and lane_of(lab).reads.picture()["connected"] == 0
    )
    assert (
        0
        < lane_of(lab).reads.picture()["waiting"]
        <= lane_of(lab).reads.lag()
        <= lane_of(lab).reads.picture()["waiting"] + 1
    )  # one may be on its way
    order(lab, "join")
    lab.advance_to(22 * SECOND)
    assert sentence(lab)["code"] == "pulsar.join_first" and set(lane_of(lab).reads.key_owners()) == {"c4"}
    assert bill_of(lab)["redelivered"] > 0


def test_two_changes_at_a_time_are_one_bill():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "join")
    order(lab, "leave", "c1")
    assert not bill_of(lab)["settled"]
    lab.advance_to(21 * SECOND)
    bill = bill_of(lab)
    assert bill["settled"] and bill["position"] == 2 and bill["keys_moved"] > 0
    assert set(lane_of(lab).reads.key_owners()) == {"c2", "c3", "c4"}


def test_sticky_newcomer_takes_the_upper_half_of_one_who_subscribes_again_first():
    lab = lab_of("sticky", consumers=2, order="out_of_order")
    lab.advance_to(20 * SECOND)
    (reconnected,) = order(lab, "join")
    assert (reconnected["rule"], reconnected["data"]) == (
        "pulsar.selector.sticky.halve_widest",
        {"ranges": [[0, 16383]]},
    )
    closed, again, joined = lab.advance_to(21 * SECOND)
    assert [event["cause"] for event in (closed, again, joined)] == [{"event": reconnected["id"]}] * 2 + [
        {"command": 1}
    ]
    assert closed["data"]["consumer"] == again["data"]["consumer"] == "c1" and again["inputs"]["ranges"] == [
        [0, 16383]
    ]
    assert joined["data"]["taken"] == [{"consumer": "c1", "slices": 1, "keys": bill_of(lab)["keys_moved"]}]
    assert sentence(lab) == {
        "code": "pulsar.sticky_join",
        "params": {"consumer": "c3", "from": "c1", "start": 16384, "end": 32767},
    }


def test_sticky_newcomers_at_a_time_ask_once_each():
    lab = lab_of("sticky", consumers=1)
    lab.advance_to(10 * SECOND)
    order(lab, "join", count=3)
    events = lab.advance_to(11 * SECOND)
    assert sum(event["kind"] == "pulsar.consumer.connected" for event in events) == 4
    assert not any(event["kind"] == "pulsar.consumer.refused" for event in events)
    asked = lane_of(lab).reads.subscription().selector.asked
    assert sorted(ranges[0] for ranges in asked.values()) == [
        (0, 16383),
        (16384, 32767),
        (32768, 49151),
        (49152, 65535),
    ]
    joined = [event for event in events if event["data"].get("taken")]
    assert (
        sum(entry["keys"] for event in joined for entry in event["data"]["taken"])
        == bill_of(lab)["keys_moved"]
    )


def test_sticky_ranges_of_a_dead_connection_are_given_after_five_seconds():
    lab = lab_of("sticky", order="out_of_order")
    lab.advance_to(10 * SECOND)
    order(lab, "crash", "c2")
    lab.advance_to(11 * SECOND)
    order(lab, "rejoin", "c2")
    assert lane_of(lab).sentence["code"] == "pulsar.sticky_conflict"
    lab.advance_to(15 * SECOND)
    assert lane_of(lab).state_word(lane_of(lab).consumers["c2"]) == "waiting" and not bill_of(lab)["settled"]
    silent, gone, joined = lab.advance_to(17 * SECOND)
    assert (
        silent["rule"] == "pulsar.connection.liveness_check"
        and 16 * SECOND < silent["at_us"] < 16 * SECOND + 5_000
    )
    assert gone["data"]["client"] == "c2" and joined["data"]["client"] == "c2~2"
    assert sentence(lab)["code"] == "pulsar.rejoin" and bill_of(lab)["kind"] == "rejoin"
    assert lane_of(lab).consumers["c2"].state == "live" and not lane_of(lab).crash_positions


def test_sticky_leaver_leaves_a_gap_and_a_rejoiner_asks_for_what_it_had():
    lab = lab_of("sticky", order="out_of_order")
    lab.advance_to(10 * SECOND)
    order(lab, "crash", "c2")
    lab.advance_to(80 * SECOND)
    assert sentence(lab)["code"] == "pulsar.crash_noticed_gap" and lane_of(lab).reads.dark_units()[0] > 0
    order(lab, "rejoin", "c2")
    lab.advance_to(81 * SECOND)
    assert lane_of(lab).reads.dark_units()[0] == 0 and sentence(lab)["code"] == "pulsar.rejoin"
    order(lab, "leave", "c1")
    lab.advance_to(82 * SECOND)
    assert sentence(lab)["code"] == "pulsar.gap" and hero_view(lane_of(lab))["code"] == "dark"


def test_sticky_joins_that_overtake_each_other_end_with_ranges_for_all():
    lab = lab_of("sticky", consumers=1)
    lab.advance_to(10 * SECOND)
    order(lab, "join")
    order(lab, "join")
    lab.advance_to(10 * SECOND + 1_050)
    order(lab, "join")
    lab.advance_to(12 * SECOND)
    assert lane_of(lab).reads.dark_units()[0] == 0 and set(lane_of(lab).reads.weights()) == {
        "c1",
        "c2",
        "c3",
        "c4",
    }
    assert bill_of(lab)["settled"]


def test_lane_that_takes_anothers_place_has_the_same_history():
    lab = lab_of(order="out_of_order")
    lab.advance_to(10 * SECOND)
    order(lab, "join", count=2)
    lab.advance_to(20 * SECOND)
    order(lab, "set_algorithm", lane="pulsar", algorithm="auto_split")
    assert lane_of(lab).sentence["code"] == "pulsar.join_many" and set(lane_of(lab).reads.weights()) == {
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
    }
    picture = lane_of(lab).reads.picture()
    assert (
        picture["kind"] == "ranges"
        and picture["before"] is not None
        and picture["permits"].keys() == {"c1", "c2", "c3", "c4", "c5"}
    )


def test_picture_marks_what_a_dead_consumer_has():
    lab = lab_of("auto_split")
    lab.advance_to(10 * SECOND)
    order(lab, "crash", "c2")
    picture = lane_of(lab).reads.picture()
    dark = {
        picture["names"][owner]
        for owner, is_dark in zip(picture["now"]["owners"], picture["now"]["dark"], strict=True)
        if is_dark
    }
    assert dark == {"c2"}


@pytest.mark.parametrize("algorithm", sorted(SELECTORS))
def test_rules_of_the_subscription_are_watched_while_the_world_runs(algorithm):
    lab = lab_of(algorithm)
    lab.advance_to(3 * SECOND)
    order(lab, "join", count=10)
    order(lab, "crash", "c1")
    lab.advance_to(6 * SECOND)
    lane_of(lab).reads.subscription().dispatcher.available += 1
    with pytest.raises(InvariantError, match="permits are counted"):
        lab.advance_to(7 * SECOND)


def test_they_are_watched_every_five_seconds_while_nothing_changes():
    lab = lab_of("auto_split")
    lab.advance_to(23 * SECOND)
    lane_of(lab).reads.subscription().dispatcher.available += 1
    lab.advance_to(24 * SECOND)
    with pytest.raises(InvariantError, match="permits are counted"):
        lab.advance_to(25 * SECOND)


@pytest.mark.parametrize(
    "broken",
    [
        ([5, 5, 65_535], ["a", "b", "a"]),
        ([70_000], ["a"]),
        ([-1, 9], ["a", "b"]),
        ([9], ["c"]),
        ([9], [("a", "c")]),
    ],
)
def test_slices_that_do_not_tile_the_space_are_found(broken):
    selector = make_selector("auto_split")
    Assignment(selector, RawSlices([5, 65_535], ["a", None]), {"a": "a", "b": "b"}).check()
    assignment = Assignment(selector, RawSlices(*broken), {"a": "a", "b": "b", "c": "c"})
    del assignment.names["c"]
    with pytest.raises(InvariantError):
        assignment.check()


@pytest.mark.parametrize(
    "options",
    [
        {"order": "recently_joined"},
        {"order": "draining"},
        {"order": "draining", "batching": "default", "batching_delay_us": 300_000},
        {"batching": "key_based", "batching_delay_us": 300_000},
        {"fails_every": 7, "max_redeliver": 2, "nack_delay_us": 1_000_000},
    ],
)
def test_order_rules_batches_and_dead_letters_survive_a_restore(options):
    lab = lab_of("auto_split", **options)
    lab.advance_to(6 * SECOND)
    order(lab, "join", count=2)
    order(lab, "crash", "c2")
    lab.advance_to(7 * SECOND)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    assert again.advance_to(80 * SECOND) == lab.advance_to(80 * SECOND)
    assert again.checkpoint() == lab.checkpoint()
    lane_of(lab).reads.check()


@pytest.mark.parametrize(
    ("algorithm", "options", "field"),
    [
        ("auto_split", {"order": "none"}, "lanes.0.order"),
        ("shared", {"batching": "both"}, "lanes.0.batching"),
        ("auto_split", {"batching": "both"}, "lanes.0.batching"),
        ("failover", {"partitions": -1}, "lanes.0.partitions"),
        ("shared", {"max_redeliver": 0}, "lanes.0.max_redeliver"),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_their_field(algorithm, options, field):
    with pytest.raises(CommandError) as refusal:
        lab_of(algorithm, **options)
    assert refusal.value.field == field


def test_failover_takes_the_article_s_places_and_tells_who_stands_by():
    lab = lab_of("failover", consumers=4, partitions=2)
    lab.advance_to(5 * SECOND)
    partitions = lane_of(lab).reads.picture()["partitions"]
    assert [(part["owner"], part["standbys"]) for part in partitions.values()] == [
        ("c1", ["c2", "c3", "c4"]),
        ("c2", ["c1", "c3", "c4"]),
    ]
    order(lab, "leave", "c1")
    lab.advance_to(5 * SECOND + 900_000)
    assert all(part["stopped"] for part in lane_of(lab).reads.picture()["partitions"].values())
    lab.advance_to(7 * SECOND)
    assert [part["owner"] for part in lane_of(lab).reads.picture()["partitions"].values()] == ["c2", "c3"]
    assert sentence(lab)["code"] == "pulsar.failover.leave" and bill_of(lab)["pause_us"] == SECOND


@pytest.mark.parametrize("partitions", [0, 3])
def test_exclusive_tells_of_all_that_were_refused_at_once_and_of_later_ones_anew(partitions):
    lab = lab_of("exclusive", consumers=1, partitions=partitions)
    lab.advance_to(2 * SECOND)
    order(lab, "join", count=3)
    lab.advance_to(3 * SECOND)
    assert sentence(lab)["code"] == "pulsar.refused_many" and sentence(lab)["params"]["count"] == 3
    order(lab, "join")
    lab.advance_to(4 * SECOND)
    assert sentence(lab)["code"] == "pulsar.refused" and sentence(lab)["params"]["consumer"] == "c5"


def test_exclusive_refuses_the_second_by_its_name_and_shared_only_takes_turns():
    lab = lab_of("exclusive", consumers=1)
    lab.advance_to(2 * SECOND)
    order(lab, "join")
    lab.advance_to(3 * SECOND)
    assert sentence(lab)["params"]["error"] == "ConsumerBusy" and lane_of(lab).reads.picture()["refused"] == [
        "c2"
    ]
    order(lab, "set_algorithm", lane="pulsar", algorithm="shared")
    lab.advance_to(13 * SECOND)
    assert lane_of(lab).reads.picture()["ring"] and lab.view()["lanes"]["pulsar"]["skew"] < 1.1
