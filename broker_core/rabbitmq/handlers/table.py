"""Which handler serves which method on an open channel."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker_base import BrokerBase
from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.connection import Connection
from broker_core.rabbitmq.handlers import channel, consume, publish, settle, topology
from broker_core.sim.node import Outbox


class ChannelHandler(Protocol):
    def __call__(
        self, broker: BrokerBase, known: Connection, channel: Channel, method: Any, now_us: int, out: Outbox
    ) -> None: ...


_SERVED: dict[type, ChannelHandler] = {
    m.ChannelClose: channel.close,
    m.ChannelFlow: channel.flow,
    m.ExchangeDeclare: topology.exchange_declare,
    m.ExchangeDelete: topology.exchange_delete,
    m.ExchangeBind: topology.exchange_bind,
    m.ExchangeUnbind: topology.exchange_unbind,
    m.QueueDeclare: topology.queue_declare,
    m.QueueBind: topology.queue_bind,
    m.QueueUnbind: topology.queue_unbind,
    m.QueuePurge: topology.queue_purge,
    m.QueueDelete: topology.queue_delete,
    m.BasicQos: consume.basic_qos,
    m.BasicConsume: consume.basic_consume,
    m.BasicCancel: consume.basic_cancel,
    m.BasicGet: consume.basic_get,
    m.BasicPublish: publish.basic_publish,
    m.BasicAck: settle.basic_ack,
    m.BasicNack: settle.basic_nack,
    m.BasicReject: settle.basic_reject,
    m.BasicRecover: settle.basic_recover,
    m.BasicRecoverAsync: settle.basic_recover,
    m.ConfirmSelect: channel.confirm_select,
    m.TxSelect: channel.tx_select,
    m.TxCommit: channel.tx_commit,
    m.TxRollback: channel.tx_rollback,
}
_NOT_FOR_A_BROKER = (
    m.ChannelOpenOk, m.ChannelFlowOk, m.ExchangeDeclareOk, m.ExchangeDeleteOk, m.ExchangeBindOk,
    m.ExchangeUnbindOk, m.QueueDeclareOk, m.QueueBindOk, m.QueueUnbindOk, m.QueuePurgeOk,
    m.QueueDeleteOk, m.BasicQosOk, m.BasicConsumeOk, m.BasicCancelOk, m.BasicReturn, m.BasicDeliver,
    m.BasicGetOk, m.BasicGetEmpty, m.BasicRecoverOk, m.ConfirmSelectOk, m.TxSelectOk, m.TxCommitOk,
    m.TxRollbackOk,
)  # fmt: skip
CHANNEL_HANDLERS: Mapping[type, ChannelHandler] = MappingProxyType(
    _SERVED | dict.fromkeys(_NOT_FOR_A_BROKER, channel.unimplemented)
)
"""channel.open and channel.close-ok have their place where the channel is not open (`broker.py`)."""
