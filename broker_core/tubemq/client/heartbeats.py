"""A client's heartbeats: every 13 s to the master, with what it holds if that has changed, and to each broker with
the partitions that it has there.

    broker: names those that are not the client's any more (411, 412): it drops them
            gives no answer: it drops all of that broker's
    master: 411, it knows no such client: the client registers again, as at a master that has just taken over
            gives no answer: the client turns to the next master

Source: TubeMQ (InLong a6c7a6a670) BaseMessageConsumer.HeartTask2MasterWorker, HeartTask2BrokerWorker.
"""

from __future__ import annotations

from collections import deque

from broker_core.clock import SECOND_US
from broker_core.sim.node import Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.consumer_object import MASTER_LINK, ConsumerObject
from broker_core.tubemq.client.links import link_to, next_master
from broker_core.tubemq.partition_key import broker_of

HEARTBEAT_US = 13 * SECOND_US
REPORT_BEATS = 60
"""With so many heartbeats the master hears what the client holds, changed or not."""


def registration(state: ConsumerObject) -> r.RegisterRequestC2MV2:
    """The client's request to be a member of its group, with what it holds."""
    conditions = [f"{topic}#{','.join(items)}" for topic, items in state.topics.items() if items]
    return r.RegisterRequestC2MV2(
        state.client_id,
        state.group,
        state.source_count,
        state.node_id,
        [*state.topics],
        conditions,
        [*state.held],
    )


def beat(state: ConsumerObject, now_us: int, out: Outbox) -> None:
    """All heartbeats of one turn."""
    silent, state.unanswered = state.unanswered, []
    for broker_id, connection in [*state.links.items()]:
        if connection in silent:
            if broker_id == MASTER_LINK:
                next_master(state, out)
            else:
                drop_all(state, broker_id)
    report = None
    held = list(state.held)
    if state.beats % REPORT_BEATS == 0 or held != state.reported:
        report = state.reported = held
    state.beats += 1
    send(state, MASTER_LINK, r.HeartRequestC2MV2(state.client_id, state.group, report), out)
    by_broker: dict[int, list[str]] = {}
    for key in held:
        if key in state.held:
            by_broker.setdefault(broker_of(key), []).append(key)
    for broker_id, keys in by_broker.items():
        send(state, broker_id, r.HeartBeatRequestC2B(state.client_id, state.group, keys), out)


def send(state: ConsumerObject, broker_id: int, request: r.Request, out: Outbox) -> None:
    connection = link_to(state, broker_id, out)
    state.unanswered.append(connection)
    out.send(connection, request)


def on_broker(state: ConsumerObject, connection: int, answer: r.HeartBeatResponseB2C) -> None:
    heard(state, connection)
    for _, key in answer.failures:
        drop(state, key)


def on_master(state: ConsumerObject, connection: int, answer: r.HeartResponseM2C, out: Outbox) -> None:
    heard(state, connection)
    if answer.code == r.HB_NO_NODE and state.links.get(MASTER_LINK) == connection:
        state.beats = 0  # a master that does not know the client does not know what it holds, either
        out.send(connection, registration(state))


def on_closed(state: ConsumerObject, connection: int, broker_id: int | None) -> None:
    """A connection broke; whoever was asked for a sign of life on it gives none."""
    if connection in state.unanswered:
        heard(state, connection)
        if broker_id is not None and broker_id != MASTER_LINK:
            drop_all(state, broker_id)


def heard(state: ConsumerObject, connection: int) -> None:
    if connection in state.unanswered:
        state.unanswered.remove(connection)


def drop_all(state: ConsumerObject, broker_id: int) -> None:
    for key in [key for key in state.held if broker_of(key) == broker_id]:
        drop(state, key)


def drop(state: ConsumerObject, key: str) -> None:
    """Forget a partition here; of a batch that is out, what is not confirmed is read again by the next owner."""
    if state.held.pop(key, None) is None:
        return
    state.offsets.pop(key, None)
    state.resting.pop(key, None)
    if key in state.idle:
        state.idle = deque(other for other in state.idle if other != key)
