"""The metadata log reaches a broker, by playbook: which replicas it takes up, leads, follows and gives up,
and what it passes over."""

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.brokers import KnownBroker
from tests.core.kafka.cluster.desk import CONTROL, EPOCH, OTHER, BrokerDesk, followed, led

FETCHER = 2
"""The first connection that it opens to a leader."""


# --- brokers


def test_an_image_is_all_that_holds_and_a_delta_only_what_changes() -> None:
    desk = BrokerDesk()
    desk.delta(brokers=(4,))
    assert sorted(desk.state.brokers) == [1, 2, 3, 4]
    desk.delta(brokers=(1, 2), is_image=True)
    assert sorted(desk.state.brokers) == [1, 2]


def test_a_broker_is_known_with_its_epoch_rack_and_what_it_is_doing() -> None:
    desk = BrokerDesk(racks={2: "b"})
    desk.delta(fenced=(2,), shutting_down=(3,), epochs={2: 8})
    assert desk.state.brokers[2] == KnownBroker(8, True, is_fenced=True, is_shutting_down=False, rack="b")
    assert desk.state.brokers[3] == KnownBroker(
        EPOCH, True, is_fenced=False, is_shutting_down=True, rack=None
    )


def test_a_broker_that_was_unregistered_is_known_no_more_and_replicas_hear_of_it() -> None:
    desk = BrokerDesk()
    gone = c.MetadataBrokerState(2, -1, None, True, False, is_registered=False)
    desk.send(CONTROL, c.MetadataDelta(11, [gone, gone], [], []))
    assert 2 not in desk.state.brokers and 2 not in desk.replica().partition.brokers


def test_what_comes_on_a_connection_to_the_controller_that_was_given_up_is_passed_over() -> None:
    desk = BrokerDesk()
    before = desk.state.metadata_offset
    desk.delta({0: followed(epoch=1, partition_epoch=1)}, brokers=(9,), connection=99)
    assert (
        9 not in desk.state.brokers
        and desk.replica().partition.is_leader
        and desk.state.metadata_offset == before
    )


# --- which replicas


def test_a_replica_is_taken_up_for_each_partition_that_names_this_broker_and_for_no_other() -> None:
    desk = BrokerDesk({0: led(), 1: followed(2, (2, 1)), 2: followed(2, (2, 3))})
    assert sorted(desk.state.replicas) == sorted(desk.state.disk.logs) == [("t", 0), ("t", 1)]
    assert sorted(desk.state.registrations) == [("t", 0), ("t", 1), ("t", 2)], (
        "of the others it knows who leads them"
    )


def test_a_topics_minimum_and_the_brokers_settings_go_into_its_replicas() -> None:
    desk = BrokerDesk(min_isr=2, replica_lag_time_max_ms=7_000, lag_messages_max=11)
    partition = desk.replica().partition
    assert (
        partition.min_insync_replicas,
        partition.lag_ms_max,
        partition.lag_messages_max,
        partition.broker_epoch,
    ) == (2, 7_000, 11, EPOCH)


def test_a_replica_that_is_moved_away_goes_with_its_log_and_one_that_comes_back_is_empty() -> None:
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    desk.delta({0: followed(replicas=(2, 3), epoch=1, partition_epoch=1)})
    assert desk.state.replicas == {} and desk.state.disk.logs == {}
    (answer,) = desk.produce("b", acks=1)
    assert (answer.partitions[0].error_code, answer.partitions[0].current_leader) == (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        2,
    )
    desk.delta({0: followed(replicas=(2, 1), epoch=1, partition_epoch=2)})
    assert desk.ends() == (0, 0)
    (request,) = desk.taken(FETCHER, r.FetchRequest)
    assert (request.partitions[0].fetch_offset, request.partitions[0].last_fetched_epoch) == (0, -1)


def test_a_replica_that_followed_and_is_moved_away_is_fetched_no_more() -> None:
    desk = BrokerDesk({0: followed(), 1: followed()})
    desk.delta({0: followed(replicas=(2, 3), epoch=1, partition_epoch=1)})
    assert list(desk.state.fetchers[2].partitions) == [("t", 1)]
    desk.delta({1: followed(replicas=(2, 3), epoch=1, partition_epoch=1)})
    assert desk.out.closed == [FETCHER] and desk.state.fetchers == {}


def test_of_a_partition_that_it_never_had_nothing_is_given_up() -> None:
    desk = BrokerDesk()
    desk.delta({5: followed(replicas=(2, 3)), 6: followed(replicas=(3, 2))})
    assert list(desk.state.replicas) == [("t", 0)]


# --- who leads


