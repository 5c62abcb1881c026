"""Messages without a key in a Pulsar lane: one consumer has them all by 3.2's rule, under the current one
each goes by its number."""

import pytest

from broker_core.hashing.murmur3 import murmur3_32
from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.pulsar.views.what_if import what_if
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.view import lab_view
from tests.core.lab.pulsar.views.pulsar_panel import order, panel, run, subscription


def lab_of(algorithm="auto_split", keys=(), keyless=1, rate=40, **options):
    workload = {
        "kind": "keys",
        "name": "orders",
        "keys": [list(pair) for pair in keys],
        "keyless": keyless,
        "rate": rate,
    }
    return Lab(
        scenario_from_json(
            {
                "lanes": [{"model": "pulsar", "algorithm": algorithm, **options}],
                "consumers": 4,
                "workload": workload,
            }
        )
    )


def lane_of(lab):
    return lab.lanes["pulsar"]


def handled(lab):
    """Consumer -> messages that it has handled."""
    return {name: consumer.acked_between(0, 10_000) for name, consumer in lane_of(lab).consumers.items()}


def by_numbers(lab, count):
    """Consumer -> how many of the messages 0 .. count - 1 have their hash in its slots."""
    selector, names = subscription(lab).selector, panel(lab)["holders"]
    owners = [names[selector.select(murmur3_32(f"(producer)-{number}"))] for number in range(count)]
    return {name: owners.count(name) for name in names.values()}


@pytest.mark.parametrize("algorithm", ["auto_split", "consistent_hash_current", "consistent_hash", "sticky"])
def test_the_current_rule_spreads_them_by_their_numbers_and_3_2_keeps_them_together(algorithm):
    lab = lab_of(algorithm, order="draining", rate=20)
    run(lab, 10)
    done = handled(lab)
    assert min(done.values()) > 20 and lane_of(lab).reads.lag() < 20
    expected = by_numbers(lab, lane_of(lab).next_record)
    assert all(expected[name] - 20 <= done[name] <= expected[name] for name in done)
    together = lab_of(algorithm, order="recently_joined")
    run(together, 10)
    assert sorted(handled(together).values())[:3] == [0, 0, 0]


def test_shares_count_them_by_the_part_of_the_slots_and_keyed_ones_by_their_owners():
    lab = lab_of(order="draining", keys=[("a", 1)], keyless=3)
    run(lab, 10)
    weights, counts = lane_of(lab).reads.weights(), lane_of(lab).reads.notes.key_counts
    owner = lane_of(lab).reads.key_owners()[0]
    assert sum(weights.values()) == sum(counts.values()) == lane_of(lab).next_record
    for name, weight in weights.items():
        assert abs(weight - counts[-1] / 4 - (counts[0] if name == owner else 0)) <= 1
    order(lab, "leave", "c1")
    run(lab, 1)
    assert sum(lane_of(lab).reads.weights().values()) == lane_of(lab).next_record


def test_the_newest_is_shown_at_the_consumer_that_gets_it():
    lab = lab_of(order="draining")
    run(lab, 5)
    for _ in range(5):
        run(lab, 1)
        lane = whole(lab_view(lab))["lanes"]["pulsar"]
        selector = subscription(lab).selector
        hash32 = murmur3_32(f"(producer)-{lane['route']['record']}")
        assert (
            lane["route"]["keyless"]
            and lane["route"]["consumer"] == panel(lab)["holders"][selector.select(hash32)]
        )
        assert lane["route"]["hash"] == selector.slot(hash32) == lane["picture"]["needle"]


def test_what_if_promises_no_consumer_for_a_message_without_a_key():
    lab = lab_of(order="draining", keys=[("a", 1)])
    run(lab, 2)
    answer = what_if(panel(lab), "auto_split", "", "c5")
    assert (answer["hash"], answer["slot"], answer["consumer"]) == (None, None, None)
    assert what_if(panel(lab), "auto_split", "a", "c5")["consumer"] == lane_of(lab).reads.key_owners()[0]
    assert (
        what_if(panel(lab), "auto_split", "", "c5", ordering_key="a")["consumer"]
        == lane_of(lab).reads.key_owners()[0]
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"batching": "default", "batching_delay_us": 100_000}, {"receipts": True, "deduplication": True}],
)
def test_a_lane_restored_with_some_pending_and_some_waiting_goes_on_the_same(options):
    lab = lab_of(order="draining", keys=[("a", 1)], keyless=5, rate=200, **options)
    run(lab, 3)
    order(lab, "pause", "c1")
    order(lab, "join")
    run(lab, 2.05)
    twin = Lab.restore(lab.scenario, lab.checkpoint())
    assert panel(twin) == panel(lab) and panel(lab)["draining"]["count"] > 0
    for one in (lab, twin):
        order(one, "leave", "c2")
        run(one, 3)
        order(one, "resume", "c1")
        run(one, 5)
    assert twin.checkpoint() == lab.checkpoint()
    lane_of(lab).reads.check()


def test_in_a_batch_they_go_with_it_and_are_nowhere_out_of_place():
    lab = lab_of(order="draining", batching="default", batching_delay_us=200_000, rate=100)
    run(lab, 5)
    notes = lane_of(lab).reads.notes.batches
    assert notes.entries > 10 and notes.misplaced == 0
    numbers = [entry.messages[0] for entry in notes.recent.values()]
    selector, names = subscription(lab).selector, panel(lab)["holders"]
    sent_to = [names[selector.select(murmur3_32(f"(producer)-{number}"))] for number in numbers]
    assert sent_to == [entry.consumer for entry in notes.recent.values()] and len(set(sent_to)) > 1


@pytest.mark.parametrize("batching", ["default", "key_based"])
@pytest.mark.parametrize("keys", [(), [("a", 1)]])
def test_the_newest_of_a_batch_is_shown_where_the_batch_goes(batching, keys):
    lab = lab_of(
        order="draining", batching=batching, batching_delay_us=100_000, rate=25, keys=keys, keyless=3
    )
    run(lab, 2)
    looked = 0
    for _ in range(30):
        run(lab, 0.13)
        lane = whole(lab_view(lab))["lanes"]["pulsar"]
        route, number = lane["route"], lane["route"]["record"]
        run(lab, 0.5)  # by now it is out
        entry = next(
            (entry for entry in lane_of(lab).reads.notes.batches.recent.values() if number in entry.messages),
            None,
        )
        if route["keyless"] and entry is not None and (batching == "default" or entry.messages[-1] == number):
            looked += 1
            assert route["consumer"] == entry.consumer
    assert looked > 5


@pytest.mark.parametrize(("order_rule", "owners"), [("draining", 4), ("recently_joined", 1)])
def test_retry_letters_without_a_key_are_spread_by_their_own_producers(order_rule, owners):
    lab = lab_of(order=order_rule, rate=20, fails_every=3, retry_topic=True, nack_delay_us=200_000)
    run(lab, 10)
    letters = lane_of(lab).world.node("(broker)").find("subscription", topic="topic-subscription-RETRY")
    to = {letters.selector.select(entry.hash32) for entry in letters.entries.values()}
    assert len(letters.entries) > 20 and len(to) == owners
