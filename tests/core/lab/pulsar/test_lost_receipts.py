"""A producer that waits for receipts, and what it sends again when they are lost."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from tests.core.lab.pulsar.command_lab import SECOND, order, running, view


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
    lab = running(algorithm, consumers=8, receipts=True, deduplication=deduplication, **options)
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
        lose(running())
    assert refusal.value.field == "lane"
    with pytest.raises(CommandError) as refusal:
        lose(running(receipts=True), 26)
    assert refusal.value.field == "args.seconds"
    lab = running(receipts=True, deduplication=True)
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
    lab = running("shared", consumers=1, rate=40, receipts=True)
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
    lab = running("shared", receipts=True)
    lose(lab)
    lab.advance_to(12 * SECOND)
    lab.submit(
        {"command_id": "switch", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "failover"}}
    )
    assert view(lab)["pulsar"]["producer"]["repeated"] > 30