def test_a_follower_that_is_elected_stops_fetching_and_takes_records_from_the_offset_that_it_has() -> None:
    desk = BrokerDesk({0: followed()})
    desk.delta({0: led(replicas=(2, 1), isr=(1,), epoch=1, partition_epoch=1)})
    assert desk.out.closed == [FETCHER] and not desk.replica().fetcher.is_fetching
    (answer,) = desk.produce("a", acks=1)
    assert answer.partitions[0].base_offset == 0 and desk.log().epochs.rows == [(1, 0)]


def test_a_leader_that_is_deposed_fetches_from_its_own_end_under_the_new_epoch() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.produce("a", "b", acks=1)
    desk.delta({0: followed(epoch=1, partition_epoch=1)})
    (request,) = desk.taken(FETCHER, r.FetchRequest)
    (part,) = request.partitions
    assert (part.fetch_offset, part.current_leader_epoch, part.last_fetched_epoch) == (2, 1, 0)


@pytest.mark.parametrize("partition_epoch", [4, 5])
def test_a_partition_epoch_that_is_known_already_changes_nothing(partition_epoch: int) -> None:
    """An image names everything again."""
    desk = BrokerDesk({0: led(epoch=2, partition_epoch=5)})
    desk.delta({0: followed(epoch=1, partition_epoch=partition_epoch)}, brokers=(1, 2, 3), is_image=True)
    partition = desk.replica().partition
    assert (partition.leader, partition.leader_epoch, desk.state.registrations["t", 0].leader) == (1, 2, 1)


def test_an_isr_that_the_controller_tells_takes_the_place_of_the_one_that_was_asked_for() -> None:
    desk = BrokerDesk({0: led(isr=(1,))})
    desk.fetch({0: 0}, replica=2, max_wait_ms=0)
    assert desk.replica().partition.isr_state.is_pending
    desk.delta({0: led(isr=(1,), epoch=0, partition_epoch=3)})
    state = desk.replica().partition
    assert (state.isr_state.is_pending, desk.isr(), state.partition_epoch) == (False, [1], 3)


def test_a_smaller_isr_may_move_the_high_watermark_and_answer_those_who_read() -> None:
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    assert desk.fetch({0: 0}, connection=OTHER) == []
    desk.delta({0: led(isr=(1,), partition_epoch=1)})
    assert desk.ends() == (1, 1), "broker 2 was never caught up: it counts no more"
    (answer,) = desk.take(OTHER)
    assert [batch.values for batch in answer.partitions[0].records] == [("a",)]


def test_what_the_followers_last_fetches_said_is_noted_before_a_new_isr_counts() -> None:
    """The session says by its silence that 2 has everything; else the new leader epoch would begin with a
    late member."""
    desk = BrokerDesk()
    desk.produce("a", acks=1)
    desk.fetch({0: 1}, replica=2, max_wait_ms=0)
    for _ in range(3):
        desk.fetch({}, replica=2, session=1, max_wait_ms=0)
    last_ms = desk.now_ms
    assert desk.replica().partition.followers[2].last_caught_up_ms == last_ms - 1, (
        "the last one had nothing to look at"
    )
    desk.delta({0: led(partition_epoch=1)})
    assert desk.replica().partition.followers[2].last_caught_up_ms == last_ms


# --- a broker that shuts down


def test_while_it_shuts_down_it_follows_only_where_it_is_still_in_sync() -> None:
    desk = BrokerDesk({0: led(), 1: led()})
    desk.send(CONTROL, lifecycle.Stop())
    desk.delta(
        {
            0: followed(isr=(2,), epoch=1, partition_epoch=1),
            1: followed(isr=(2, 1), epoch=1, partition_epoch=1),
        }
    )
    assert list(desk.state.fetchers[2].partitions) == [("t", 1)]
    assert not desk.replica(0).fetcher.is_fetching


def test_while_it_shuts_down_it_follows_nobody_where_there_is_no_leader() -> None:
    desk = BrokerDesk({0: followed()})
    desk.send(CONTROL, lifecycle.Stop())
    desk.delta({0: followed(-1, isr=(1,), epoch=1, partition_epoch=1)})
    assert desk.state.fetchers == {} and desk.out.closed == [FETCHER]


# --- how far it has read


def test_heartbeats_say_how_far_the_metadata_log_was_read() -> None:
    desk = BrokerDesk()
    desk.take(CONTROL)
    desk.delta(brokers=(4,))
    desk.wake("heartbeat")
    (beat,) = desk.taken(CONTROL, c.BrokerHeartbeatRequest)
    assert (beat.current_metadata_offset, beat.want_fence, beat.want_shut_down) == (
        desk.metadata_offset,
        False,
        False,
    )
