"""What a Pulsar lane may set, a sentence each."""

from django.utils.translation import gettext_lazy as _

PULSAR = {
    "setting.pulsar.receiver_queue_size.about": _(
        "Messages that a consumer takes ahead; its permits are granted by halves of it."
    ),
    "setting.pulsar.points.about": _("Points of each consumer on the hash ring; without it 100."),
    "setting.pulsar.partitions.about": _(
        "Of the topic under exclusive and failover; 0 for a topic without partitions."
    ),
    "setting.pulsar.topics.about": _(
        "Topics without partitions in place of partitions, under exclusive and failover."
    ),
    "setting.pulsar.batching_delay_us.about": _("How long a producer collects a batch."),
    "setting.pulsar.fails_every.about": _(
        "Programs cannot handle messages whose number is a multiple of this; 0 for none."
    ),
    "setting.pulsar.max_redeliver.about": _(
        "After so many redeliveries a message becomes a dead letter; without it never."
    ),
    "setting.pulsar.nack_delay_us.about": _(
        "How long after a negative acknowledgement a message is asked for again."
    ),
    "setting.pulsar.nack_backoff_max_us.about": _(
        "The delay doubles each time up to this; without it there is no back-off."
    ),
    "setting.pulsar.ack_timeout_us.about": _(
        "A message that is not acknowledged for so long is asked for again; without it never."
    ),
    "setting.pulsar.unacked_max.about": _(
        "A consumer with so many unacknowledged messages gets no more; 0 for no limit."
    ),
    "setting.pulsar.unacked_all_max.about": _("The same for the whole subscription."),
    "setting.pulsar.failover_delay_us.about": _(
        "How long the broker waits before it makes another consumer the active one."
    ),
    "setting.pulsar.retention.about": _("Entries kept after all have acknowledged them, for a seek back."),
    "setting.pulsar.delayed_every.about": _(
        "Messages whose number is a multiple of this are delivered later, by delay_us."
    ),
    "setting.pulsar.delay_us.about": _("How much later those messages are delivered."),
    "setting.pulsar.ordering_keys.about": _(
        "The producer sets an ordering key, one of so many, which decides in place of the key."
    ),
    "setting.pulsar.order.about": _(
        "How Key_Shared keeps a key in order when consumers change: 3.2’s rule, PIP-379’s, or not at all."
    ),
    "setting.pulsar.batching.about": _(
        "How the producer batches: by time, or one key a batch; without it one message at a time."
    ),
    "setting.pulsar.initial_position.about": _("Where a new subscription begins."),
    "setting.pulsar.acks_cumulatively.about": _(
        "Programs acknowledge everything up to a message; under exclusive and failover."
    ),
    "setting.pulsar.batch_index_acks.about": _("Each message of a batch is acknowledged on its own."),
    "setting.pulsar.retry_topic.about": _("A message that cannot be handled goes to a retry letter topic."),
    "setting.pulsar.failover_ring.about": _("Partitions find their active consumer on a hash ring of names."),
    "setting.pulsar.receipts.about": _("The producer keeps each message until the broker has confirmed it."),
    "setting.pulsar.deduplication.about": _(
        "The broker drops a message that it has already; needs receipts."
    ),
    "setting.pulsar.priorities.about": _('Priority levels by consumer, 0 is best, as {"c3": 1}.'),
    "setting.pulsar.subscriptions.about": _(
        'Other subscriptions on the topic, as {"audit": {"type": "shared", "consumers": 2}}.'
    ),
}
