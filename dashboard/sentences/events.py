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
    "event.pulsar.consumer.reconnected": _(
        "{consumer} makes room: it subscribes again with the ranges it keeps"
    ),
    "event.pulsar.connection.silent": _("{client} did not answer: the broker closes its connection"),
    "event.pulsar.connection.refused": _(
        "{client} sent what no broker accepts: the broker closes its connection"
    ),
    "event.pulsar.consumer.disconnected": _(
        "The broker removed {consumer}; {redelivered} of its {unacked} unacked records went to others at once"
    ),
    "event.pulsar.consumer.crashed": _("{consumer} fell silent; the broker finds out by keep-alive"),
    "event.pulsar.consumer.refused": _("The broker refused {consumer}"),
    "event.pulsar.subscription.active_changed": _(
        "{consumer} is the active consumer of partition {partition} now"
    ),
    "event.pulsar.topic.active_changed": _("{consumer} is the active consumer of {topic} now"),
    "event.pulsar.consumer.let_go": _(
        "{consumer} no longer waits: everything sent before it joined is acknowledged"
    ),
    "event.pulsar.unsubscribe.refused": _("The broker refused to delete the subscription for {consumer}"),
    "event.pulsar.subscription.deleted": _("The subscription {subscription} and its cursor are deleted"),
    "event.pulsar.subscription.seek": _("The subscription {subscription} reads again from entry {position}"),
    "event.pulsar.consumer.redeliver": _("{consumer} asks the broker to redeliver everything"),
    "event.pulsar.consumer.hold_acks": _("{consumer} got stuck: it acknowledges nothing"),
    "event.pulsar.consumer.release_acks": _("{consumer} acknowledges again"),
    "event.pulsar.consumer.seek": _("{consumer} asked to seek to another place in the topic"),
    "event.pulsar.consumer.priority": _("{consumer} subscribes again with priority level {level}"),
    "event.pulsar.consumer.ranges": _("{consumer} subscribes again with these ranges"),
    "event.pulsar.consumer.unsubscribe": _("{consumer} asked to delete the subscription"),
    "event.pulsar.receipts.lost": _("The broker's receipts for the producer get lost for {seconds} s"),
    "event.pulsar.producer.sent_again": _(
        "The producer reconnected and resent {messages} {messages?record|records} that had no receipt"
    ),
    "event.pulsar.ack.refused": _("{consumer}'s client refused to acknowledge everything up to a message"),
    "event.kafka.group.member_joined": _("{consumer} sent JoinGroup"),
    "event.kafka.group.member_left": _("{consumer} sent LeaveGroup"),
    "event.kafka.group.rebalance_started": _("The coordinator began a rebalance"),
    "event.kafka.group.generation_started": _("Generation {generation} began; {leader} leads the group"),
    "event.kafka.group.assigned": _("The leader assigned the partitions of generation {generation}"),
    "event.kafka.group.partitions_paused": _(
        "The pause begins: the first {partitions?partition has|{partitions} partitions have} no reader"
    ),
    "event.kafka.group.partitions_resumed": _(
        "The pause ends: every partition is read again; the longest pause was {pause_us}"
    ),
    "event.kafka.group.member_expired": _("{consumer} missed its session timeout"),
    "event.kafka.group.member_removed": _(
        "The coordinator removed {consumer}, which missed the end of the rebalance"
    ),
    "event.kafka.group.epoch_bumped": _("The coordinator raised the group epoch to {epoch}"),
    "event.kafka.group.upgraded": _("The group switched to the new consumer protocol at group epoch {epoch}"),
    "event.kafka.consumer.revoked": _("{consumer} committed and stopped reading these partitions"),
    "event.kafka.consumer.assigned": _("{consumer} reads these partitions now"),
    "event.kafka.group.target_assigned": _("The coordinator computed the target assignment of epoch {epoch}"),
    "event.kafka.group.coordinator_loaded": _(
        "Broker {coordinator} coordinates the group now: records it loaded: {records}"
    ),
    "event.kafka.consumer.closed": _("{consumer} has left the group and closed its connections"),
    "event.kafka.consumer.failed": _("{consumer} gave up for good"),
    "event.kafka.consumer.threw": _(
        "The poll() of {consumer} threw {error}, as auto.offset.reset is none; the program closed its "
        "consumer and ended"
    ),
    "event.kafka.consumer.offset_reset": _(
        "{consumer} goes on at offset {offset} of {topic}-{partition}; {passed_over} "
        "{passed_over?record|records} before it will not be read"
    ),
    "event.kafka.consumer.fenced": _(
        "The coordinator fenced {consumer}: it loses its partitions and joins again"
    ),
    "event.kafka.consumer.poll_timeout": _(
        "{consumer} did not poll within max.poll.interval.ms, so it leaves the group"
    ),
    "event.kafka.consumer.truncated": _(
        "{consumer} goes back in partition {partition}: what it had read last is gone"
    ),
    "event.kafka.member.crashed": _("{consumer} fell silent; its session has not expired yet"),
    "event.kafka.member.frozen": _(
        "{consumer} is frozen and sends no heartbeats: its session is running out"
    ),
    "event.kafka.member.thawed": _("{consumer} resumes with the partitions it believes it owns"),
    "event.kafka.member.stuck": _("{consumer} is stuck in a record; its heartbeats continue"),
    "event.kafka.member.unstuck": _("{consumer} finished its record"),
    "event.kafka.member.restarting": _("{consumer} closes; its next process comes up after {down_us}"),
    "event.kafka.member.subscribed": _("{consumer} subscribes to {topics}"),
    "event.kafka.member.partition_paused": _(
        "{consumer} pauses {topic}-{partition}: poll() returns nothing of it"
    ),
    "event.kafka.member.partition_resumed": _("{consumer} resumes {topic}-{partition}"),
    "event.kafka.member.partition_seeks": _("{consumer} seeks another offset of {topic}-{partition}"),
    "event.kafka.member.partition_commits": _("{consumer} commits offset {offset} of {topic}-{partition}"),
    "event.kafka.consumer.sought": _(
        "{consumer} goes on at offset {offset} of {topic}-{partition}; {passed_over} "
        "{passed_over?record|records} passed over"
    ),
    "event.kafka.consumer.committed": _("The coordinator has stored the offset that {consumer} gave"),
    "event.kafka.consumer.commit_refused": _("The commit of {consumer} failed: {error}"),
    "event.kafka.admin.resets_offsets": _(
        "An operator resets {topic}-{partition} to offset {to}, within the log's range"
    ),
    "event.kafka.admin.offsets_committed": _(
        "The coordinator has stored the operator's offset of {topic}-{partition}"
    ),
    "event.kafka.admin.offsets_refused": _(
        "The coordinator refused the operator's offset of {topic}-{partition}: {error}"
    ),
    "event.kafka.producer.partition_named": _(
        "The producer sends a record to {topic}-{partition}, which the sender named"
    ),
    "event.kafka.consumer.assignor_failed": _(
        "The leader {consumer} ends: its own assignor failed in line {line}: {reason}"
    ),
    "event.kafka.consumer.assignor_refused": _(
        "The leader {consumer} ends: the group's rule needs every member to subscribe to the same topics"
    ),
    "event.kafka.producer.id_given": _("The producer got producer id {producer_id}, epoch {epoch}"),
    "event.kafka.producer.id_given_up": _("The producer gave up its producer id: a sequence is lost"),
    "event.kafka.producer.epoch_bumped": _("The producer raised its epoch to {epoch}: a sequence is lost"),
    "event.kafka.producer.batch_expired": _(
        "{records} {records?record|records} for {partition} expired before an acknowledgement came"
    ),
    "event.kafka.producer.batch_failed": _(
        "{partition} refused {records} {records?record|records} for good: {error}"
    ),
    "event.kafka.producer.retries_exhausted": _(
        "{records} {records?record|records} for {partition} failed after the last retry: {error}"
    ),
    "event.kafka.producer.send_failed": _(
        "The producer's send failed: it waited too long for memory or metadata"
    ),
    "event.kafka.producer.fenced": _(
        "The producer is fenced: a newer one uses transactional id {transactional_id}"
    ),
    "event.kafka.broker.registered": _("Broker {broker} has registered, and is still fenced"),
    "event.kafka.broker.unfenced": _("Broker {broker} is unfenced: it may lead and be in sync"),
    "event.kafka.broker.shutting_down": _(
        "Broker {broker} asks for a controlled shutdown and gives its leaderships away"
    ),
    "event.kafka.broker.fenced": _("The controller fenced broker {broker}"),
    "event.kafka.partition.leader_changed": _(
        "{topic}-{partition}: the leader is broker {leader} from leader epoch {leader_epoch} on"
    ),
    "event.kafka.partition.leader_changed_none": _(
        "{topic}-{partition}: no leader from leader epoch {leader_epoch} on"
    ),
    "event.kafka.partition.isr_changed": _("{topic}-{partition}: the ISR is now {isr}"),
    "event.kafka.partition.reassigned": _("{topic}-{partition}: its replicas are now {replicas}"),
    "event.kafka.partition.writes_refused": _("{topic}-{partition} refuses writes with acks=-1: {error}"),
    "event.kafka.log.segments_deleted": _(
        "Retention on broker {broker} deleted {topic}-{partition} up to offset {start}: {passed_over} "
        "{passed_over?record|records} that the group had not read"
    ),
    "event.kafka.replica.truncated": _(
        "Broker {broker} cut {cut_count} records off {topic}-{partition}, from offset {offset} on"
    ),
    "event.kafka.controller.refused": _("The controller refused {request}: {error}"),
    "event.kafka.producer.failed": _("The producer failed for good: {error}"),
    "event.kafka.producer.transaction_failed": _("The producer's transaction must be aborted: {error}"),
    "event.kafka.transaction.coordinator_elected": _(
        "{broker} coordinates __transaction_state-{partition}; ids it loaded: {transactions}"
    ),
    "event.kafka.transaction.producer_fenced": _(
        "A new producer of {transactional_id} has started: the coordinator aborts the open transaction"
    ),
    "event.kafka.transaction.timed_out": _(
        "The transaction of {transactional_id} timed out; the coordinator aborts it"
    ),
    "event.tubemq.group.restarting": _("All clients stop and start again: sourceCount {to}, {from} before"),
    "event.tubemq.group.starting": _("The clients start: sourceCount {from} becomes {to}"),
    "event.tubemq.group.stopped": _("The last client stopped: sourceCount {from} becomes {to}"),
    "event.tubemq.client.started": _("{consumer} started as node {node_id}"),
    "event.tubemq.client.restarted": _("{consumer} started again as node {node_id}"),
    "event.tubemq.client.connected": _("{consumer} computed its partitions and registered them"),
    "event.tubemq.group.partitions_resumed": _(
        "The pause ends: every partition is registered again; the longest pause was {pause_us}"
    ),
    "event.tubemq.client.refused": _("{consumer} was refused with code {code}"),
    "event.tubemq.client.lost": _(
        "{consumer} fell silent before the master knew about it, so its crash will not be noticed"
    ),
    "event.tubemq.client.crashed": _("{consumer} fell silent; its partitions stay registered"),
    "event.tubemq.client.disconnected": _(
        "{consumer} lost partitions to another client, or with a connection"
    ),
    "event.tubemq.client.released": _(
        "{consumer} releases partitions that are no longer assigned to it, or not subscribable"
    ),
    "event.tubemq.client.map_changed": _(
        "{consumer} learned from the master that {subscribable} of {configured} partitions are subscribable"
    ),
    "event.tubemq.client.stopped": _("{consumer} stopped and released its partitions"),
    "event.tubemq.master.consumer_timed_out": _(
        "The master removed {consumer} after the timeout; its nodeId is free"
    ),
    "event.tubemq.broker.registration_timed_out": _(
        "The broker of {partition} removed {consumer} after the timeout"
    ),
    "event.rabbitmq.consumer.subscribed": _("{consumer} joined the end of the turn order"),
    "event.rabbitmq.connection.missed_heartbeats": _(
        "{consumer} sent nothing for two checks: the broker closes its connection"
    ),
    "event.rabbitmq.channel.closed": _(
        "The channel of {consumer} closed; what it held went back to the head"
    ),
    "event.rabbitmq.channel.timed_out": _(
        "{consumer} did not acknowledge in time: the broker closes its channel with 406"
    ),
    "event.rabbitmq.consumer.crashed": _("{consumer} fell silent; its heartbeat has not timed out yet"),
    **{f"event.{model}.consumer.pause": _PAUSED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.consumer.resume": _RESUMED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.consumer.slow": _SLOWED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
    **{f"event.{model}.algorithm_switched": _SWITCHED for model in ("pulsar", "kafka", "tubemq", "rabbitmq")},
}
