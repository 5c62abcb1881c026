"""Several topics without partitions under Exclusive and Failover: one consumer is active on each, by the ring
of names and the topic's own name."""

import pytest

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import MASK_31, murmur3_32
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.pulsar.dispatchers.single_active import SingleActiveDispatcher, Standby

SECOND = 1_000_000


def lab_of(algorithm="failover", consumers=2, rate=9, **options):
    lane = {"model": "pulsar", "algorithm": algorithm, **options}
    return Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": 50, "rate": rate},
            }
        )
    )


def order(lab, kind, consumer="c1", seconds=3.0, **args):
    events = lab.submit(
        {"command_id": f"n{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args}
    )
    return events + lab.advance_to(lab.now_us + int(seconds * SECOND))


def panel(lab):
    return lab.view()["lanes"]["pulsar"]["pulsar"]


def active(lab):
    return {name: each["active"] for name, each in panel(lab)["failover"]["partitions"].items()}


def picked(topic, *names, in_order=False):
    picker = SingleActiveDispatcher(f"persistent://public/default/{topic}", in_order=in_order)
    for name in names:
        picker.add(Standby(name, name))
    return picker.active


@pytest.mark.parametrize("algorithm", ["failover", "failover_document"])
def test_four_topics_and_two_consumers_each_topic_has_the_one_that_the_ring_names(algorithm):
    lab = lab_of(algorithm, topics=4)
    lab.advance_to(5 * SECOND)
    assert active(lab) == {f"topic-{number}": picked(f"topic-{number}", "c1", "c2") for number in range(4)}
    assert set(active(lab).values()) == {"c1", "c2"}
    order(lab, "leave", "c1")
    assert set(active(lab).values()) == {"c2"} and lab.lanes["pulsar"].reads.lag() < 20
    lab.lanes["pulsar"].reads.check()


def test_article_has_another_rule_for_one_topic_than_for_several():
    one, several = (
        lab_of("failover_document", topics=1, consumers=3),
        lab_of("failover_document", topics=6, consumers=3),
    )
    for lab in (one, several):
        lab.advance_to(5 * SECOND)
    assert active(one) == {"-1": "c1"}, "whoever subscribed first"
    assert len(set(active(several).values())) > 1


def test_each_topic_has_the_records_of_its_keys_and_a_cursor_of_its_own():
    lab = lab_of(topics=4)
    lab.advance_to(10 * SECOND)
    lane = lab.lanes["pulsar"]
    topics = lane.reads.broker().state.topics
    for number in range(4):
        for entry in topics[f"topic-{number}"].ledger.entries.values():
            assert (murmur3_32(f"key-{entry.key}".encode()) & MASK_31) % 4 == number
    ends = [cursor["end"] for cursor in panel(lab)["cursors"].values()]
    assert list(panel(lab)["cursors"]) == [
        f"topic-{number}" for number in range(4)
    ] and 0 <= lab.record_count - sum(ends) <= 1 < min(ends)
    assert panel(lab)["topics"] == 4 and panel(lab)["partitions"] == 0


def test_change_of_the_active_consumer_names_its_topic():
    lab = lab_of(topics=2, consumers=2)
    lab.advance_to(5 * SECOND)
    events = order(lab, "leave", active(lab)["topic-1"])
    changed = [event for event in events if event["kind"] == "pulsar.topic.active_changed"]
    assert "topic-1" in {event["inputs"]["topic"] for event in changed}


@pytest.mark.parametrize(
    "options",
    [
        {"subscriptions": {"audit": {}}},
        {"receipts": True, "deduplication": True},
        {"acks_cumulatively": True},
    ],
)
def test_what_a_lane_has_otherwise_it_has_with_several_topics(options):
    lab = lab_of(topics=3, consumers=3, **options)
    lab.advance_to(7_654_321)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, again):
        order(each, "pulsar_hold_acks", "c2", 3)
        order(each, "pulsar_seek", "c1", 3, time_us=9 * SECOND)
        order(each, "pulsar_release_acks", "c2", 5)
        each.lanes["pulsar"].reads.check()
    assert again.checkpoint() == lab.checkpoint() and lab.lanes["pulsar"].reads.lag() < 30
    order(lab, "leave", "c1", 1)
    order(lab, "leave", "c2", 3)
    deleted = [
        event
        for event in order(lab, "pulsar_unsubscribe", "c3")
        if event["kind"] == "pulsar.subscription.deleted"
    ]
    assert len(deleted) == 3


def test_second_consumer_of_exclusive_is_refused_on_each_topic():
    lab = lab_of("exclusive", topics=3)
    events = lab.advance_to(5 * SECOND)
    refused = [event["data"]["consumer"] for event in events if event["kind"] == "pulsar.consumer.refused"]
    assert refused == ["c2"] * 3 and set(active(lab).values()) == {"c1"}


def test_topics_or_partitions_are_given_and_other_types_have_one_topic():
    with pytest.raises(CommandError) as refusal:
        lab_of(topics=2, partitions=2)
    assert refusal.value.field == "lanes.0.topics"
    lab = lab_of("shared", topics=3)
    lab.advance_to(3 * SECOND)
    assert list(panel(lab)["cursors"]) == ["-1"] and panel(lab)["topics"] == 0
    lab.submit(
        {"command_id": "switch", "kind": "set_algorithm", "lane": "pulsar", "args": {"algorithm": "failover"}}
    )
    assert panel(lab)["topics"] == 3
