"""Every method's fields, in their order on the wire with their domains. A name with "-" before it is reserved: it is
read and written, and no method of ours has it.

Source: AMQP 0-9-1 specification and amqp0-9-1.extended.xml of RabbitMQ 3.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from broker_core.rabbitmq.method_ids import IDS

_FIELDS = """
connection.start          octet version_major, octet version_minor, table server_properties, longstr mechanisms, longstr locales
connection.start-ok       table client_properties, shortstr mechanism, longstr response, shortstr locale
connection.secure         longstr challenge
connection.secure-ok      longstr response
connection.tune           short channel_max, long frame_max, short heartbeat
connection.tune-ok        short channel_max, long frame_max, short heartbeat
connection.open           shortstr virtual_host, shortstr -reserved1, bit -insist
connection.open-ok        shortstr -known_hosts
connection.close          short reply_code, shortstr reply_text, short class_id, short method_id
connection.close-ok
connection.blocked        shortstr reason
connection.unblocked
connection.update-secret  longstr new_secret, shortstr reason
connection.update-secret-ok
channel.open              shortstr -reserved1
channel.open-ok           longstr channel_id
channel.flow              bit active
channel.flow-ok           bit active
channel.close             short reply_code, shortstr reply_text, short class_id, short method_id
channel.close-ok
exchange.declare          short -ticket, shortstr exchange, shortstr type_, bit passive, bit durable, bit auto_delete, bit internal, bit nowait, table arguments
exchange.declare-ok
exchange.delete           short -ticket, shortstr exchange, bit if_unused, bit nowait
exchange.delete-ok
exchange.bind             short -ticket, shortstr destination, shortstr source, shortstr routing_key, bit nowait, table arguments
exchange.bind-ok
exchange.unbind           short -ticket, shortstr destination, shortstr source, shortstr routing_key, bit nowait, table arguments
exchange.unbind-ok
queue.declare             short -ticket, shortstr queue, bit passive, bit durable, bit exclusive, bit auto_delete, bit nowait, table arguments
queue.declare-ok          shortstr queue, long message_count, long consumer_count
queue.bind                short -ticket, shortstr queue, shortstr exchange, shortstr routing_key, bit nowait, table arguments
queue.bind-ok
queue.purge               short -ticket, shortstr queue, bit nowait
queue.purge-ok            long message_count
queue.delete              short -ticket, shortstr queue, bit if_unused, bit if_empty, bit nowait
queue.delete-ok           long message_count
queue.unbind              short -ticket, shortstr queue, shortstr exchange, shortstr routing_key, table arguments
queue.unbind-ok
basic.qos                 long prefetch_size, short prefetch_count, bit global_
basic.qos-ok
basic.consume             short -ticket, shortstr queue, shortstr consumer_tag, bit no_local, bit no_ack, bit exclusive, bit nowait, table arguments
basic.consume-ok          shortstr consumer_tag
basic.cancel              shortstr consumer_tag, bit nowait
basic.cancel-ok           shortstr consumer_tag
basic.publish             short -ticket, shortstr exchange, shortstr routing_key, bit mandatory, bit immediate
basic.return              short reply_code, shortstr reply_text, shortstr exchange, shortstr routing_key
basic.deliver             shortstr consumer_tag, longlong delivery_tag, bit redelivered, shortstr exchange, shortstr routing_key
basic.get                 short -ticket, shortstr queue, bit no_ack
basic.get-ok              longlong delivery_tag, bit redelivered, shortstr exchange, shortstr routing_key, long message_count
basic.get-empty           shortstr -reserved1
basic.ack                 longlong delivery_tag, bit multiple
basic.reject              longlong delivery_tag, bit requeue
basic.recover-async       bit requeue
basic.recover             bit requeue
basic.recover-ok
basic.nack                longlong delivery_tag, bit multiple, bit requeue
confirm.select            bit nowait
confirm.select-ok
tx.select
tx.select-ok
tx.commit
tx.commit-ok
tx.rollback
tx.rollback-ok
"""  # noqa: E501

EMPTY = {"octet": 0, "short": 0, "long": 0, "longlong": 0, "shortstr": "", "longstr": "", "bit": False}


@dataclass(frozen=True, slots=True)
class Spec:
    """One method on the wire. fields: (name, domain, whether it is reserved). has_content: a message follows."""

    name: str
    id: tuple[int, int]
    method: type
    fields: tuple[tuple[str, str, bool], ...]
    has_channel: bool
    has_content: bool


def _read() -> dict[str, Spec]:
    methods: dict[Any, tuple[Any, tuple[int, int]]] = {}
    for kind, ids in IDS.items():
        info: Any = kind
        methods[info.__struct_config__.tag] = (info, ids)
    found = {}
    for line in _FIELDS.strip().splitlines():
        name, _, rest = line.partition(" ")
        method, ids = methods[name]
        fields = [field.split() for field in rest.split(",") if field.strip()]
        found[name] = Spec(
            name,
            ids,
            method,
            tuple((name.removeprefix("-"), domain, name.startswith("-")) for domain, name in fields),
            "channel" in method.__struct_fields__,
            "message" in method.__struct_fields__,
        )
    return found


SPECS = MappingProxyType(_read())
"""Name -> method on the wire."""
BY_ID = MappingProxyType({spec.id: spec for spec in SPECS.values()})
BY_METHOD = MappingProxyType({spec.method: spec for spec in SPECS.values()})
