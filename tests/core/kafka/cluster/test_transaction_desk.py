"""A broker that coordinates transactions, by playbook: producer ids, its log, markers to the leaders, and
what a leader writes."""

from typing import Any

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.control_requests import MetadataTopicState
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightBatch
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.desk import CLIENT, CONTROL, FOLLOWER, OTHER, BrokerDesk, followed, led
from tests.core.kafka.cluster.nodes import MS, restored

STATE = (TRANSACTION_STATE_TOPIC, 0)
ALONE = led(isr=(1,), replicas=(1,))
TO_TWO, TO_THREE = 2, 3
"""Connections: the first that it opens to a leader of a marker, and the next one."""


def desk_of(state: PartitionRegistration = ALONE) -> BrokerDesk:
    """It coordinates every transaction and leads t-0 alone; t-1 is led by broker 2, t-2 by 3. It has a block
    of producer ids from 500 on."""
    desk = BrokerDesk({0: ALONE, 1: followed(2, (2, 3)), 2: followed(3, (3, 2))}, verifies_transactions=False)
    desk.delta({0: state}, topic=STATE[0], topics=[MetadataTopicState(STATE[0], 1)])
    desk.tell(CONTROL, c.AllocateProducerIdsResponse(0, 500, 1_000))
    return desk


def init(
    desk: BrokerDesk, name: str | None = "id", connection: int = CLIENT
) -> list[t.InitProducerIdResponse]:
    return desk.send(connection, t.InitProducerIdRequest(name))


def add(desk: BrokerDesk, *numbers: int) -> list[tuple[str, int, int]]:
    (answer,) = desk.send(
        CLIENT, t.AddPartitionsToTxnRequest("id", 500, 0, [("t", number) for number in numbers])
    )
    results: list[tuple[str, int, int]] = answer.results
    return results


def begun(*numbers: int) -> BrokerDesk:
    """Producer 500 has an open transaction in these partitions."""
    desk = desk_of()
    assert [(each.error_code, each.producer_id, each.producer_epoch) for each in init(desk)] == [(0, 500, 0)]
    assert add(desk, *numbers) == [("t", number, 0) for number in numbers]
    return desk


def end(desk: BrokerDesk, *, committed: bool = True) -> list[int]:
    return [each.error_code for each in desk.send(CLIENT, t.EndTxnRequest("id", 500, 0, committed))]


def states(desk: BrokerDesk) -> list[str]:
    """Of each record in the coordinator's log."""
    return [
        record[6]
        for batch in desk.state.disk.logs[STATE].batches()
        if isinstance(batch, LightBatch)
        for record in batch.values
    ]


def markers(messages: list[Any]) -> list[tuple[int, bool, list[tuple[str, int]], int]]:
    return [
        (each.producer_id, each.transaction_result, each.partitions, each.coordinator_epoch)
        for message in messages if isinstance(message, t.WriteTxnMarkersRequest) for each in message.markers
    ]  # fmt: skip


# --- producer ids


def test_ids_come_in_blocks_from_the_controller_and_until_one_is_there_the_producer_is_told_to_wait() -> None:
    desk = BrokerDesk()
    assert init(desk, None)[0].error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    init(desk, None)
    assert len(desk.taken(CONTROL, c.AllocateProducerIdsRequest)) == 1, "once is enough"
    desk.tell(CONTROL, c.AllocateProducerIdsResponse(0, 500, 1_000))
    assert [(each.producer_id, each.producer_epoch) for each in (*init(desk, None), *init(desk, None))] == [
        (500, 0),
        (501, 0),
    ]


@pytest.mark.parametrize("why", ["refused", "connection lost"])
def test_a_block_that_did_not_come_is_asked_for_again(why: str) -> None:
    desk = BrokerDesk()
    init(desk, None)
    desk.take(CONTROL)
    if why == "refused":
        desk.tell(CONTROL, c.AllocateProducerIdsResponse(E.STALE_BROKER_EPOCH))
    else:
        desk.send(CONTROL, Closed("reset"))
        desk.wake("heartbeat")
    init(desk, None)
    assert len(desk.taken(CONTROL if why == "refused" else 2, c.AllocateProducerIdsRequest)) == 1


