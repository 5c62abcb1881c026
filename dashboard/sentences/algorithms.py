"""Each rule of sharing: its name on the switch, the note beside the lane's title, and one sentence on what it
does or how it differs.

A code is `<model>.<algorithm id>` with `.note` and `.about`. Rules of the article say how the real system
differs from them.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

_ARTICLE = _("by the article")

ALGORITHMS = {
    "pulsar.consistent_hash": _("Hash ring"),
    "pulsar.consistent_hash.note": _("rule of 3.2.1"),
    "pulsar.consistent_hash.about": _(
        "100 points per consumer on a ring; a key belongs to the next point at or above its hash."
    ),
    "pulsar.auto_split": _("Auto-split"),
    "pulsar.auto_split.note": _("65\u202f536 slots"),
    "pulsar.auto_split.about": _(
        "A newcomer takes the lower half of the widest range; ranges are (low, high]."
    ),
    "pulsar.sticky": pgettext_lazy("pulsar", "Sticky"),
    "pulsar.sticky.note": _("fixed ranges"),
    "pulsar.sticky.about": _(
        "Consumers name their ranges; a newcomer gets the upper half of the widest owner's."
    ),
    "pulsar.consistent_hash_3_2_0": _("Ring 3.2.0"),
    "pulsar.consistent_hash_3_2_0.note": _("rule of 3.2.0"),
    "pulsar.consistent_hash_3_2_0.about": _(
        "Points are name+index: c1's 11 and c11's 1 are one point. 3.2.1 put a NUL between."
    ),
    "pulsar.consistent_hash_current": _("Ring 4.x"),
    "pulsar.consistent_hash_current.note": _("rule of 4.x"),
    "pulsar.consistent_hash_current.about": _(
        "The ring has 65,535 slots, and the first holder of a point keeps it."
    ),
    "pulsar.ring_document": _("Article ring"),
    "pulsar.ring_document.note": _ARTICLE,
    "pulsar.ring_document.about": _(
        "Points 1 to 100 on a 32-bit ring. Pulsar itself counts 0 to 99 on a 31-bit ring."
    ),
    "pulsar.auto_split_document": _("Article split"),
    "pulsar.auto_split_document.note": _ARTICLE,
    "pulsar.auto_split_document.about": _(
        "Ranges [low, high), split at the floor. In Pulsar the upper end is included: (low, high]."
    ),
    "pulsar.sticky_document": _("Article sticky"),
    "pulsar.sticky_document.note": _ARTICLE,
    "pulsar.sticky_document.about": _(
        "Ranges [start, end). In Pulsar both ends are included: these ranges would conflict there."
    ),
    "pulsar.exclusive": _("Exclusive"),
    "pulsar.exclusive.note": _("one consumer"),
    "pulsar.exclusive.about": _(
        "One consumer gets everything, all partitions; a second one is refused (ConsumerBusy). The client's "
        "default."
    ),
    "pulsar.failover": _("Failover"),
    "pulsar.failover.note": _("active and standbys"),
    "pulsar.failover.about": _(
        "One consumer is active on each partition: its index modulo the best-priority consumers, by name; "
        "others stand by."
    ),
    "pulsar.failover_document": _("Article failover"),
    "pulsar.failover_document.note": _ARTICLE,
    "pulsar.failover_document.about": _(
        "One topic without partitions: whoever subscribed first is active. Pulsar itself asks a ring of "
        "names."
    ),
    "pulsar.shared": _("Shared"),
    "pulsar.shared.note": _("by turns"),
    "pulsar.shared.about": _(
        "In turn, up to 20 messages in a row, to consumers with permits; no order, no cumulative "
        "acknowledgement."
    ),
    "kafka.range": _("Range"),
    "kafka.range.note": _("consumer group"),
    "kafka.range.about": _("Each topic's partitions in contiguous runs, members in id order."),
    "kafka.roundrobin": _("Round robin"),
    "kafka.roundrobin.note": _("consumer group"),
    "kafka.roundrobin.about": _("All partitions in order, one to each member in turn."),
    "kafka.sticky": _("Sticky"),
    "kafka.sticky.note": _("consumer group"),
    "kafka.sticky.about": _(
        "As even as possible, then as few moves as possible; all members still stop for the rebalance."
    ),
    "kafka.cooperative-sticky": _("Cooperative"),
    "kafka.cooperative-sticky.note": _("consumer group"),
    "kafka.cooperative-sticky.about": _(
        "Sticky in two rounds: partitions that move are given up, then reassigned; the rest keep running."
    ),
    "kafka.server_uniform": _("Uniform"),
    "kafka.server_uniform.note": _("consumer group"),
    "kafka.server_uniform.about": _(
        "The coordinator assigns (KIP-848): as even as possible, then as few moves as possible."
    ),
    "kafka.server_range": _("Range"),
    "kafka.server_range.note": _("consumer group"),
    "kafka.server_range.about": _(
        "The coordinator assigns (KIP-848): each topic's partitions in contiguous runs, static members first."
    ),
    "kafka.range_global": _("Article range"),
    "kafka.range_global.note": _ARTICLE,
    "kafka.range_global.about": _(
        "All topics' partitions in one list, N/M each, one more for the first N%M. Kafka divides each topic "
        "separately."
    ),
    "kafka.round_robin_hashed": _("Article robin"),
    "kafka.round_robin_hashed.note": _ARTICLE,
    "kafka.round_robin_hashed.about": _(
        "Partitions sorted by Java's hashCode. Kafka sorts by topic name and number."
    ),
    "tubemq.modulo": _("Modulo"),
    "tubemq.modulo.note": _("clients decide"),
    "tubemq.modulo.about": _(
        "Hash of broker:topic:partition modulo sourceCount = nodeId. Key to partition is our own router: "
        "Java hash modulo 12."
    ),
    "tubemq.sticky": _("Sticky"),
    "tubemq.sticky.note": _("operator deals"),
    "tubemq.sticky.about": _(
        "sourceCount -1. A client keeps what it had; the rest goes to those with fewest."
    ),
    "tubemq.by_lag": _("By lag"),
    "tubemq.by_lag.note": _("operator deals"),
    "tubemq.by_lag.about": _(
        "sourceCount -1. Most waiting first, to the client with least waiting; again when that is uneven for 30 s."
    ),
    "tubemq.server": _("Server-side"),
    "tubemq.server.note": _("master decides"),
    "tubemq.server.about": _(
        "The master gives partitions out every 30 s: first in runs, later keep, fill, level."
    ),
    "tubemq.article": _("Article modulo"),
    "tubemq.article.note": _ARTICLE,
    "tubemq.article.about": _(
        "The master: hash modulo clients, over all partitions. TubeMQ has no hash there."
    ),
    "rabbitmq.prefetch_5": _("Prefetch 5"),
    "rabbitmq.prefetch_5.note": _("work queue"),
    "rabbitmq.prefetch_5.about": _("In turn, to consumers with fewer than 5 unacked."),
    "rabbitmq.prefetch_1": _("Prefetch 1"),
    "rabbitmq.prefetch_1.note": _("work queue"),
    "rabbitmq.prefetch_1.about": _("One unacked record at a time: the fairest, with a wait for each ack."),
    "rabbitmq.prefetch_unlimited": _("No limit"),
    "rabbitmq.prefetch_unlimited.note": _("work queue"),
    "rabbitmq.prefetch_unlimited.about": _(
        "Everything is pushed at once, in turn; a slow consumer hoards records that others could handle."
    ),
}
