"""When the broker gives a silent program up: said at the crash, and so it comes, whatever of the program's
was on its way at that moment."""

import pytest

from tests.core.lab.small import lab_of

SECOND, MS = 1_000_000, 1_000


@pytest.mark.parametrize("algorithm", ["shared", "consistent_hash", "failover"])
@pytest.mark.parametrize("after_us", [-20 * MS, -1 * MS, -400, 0, 400, 1 * MS, 2 * MS, 20 * MS, 15 * SECOND])
def test_crash_is_noticed_at_the_moment_that_was_said(algorithm, after_us):
    """Around a tick a word may be on its way to the broker, or the ping to the program."""
    lab = lab_of("pulsar", algorithm=algorithm, rate=200, consumer_rate=200)
    lane = lab.lanes["pulsar"]
    consumer = lane.consumers["c1"]
    known = next(
        one for one in lane.reads.broker().state.connections.values() if one.peer == consumer.incarnation
    )
    lab.advance_to(known.since_us + 30 * SECOND + after_us)
    lab.submit({"command_id": "x1", "kind": "crash", "consumer": "c1", "lane": "all", "args": {}})
    lab.advance_to(lab.now_us + 1)
    said_us = consumer.deadline_us
    assert said_us is not None and 29 * SECOND < said_us - lab.now_us < 61 * SECOND
    noticed = [
        event
        for event in lab.advance_to(lab.now_us + 62 * SECOND)
        if event["kind"] == "pulsar.connection.silent"
    ]
    assert [event["at_us"] for event in noticed] == [said_us]
