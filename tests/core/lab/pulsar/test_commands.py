"""What a person lets a Pulsar consumer do reaches its client and broker: as commands, through a checkpoint, a
replay and a change of rule."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.pulsar.command_lab import SECOND, order, running, view


def test_stuck_consumer_keeps_mark_delete_until_it_is_released():
    lab = running()
    events = order(lab, "pulsar_hold_acks", seconds=10)
    assert (
        events[0]["kind"] == "pulsar.consumer.hold_acks"
        and view(lab)["sentence"]["code"] == "pulsar.hold_acks"
    )
    stuck = view(lab)
    assert (
        stuck["picture"]["mark_delete"] < 110
        and stuck["consumers"]["c1"]["unacked"] > 80
        and stuck["consumers"]["c1"]["rate"] > 5
    )
    order(lab, "pulsar_release_acks")
    assert view(lab)["picture"]["mark_delete"] > 300 and view(lab)["consumers"]["c1"]["unacked"] < 30


def test_ack_timeout_gives_a_stuck_consumers_records_to_the_others():
    lab = running(consumers=3, ack_timeout_us=2 * SECOND)
    order(lab, "pulsar_hold_acks", seconds=20)
    assert view(lab)["tally"]["redelivered"] > 100 and view(lab)["picture"]["mark_delete"] > 80


def test_blocked_at_its_limit_a_consumer_gets_nothing_until_half_is_acknowledged():
    lab = running(unacked_max=20, receiver_queue_size=100, rate=5)
    order(lab, "pulsar_hold_acks", seconds=15)
    lane = lab.lanes["pulsar"]
    known = lane.reads.subscription().attached.consumers
    assert sorted((one.is_blocked, one.unacked >= 20) for one in known.values()) == [
        (False, False),
        (True, True),
    ]
    order(lab, "pulsar_release_acks", seconds=10)
    assert not any(one.is_blocked for one in known.values()) and lab.lanes["pulsar"].reads.lag() < 40


def test_full_subscription_reads_nothing_new():
    lab = running(unacked_all_max=30)
    order(lab, "pulsar_hold_acks", "c1", 0)
    order(lab, "pulsar_hold_acks", "c2", 20)
    lane = lab.lanes["pulsar"]
    assert lane.reads.subscription().attached.is_full and lane.reads.subscription().cursor.read_position < 200


@pytest.mark.parametrize(
    ("algorithm", "partitions"), [("shared", 0), ("failover", 3), ("exclusive", 0), ("consistent_hash", 0)]
)
def test_seek_by_time_delivers_again_what_was_published_since(algorithm, partitions):
    lab = running(algorithm, retention=1_000, partitions=partitions)
    finished = sum(consumer.acked_between(0, 5) for consumer in lab.lanes["pulsar"].consumers.values())
    events = order(lab, "pulsar_seek", "c1", 0.5, time_us=2 * SECOND)
    moved = [event for event in events if event["kind"] == "pulsar.subscription.seek"]
    assert len(moved) == max(partitions, 1) and sum(event["data"]["position"] for event in moved) in (39, 40)
    assert finished > 40 and lab.lanes["pulsar"].reads.lag() > 50
    lab.lanes["pulsar"].reads.check()


def test_seek_to_before_what_is_kept_begins_with_the_first_entry_that_is():
    lab = running(retention=10)
    lane = lab.lanes["pulsar"]
    (moved,) = [
        event for event in order(lab, "pulsar_seek", entry=0) if event["kind"] == "pulsar.subscription.seek"
    ]
    assert moved["data"]["position"] > 50 and lane.reads.lag() < 60


def test_cumulative_acknowledgement_is_failovers_and_refused_on_shared():
    failover, shared = running("failover", acks_cumulatively=True), running("shared", acks_cumulatively=True)
    assert sum(part["committed"] for part in view(failover)["picture"]["partitions"].values()) > 70
    assert (
        view(shared)["picture"]["mark_delete"] == -1
        and view(shared)["sentence"]["code"] == "pulsar.ack_refused"
    )
    refused = running("shared", acks_cumulatively=True).lanes["pulsar"].sentence["params"]
    assert refused["error"] == "InvalidConfigurationException"


def test_retry_letters_come_again_after_their_delay_and_end_as_dead_letters():
    lab = running("shared", fails_every=10, retry_topic=True, max_redeliver=2, nack_delay_us=2 * SECOND)
    lab.advance_to(30 * SECOND)
    picture = view(lab)["picture"]
    assert picture["dead_letters"] >= 30 and picture["retry_letters"] > 0 and picture["mark_delete"] > 500
    lab.lanes["pulsar"].reads.check()


@pytest.mark.parametrize("algorithm", ["consistent_hash", "shared", "failover"])
def test_program_with_a_retry_letter_topic_can_be_lost_and_can_leave(algorithm):
    """It has two consumers on its connection, and goes with both."""
    lab = running(
        algorithm, consumers=3, retry_topic=True, fails_every=10, max_redeliver=2, nack_delay_us=2 * SECOND
    )
    order(lab, "crash", "c1", seconds=70)
    assert [
        event["data"]["consumer"]
        for event in order(lab, "leave", "c2", seconds=5)
        if event["kind"] == "pulsar.consumer.disconnected"
    ]
    lane = lab.lanes["pulsar"]
    assert {
        known.name
        for connection in lane.reads.broker().state.connections.values()
        for known in connection.consumers.values()
    } == {"c3"}
    lab.lanes["pulsar"].reads.check()


def test_batches_of_which_some_messages_cannot_be_handled_come_again_and_are_done_in_the_end():
    lab = running(
        "consistent_hash",
        consumers=5,
        rate=36,
        batching="default",
        batching_delay_us=400_000,
        fails_every=3,
        max_redeliver=2,
        nack_delay_us=SECOND,
        receiver_queue_size=3,
    )
    lab.advance_to(60 * SECOND)
    picture = view(lab)["picture"]
    assert (
        picture["mark_delete"] > 5
        and picture["dead_letters"] > 20
        and view(lab)["tally"]["redelivered"] > 100
    )
    lab.lanes["pulsar"].reads.check()


def test_delayed_records_wait_and_others_pass_them():
    lab = running("shared", delayed_every=5, delay_us=3 * SECOND)
    assert lab.lanes["pulsar"].reads.lag() >= 12
    lane = lab.lanes["pulsar"]
    assert len(lane.reads.subscription().attached.delayed) == 12


def test_ordering_keys_decide_and_not_the_keys():
    lab = running("consistent_hash", consumers=8, ordering_keys=2)
    owners = lab.lanes["pulsar"].reads.key_owners()
    assert len(owners) > 40 and len(set(owners)) <= 2
    again = Lab.restore(lab.scenario, lab.checkpoint())
    assert (
        again.advance_to(9 * SECOND) == lab.advance_to(9 * SECOND) and again.checkpoint() == lab.checkpoint()
    )


@pytest.mark.parametrize(
    "options",
    [
        {"ack_timeout_us": 1_000_000},
        {"acks_cumulatively": True, "algorithm": "failover"},
        {"retry_topic": True, "fails_every": 5, "nack_delay_us": 500_000},
        {
            "batch_index_acks": True,
            "batching": "default",
            "batching_delay_us": 200_000,
            "algorithm": "auto_split",
        },
        {"delayed_every": 3, "delay_us": 900_000},
        {"unacked_max": 10},
        {"priorities": {"c2": 1}, "retention": 50},
        {"fails_every": 4, "nack_delay_us": 100_000, "nack_backoff_max_us": 800_000},
    ],
)
def test_restored_at_any_point_it_goes_on_the_same(options):
    lab = running(**options)
    order(lab, "pulsar_hold_acks", "c2", 1.234)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        order(each, "pulsar_seek", "c1", 1, time_us=3 * SECOND)
        order(each, "pulsar_release_acks", "c2", 3)
        each.lanes["pulsar"].reads.check()
    assert again.checkpoint() == lab.checkpoint()


def test_history_is_run_through_again_under_another_rule():
    lab = running("sticky")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 99]])
    order(lab, "pulsar_hold_acks", "c2", 5)
    lab.submit(
        {"command_id": "switch", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "shared"}}
    )
    assert view(lab)["algorithm"] == "shared" and lab.lanes["pulsar"].reads.client("c2").holds_acks


@pytest.mark.parametrize(
    ("kind", "args", "field"),
    [
        ("pulsar_seek", {}, "args.entry"),
        ("pulsar_seek", {"entry": 1, "time_us": 2}, "args.entry"),
        ("pulsar_seek", {"entry": -1}, "args.entry"),
        ("pulsar_seek", {"time_us": 1.5}, "args.time_us"),
        ("pulsar_priority", {}, "args.level"),
        ("pulsar_priority", {"level": 1_001}, "args.level"),
        ("pulsar_ranges", {}, "args.ranges"),
        ("pulsar_ranges", {"ranges": [[0]]}, "args.ranges"),
        ("pulsar_ranges", {"ranges": [[True, 2]]}, "args.ranges"),
        ("pulsar_hold_acks", {"count": 1}, "args.count"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_at_their_field(kind, args, field):
    with pytest.raises(CommandError) as refusal:
        command_from_json({"command_id": "n1", "kind": kind, "consumer": "c1", "args": args})
    assert refusal.value.field == field


@pytest.mark.parametrize("ranges", [[], [[0, 65_536]], [[9, 3]], [[0, 9], [9, 12]]])
def test_ranges_that_the_client_would_not_send_are_refused_at_their_field(ranges):
    with pytest.raises(CommandError) as refusal:
        order(running("sticky"), "pulsar_ranges", ranges=ranges)
    assert refusal.value.field == "args.ranges" and "the client refuses them" in str(refusal.value)


def test_what_the_lab_cannot_do_is_refused_and_changes_nothing():
    lab = running()
    before = lab.checkpoint()
    for consumer, kind, args, field in (
        ("c9", "pulsar_hold_acks", {}, "consumer"),
        ("c1", "pulsar_ranges", {"ranges": [[0, 9]]}, "consumer"),
    ):
        with pytest.raises(CommandError) as refusal:
            order(lab, kind, consumer, **args)
        assert refusal.value.field == field
    assert lab.checkpoint() == before
    order(lab, "crash", "c1")
    with pytest.raises(CommandError):
        order(lab, "pulsar_hold_acks", "c1")
    kafka = Lab(scenario_from_json({"lanes": [{"model": "kafka"}]}))
    with pytest.raises(CommandError) as refusal:
        order(kafka, "pulsar_hold_acks", "c1")
    assert refusal.value.field == "lane"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"ack_timeout_us": 999_999}, "ack_timeout_us"),
        ({"acks_cumulatively": 1}, "acks_cumulatively"),
        ({"priorities": ["c1"]}, "priorities"),
        ({"priorities": {"c1": -1}}, "priorities.c1"),
        ({"delayed_every": 2}, "delayed_every"),
        ({"nack_delay_us": 200_000, "nack_backoff_max_us": 100_000}, "nack_backoff_max_us"),
        ({"retention": -1}, "retention"),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_their_field(options, field):
    with pytest.raises(CommandError) as refusal:
        running(**options)
    assert refusal.value.field == f"lanes.0.{field}"


@pytest.mark.parametrize("consumers", [1, 2])
def test_an_ack_timeout_as_short_as_the_handling_of_a_record_stops_no_lab(consumers):
    lab = running(consumers=consumers, rate=5, ack_timeout_us=SECOND)
    for number in range(consumers):
        order(lab, "slow", f"c{number + 1}", rate=1)
    order(lab, "pulsar_hold_acks", "c1", 3)
    order(lab, "pulsar_release_acks", "c1", 0)
    lab.advance_to(
        40 * SECOND
    )  # what is in hand is asked for again, so it waits twice, and its ack is for both
    assert view(lab)["tally"]["redelivered"] > 0


def test_a_seek_closes_the_consumers_of_failover_in_the_same_order_after_a_checkpoint():
    lab = running("failover", partitions=2)
    for name in ("c0", "d1", "b2"):
        order(lab, "join", name, seconds=5)
    told = []
    for each in (lab, Lab.restore(lab.scenario, lab.checkpoint())):
        order(each, "pulsar_seek", "c1", seconds=0, entry=0)
        told.append(
            [
                event["data"]["consumer"]
                for event in each.advance_to(each.now_us + SECOND)
                if event["kind"] == "pulsar.consumer.disconnected"
            ]
        )
    assert told[0] == told[1] == ["b2", "c0", "c1", "c2", "d1"] * 2, (
        "by name, as the broker picks who is active"
    )


@pytest.mark.parametrize(
    ("algorithm", "partitions"), [("shared", 0), ("failover", 3), ("exclusive", 0), ("consistent_hash", 0)]
)
@pytest.mark.parametrize("batching", [{}, {"batching": "default", "batching_delay_us": 100_000}])
def test_a_program_that_asks_for_all_again_gets_it_and_the_lane_goes_on(algorithm, partitions, batching):
    lab = running(algorithm, consumers=1, rate=5, partitions=partitions, **batching)
    lane = lab.lanes["pulsar"]
    order(lab, "pulsar_hold_acks", "c1", 3)
    held = lane.reads.held(lane.consumers["c1"])
    assert held > 0 and view(lab)["tally"]["redelivered"] == 0
    order(lab, "pulsar_redeliver", "c1", 1)
    assert held <= view(lab)["tally"]["redelivered"] <= held + 5
    order(lab, "pulsar_release_acks", "c1", 20)
    assert lane.reads.lag() < 20 and view(lab)["tally"]["redelivered"] < 2 * held + 10
