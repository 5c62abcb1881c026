"""Batches in a lane of each subscription type: all is handled, and every number counts messages, not entries.
Facts 11.1 to 11.5."""

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.view import lab_view
from tests.core.lab.small import lab_of

SECOND = 1_000_000
TYPES = pytest.mark.parametrize(
    "lane",
    [
        {"algorithm": "exclusive"},
        {"algorithm": "failover", "partitions": 3},
        {"algorithm": "failover", "topics": 2},
        {"algorithm": "shared"},
        {"algorithm": "auto_split"},
        {"algorithm": "consistent_hash", "order": "draining"},
    ],
    ids=lambda lane: "-".join(map(str, lane.values())),
)
KINDS = pytest.mark.parametrize("kind", ["default", "key_based"])


def batching(lane, kind="default", **options) -> Lab:
    options = {"rate": 60, "consumer_rate": 40, "seconds": 3.33, "batching_delay_us": 100_000, **options}
    return lab_of("pulsar", batching=kind, **options, **lane)


def lane_of(lab):
    return lab.lanes["pulsar"]


def published(lab):
    return lane_of(lab).next_record - lane_of(lab).first_record


def handled(lab):
    lane = lane_of(lab)
    return sum(
        lane.reads.client(consumer.incarnation).program.finished for consumer in lane.consumers.values()
    )


def order(lab, kind, consumer=None, **args):
    lab.submit(
        {
            "command_id": f"x{lab.position + 1}",
            "kind": kind,
            "consumer": consumer,
            "lane": "all",
            "args": args,
        }
    )


@TYPES
@KINDS
def test_entries_hold_several_messages_and_all_are_handled_once(lane, kind):
    lab = batching(lane, kind, keys=4)
    topics = lane_of(lab).reads.topics()
    assert sum(topic.ledger.messages for topic in topics) > 1.5 * sum(topic.ledger.end for topic in topics)
    assert whole(lab_view(lab))["lanes"]["pulsar"]["tally"]["redelivered"] == 0
    assert handled(lab) + lane_of(lab).reads.lag() >= published(lab) >= handled(lab) > 60


@TYPES
@KINDS
def test_with_batch_index_acks_lag_is_what_is_published_and_not_handled_at_any_moment(lane, kind):
    lag_is_what_is_not_handled(batching(lane, kind, batch_index_acks=True))


@pytest.mark.parametrize("lane", [{"algorithm": "exclusive"}, {"algorithm": "failover", "partitions": 3}])
@KINDS
def test_so_it_is_where_programs_acknowledge_everything_up_to_a_message(lane, kind):
    lag_is_what_is_not_handled(batching(lane, kind, batch_index_acks=True, acks_cumulatively=True))


def lag_is_what_is_not_handled(lab):
    for step in range(25):
        lab.advance_to(lab.now_us + 37_003 + step)
        assert lane_of(lab).reads.lag() == published(lab) - handled(lab)


@TYPES
def test_consumers_hold_messages_and_not_entries(lane):
    lab = batching(lane, consumer_rate=10, receiver_queue_size=200)
    own, reads = lane_of(lab), lane_of(lab).reads
    held = sum(reads.held(consumer) for consumer in own.consumers.values())
    waits = sum(
        len(reads.client(one.incarnation).queue) + (own.hand(one) >= 0) for one in own.consumers.values()
    )
    assert (
        held >= waits > 20
        and sum(map(reads.waiting, reads.subscriptions()))
        == sum(map(reads.backlog, reads.subscriptions())) - held
    )


@TYPES
def test_crash_gives_whole_batches_to_the_others_and_nothing_is_lost(lane):
    lab = batching(lane, rate=20)
    order(lab, "crash", "c1")
    order(lab, "join")
    lab.advance_to(75 * SECOND)
    order(lab, "leave", "c1")
    lab.advance_to(110 * SECOND)
    assert lane_of(lab).reads.lag() < 20
    assert whole(lab_view(lab))["lanes"]["pulsar"]["sentence"]["code"]


@TYPES
def test_a_restored_lab_goes_on_the_same(lane):
    lab = batching(lane, batch_index_acks=True)
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        order(each, "slow", "c1", rate=5)
        each.advance_to(8 * SECOND)
    assert whole(lab_view(lab)) == whole(lab_view(other)) and lab.checkpoint() == other.checkpoint()


def test_picture_of_shared_shows_records_and_where_the_newest_is():
    lab = batching({"algorithm": "shared"}, rate=100, consumer_rate=10, receiver_queue_size=10)
    picture = whole(lab_view(lab))["lanes"]["pulsar"]["picture"]
    subscription = lane_of(lab).reads.subscription()
    assert picture["unacked"] == sum(known.unacked for known in subscription.dispatcher.consumers.values())
    assert picture["ready"] + picture["unacked"] == lane_of(lab).reads.backlog(subscription)
    numbers = [one["record"] for one in picture["head"]]
    assert len(numbers) == 12 and numbers == list(range(numbers[0], numbers[0] + 12))
    for index in (lane_of(lab).first_record, numbers[0], lane_of(lab).next_record - 1):
        position = lane_of(lab).reads.position_of(index)
        entry = subscription.entries.get(position)
        if index == lane_of(lab).next_record - 1:
            assert position == subscription.cursor.end or index in (entry.batch or (entry.message,))
        else:
            assert entry is None or index in (entry.batch or (entry.message,))
