"""Methods of a channel itself: opening, closing, flow; confirm mode and transactions.

Source: RabbitMQ 3.10 rabbit_reader, rabbit_channel; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.channel import CONFIRM, TICK_INTERVAL_US, TX, Channel, Publish
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.handlers.publish import return_message
from broker_core.rabbitmq.handlers.settle import settle
from broker_core.rabbitmq.refusals import Refused, precondition
from broker_core.sim.node import Outbox


def open_(
    broker: BrokerBase, known: Connection, connection: int, method: m.ChannelOpen, now_us: int, out: Outbox
) -> None:
    """A number that is open already is a connection exception, and so is one channel too many. On one that the
    broker has just closed it is dropped."""
    number = method.channel
    if number in known.channels:
        raise Refused(codes.CHANNEL_ERROR, "second 'channel.open' seen")
    if number in known.closing:
        return
    if len(known.channels) >= known.channel_max:
        raise Refused(
            codes.NOT_ALLOWED,
            f"number of channels opened ({len(known.channels)}) has reached the negotiated channel_max "
            f"({known.channel_max})",
        )
    channel = known.channels[number] = Channel(connection, number, known.vhost)
    broker.add_channel(channel)
    out.deadline(channel.tick, now_us + TICK_INTERVAL_US)
    out.send(connection, m.ChannelOpenOk(number))


def close(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.ChannelClose, now_us: int, out: Outbox
) -> None:
    broker.close_channels(known, [channel], "rabbitmq.channel.closed_by_client", now_us, out)
    out.send(channel.connection, m.ChannelCloseOk(channel.number))


def flow(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.ChannelFlow, now_us: int, out: Outbox
) -> None:
    if not method.active:
        raise Refused(codes.NOT_IMPLEMENTED, "active=false")
    out.send(channel.connection, m.ChannelFlowOk(channel.number, True))


def unimplemented(
    broker: BrokerBase, known: Connection, channel: Channel, method: Any, now_us: int, out: Outbox
) -> None:
    """A method that only a broker sends, or an answer that it does not wait for, on an open channel.

    Source: RabbitMQ 3.10 rabbit_channel, the last clause of handle_method; not recorded.
    """
    raise Refused(codes.COMMAND_INVALID, "unimplemented method")


def confirm_select(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.ConfirmSelect, now_us: int, out: Outbox
) -> None:
    """Publishes are confirmed from now on, counted from 1. Selecting again changes nothing."""
    if channel.mode == TX:
        raise precondition("cannot switch from tx to confirm mode")
    channel.mode = CONFIRM
    if not method.nowait:
        out.send(channel.connection, m.ConfirmSelectOk(channel.number))


def tx_select(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.TxSelect, now_us: int, out: Outbox
) -> None:
    if channel.mode == CONFIRM:
        raise precondition("cannot switch from confirm to tx mode")
    channel.mode = TX
    out.send(channel.connection, m.TxSelectOk(channel.number))


def tx_commit(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.TxCommit, now_us: int, out: Outbox
) -> None:
    """What was published comes to its queues, then what was acknowledged is settled. The answer waits for the queues
    where there is a publish for one; else it goes out at once."""
    if channel.mode != TX:
        raise precondition("channel is not transactional")
    publishes, channel.publishes = channel.publishes, []
    settlements, channel.settlements = channel.settlements, []
    of_queue: dict[int, list[int]] = {}  # each queue takes all of its messages before the next one begins
    for publish in publishes:
        if publish.mandatory and not publish.queues:
            return_message(broker, channel, publish.message, publish.routing_key, out)
        for number in publish.queues:
            of_queue.setdefault(number, []).append(publish.message)
    if not of_queue:
        out.send(channel.connection, m.TxCommitOk(channel.number))
    if broker.ear is not None:
        overhear(broker, channel, publishes)
    for number, messages in of_queue.items():
        for message in messages:
            if number in broker.queues:
                broker.publish_to(broker.queues[number], message, now_us, out)
    for publish in publishes:
        broker.messages.release(publish.message)
    for settlement in settlements:
        settle(broker, channel, dict(sorted(settlement.settled.items())), settlement.how, now_us, out)
    if of_queue:
        out.send(channel.connection, m.TxCommitOk(channel.number))


def overhear(broker: BrokerBase, channel: Channel, publishes: Sequence[Publish]) -> None:
    assert broker.ear is not None
    program = broker.program_of(channel.name)
    for each in publishes:
        queues = [broker.queues[number].name for number in each.queues if number in broker.queues]
        is_returned = each.mandatory and not each.queues
        broker.ear.published(
            channel.connection, program, channel.vhost, each.message, each.routing_key, queues, is_returned
        )


def tx_rollback(
    broker: BrokerBase, known: Connection, channel: Channel, method: m.TxRollback, now_us: int, out: Outbox
) -> None:
    """Publishes are forgotten, and what was acknowledged is outstanding again; nothing is requeued."""
    if channel.mode != TX:
        raise precondition("channel is not transactional")
    for settlement in channel.settlements:
        channel.take_back(settlement.settled)
    broker.discard_transaction(channel)
    out.send(channel.connection, m.TxRollbackOk(channel.number))
