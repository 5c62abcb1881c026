"""Numbers of the methods on the wire, which the broker's exceptions name as well.

Source: AMQP 0-9-1 and RabbitMQ's amqp0-9-1.extended.xml.
"""

from __future__ import annotations

from types import MappingProxyType

from broker_core.rabbitmq import methods as m

IDS: MappingProxyType[type, tuple[int, int]] = MappingProxyType(
    {
        m.ConnectionStart: (10, 10), m.ConnectionStartOk: (10, 11), m.ConnectionSecure: (10, 20),
        m.ConnectionSecureOk: (10, 21), m.ConnectionTune: (10, 30), m.ConnectionTuneOk: (10, 31),
        m.ConnectionOpen: (10, 40), m.ConnectionOpenOk: (10, 41), m.ConnectionClose: (10, 50),
        m.ConnectionCloseOk: (10, 51), m.ConnectionBlocked: (10, 60), m.ConnectionUnblocked: (10, 61),
        m.ConnectionUpdateSecret: (10, 70), m.ConnectionUpdateSecretOk: (10, 71),
        m.ChannelOpen: (20, 10), m.ChannelOpenOk: (20, 11), m.ChannelFlow: (20, 20), m.ChannelFlowOk: (20, 21),
        m.ChannelClose: (20, 40), m.ChannelCloseOk: (20, 41),
        m.ExchangeDeclare: (40, 10), m.ExchangeDeclareOk: (40, 11), m.ExchangeDelete: (40, 20),
        m.ExchangeDeleteOk: (40, 21), m.ExchangeBind: (40, 30), m.ExchangeBindOk: (40, 31), m.ExchangeUnbind: (40, 40),
        m.ExchangeUnbindOk: (40, 51),
        m.QueueDeclare: (50, 10), m.QueueDeclareOk: (50, 11), m.QueueBind: (50, 20), m.QueueBindOk: (50, 21),
        m.QueuePurge: (50, 30), m.QueuePurgeOk: (50, 31), m.QueueDelete: (50, 40), m.QueueDeleteOk: (50, 41),
        m.QueueUnbind: (50, 50), m.QueueUnbindOk: (50, 51),
        m.BasicQos: (60, 10), m.BasicQosOk: (60, 11), m.BasicConsume: (60, 20), m.BasicConsumeOk: (60, 21),
        m.BasicCancel: (60, 30), m.BasicCancelOk: (60, 31), m.BasicPublish: (60, 40), m.BasicReturn: (60, 50),
        m.BasicDeliver: (60, 60), m.BasicGet: (60, 70), m.BasicGetOk: (60, 71), m.BasicGetEmpty: (60, 72),
        m.BasicAck: (60, 80), m.BasicReject: (60, 90), m.BasicRecoverAsync: (60, 100), m.BasicRecover: (60, 110),
        m.BasicRecoverOk: (60, 111), m.BasicNack: (60, 120),
        m.ConfirmSelect: (85, 10), m.ConfirmSelectOk: (85, 11),
        m.TxSelect: (90, 10), m.TxSelectOk: (90, 11), m.TxCommit: (90, 20), m.TxCommitOk: (90, 21),
        m.TxRollback: (90, 30), m.TxRollbackOk: (90, 31),
    }
)  # fmt: skip
"""Method -> (class, method) on the wire."""
