"""What a person lets a Pulsar consumer do reaches its client and broker: as commands, through a checkpoint, a
replay and a change of rule."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000


def lab_of(algorithm="shared", consumers=2, rate=20, **options):
    lane = {"model": "pulsar", "algorithm": algorithm, **options}
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": 50, "rate": rate},
            }
        )
    )
    lab.advance_to(5 * SECOND)
    return lab


def order(lab, kind, consumer="c1", seconds=1.0, **args):
    events = lab.submit(
        {"command_id": f"n{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args}
    )
    return events + lab.advance_to(lab.now_us + int(seconds * SECOND))


def view(lab):
    return lab.view()["rigs"]["pulsar"]


def test_stuck_consumer_keeps_mark_delete_until_it_is_released():
    lab = lab_of()
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
    lab = lab_of(consumers=3, ack_timeout_us=2 * SECOND)
    order(lab, "pulsar_hold_acks", seconds=20)
    assert view(lab)["tally"]["redelivered"] > 100 and view(lab)["picture"]["mark_delete"] > 80


def test_blocked_at_its_limit_a_consumer_gets_nothing_until_half_is_acknowledged():
    lab = lab_of(unacked_max=20, receiver_queue_size=100, rate=5)
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
    lab = lab_of(unacked_all_max=30)
    order(lab, "pulsar_hold_acks", "c1", 0)
    order(lab, "pulsar_hold_acks", "c2", 20)
    lane = lab.lanes["pulsar"]
    assert lane.reads.subscription().attached.is_full and lane.reads.subscription().cursor.read_position < 200


@pytest.mark.parametrize(
    ("algorithm", "partitions"), [("shared", 0), ("failover", 3), ("exclusive", 0), ("consistent_hash", 0)]
)
def test_seek_by_time_delivers_again_what_was_published_since(algorithm, partitions):
    lab = lab_of(algorithm, retention=1_000, partitions=partitions)
    finished = sum(consumer.acked_between(0, 5) for consumer in lab.lanes["pulsar"].consumers.values())
    events = order(lab, "pulsar_seek", "c1", 0.5, time_us=2 * SECOND)
    moved = [event for event in events if event["kind"] == "pulsar.subscription.seek"]
    assert len(moved) == max(partitions, 1) and sum(event["data"]["position"] for event in moved) in (39, 40)
    assert finished > 40 and lab.lanes["pulsar"].reads.lag() > 50
    lab.lanes["pulsar"].reads.check()


def test_seek_to_before_what_is_kept_begins_with_the_first_entry_that_is():
    lab = lab_of(retention=10)
    lane = lab.lanes["pulsar"]
    (moved,) = [
        event for event in order(lab, "pulsar_seek", entry=0) if event["kind"] == "pulsar.subscription.seek"
    ]
    assert moved["data"]["position"] > 50 and lane.reads.lag() < 60


def test_worse_priority_level_gets_records_only_when_the_better_ones_cannot():
    lab = lab_of(consumers=3, priorities={"c3": 1}, receiver_queue_size=10, rate=15)
    rates = {name: consumer["rate"] for name, consumer in view(lab)["consumers"].items()}
    assert rates["c3"] == 0 < rates["c1"]
    order(lab, "pulsar_priority", "c1", 10, level=2)
    rates = {name: consumer["rate"] for name, consumer in view(lab)["consumers"].items()}
    assert rates["c2"] > 5 > rates["c1"] and view(lab)["sentence"]["code"] == "pulsar.priority"


def test_better_priority_takes_over_all_partitions_of_failover():
    lab = lab_of("failover", consumers=3, partitions=6, priorities={"c1": 1, "c2": 1, "c3": 1})
    order(lab, "pulsar_priority", "c3", 3, level=0)
    assert {partition["owner"] for partition in view(lab)["picture"]["partitions"].values()} == {"c3"}


def test_ranges_that_a_person_types_are_taken_or_refused_by_the_broker():
    lab = lab_of("sticky")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 9_999]])
    lane = lab.lanes["pulsar"]
    assert (
        dict(
            zip(
                lane.reads.subscription().selector.slices()[0],
                view(lab)["picture"]["now"]["owners"],
                strict=True,
            )
        )[32_767]
        == -1
    )
    events = order(lab, "pulsar_ranges", "c1", 6, ranges=[[0, 40_000]])
    refused = [event for event in events if event["kind"] == "pulsar.consumer.refused"]
    assert (
        refused
        and refused[0]["data"]["error"] == "ConsumerAssignError"
        and "Range conflict with consumer" in refused[0]["data"]["message"]
    )


def test_priority_given_at_the_join_decides_from_the_first_record_on():
    lab = lab_of("failover", partitions=4, priorities={"c1": 1, "c2": 1})
    order(lab, "join", "c9", 3, priority=0)
    assert {partition["owner"] for partition in view(lab)["picture"]["partitions"].values()} == {"c9"}
    order(lab, "join", "c8", 3, priority=2)
    assert view(lab)["pulsar"]["consumers"]["c8"]["priority"] == 2


@pytest.mark.parametrize("given", ["join", "later"])
def test_program_that_comes_back_has_the_priority_that_a_person_gave_it(given):
    lab = lab_of("failover", partitions=4)
    order(lab, "join", "c9", 2, **({"priority": 3} if given == "join" else {}))
    if given == "later":
        order(lab, "pulsar_priority", "c9", 2, level=3)
    order(lab, "crash", "c9", 1)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        order(each, "rejoin", "c9", 3)
    assert (
        view(again)["pulsar"]["consumers"]["c9"]["priority"] == 3 and again.checkpoint() == lab.checkpoint()
    )


def test_ranges_given_at_the_join_are_taken_or_refused_by_the_broker_and_nobody_makes_room():
    lab = lab_of("sticky")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 9_999]])
    order(lab, "join", "c3", 1, ranges=[[10_000, 20_000], [30_000, 32_767]])
    shown = view(lab)["pulsar"]["consumers"]
    assert [shown[name]["ranges"] for name in ("c1", "c2", "c3")] == [
        [[0, 9_999]],
        [[32_768, 65_535]],
        [[10_000, 20_000], [30_000, 32_767]],
    ]
    events = order(lab, "join", "c4", 6, ranges=[[20_000, 25_000]])
    (refused,) = [event for event in events if event["kind"] == "pulsar.consumer.refused"]
    assert refused["data"]["error"] == "ConsumerAssignError" and refused["data"]["consumer"] == "c4"
    assert lab.lanes["pulsar"].reads.is_settled()


def test_ranges_of_the_article_end_before_their_end():
    lab = lab_of("sticky_document")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 16_384]])
    order(lab, "join", "c3", 1, ranges=[[16_384, 32_768]])
    order(lab, "pulsar_ranges", "c2", 1, ranges=[[32_768, 65_536]])
    assert (
        view(lab)["picture"]["now"]["owners"].count(-1) == 0
        and not view(lab)["pulsar"]["consumers"]["c2"]["refused"]
    )
    for ranges in ([[0, 65_537]], [[5, 5]], [[9, 3]], [[0, 9], [8, 12]], []):
        with pytest.raises(CommandError) as refusal:
            order(lab, "pulsar_ranges", "c1", 1, ranges=ranges)
        assert refusal.value.field == "args.ranges"


@pytest.mark.parametrize(
    ("algorithm", "args", "field"),
    [
        ("shared", {"ranges": [[0, 9]]}, "args.ranges"),
        ("sticky", {"ranges": [[0, 65_536]]}, "args.ranges"),
        ("sticky", {"ranges": 7}, "args.ranges"),
        ("sticky", {"ranges": [[0, 9]], "count": 2}, "args.count"),
        ("shared", {"priority": -1}, "args.priority"),
        ("shared", {"priority": None}, "args.priority"),
    ],
)
def test_joins_that_no_lane_could_carry_out_are_refused_and_change_nothing(algorithm, args, field):
    lab = lab_of(algorithm)
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refusal:
        order(lab, "join", None if "count" in args else "c9", **args)
    assert refusal.value.field == field and lab.checkpoint() == before


def test_priority_is_for_a_pulsar_lane_and_other_lanes_join_beside_it():
    kafka = Lab(scenario_from_json({"lanes": [{"model": "kafka"}]}))
    with pytest.raises(CommandError) as refusal:
        order(kafka, "join", "c9", priority=1)
    assert refusal.value.field == "args.priority"
    both = Lab(scenario_from_json({"lanes": [{"model": "rabbitmq"}, {"model": "pulsar"}]}))
    order(both, "join", "c9", priority=1)
    assert [lane.consumers["c9"].set_to for lane in both.lanes.values()] == [{}, {"priority": 1}]


def test_join_with_its_wishes_is_in_the_journal_and_in_the_past_of_a_switched_lane():
    command = {
        "command_id": "n1",
        "kind": "join",
        "consumer": "c9",
        "args": {"count": 1, "priority": 2, "ranges": [[0, 9]]},
    }
    assert command_from_json(command).to_json() == {**command, "rig": "all"}
    lab = lab_of("sticky", consumers=0)
    order(lab, "join", "c9", priority=2, ranges=[[0, 99]])
    lab.submit(
        {"command_id": "switch", "kind": "set_algorithm", "rig": "pulsar", "args": {"algorithm": "failover"}}
    )
    assert view(lab)["pulsar"]["consumers"]["c9"]["priority"] == 2


def test_cumulative_acknowledgement_is_failovers_and_refused_on_shared():
    failover, shared = lab_of("failover", acks_cumulatively=True), lab_of("shared", acks_cumulatively=True)
    assert sum(part["committed"] for part in view(failover)["picture"]["partitions"].values()) > 70
    assert (
        view(shared)["picture"]["mark_delete"] == -1
        and view(shared)["sentence"]["code"] == "pulsar.ack_refused"
    )
    refused = lab_of("shared", acks_cumulatively=True).lanes["pulsar"].sentence["params"]
    assert refused["error"] == "InvalidConfigurationException"


def test_retry_letters_come_again_after_their_delay_and_end_as_dead_letters():
    lab = lab_of("shared", fails_every=10, retry_topic=True, max_redeliver=2, nack_delay_us=2 * SECOND)
    lab.advance_to(30 * SECOND)
    picture = view(lab)["picture"]
    assert picture["dead_letters"] >= 30 and picture["retry_letters"] > 0 and picture["mark_delete"] > 500
    lab.lanes["pulsar"].reads.check()


@pytest.mark.parametrize("algorithm", ["consistent_hash", "shared", "failover"])
def test_program_with_a_retry_letter_topic_can_be_lost_and_can_leave(algorithm):
    """It has two consumers on its connection, and goes with both."""
    lab = lab_of(
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
    lab = lab_of(
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
    lab = lab_of("shared", delayed_every=5, delay_us=3 * SECOND)
    assert lab.lanes["pulsar"].reads.lag() >= 12
    lane = lab.lanes["pulsar"]
    assert len(lane.reads.subscription().attached.delayed) == 12


def test_ordering_keys_decide_and_not_the_keys():
    lab = lab_of("consistent_hash", consumers=8, ordering_keys=2)
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
    lab = lab_of(**options)
    order(lab, "pulsar_hold_acks", "c2", 1.234)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        order(each, "pulsar_seek", "c1", 1, time_us=3 * SECOND)
        order(each, "pulsar_release_acks", "c2", 3)
        each.lanes["pulsar"].reads.check()
    assert again.checkpoint() == lab.checkpoint()


def test_history_is_run_through_again_under_another_rule():
    lab = lab_of("sticky")
    order(lab, "pulsar_ranges", "c1", 1, ranges=[[0, 99]])
    order(lab, "pulsar_hold_acks", "c2", 5)
    lab.submit(
        {"command_id": "switch", "kind": "set_algorithm", "rig": "pulsar", "args": {"algorithm": "shared"}}
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
        order(lab_of("sticky"), "pulsar_ranges", ranges=ranges)
    assert refusal.value.field == "args.ranges" and "the client refuses them" in str(refusal.value)


def test_what_the_lab_cannot_do_is_refused_and_changes_nothing():
    lab = lab_of()
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
    assert refusal.value.field == "rig"


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
        lab_of(**options)
    assert refusal.value.field == f"lanes.0.{field}"


# -- a producer that waits for receipts ----------------------------------------------------------------------


def lose(lab, seconds=2):
    return lab.submit(
        {"command_id": f"n{lab.position + 1}", "kind": "pulsar_lose_receipts", "args": {"seconds": seconds}}
    )


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("shared", {}),
        ("failover", {"partitions": 6}),
        ("consistent_hash", {}),
        ("auto_split", {"batching": "key_based", "batching_delay_us": 100_000}),
    ],
)
@pytest.mark.parametrize("deduplication", [True, False])
def test_what_is_sent_again_after_lost_receipts_is_dropped_with_deduplication_and_there_twice_without(
    algorithm, options, deduplication
):
    lab = lab_of(algorithm, consumers=8, receipts=True, deduplication=deduplication, **options)
    assert view(lab)["pulsar"]["producer"]["unconfirmed"] <= 1
    events = lose(lab, 3) + lab.advance_to(7 * SECOND)
    assert (
        view(lab)["pulsar"]["producer"]["loses_answers"]
        and 35 <= view(lab)["pulsar"]["producer"]["unconfirmed"] <= 41
    )
    again = Lab.restore(lab.scenario, lab.checkpoint())
    events += lab.advance_to(12 * SECOND)
    assert again.advance_to(12 * SECOND) and again.checkpoint() == lab.checkpoint()
    (sent,) = [event for event in events if event["kind"] == "pulsar.producer.sent_again"]
    producer, count = view(lab)["pulsar"]["producer"], sent["data"]["messages"]
    assert 55 <= count <= 65
    assert 50 <= (producer["duplicates"] if deduplication else producer["repeated"]) <= count
    assert (producer["repeated"] if deduplication else producer["duplicates"]) == 0
    lab.advance_to(20 * SECOND)
    lane = lab.lanes["pulsar"]
    assert view(lab)["sentence"]["code"] == (
        "pulsar.sent_again_dropped" if deduplication else "pulsar.sent_again"
    )
    assert 0 <= lane.reads.lag() < 12 and view(lab)["pulsar"]["producer"]["unconfirmed"] <= 3
    finished = sum(
        slot.node.state.program.finished for slot in lane.world.slots.values() if slot.kind == "consumer"
    )
    assert abs(finished - 400 - producer["repeated"]) < 12, "each record once, and the repeated ones twice"
    lane.reads.check()


def test_receipts_are_lost_where_a_producer_waits_for_some_and_again_only_later():
    with pytest.raises(CommandError) as refusal:
        lose(lab_of())
    assert refusal.value.field == "rig"
    with pytest.raises(CommandError) as refusal:
        lose(lab_of(receipts=True), 26)
    assert refusal.value.field == "args.seconds"
    lab = lab_of(receipts=True, deduplication=True)
    lose(lab, 2)
    lab.advance_to(6 * SECOND)
    lose(lab, 2)  # while they are lost: two seconds from now
    lab.advance_to(int(7.5 * SECOND))
    assert view(lab)["pulsar"]["producer"]["loses_answers"]
    lab.advance_to(8 * SECOND + 50_000)
    lose(lab, 2)  # while it is about to connect again: nothing is lost
    lab.advance_to(9 * SECOND)
    assert (
        not view(lab)["pulsar"]["producer"]["loses_answers"] and view(lab)["pulsar"]["producer"]["connected"]
    )


def test_a_record_sent_twice_is_found_where_it_is_first():
    lab = lab_of("shared", consumers=1, rate=40, receipts=True)
    order(lab, "pause", "c1", 0)
    lose(lab)
    lab.advance_to(9 * SECOND)
    lane = lab.lanes["pulsar"]
    entries = lane.reads.subscription().entries
    for index in (215, 250, 300, 350):
        position = lane.reads.position_of(index)
        assert position == min(at for at, entry in entries.items() if entry.message == index)
    assert (
        lane.reads.position_of(10_000) == lane.reads.subscription().cursor.end
        and lane.reads.position_of(0) == -1
    )


def test_lost_receipts_are_in_the_past_of_a_switched_lane():
    lab = lab_of("shared", receipts=True)
    lose(lab)
    lab.advance_to(12 * SECOND)
    lab.submit(
        {"command_id": "switch", "kind": "set_algorithm", "rig": "pulsar", "args": {"algorithm": "failover"}}
    )
    assert view(lab)["pulsar"]["producer"]["repeated"] > 30


# -- unsubscribe ---------------------------------------------------------------------------------------------

EVERY_TYPE = [
    ("shared", {}),
    ("failover", {"partitions": 3}),
    ("exclusive", {"partitions": 0}),
    ("consistent_hash", {}),
    ("sticky", {}),
    ("auto_split", {"order": "draining"}),
    ("failover_document", {}),
]


@pytest.mark.parametrize(("algorithm", "options"), EVERY_TYPE)
@pytest.mark.parametrize("initial_position", ["latest", "earliest"])
def test_who_unsubscribes_takes_the_cursor_along_and_the_next_one_begins_anew(
    algorithm, options, initial_position
):
    lab = lab_of(
        algorithm, consumers=1, rate=30, initial_position=initial_position, retention=100_000, **options
    )
    lane = lab.lanes["pulsar"]
    assert lane.reads.lag() > 40
    events = order(lab, "pulsar_unsubscribe", "c1", 2)
    deleted = [event for event in events if event["kind"] == "pulsar.subscription.deleted"]
    assert (
        len(deleted) == max(options.get("partitions", 0), 1)
        and sum(event["data"]["waiting"] for event in deleted) > 40
    )
    shown = view(lab)
    assert shown["sentence"]["code"] == "pulsar.unsubscribed" and shown["pulsar"]["consumers"]["c1"][
        "idle"
    ] == {"code": "unsubscribed"}
    assert (
        lane.reads.lag() <= 1
        and lane.reads.is_settled()
        and sum(cursor["backlog"] for cursor in shown["pulsar"]["cursors"].values()) == 0
    )
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        order(each, "join", "c9", 3)
        each.lanes["pulsar"].reads.check()
    assert again.checkpoint() == lab.checkpoint()
    acked = sum(known.cursor.mark_delete + 1 for known in lane.reads.subscriptions())
    assert acked > 150 if initial_position == "latest" else acked < 60
    assert view(lab)["pulsar"]["consumers"]["c9"]["connected"] and lane.reads.lag() > (
        40 if initial_position == "earliest" else -1
    )


@pytest.mark.parametrize(("algorithm", "options"), [case for case in EVERY_TYPE if case[0] != "exclusive"])
def test_unsubscribe_is_refused_while_another_consumer_is_connected(algorithm, options):
    lab = lab_of(algorithm, consumers=2, **options)
    before = [known.to_json()["name"] for known in lab.lanes["pulsar"].reads.subscriptions()]
    events = order(lab, "pulsar_unsubscribe", "c1", 1)
    refused = [event["data"] for event in events if event["kind"] == "pulsar.unsubscribe.refused"]
    assert {(one["consumer"], one["error"]) for one in refused} == {("c1", "MetadataError")} and len(
        refused
    ) == max(options.get("partitions", 0), 1)
    assert view(lab)["sentence"]["code"] == "pulsar.unsubscribe_refused"
    assert [known.name for known in lab.lanes["pulsar"].reads.subscriptions()] == before
    assert view(lab)["pulsar"]["consumers"]["c1"]["connected"]


def test_retry_letters_go_with_the_subscription_of_who_unsubscribes():
    lab = lab_of(
        "shared", consumers=1, fails_every=3, retry_topic=True, max_redeliver=2, nack_delay_us=2 * SECOND
    )
    lab.advance_to(9 * SECOND)
    assert view(lab)["picture"]["retry_letters"] > 0
    order(lab, "pulsar_unsubscribe", "c1", 1)
    assert "retry_letters" not in view(lab)["picture"] and lab.lanes["pulsar"].reads.lag() <= 1
    order(lab, "join", "c9", 9)
    assert view(lab)["picture"]["retry_letters"] > 0


def test_who_has_unsubscribed_can_leave_crash_or_subscribe_again():
    for kind, args in (
        ("leave", {}),
        ("crash", {}),
        ("pulsar_priority", {"level": 1}),
        ("pulsar_unsubscribe", {}),
        ("pause", {}),
    ):
        lab = lab_of("shared", consumers=1)
        order(lab, "pulsar_unsubscribe", "c1", 1)
        order(lab, kind, "c1", 70 if kind == "crash" else 2, **args)
        assert lab.lanes["pulsar"].reads.is_settled()
        if kind == "pulsar_priority":
            assert (
                view(lab)["pulsar"]["consumers"]["c1"]["connected"]
                and view(lab)["consumers"]["c1"]["rate"] > 0
            )


@pytest.mark.parametrize("consumers", [1, 2])
def test_an_ack_timeout_as_short_as_the_handling_of_a_record_stops_no_lab(consumers):
    lab = lab_of(consumers=consumers, rate=5, ack_timeout_us=SECOND)
    for number in range(consumers):
        order(lab, "slow", f"c{number + 1}", rate=1)
    order(lab, "pulsar_hold_acks", "c1", 3)
    order(lab, "pulsar_release_acks", "c1", 0)
    lab.advance_to(
        40 * SECOND
    )  # what is in hand is asked for again, so it waits twice, and its ack is for both
    assert view(lab)["tally"]["redelivered"] > 0


def test_a_seek_closes_the_consumers_of_failover_in_the_same_order_after_a_checkpoint():
    lab = lab_of("failover", partitions=2)
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
    lab = lab_of(algorithm, consumers=1, rate=5, partitions=partitions, **batching)
    lane = lab.lanes["pulsar"]
    order(lab, "pulsar_hold_acks", "c1", 3)
    held = lane.reads.held(lane.consumers["c1"])
    assert held > 0 and view(lab)["tally"]["redelivered"] == 0
    order(lab, "pulsar_redeliver", "c1", 1)
    assert held <= view(lab)["tally"]["redelivered"] <= held + 5
    order(lab, "pulsar_release_acks", "c1", 20)
    assert lane.reads.lag() < 20 and view(lab)["tally"]["redelivered"] < 2 * held + 10
