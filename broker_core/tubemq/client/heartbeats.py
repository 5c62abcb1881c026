"""A consumer's heartbeats, whoever gave it its partitions: one to the master 13 s after the answer to the last one, and every
13 s one to each broker with the partitions that it has there.

    broker: names those that are not the client's any more (411, 412): it drops them
            gives no answer in 10 s, or breaks the connection: it drops all of that broker's
    master: no answer of any master: after more than five in a row the next one waits 60 s longer

What a heartbeat to the master says, and what the client does with the answer, differs by class: `call_answers.py` and
`pull_consumer.py`.
Source: TubeMQ (InLong a6c7a6a670) BaseMessageConsumer and SimpleClientBalanceConsumer, HeartTask2MasterWorker,
HeartTask2BrokerWorker.
"""

from __future__ import annotations

from broker_core.clock import SECOND_US
from broker_core.sim.node import Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.consumer_object import BaseConsumer
from broker_core.tubemq.client.links import link_to
from broker_core.tubemq.client.master_link import RPC_TIMEOUT_US
from broker_core.tubemq.client.partition_cache import drop, drop_all
from broker_core.tubemq.partition_key import broker_of

HEARTBEAT_US = 13 * SECOND_US
FAILED_BEATS_MAX, AFTER_FAILING_US = 5, 60 * SECOND_US
TO_MASTER, TO_BROKERS, SILENT = "heartbeat", "beat_brokers", "silent"
"""Deadlines: of the next heartbeats, and at which brokers have not answered."""
NAMES = (TO_MASTER, TO_BROKERS, SILENT)


def begin(now_us: int, out: Outbox) -> None:
    """The master has taken the client."""
    out.deadline(TO_MASTER, now_us + HEARTBEAT_US)
    out.deadline(TO_BROKERS, now_us + HEARTBEAT_US)


def end(state: BaseConsumer, out: Outbox) -> None:
    for name in NAMES:
        out.cancel(name)
    state.silent.clear()


def master_answered(state: BaseConsumer, now_us: int, out: Outbox) -> None:
    state.failed_beats = 0
    out.deadline(TO_MASTER, now_us + HEARTBEAT_US)


def master_failed(state: BaseConsumer, now_us: int, out: Outbox) -> None:
    """A heartbeat has no answer from any master."""
    state.failed_beats += 1
    is_worn = state.failed_beats > FAILED_BEATS_MAX
    out.deadline(TO_MASTER, now_us + HEARTBEAT_US + (AFTER_FAILING_US if is_worn else 0))


def beat_brokers(state: BaseConsumer, now_us: int, out: Outbox) -> None:
    by_broker: dict[int, list[str]] = {}
    for key in state.held:
        by_broker.setdefault(broker_of(key), []).append(key)
    for broker_id, keys in sorted(by_broker.items()):
        out.send(link_to(state, broker_id, out), r.HeartBeatRequestC2B(state.client_id, state.group, keys))
        state.silent.append(broker_id)
    if state.silent:
        out.deadline(SILENT, now_us + RPC_TIMEOUT_US)
    out.deadline(TO_BROKERS, now_us + HEARTBEAT_US)


def broker_answered(
    state: BaseConsumer, connection: int, answer: r.HeartBeatResponseB2C, out: Outbox
) -> None:
    state.silent = [broker_id for broker_id in state.silent if state.links.get(broker_id) != connection]
    if not state.silent:
        out.cancel(SILENT)
    for _, key in answer.failures:
        drop(state, key)


def broker_closed(state: BaseConsumer, broker_id: int, out: Outbox) -> None:
    """The connection broke: a heartbeat on it has no answer."""
    if broker_id in state.silent:
        state.silent.remove(broker_id)
        if not state.silent:
            out.cancel(SILENT)
        drop_all(state, broker_id)


def give_up_silent(state: BaseConsumer, out: Outbox) -> list[int]:
    """Brokers have not answered in time: all that they gave is dropped. Gives their connections, which are closed."""
    closed = []
    for broker_id in state.silent:
        connection = state.links.pop(broker_id)
        out.close(connection)
        drop_all(state, broker_id)
        closed.append(connection)
    state.silent.clear()
    return closed
