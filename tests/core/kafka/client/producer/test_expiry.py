"""Batches that expire: what it costs, and what comes after."""

from broker_core.kafka.error_codes import ErrorCode
from tests.core.kafka.client.producer.stage import SECOND, Stage


def test_batch_that_expires_costs_an_epoch_and_what_comes_after_begins_at_zero():
    stage = Stage(delivery_timeout_us=3 * SECOND, request_timeout_us=SECOND)
    stage.broker.refuse = [ErrorCode.NOT_ENOUGH_REPLICAS] * 99
    stage.send(1)
    stage.run(4)
    stage.broker.refuse = []
    stage.send(2)
    stage.run(4)
    assert stage.heard.failures == [("REQUEST_TIMED_OUT", 1)] and stage.broker.values(0) == [2]
    assert stage.told == ["id_given", "batch_expired", "epoch_bumped"]
    (header,) = [batch.header for batch in stage.broker.log(0).batches()]
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (101, 1, 0)


def test_before_2_5_a_batch_that_expires_costs_the_producer_id():
    stage = Stage(delivery_timeout_us=3 * SECOND, request_timeout_us=SECOND, bumps_epoch=False)
    stage.broker.refuse = [ErrorCode.NOT_ENOUGH_REPLICAS] * 99
    stage.send(1)
    stage.run(4)
    stage.broker.refuse = []
    stage.send(2)
    stage.run(4)
    assert stage.told == ["id_given", "batch_expired", "id_given_up", "id_given"]
    assert [batch.header.producer_id for batch in stage.broker.log(0).batches()] == [102]


def test_record_that_the_application_sends_again_after_an_expiry_may_be_there_twice():
    """The article's 4.3.1: idempotence ends with the sequence, as the producer cannot know whether the batch
    that expired was written."""
    stage = Stage(delivery_timeout_us=3 * SECOND, request_timeout_us=SECOND)
    stage.broker.swallow = 99
    stage.send(1)
    stage.run(4)
    stage.broker.swallow = 0
    assert stage.heard.failures == [("REQUEST_TIMED_OUT", 1)]
    stage.send(1)
    stage.run(4)
    assert stage.broker.values(0) == [1, 1]


def test_expired_batch_that_was_written_needs_no_new_epoch_when_a_later_one_is_acked():
    stage = Stage(delivery_timeout_us=3 * SECOND, request_timeout_us=SECOND)
    stage.broker.swallow = 1
    stage.send(1)
    stage.run(0.01)
    stage.broker.swallow = 99
    stage.run(2)
    stage.send(2)
    stage.run(1.2)
    stage.broker.swallow = 0
    stage.run(6)
    assert stage.broker.values(0) == [1, 2] and "epoch_bumped" not in stage.told
