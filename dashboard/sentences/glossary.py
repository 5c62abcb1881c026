"""What the terms of the pages mean: the one place for definitions. A page says `{% term "skew" "figure.skew"
%}`, or puts data-term="skew" on what it draws; static/js/base/tips.js shows the definition on hover, focus and
touch. The end of a page lists all of its terms, too.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

# id -> its name, what it means
TERMS = {
    "skew": (
        pgettext_lazy("term", "skew"),
        _(
            "The largest consumer's share divided by the mean share. 1 is even; 2 means that one "
            "consumer does twice its part."
        ),
    ),
    "share": (
        pgettext_lazy("term", "share"),
        _(
            "The part of the keys, hash space, partitions or records that a consumer has. The dashed bar "
            "is what it had before the last change."
        ),
    ),
    "fair": (
        pgettext_lazy("term", "fair share"),
        _(
            "One divided by the number of consumers: what each would have if all had the same. A removed "
            "consumer counts as long as it keeps "
            "its share."
        ),
    ),
    "rate": (pgettext_lazy("term", "rec/s"), _("Records that a consumer handled in the last second.")),
    "space": (
        pgettext_lazy("term", "hash space"),
        _(
            "All values that a key's hash can have. Pulsar gives each consumer parts of it; the figure "
            "is the part that changed hands."
        ),
    ),
    "partitions": (
        pgettext_lazy("term", "partitions"),
        _(
            "A topic's records are stored in partitions, each read in order by one consumer of the "
            "group. The figure says how many changed hands."
        ),
    ),
    "redelivered": (
        pgettext_lazy("term", "redelivered"),
        _("Records that were delivered a second time, because they had not been acknowledged or committed."),
    ),
    "pause": (
        pgettext_lazy("term", "pause"),
        _(
            "The longest time for which a partition had no consumer reading it, until one read it again. "
            "It may have begun before this change."
        ),
    ),
    "lag": (
        pgettext_lazy("term", "lag"),
        _("Records after a consumer's position in a partition: the end offset minus the position."),
    ),
    "committed": (
        pgettext_lazy("term", "committed offset"),
        _("The offset that a group has stored: a consumer that takes over starts there."),
    ),
    "generation": (
        pgettext_lazy("term", "generation"),
        _(
            "The number of a group's current assignment. Each rebalance begins a new one, and members of "
            "an older one are refused."
        ),
    ),
    "rebalance": (
        pgettext_lazy("term", "rebalance"),
        _("A Kafka group reassigns its partitions: all members join again, and the leader assigns."),
    ),
    "source_count": (
        pgettext_lazy("term", "sourceCount"),
        _(
            "How many clients a TubeMQ group says it has. Each takes the partitions whose key's hash "
            "modulo this number is its nodeId."
        ),
    ),
    "node_id": (
        pgettext_lazy("term", "nodeId"),
        _("A TubeMQ client's number in its group, 0 to sourceCount minus 1."),
    ),
    "tick": (
        pgettext_lazy("term", "next tick"),
        _("Time until a TubeMQ client checks again which partitions are its own."),
    ),
    "point": (
        pgettext_lazy("term", "ring point"),
        _(
            "A consumer has many points on the hash ring. A key belongs to the first point at or above "
            "its hash."
        ),
    ),
    "slot": (
        pgettext_lazy("term", "slot"),
        _("One value of the hash space. A consumer has ranges of slots."),
    ),
    "permits": (
        pgettext_lazy("term", "permits"),
        _(
            "How many more records a Pulsar consumer lets the broker send. At 0 nothing arrives until it "
            "grants more."
        ),
    ),
    "in_flight": (
        pgettext_lazy("term", "in flight, unacked"),
        _("Records that a consumer has received and not acknowledged yet."),
    ),
    "prefetch": (
        pgettext_lazy("term", "prefetch count"),
        _("How many unacknowledged records RabbitMQ lets one consumer hold."),
    ),
    "ready": (
        pgettext_lazy("term", "ready"),
        _("Records in RabbitMQ's queue that no consumer has received yet."),
    ),
    "keys_moved": (
        pgettext_lazy("term", "keys moved"),
        _("Keys that changed their consumer. The running bill counts a key each time that it moves."),
    ),
    "dark": (
        pgettext_lazy("term", "dark"),
        _(
            "A partition or part of the hash space is dark while no live consumer serves it. The figure "
            "is the mean of that time over all of "
            "them since the start: a third dark for 30 s gives 10 s."
        ),
    ),
    "bill": (
        pgettext_lazy("term", "bill"),
        _(
            "Changes that begin before the last one has settled share one bill. The large figure and the "
            "small ones count from the first of "
            "them; shares and pictures compare with the moment before it."
        ),
    ),
    "out_of_order": (
        pgettext_lazy("term", "out of order"),
        _(
            "A record that was handled after a later record of the same key. Pulsar makes a newcomer "
            "wait for a key's older records, "
            "unless its consumers set allowOutOfOrderDelivery."
        ),
    ),
    "silent": (
        pgettext_lazy("term", "silent"),
        _("The consumer has crashed silently. The system still counts on it until a timeout has passed."),
    ),
    "segment": (
        pgettext_lazy("term", "segment"),
        _("A log is a sequence of files, the segments. Only the last one grows; old ones are deleted whole."),
    ),
    "index": (
        pgettext_lazy("term", "sparse index"),
        _(
            "One entry for about every index.interval.bytes of the log: an offset and the byte where its "
            "batch begins."
        ),
    ),
    "batch": (
        pgettext_lazy("term", "record batch"),
        _("Records are written in batches with one header: base offset, length, CRC, codec, times."),
    ),
    "high_watermark": (
        pgettext_lazy("term", "high watermark"),
        _(
            "The offset below which every in-sync replica has the records (HW). Consumers read no "
            "further; a follower learns it one fetch later. "
            "In the Stage's grid a mark: what is above it, up to the log end offset (LEO), is hatched."
        ),
    ),
    "last_stable_offset": (
        pgettext_lazy("term", "last stable offset"),
        _(
            "LSO: where the oldest open transaction begins. A read_committed consumer reads up to it, "
            "others up to the high watermark."
        ),
    ),
    "coordinator": (
        pgettext_lazy("term", "group coordinator"),
        _(
            "The broker that leads the group's partition of __consumer_offsets. It knows the members, "
            "runs their timers and stores offsets."
        ),
    ),
    "session_timeout": (
        pgettext_lazy("term", "session timeout"),
        _(
            "How long a coordinator waits for a sign of life before it removes a member. Each heartbeat, "
            "join, sync or commit restarts it."
        ),
    ),
    "group_lag": (
        pgettext_lazy("term", "lag of the group"),
        _(
            "The high watermark minus the committed offset, as kafka-consumer-groups.sh shows it. The "
            "Stage's lag counts to the position instead."
        ),
    ),
    "lag_time": (
        pgettext_lazy("term", "lag in time"),
        _("How long ago the first record that is not committed was written."),
    ),
    "group_epoch": (
        pgettext_lazy("term", "group epoch"),
        _(
            "KIP-848: a number that rises with each change of members, subscriptions or topics. A new "
            "target assignment is made for it."
        ),
    ),
    "assignment_epoch": (
        pgettext_lazy("term", "assignment epoch"),
        _(
            "KIP-848: the group epoch for which the target assignment was made last. Behind the group "
            "epoch only while it is being made."
        ),
    ),
    "member_epoch": (
        pgettext_lazy("term", "member epoch"),
        _(
            "KIP-848: the epoch of the target that a member has taken up. It rises when the member has "
            "let go of what the target takes from it."
        ),
    ),
    "log_start": (
        pgettext_lazy("term", "log start offset"),
        _("The first offset that can still be read. Retention moves it forward."),
    ),
    "retention": (
        pgettext_lazy("term", "retention"),
        _("Old segments are deleted when the log is too large or their records are too old."),
    ),
    "compaction": (
        pgettext_lazy("term", "compaction"),
        _("Keeps the newest record of each key and drops the older ones."),
    ),
    "tombstone": (
        pgettext_lazy("term", "tombstone"),
        _("A record without a value: compaction drops the key and, later, the tombstone."),
    ),
    "cursor": (
        pgettext_lazy("term", "cursor"),
        _(
            "What a subscription has acknowledged and what it reads next, kept by the broker. It "
            "outlives its consumers."
        ),
    ),
    "mark_delete": (
        pgettext_lazy("term", "mark-delete position"),
        _("Everything up to this entry is acknowledged."),
    ),
    "read_position": (
        pgettext_lazy("term", "read position"),
        _("The entry that the broker reads next for this subscription."),
    ),
    "holes": (
        pgettext_lazy("term", "holes"),
        _("Entries acknowledged ahead of mark-delete: older ones before them are not."),
    ),
    "newcomer": (
        pgettext_lazy("term", "recently joined consumer"),
        _(
            "In 3.2 a newcomer to Key_Shared gets nothing at or after its join position until all before "
            "it is acknowledged."
        ),
    ),
    "draining": (
        pgettext_lazy("term", "draining slot"),
        _(
            "In current Pulsar only a slot whose old consumer still has unacknowledged messages waits "
            "(PIP-379)."
        ),
    ),
    "receiver_queue": (
        pgettext_lazy("term", "receiver queue"),
        _("Messages that a client has received and its program has not taken; 1,000 by default."),
    ),
    "key_hash": (
        pgettext_lazy("term", "key hash"),
        _("murmur3 of the key, 32 bits. From it follow slot and partition."),
    ),
    "standby": (
        pgettext_lazy("term", "standby"),
        _("A connected consumer of Failover that gets nothing until the active one leaves."),
    ),
    "active_consumer": (
        pgettext_lazy("term", "active consumer"),
        _("The one consumer that gets everything of a topic or partition."),
    ),
    "priority_level": (
        pgettext_lazy("term", "priority level"),
        _("0 is best. Lower levels stand by, or get what the better ones have no permits for."),
    ),
    "churn": (
        pgettext_lazy("term", "churn"),
        _("The share of keys that change their consumer when consumers join and leave."),
    ),
    "order_risk": (
        pgettext_lazy("term", "order at risk"),
        _(
            "The share of records that may be handled out of their key's order, because a key can have "
            "two consumers at once."
        ),
    ),
    "hot_key": (
        pgettext_lazy("term", "hot key"),
        _("A key with so many records that it alone can overload a consumer."),
    ),
}

# item of the top bar -> the terms that its pages use, in the order in which one meets them
TERMS_OF = {
    "stage": (
        "skew",
        "share",
        "fair",
        "rate",
        "space",
        "partitions",
        "redelivered",
        "pause",
        "bill",
        "keys_moved",
        "lag",
        "high_watermark",
        "committed",
        "generation",
        "rebalance",
        "source_count",
        "node_id",
        "tick",
        "point",
        "slot",
        "permits",
        "in_flight",
        "prefetch",
        "ready",
        "dark",
        "out_of_order",
        "silent",
    ),
    "log": (
        "segment",
        "index",
        "batch",
        "high_watermark",
        "log_start",
        "committed",
        "lag",
        "retention",
        "compaction",
        "tombstone",
    ),
    "cluster": ("high_watermark", "last_stable_offset", "log_start"),
    "groups": (
        "coordinator",
        "generation",
        "group_epoch",
        "assignment_epoch",
        "member_epoch",
        "session_timeout",
        "high_watermark",
        "last_stable_offset",
        "committed",
        "group_lag",
        "lag_time",
    ),
    "pulsar": (
        "space",
        "slot",
        "point",
        "share",
        "fair",
        "permits",
        "in_flight",
        "redelivered",
        "rate",
        "receiver_queue",
        "cursor",
        "mark_delete",
        "read_position",
        "holes",
        "newcomer",
        "draining",
        "key_hash",
        "active_consumer",
        "standby",
        "priority_level",
        "skew",
    ),
    "analyze": (
        "skew",
        "churn",
        "share",
        "fair",
        "pause",
        "order_risk",
        "lag",
        "hot_key",
        "redelivered",
        "partitions",
        "space",
        "point",
        "rebalance",
        "generation",
        "source_count",
        "prefetch",
        "dark",
        "out_of_order",
    ),
}

GLOSSARY = {
    "glossary.title": _("What the words mean"),
    **{f"term.{term}": text for term, (_name, text) in TERMS.items()},
    **{f"term.{term}.name": name for term, (name, _text) in TERMS.items()},
}
