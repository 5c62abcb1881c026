"""Before a transaction's first batch (KIP-890), by playbook: whom the leader asks, and what an answer,
silence or a lost link makes of it."""

from typing import Any

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.control_requests import MetadataTopicState
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.desk import CLIENT, OTHER, BrokerDesk, followed, led
from tests.core.kafka.cluster.nodes import MS, restored

COORDINATOR = 2
"""The connection to it: the second that the broker opens."""
ALONE = led(isr=(1,), replicas=(1,))
E = ErrorCode


def desk_of(*numbers: int, **settings: Any) -> BrokerDesk:
    """It leads these partitions; broker 2 coordinates every transaction."""
    desk = BrokerDesk(dict.fromkeys(numbers or (0,), ALONE), **settings)
    desk.delta(
        {0: followed(2, (2, 3))},
        topic=TRANSACTION_STATE_TOPIC,
        topics=[MetadataTopicState(TRANSACTION_STATE_TOPIC, 2)],
    )
    return desk


def part(
    number: int, value: str = "v", *, producer: int = 7, sequence: int = 0, is_transactional: bool = True
) -> r.ProducePartition:
    batch = light_batch(
        [value],
        timestamp=0,
        producer_id=producer,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )
    return r.ProducePartition("t", number, batch)


def send(
    desk: BrokerDesk, *parts: r.ProducePartition, connection: int = CLIENT, name: str | None = "id"
) -> list[Any]:
    return desk.send(connection, r.ProduceRequest(1, 1_000, list(parts), name))


def errors(answers: list[Any]) -> list[tuple[int, int]]:
    (answer,) = answers
    return [(each.index, each.error_code) for each in answer.partitions]


def says(desk: BrokerDesk, *codes: tuple[int, int]) -> None:
    """The coordinator answers: (partition, error)."""
    desk.tell(COORDINATOR, t.AddPartitionsToTxnResponse([("t", number, code) for number, code in codes]))


# --- whom it asks


def test_the_coordinator_is_asked_about_each_partition_of_the_produce_and_meanwhile_nothing_is_written() -> (
    None
):
    desk = desk_of(0, 1)
    assert send(desk, part(0), part(1)) == []
    (question,) = desk.take(COORDINATOR)
    assert (
        desk.out.opened[-1],
        question.transactional_id,
        question.producer_id,
        question.producer_epoch,
    ) == ("broker-2", "id", 7, 0)
    assert (question.partitions, question.verify_only) == ([("t", 0), ("t", 1)], True)
    assert desk.values(0) == desk.values(1) == [] and desk.due_ms("verify:2") == 30_000


def test_confirmed_it_is_written_and_the_rest_of_the_transaction_is_not_asked_about() -> None:
    desk = desk_of()
    send(desk, part(0, "a"))
    says(desk, (0, 0))
    assert errors(desk.take(CLIENT)) == [(0, 0)] and desk.values() == ["a"]
    desk.take(COORDINATOR)
    assert errors(send(desk, part(0, "b", sequence=1))) == [(0, 0)] and desk.take(COORDINATOR) == []


@pytest.mark.parametrize("why", ["plain batch", "no name", "switched off", "led elsewhere"])
def test_nobody_is_asked_where_there_is_nothing_to_verify(why: str) -> None:
    desk = desk_of(verifies_transactions=why != "switched off")
    if why == "led elsewhere":
        desk.delta({0: followed(epoch=1, partition_epoch=1)})
        desk.take(COORDINATOR)
    answers = send(
        desk, part(0, is_transactional=why != "plain batch"), name=None if why == "no name" else "id"
    )
    expected = {
        "no name": E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        "led elsewhere": E.NOT_LEADER_OR_FOLLOWER,
    }.get(why, E.NONE)
    assert errors(answers) == [(0, expected)]
    assert not [
        message for message in desk.take(COORDINATOR) if isinstance(message, t.AddPartitionsToTxnRequest)
    ]


def test_one_connection_serves_all_questions_to_a_coordinator() -> None:
    desk = desk_of(0, 1)
    send(desk, part(0))
    send(desk, part(1, producer=8), connection=OTHER, name="other")
    assert desk.out.opened.count("broker-2") == 1
    assert [question.transactional_id for question in desk.take(COORDINATOR)] == ["id", "other"]


