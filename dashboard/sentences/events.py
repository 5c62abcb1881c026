"""Words for turning points, shown under "Why?": event kind -> what it means. The rule is
shown as the core names it; what went into it has its words in facts.py.

The places are the event's own inputs and data. A kind without words here is shown by its name.
"""

from django.utils.translation import gettext_lazy as _

_PAUSED = _("{consumer} stops asking for records")
_RESUMED = _("{consumer} asks again, {rate} records a second")
_SLOWED = _("{consumer} now handles {rate} records a second")
_SWITCHED = _("The lane ran its history again under another rule")

EVENTS = {
    "event.pulsar.consumer.connected": _("{consumer} connected to the subscription"),
    "event.pulsar.consumer.reconnected": _("{consumer} reconnected with the ranges it keeps"),
    "event.pulsar.consumer.disconnected": _("{consumer} is gone; {redelivered} of its records went to others"),
    "event.pulsar.consumer.crashed": _("{consumer} fell silent; the broker finds out by keep-alive"),
    "event.pulsar.consumer.refused": _("The broker refused {consumer}"),
    "event.kafka.group.member_joined": _("{consumer} sent JoinGroup"),
    "event.kafka.group.member_left": _("{consumer} sent LeaveGroup"),
    "event.kafka.group.rebalance_started": _("The coordinator began a rebalance"),
    "event.kafka.group.generation_started": _("Generation {generation} began; {leader} leads the group"),
    "event.kafka.group.assigned": _("The leader shared out the partitions of generation {generation}"),
    "event.kafka.group.member_expired": _("{consumer} missed its session timeout"),
    "event.kafka.member.crashed": _("{consumer} fell silent; its session still runs"),
    "event.tubemq.group.restarting": _("All clients stop: sourceCount {from} becomes {to}"),
    "event.tubemq.client.started": _("{consumer} started as node {node_id}"),
    "event.tubemq.client.restarted": _("{consumer} started again as node {node_id}"),
    "event.tubemq.client.connected": _("{consumer} worked out its partitions and registered them"),
    "event.tubemq.client.refused": _("{consumer} was refused with code {code}"),
    "event.tubemq.client.crashed": _("{consumer} fell silent; its partitions stay registered"),
    "event.tubemq.client.forgotten": _("The brokers forgot {consumer} after the timeout"),
    "event.rabbitmq.consumer.subscribed": _("{consumer} joined the end of the turn order"),
    "event.rabbitmq.channel.closed": _("The channel of {consumer} closed; what it held went back to the head"),
    "event.rabbitmq.consumer.crashed": _("{consumer} fell silent; its heartbeat still has time"),
    **{f"event.{model}.consumer.pause": _PAUSED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.consumer.resume": _RESUMED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.consumer.slow": _SLOWED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.algorithm_switched": _SWITCHED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
}
