"""Words for turning points, shown under "Why?": event kind -> what it means. The rule is
shown as the core names it; what went into it has its words in facts.py.

The places are the event's own inputs and data. A kind without words here is shown by its name.
"""

from django.utils.translation import gettext_lazy as _

_PAUSED = _("{consumer} takes no more records")
_RESUMED = _("{consumer} takes records again, {rate} a second")
_SLOWED = _("{consumer} now handles {rate} records a second")
_SWITCHED = _("The lane ran its history again under another rule")

EVENTS = {
    "event.pulsar.consumer.connected": _("{consumer} connected to the subscription"),
    "event.pulsar.consumer.reconnected": _("{consumer} makes room: it subscribes again with the ranges it keeps"),
    "event.pulsar.connection.silent": _("{client} did not answer: the broker closes its connection"),
    "event.pulsar.consumer.disconnected": _("The broker removed {consumer}; {redelivered} of its {unacked} unacked records went to others at once"),
    "event.pulsar.consumer.crashed": _("{consumer} fell silent; the broker finds out by keep-alive"),
    "event.pulsar.consumer.refused": _("The broker refused {consumer}"),
    "event.pulsar.subscription.active_changed": _("{consumer} is the active consumer of partition {partition} now"),
    "event.pulsar.consumer.let_go": _("{consumer} waits no longer: everything before its join is acknowledged"),
    "event.pulsar.unsubscribe.refused": _("The broker refused to take the subscription away for {consumer}"),
    "event.pulsar.subscription.deleted": _("The subscription {subscription} is gone, with its cursor"),
    "event.pulsar.subscription.seek": _("The subscription {subscription} reads again from entry {position}"),
    "event.kafka.group.member_joined": _("{consumer} sent JoinGroup"),
    "event.kafka.group.member_left": _("{consumer} sent LeaveGroup"),
    "event.kafka.group.rebalance_started": _("The coordinator began a rebalance"),
    "event.kafka.group.generation_started": _("Generation {generation} began; {leader} leads the group"),
    "event.kafka.group.assigned": _("The leader assigned the partitions of generation {generation}"),
    "event.kafka.group.partitions_paused": _("The pause begins: nobody reads the first {partitions?partition|{partitions} partitions}"),
    "event.kafka.group.partitions_resumed": _("The pause ends: every partition is read again; the longest pause was {pause_us}"),
    "event.kafka.group.member_expired": _("{consumer} missed its session timeout"),
    "event.kafka.group.member_removed": _("The coordinator removed {consumer}, which missed the end of the rebalance"),
    "event.kafka.group.epoch_bumped": _("The coordinator raised the group epoch to {epoch}"),
    "event.kafka.group.upgraded": _("The group switched to the new consumer protocol at group epoch {epoch}"),
    "event.kafka.consumer.revoked": _("{consumer} committed and stopped reading these partitions"),
    "event.kafka.consumer.assigned": _("{consumer} reads these partitions now"),
    "event.kafka.member.crashed": _("{consumer} fell silent; its session has not expired yet"),
    "event.kafka.producer.id_given": _("The producer got producer id {producer_id}, epoch {epoch}"),
    "event.kafka.producer.id_given_up": _("The producer gave up its producer id: a sequence is lost"),
    "event.kafka.producer.epoch_bumped": _("The producer raised its epoch to {epoch}: a sequence is lost"),
    "event.kafka.producer.batch_expired": _("{records} {records?record|records} for {partition} expired before an acknowledgement came"),
    "event.kafka.producer.batch_failed": _("{partition} refused {records} {records?record|records} for good: {error}"),
    "event.kafka.producer.retries_exhausted": _("{records} {records?record|records} for {partition} failed after the last retry: {error}"),
    "event.kafka.producer.send_failed": _("The producer's send failed: it waited too long for memory or metadata"),
    "event.kafka.producer.fenced": _("The producer is fenced: a newer one uses transactional id {transactional_id}"),
    "event.kafka.producer.failed": _("The producer failed for good: {error}"),
    "event.kafka.producer.transaction_failed": _("The producer's transaction must be aborted: {error}"),
    "event.kafka.transaction.coordinator_elected": _("{broker} coordinates __transaction_state-{partition}; ids it loaded: {transactions}"),
    "event.kafka.transaction.producer_fenced": _("A new producer of {transactional_id} has started: the coordinator aborts the open transaction"),
    "event.kafka.transaction.timed_out": _("The transaction of {transactional_id} timed out; the coordinator aborts it"),
    "event.tubemq.group.restarting": _("All clients stop: sourceCount {from} becomes {to}"),
    "event.tubemq.group.starting": _("The clients start: sourceCount {from} becomes {to}"),
    "event.tubemq.group.stopped": _("The last client stopped: sourceCount {from} becomes {to}"),
    "event.tubemq.client.started": _("{consumer} started as node {node_id}"),
    "event.tubemq.client.restarted": _("{consumer} started again as node {node_id}"),
    "event.tubemq.client.connected": _("{consumer} computed its partitions and registered them"),
    "event.tubemq.group.partitions_resumed": _("The pause ends: every partition is registered again; the longest pause was {pause_us}"),
    "event.tubemq.client.refused": _("{consumer} was refused with code {code}"),
    "event.tubemq.client.crashed": _("{consumer} fell silent; its partitions stay registered"),
    "event.tubemq.client.disconnected": _("{consumer} lost partitions to another client, or with a connection"),
    "event.tubemq.client.stopped": _("{consumer} stopped and released its partitions"),
    "event.tubemq.master.consumer_timed_out": _("The master removed {consumer} after the timeout; its nodeId is free"),
    "event.tubemq.broker.registration_timed_out": _("The broker of {partition} removed {consumer} after the timeout"),
    "event.rabbitmq.consumer.subscribed": _("{consumer} joined the end of the turn order"),
    "event.rabbitmq.connection.missed_heartbeats": _("{consumer} sent nothing for two checks: the broker closes its connection"),
    "event.rabbitmq.channel.closed": _("The channel of {consumer} closed; what it held went back to the head"),
    "event.rabbitmq.consumer.crashed": _("{consumer} fell silent; its heartbeat has not timed out yet"),
    **{f"event.{model}.consumer.pause": _PAUSED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.consumer.resume": _RESUMED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.consumer.slow": _SLOWED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.algorithm_switched": _SWITCHED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
}