# --- what it says


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        (E.NOT_COORDINATOR, E.NOT_ENOUGH_REPLICAS),
        (E.COORDINATOR_NOT_AVAILABLE, E.NOT_ENOUGH_REPLICAS),
        (E.CONCURRENT_TRANSACTIONS, E.NOT_ENOUGH_REPLICAS),
        (E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH),
        (E.INVALID_TXN_STATE, E.TRANSACTION_ABORTABLE),
        (E.TRANSACTION_ABORTABLE, E.TRANSACTION_ABORTABLE),
        (E.INVALID_PRODUCER_ID_MAPPING, E.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_what_the_producer_is_told_of_a_refusal(said: E, seen: E) -> None:
    """An error that passes becomes one after which a producer sends the batch again."""
    desk = desk_of()
    send(desk, part(0))
    says(desk, (0, said))
    assert errors(desk.take(CLIENT)) == [(0, seen)] and desk.values() == []


def test_each_partition_is_decided_by_itself() -> None:
    desk = desk_of(0, 1)
    send(desk, part(0, "a"), part(1, "b"))
    says(desk, (1, E.INVALID_TXN_STATE), (0, 0))
    assert errors(desk.take(CLIENT)) == [(0, 0), (1, E.TRANSACTION_ABORTABLE)]
    assert (desk.values(0), desk.values(1)) == (["a"], [])


def test_answers_belong_to_the_questions_in_their_order() -> None:
    desk = desk_of(0, 1)
    send(desk, part(0, "a"))
    send(desk, part(1, "b", producer=8), connection=OTHER, name="other")
    says(desk, (0, E.NOT_COORDINATOR))
    says(desk, (1, 0))
    assert errors(desk.take(CLIENT)) == [(0, E.NOT_ENOUGH_REPLICAS)] and errors(desk.take(OTHER)) == [(1, 0)]


def test_a_client_that_has_gone_meanwhile_has_written_nothing() -> None:
    desk = desk_of()
    send(desk, part(0))
    desk.send(CLIENT, Closed("reset"))
    says(desk, (0, 0))
    assert desk.values() == [] and desk.take(CLIENT) == []


def test_what_the_client_sends_behind_it_is_read_when_the_coordinator_has_answered() -> None:
    desk = desk_of()
    send(desk, part(0, "a"))
    assert send(desk, part(0, "b", sequence=1)) == []
    says(desk, (0, 0))
    assert errors(desk.take(CLIENT)) == [(0, 0)]
    desk.wake("held:10")
    assert errors(desk.take(CLIENT)) == [(0, 0)] and desk.values() == ["a", "b"]


# --- nobody says anything


@pytest.mark.parametrize("why", ["nobody leads", "fenced", "no topic"])
def test_without_a_coordinator_the_producer_is_told_to_come_again_at_once(why: str) -> None:
    desk = BrokerDesk({0: ALONE}) if why == "no topic" else desk_of()
    if why == "fenced":
        desk.delta(fenced=(2,))
    elif why == "nobody leads":
        desk.delta({0: followed(-1, (2, 3), epoch=1, partition_epoch=1)}, topic=TRANSACTION_STATE_TOPIC)
    assert errors(send(desk, part(0))) == [(0, E.NOT_ENOUGH_REPLICAS)]
    assert "broker-2" not in desk.out.opened


def test_a_link_that_breaks_answers_all_that_were_asked_over_it_and_the_next_question_opens_another() -> None:
    desk = desk_of(0, 1)
    send(desk, part(0))
    send(desk, part(1, producer=8), connection=OTHER, name="other")
    desk.send(COORDINATOR, Closed("reset"))
    assert errors(desk.take(CLIENT)) == [(0, E.NOT_ENOUGH_REPLICAS)] and errors(desk.take(OTHER)) == [
        (1, E.NOT_ENOUGH_REPLICAS)
    ]
    send(desk, part(0))
    assert desk.out.opened.count("broker-2") == 2 and len(desk.take(3)) == 1


def test_a_coordinator_that_says_nothing_for_thirty_seconds_is_left() -> None:
    desk = desk_of()
    send(desk, part(0))
    desk.wake("verify:2")
    assert (desk.out.blamed, desk.out.closed) == ([COORDINATOR], [COORDINATOR])
    assert errors(desk.take(CLIENT)) == [(0, E.NOT_ENOUGH_REPLICAS)] and desk.values() == []


def test_the_time_runs_for_the_oldest_question_that_is_open() -> None:
    desk = desk_of(0, 1)
    send(desk, part(0))
    desk.now_us += 10_000 * MS
    send(desk, part(1, producer=8), connection=OTHER, name="other")
    asked_us = desk.now_us
    says(desk, (0, 0))
    desk.wake("verify:2")
    assert desk.out.closed == [] and desk.out.deadlines["verify:2"] == asked_us + 30_000 * MS
    says(desk, (1, 0))
    desk.wake("verify:2")
    assert desk.out.closed == [] and "verify:2" not in desk.out.deadlines, "nothing is open any more"


def test_a_batch_that_was_confirmed_too_late_opens_nothing() -> None:
    """The guard of the first question went with its link: what a coordinator would still say of it is of no
    use."""
    desk = desk_of()
    send(desk, part(0))
    desk.send(COORDINATOR, Closed("reset"))
    desk.take(CLIENT)
    desk.tell(COORDINATOR, t.AddPartitionsToTxnResponse([("t", 0, 0)]))
    assert desk.values() == [] and desk.take(CLIENT) == []


def test_a_restored_leader_goes_on_with_the_question_that_it_had_asked() -> None:
    desk = desk_of()
    send(desk, part(0, "a"))
    desk.node = restored(desk.node)
    says(desk, (0, 0))
    assert errors(desk.take(CLIENT)) == [(0, 0)] and desk.values() == ["a"]
