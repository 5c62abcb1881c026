"""The producer's program on a cluster: acks under a leader's crash, lost answers, idempotence."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster.cluster import TopicPlan
from tests.core.kafka.cluster.clusters import SECOND
from tests.core.kafka.cluster.producing import TOPIC, ProducingCluster

PLAIN = {"enable_idempotence": False}
FAST = {"request_timeout_us": 2 * SECOND, "delivery_timeout_us": 100 * SECOND}


def test_records_reach_every_replica_and_are_acked_once():
    cluster = ProducingCluster()
    state = cluster.producer()
    cluster.send(1, 2, 3)
    cluster.send(4, partition=1)
    cluster.run(1)
    assert sorted(cluster.heard.acked_values["p"]) == [1, 2, 3, 4]
    assert cluster.values(1) == cluster.values(2) == cluster.values(3) == [1, 2, 3]
    assert state.accumulator.free == state.settings.buffer_memory and not state.accumulator.batches


@pytest.mark.parametrize(("options", "written"), [({}, [1]), (PLAIN, [1, 1])], ids=["idempotent", "plain"])
def test_answer_lost_to_a_cut_on_the_way_back_is_a_duplicate_only_without_idempotence(options, written):
    cluster = ProducingCluster()
    state = cluster.producer(**FAST, **options)
    cluster.send(0)
    cluster.run(1)
    cluster.world.cut(state.links[1].connection, "broker-1")
    cluster.send(1)
    cluster.run(5)
    assert cluster.written() == [0, *written] and cluster.heard.acked_values["p"] == [0, 1]
    assert state.counts.lost_answers >= 1 and state.counts.retries >= 1


@pytest.mark.parametrize(("acks", "kept"), [(0, False), (1, False), (-1, True)])
def test_leader_that_crashes_before_its_followers_have_the_record(acks, kept):
    """The leader's answers to its followers are cut off: it takes the record and crashes. acks=1 was acked
    and is lost; acks=-1 is sent again."""
    cluster = ProducingCluster((TopicPlan("t", 1, 3, 1, assignments=((1, 2, 3),)),))
    cluster.producer(acks=acks, **FAST, **PLAIN)
    cluster.send(0)
    cluster.run(1)
    for follower in (2, 3):
        cluster.world.cut(cluster.state(follower).fetchers[1].connection, "broker-1")
    cluster.send(1)
    cluster.run(0.01)
    assert (1 in cluster.heard.acked_values["p"]) is not kept and cluster.values(1) == [0, 1]
    cluster.crash(1)
    cluster.run(30)
    assert cluster.leader() != 1 and cluster.heard.acked_values["p"] == [0, 1]
    assert cluster.written() == ([0, 1] if kept else [0])


def test_without_acks_the_leader_that_moved_is_noticed_when_the_old_one_hangs_up():
    cluster = ProducingCluster()
    state = cluster.producer(acks=0, **FAST, **PLAIN)
    cluster.send(1)
    cluster.run(1)
    cluster.world.order("broker-1", lifecycle.Stop())
    cluster.run(5)
    cluster.send(2)
    cluster.run(2)
    cluster.send(3)
    cluster.run(2)
    assert cluster.heard.acked_values["p"] == [1, 2, 3] and cluster.written() in ([1, 3], [1, 2, 3])
    assert state.metadata.leader(("t", 0))[0] == cluster.leader() != 1


def test_leader_that_is_gone_costs_a_retry_at_the_new_one():
    cluster = ProducingCluster()
    state = cluster.producer(**FAST)
    cluster.send(1)
    cluster.run(1)
    cluster.crash(1)
    cluster.send(2)
    cluster.run(20)
    assert cluster.leader() in (2, 3) and cluster.written() == [1, 2]
    assert state.metadata.leader(("t", 0))[0] == cluster.leader() and cluster.heard.failures == {}


def test_too_few_in_sync_are_tried_again_until_the_delivery_timeout():
    cluster = ProducingCluster(
        (TopicPlan("t", 1, 3, 3, assignments=((1, 2, 3),)),), broker_session_timeout_ms=2_000
    )
    cluster.producer(request_timeout_us=SECOND, delivery_timeout_us=5 * SECOND)
    cluster.crash(3)
    cluster.run(5)
    cluster.send(1)
    cluster.run(10)
    assert cluster.heard.failures == {"p": [("REQUEST_TIMED_OUT", 1)]}
    assert cluster.kinds_told("kafka.producer.")[-1] == "epoch_bumped"


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(0, 1)),
        st.tuples(st.just("reset"), st.sampled_from([1, 2])),
        st.tuples(st.just("cut"), st.sampled_from([1, 2])),
        st.tuples(st.just("run"), st.sampled_from([1, 3, 40, 900])),
    ),
    min_size=3,
    max_size=16,
)


def lived(steps, crash, **options):
    """Send, lose answers, crash a leader; then let all settle. Gives what was sent, what the leaders have, by
    partition, and what failed."""
    cluster = ProducingCluster((TOPIC,))
    state = cluster.producer(**{**FAST, **options})
    sent = {0: [0], 1: [1]}
    for number in sent:
        cluster.send(number, partition=number)
    cluster.run(1)
    for what, number in steps:
        if what == "send":
            sent[number].append(sum(map(len, sent.values())))
            cluster.send(sent[number][-1], partition=number)
        elif what == "run":
            cluster.run(number / 1000)
        elif number in state.links:
            connection = state.links[number].connection
            with suppress(CommandError):  # it is cut, or reset, already
                if what == "reset":
                    cluster.world.reset(connection)
                else:
                    cluster.world.cut(connection, f"broker-{number}")
    if crash:
        cluster.crash(crash)
    cluster.run(40)
    assert not state.accumulator.batches
    failed = {value for _, value in cluster.heard.failures.get("p", ())}
    assert sorted([*cluster.heard.acked_values["p"], *failed]) == sorted(sent[0] + sent[1]), (
        "every record has one last word"
    )
    return sent, {number: cluster.written(("t", number)) for number in sent}, failed


@settings(max_examples=25, deadline=None)
@given(STEPS, st.sampled_from([0, 1, 2]), st.integers(1, 5))
def test_law_idempotent_records_are_written_once_and_in_order_through_lost_answers_and_a_crash(
    steps, crash, max_in_flight
):
    sent, written, failed = lived(steps, crash, max_in_flight=max_in_flight)
    assert written == sent and not failed


@settings(max_examples=15, deadline=None)
@given(STEPS, st.sampled_from([0, 1, 2]), st.integers(1, 5))
def test_law_when_batches_expire_what_was_acked_is_there_once_and_in_order_and_the_rest_was_told(
    steps, crash, max_in_flight
):
    """Of a record that failed it is not known whether it is there, but it is there once at most."""
    timeouts = {"request_timeout_us": SECOND, "delivery_timeout_us": 3 * SECOND}
    sent, written, failed = lived(steps, crash, max_in_flight=max_in_flight, **timeouts)
    for number, values in written.items():
        assert len(values) == len(set(values)) and set(sent[number]) - set(values) <= failed
        assert [value for value in values if value not in failed] == [
            value for value in sent[number] if value not in failed
        ]


@settings(max_examples=10, deadline=None)
@given(STEPS, st.integers(1, 5))
def test_law_plain_records_are_written_at_least_once(steps, max_in_flight):
    sent, written, failed = lived(steps, 0, max_in_flight=max_in_flight, **PLAIN)
    assert not failed
    for number, values in written.items():
        assert sorted(set(values)) == sorted(sent[number])