def test_the_next_block_is_asked_for_while_a_hundred_are_left() -> None:
    desk = BrokerDesk()
    desk.tell(CONTROL, c.AllocateProducerIdsResponse(0, 0, 102))
    desk.take(CONTROL)
    init(desk, None)
    init(desk, None)
    assert desk.taken(CONTROL, c.AllocateProducerIdsRequest) == [], "102, then 101 were left"
    assert init(desk, None)[0].producer_id == 2
    assert len(desk.taken(CONTROL, c.AllocateProducerIdsRequest)) == 1


# --- its log


def test_an_id_is_answered_when_its_record_is_on_all_of_the_isr() -> None:
    desk = desk_of(led())
    assert init(desk) == [] and states(desk) == ["empty"]
    part = c.MetadataPartitionState(*STATE, led(isr=(1,), partition_epoch=1))
    desk.tell(CONTROL, c.MetadataDelta(20, [], [], [part]))
    assert [each.producer_id for each in desk.take(CLIENT)] == [500]


def test_a_coordinator_that_is_none_any_more_says_so_to_who_waits_and_to_who_comes() -> None:
    desk = desk_of(led())
    init(desk)
    desk.delta({0: followed(epoch=1, partition_epoch=1)}, topic=STATE[0])
    (answer,) = desk.take(CLIENT)
    assert answer.error_code == E.NOT_COORDINATOR
    assert init(desk, "other", OTHER)[0].error_code == E.NOT_COORDINATOR


def test_elected_again_it_knows_what_its_log_says() -> None:
    desk = begun(0)
    desk.delta({0: led(isr=(1,), replicas=(1,), epoch=1, partition_epoch=1)}, topic=STATE[0])
    assert desk.out.told[-1] == ("kafka.transaction.coordinator_elected", "kafka.transaction.coordinator")
    assert end(desk) == [0]
    desk.wake("markers")
    assert desk.log().producers.entries[500].coordinator_epoch == 1


def test_partitions_that_are_not_there_are_added_with_none_of_the_others() -> None:
    desk = begun(0)
    assert add(desk, 1, 9) == [("t", 1, E.OPERATION_NOT_ATTEMPTED), ("t", 9, E.UNKNOWN_TOPIC_OR_PARTITION)]
    assert states(desk) == ["empty", "ongoing"]


# --- markers, as their coordinator


def test_the_end_is_answered_before_the_markers_are_out_and_each_leader_gets_its_own() -> None:
    desk = begun(0, 1, 2)
    assert end(desk) == [0] and states(desk)[-1] == "prepare_commit"
    desk.wake("markers")
    assert desk.out.opened[1:] == ["broker-2", "broker-3"]
    assert markers(desk.take(TO_TWO)) == [(500, True, [("t", 1)], 0)] and markers(desk.take(TO_THREE)) == [
        (500, True, [("t", 2)], 0)
    ]
    assert desk.log().log_end_offset == 1, "its own is written at once"
    desk.tell(TO_TWO, t.WriteTxnMarkersResponse([(500, "t", 1, 0)]))
    assert states(desk)[-1] == "prepare_commit"
    desk.tell(TO_THREE, t.WriteTxnMarkersResponse([(500, "t", 2, 0)]))
    assert states(desk)[-1] == "complete_commit"


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker_says_how_it_ended(committed: bool) -> None:
    desk = begun(1)
    end(desk, committed=committed)
    desk.wake("markers")
    assert [result for _, result, _, _ in markers(desk.take(TO_TWO))] == [committed]


@pytest.mark.parametrize(
    "error", [E.NOT_LEADER_OR_FOLLOWER, E.NOT_ENOUGH_REPLICAS, E.UNKNOWN_TOPIC_OR_PARTITION]
)
def test_a_leader_that_cannot_write_now_is_asked_again_a_moment_later(error: E) -> None:
    desk = begun(1)
    end(desk)
    desk.wake("markers")
    desk.take(TO_TWO)
    desk.tell(TO_TWO, t.WriteTxnMarkersResponse([(500, "t", 1, error)]))
    assert desk.take(TO_TWO) == [] and desk.due_ms("markers") == 100
    desk.delta({1: followed(3, (2, 3), epoch=1, partition_epoch=1)})
    desk.wake("markers")
    assert markers(desk.take(TO_THREE)) == [(500, True, [("t", 1)], 0)], "who leads now"


