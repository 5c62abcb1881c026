"""The sentence under a Pulsar lane. Codes are the core's (`broker_core/lab`)."""

from django.utils.translation import gettext_lazy as _

_PAUSED_ACTIVE = _(
    "{consumer} takes no more records: all its partitions wait, {held} {held?record is|records are} unacked."
)

PULSAR = {
    "pulsar.join": _(
        "The newcomer {consumer} took {keys_moved} of {keys_total} keys; the others keep the rest."
    ),
    "pulsar.join_many": _(
        "The {count} newcomers took {keys_moved} of {keys_total} keys; the others keep the rest."
    ),
    "pulsar.join_first": _("{consumer} is the only consumer and takes every key: {keys_total} so far."),
    "pulsar.join_first_many": _("The {count} newcomers share every key: {keys_total} so far."),
    "pulsar.rejoin": _(
        "{consumer} is back and took {keys_moved} of {keys_total} keys; the others keep the rest."
    ),
    "pulsar.sticky_join": _("{from} reconnected first and gave {consumer} the slots {start} to {end}."),
    "pulsar.sticky_conflict": _(
        "{consumer} waits: its ranges belong to a silent connection, which has 5 s to answer the "
        "broker's ping."
    ),
    "pulsar.leave": _(
        "{consumer} left: its {redelivered} unacked {redelivered?record|records} and {keys_moved} "
        "{keys_moved?key|keys} go to "
        "{several?the others|{other}}."
    ),
    "pulsar.leave_nothing": _(
        "{consumer} left with nothing unacked: its {keys_moved} {keys_moved?key goes|keys go} to "
        "{several?the "
        "others|{other}}."
    ),
    "pulsar.leave_last": _(
        "{consumer}, the last one, left: {unacked} unacked {unacked?record|records} and {keys_total?the "
        "one key|all {keys_total} keys} wait."
    ),
    "pulsar.crash_pending": _(
        "{consumer} is silent. Its keys and {unacked} unacked {unacked?record|records} wait until it is "
        "given up, in {left_us}."
    ),
    "pulsar.crash_unknown": _(
        "{consumer} fell silent before it had connected: the broker never knew about it."
    ),
    "pulsar.crash_noticed_nothing": _(
        "The broker gave up on {consumer}, which held nothing: its keys go to {several?the others|{other}}."
    ),
    "pulsar.crash_noticed": _(
        "The broker gave up on {consumer}: its {unacked} unacked {unacked?record goes|records go} to "
        "{several?the "
        "others|{other}}."
    ),
    "pulsar.ghost_noticed": _(
        "{consumer}'s old connection is closed; its {unacked} unacked {unacked?record is|records are} "
        "redelivered."
    ),
    "pulsar.crash_noticed_gap": _(
        "The broker gave up on {consumer}. Its ranges have no owner now: those keys and {unacked} unacked "
        "{unacked?record|records} wait."
    ),
    "pulsar.crash_noticed_last": _(
        "The broker gave up on {consumer}, the last consumer: its {unacked} unacked {unacked?record|records} "
        "and all keys wait."
    ),
    "pulsar.gap": _("{consumer} left. Its ranges have no owner now: those keys wait."),
    "pulsar.paused": _(
        "{consumer} takes no more records: its keys wait, {held} {held?record is|records are} unacked."
    ),
    "pulsar.refused": _("{consumer} was refused ({error}): another consumer has the subscription."),
    "pulsar.refused_many": _(
        "{count} consumers were refused ({error}): another consumer has the subscription."
    ),
    "pulsar.standby_left": _("{consumer} left; it was not active, so nothing else changes."),
    "pulsar.exclusive.join": _(
        "{consumer} is the only consumer: it reads {partitions?the one partition|all {partitions} "
        "partitions}."
    ),
    "pulsar.exclusive.leave": _(
        "{consumer} left and no consumer takes over: its {redelivered} unacked {redelivered?record "
        "waits|records wait} for the next one."
    ),
    "pulsar.exclusive.crash_pending": _(
        "{consumer} is silent. Everything waits, {unacked} unacked {unacked?record|records} included, until "
        "the broker gives up on it, in {left_us}."
    ),
    "pulsar.exclusive.crash_noticed": _(
        "The broker gave up on {consumer}. The subscription has no consumer: all messages wait."
    ),
    "pulsar.failover.join": _(
        "{consumer} is active on {active} of {partitions} partitions and stands by for the others."
    ),
    "pulsar.failover.join_standby": _(
        "{consumer} stands by: it gets records only when the active consumer is gone."
    ),
    "pulsar.failover.join_many": _(
        "The {count} newcomers stand by name; the modulo moved partitions to them."
    ),
    "pulsar.failover.leave": _(
        "{consumer} left: after 1 s the next in line take over and get its {redelivered} unacked "
        "{redelivered?record|records} again."
    ),
    "pulsar.failover.leave_last": _(
        "{consumer}, the last consumer, left: its {redelivered} unacked {redelivered?record waits|records "
        "wait}."
    ),
    "pulsar.failover.crash_pending": _(
        "{consumer} is silent. Its partitions and {unacked} unacked {unacked?record|records} wait: standbys "
        "take over when the broker gives up on it, in {left_us}."
    ),
    "pulsar.failover.crash_noticed": _(
        "The broker gave up on {consumer}: after 1 s the next standbys resume from its last acknowledgement."
    ),
    "pulsar.failover.crash_noticed_last": _(
        "The broker gave up on {consumer}, the last consumer: all partitions wait."
    ),
    "pulsar.shared.join": _(
        "Nothing to move: {consumer} takes its turn, up to 20 records in a row. No order within a key."
    ),
    "pulsar.shared.join_many": _(
        "Nothing to move: the {count} newcomers take their turns. No order within a key."
    ),
    "pulsar.shared.leave": _(
        "{consumer} left: its {redelivered} unacked {redelivered?record goes|records go} to {several?the "
        "others|{other}} before "
        "anything new."
    ),
    "pulsar.shared.leave_nothing": _("{consumer} left with nothing unacked: nothing is redelivered."),
    "pulsar.shared.leave_last": _(
        "{consumer}, the last consumer, left: its {redelivered} unacked {redelivered?record waits|records "
        "wait}."
    ),
    "pulsar.exclusive.paused": _PAUSED_ACTIVE,
    "pulsar.failover.paused": _PAUSED_ACTIVE,
    "pulsar.paused_standby": _(
        "{consumer} takes no more records; it is not active, so nothing waits for it."
    ),
    "pulsar.shared.paused": _(
        "{consumer} takes no more records but still gets some while it has permits: it holds {held} unacked."
    ),
    "pulsar.shared.crash_pending": _(
        "{consumer} is silent. Its {unacked} unacked {unacked?record waits|records wait} until the broker "
        "gives up on it, in {left_us}."
    ),
    "pulsar.shared.crash_noticed": _(
        "The broker gave up on {consumer}: its unacked records go to {several?the others|{other}} before "
        "anything new."
    ),
    "pulsar.join_waits": _(
        "{consumer} waits until {unacked} {unacked?record|records} sent before it joined {unacked?is|are} "
        "acknowledged."
    ),
    "pulsar.join_waits_many": _(
        "The {count} newcomers wait until {unacked} {unacked?record|records} sent before they joined "
        "{unacked?is|are} acknowledged."
    ),
    "pulsar.redeliver": _("{consumer} asks the broker to redeliver everything it has not acknowledged."),
    "pulsar.let_go_many": _(
        "Everything sent before the {count} newcomers joined is acknowledged; they now get their keys."
    ),
    "pulsar.let_go": _(
        "Everything sent before {consumer} joined is acknowledged; {consumer} now gets its keys."
    ),
    "pulsar.hold_acks": _("{consumer} no longer acknowledges anything: what it gets stays unacked."),
    "pulsar.release_acks": _("{consumer} acknowledges again, starting with what it held back."),
    "pulsar.seek": _("The subscription moves: the broker closes its consumers, and they subscribe again."),
    "pulsar.priority": _(
        "{consumer} subscribes again with priority level {level}: lower levels get records only when higher "
        "ones cannot take them."
    ),
    "pulsar.ranges": _(
        "{consumer} subscribes again with other ranges; the broker refuses them if they overlap another "
        "consumer's."
    ),
    "pulsar.unsubscribe": _(
        "{consumer} asks to delete the subscription; only its one connected consumer may."
    ),
    "pulsar.unsubscribe_refused": _(
        "The broker refuses to delete the subscription for {consumer} ({error}): another consumer is "
        "connected."
    ),
    "pulsar.unsubscribed": _(
        "The subscription and its cursor are deleted: {waiting} {waiting?record has|records have} no reader. "
        "The next consumer to join creates a new one."
    ),
    "pulsar.lose_receipts": _(
        "The broker's receipts get lost: after {seconds} s the producer reconnects and resends what has no "
        "receipt."
    ),
    "pulsar.sent_again": _(
        "The producer resent {count} {count?record|records}: those that had arrived are now in the topic "
        "twice."
    ),
    "pulsar.sent_again_dropped": _(
        "The producer resent {count} {count?record|records}: the broker drops those it already has "
        "(deduplication)."
    ),
    "pulsar.ack_refused": _(
        "{consumer}'s client refuses the cumulative acknowledgement ({error}): its records stay unacked."
    ),
    "pulsar.idle": _(
        "{count} of {of} consumers {count?is|are} active on none of the {partitions} "
        "{partitions?partition|partitions}: {count?it stands|they stand} by."
    ),
}
