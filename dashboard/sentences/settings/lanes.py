"""What lanes of the other models may set, and what any lane may, a sentence each."""

from django.utils.translation import gettext_lazy as _

OTHER_LANES = {
    "setting.tubemq.partitions.about": _("Of the topic, over all brokers: a multiple of their number."),
    "setting.tubemq.brokers.about": _("Each has as many of the topic’s partitions."),
    "setting.tubemq.masters.about": _("One, or two of which one is a standby."),
    "setting.tubemq.source_count.about": _(
        "-1: clients start without the group’s count, so that the master checks nothing."
    ),
    "setting.tubemq.scale_out.about": _(
        "restart_all: a join stops all clients and starts them with the new count. newcomer_first: the wrong order."
    ),
    "setting.tubemq.over.about": _(
        "Which partitions a rule deals out: all that are configured, or those that may be subscribed now."
    ),
    "setting.rabbitmq.prefetch.about": _(
        "Unacknowledged messages that a consumer may hold; 0 for no limit. Without it the algorithm’s."
    ),
    "setting.rabbitmq.consumer_timeout_ms.about": _(
        "A delivery that is not acknowledged for so long closes the channel; 0 for never."
    ),
    "setting.rabbitmq.topology.about": _(
        "Exchanges, queues, bindings, publishers and consumers, as in a definitions file; without it one work queue."
    ),
    "setting.lane.algorithm": _("Algorithm"),
    "setting.lane.algorithm.about": _("The rule by which records or partitions find their consumer."),
    "setting.lane.id": _("Name of the lane"),
    "setting.lane.id.about": _("Lower-case letters, digits, _ or -; commands and tables call the lane so."),
    "setting.lane.topic.about": _(
        "The name of the topic or queue; without one it is called after the records."
    ),
    "setting.lane.network_delay_us.about": _(
        "How long a message between two nodes takes, one way; up to a tenth more."
    ),
}