def test_without_a_leader_the_marker_waits_for_one() -> None:
    desk = begun(1)
    desk.delta({1: followed(-1, (2, 3), epoch=1, partition_epoch=1)})
    end(desk)
    desk.wake("markers")
    assert desk.out.opened == ["controller"] and desk.due_ms("markers") == 100
    desk.delta({1: followed(2, (2, 3), epoch=2, partition_epoch=2)})
    desk.wake("markers")
    assert len(markers(desk.take(TO_TWO))) == 1


def test_a_link_that_breaks_sends_its_markers_again_over_another() -> None:
    desk = begun(1)
    end(desk)
    desk.wake("markers")
    desk.take(TO_TWO)
    desk.send(TO_TWO, Closed("reset"))
    desk.wake("markers")
    assert desk.out.opened[1:] == ["broker-2", "broker-2"] and len(markers(desk.take(3))) == 1


def test_a_leader_that_says_nothing_for_thirty_seconds_is_left() -> None:
    desk = begun(1)
    end(desk)
    desk.wake("markers")
    assert desk.due_ms("markers") == 30_000
    desk.wake("markers")
    assert desk.out.closed == [TO_TWO] == desk.out.blamed
    assert len(markers(desk.take(3))) == 1


def test_a_restored_coordinator_takes_the_answer_to_the_markers_that_it_had_sent() -> None:
    desk = begun(1)
    end(desk)
    desk.wake("markers")
    desk.node = restored(desk.node)
    desk.tell(TO_TWO, t.WriteTxnMarkersResponse([(500, "t", 1, 0)]))
    assert states(desk)[-1] == "complete_commit"


# --- markers, as a leader


def marker(*partitions: tuple[str, int], producer: int = 9, epoch: int = 0) -> t.TxnMarker:
    return t.TxnMarker(producer, 0, True, list(partitions), epoch)


def test_markers_are_answered_in_their_order_each_partition_by_itself() -> None:
    desk = desk_of()
    request = t.WriteTxnMarkersRequest([marker(("t", 0), ("t", 1)), marker(("x", 0), ("t", 0), producer=8)])
    (answer,) = desk.send(OTHER, request)
    assert answer.results == [
        (9, "t", 0, 0),
        (9, "t", 1, E.NOT_LEADER_OR_FOLLOWER),
        (8, "x", 0, E.UNKNOWN_TOPIC_OR_PARTITION),
        (8, "t", 0, 0),
    ]
    assert desk.log().log_end_offset == 2


def test_a_marker_is_answered_when_the_isr_has_it() -> None:
    desk = BrokerDesk()
    assert desk.send(OTHER, t.WriteTxnMarkersRequest([marker(("t", 0))])) == []
    desk.fetch({0: 1}, replica=2, connection=FOLLOWER, max_wait_ms=0)
    (answer,) = desk.take(OTHER)
    assert answer.results == [(9, "t", 0, 0)]


def test_a_marker_of_a_coordinator_from_before_is_refused() -> None:
    desk = desk_of()
    desk.send(OTHER, t.WriteTxnMarkersRequest([marker(("t", 0), epoch=3)]))
    (answer,) = desk.send(OTHER, t.WriteTxnMarkersRequest([marker(("t", 0), epoch=2)]))
    assert (
        answer.results == [(9, "t", 0, E.TRANSACTION_COORDINATOR_FENCED)] and desk.log().log_end_offset == 1
    )


def test_transactions_that_last_too_long_are_looked_for_every_ten_seconds() -> None:
    desk = begun(0)
    desk.now_us += 60_000 * MS
    desk.wake("transactions")
    assert states(desk)[-1] == "ongoing" and desk.due_ms("transactions") == 10_000, (
        "exactly its time-out is not too long"
    )
    desk.wake("transactions")
    assert states(desk)[-1] == "prepare_abort"
    desk.wake("markers")
    assert states(desk)[-1] == "complete_abort" and desk.log().log_end_offset == 1
