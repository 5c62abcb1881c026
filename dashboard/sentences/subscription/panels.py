"""Subscription page: head, hash space, batches, ladder, cursor, trends."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

PANELS = {
    # Head
    "subscription.title": _("Pulsar subscription"),
    "subscription.head.gap": _("{part} of the hash space has no owner: its messages wait."),
    "subscription.head.gap_newcomers": _(
        "{part} of the hash space has no owner: its messages wait, and newcomers wait for them."
    ),
    "subscription.head.stray": _(
        "Batches mix keys: {part} of the messages went to a consumer that does not own their key."
    ),
    "subscription.head.no_subscription": _(
        "The subscription has been deleted: the next consumer to join creates a new one."
    ),
    "subscription.head.former": _(
        "{consumer}'s old connection still holds {count?one message|{count} messages}: the broker has not "
        "given up on it yet."
    ),
    "subscription.head.letters": _(
        "{count?One message that no consumer could handle is|{count} messages that no consumer could handle "
        "are} in the dead-letter topic."
    ),
    "subscription.head.uneven": _(
        "{consumer} owns {part} of the hash space and cannot keep up: {queue} messages wait in its queue."
    ),
    "subscription.head.acks_refused": _(
        "Nothing is acknowledged: {consumer} acknowledges cumulatively, which is for Exclusive and "
        "Failover only."
    ),
    "subscription.head.for_ever": _(
        "Mark-delete cannot pass entry {position}: no consumer can handle it; it has been redelivered "
        "{times?once|{times} times}."
    ),
    "subscription.head.nobody": _("No consumer is connected: messages wait."),
    "subscription.head.levels": _(
        "{count?One consumer is|{count} consumers are} served; {waiting?one of a worse priority level "
        "waits|{waiting} of worse priority levels wait}."
    ),
    "subscription.head.well": _("{count?One consumer is|{count} consumers are} connected and served."),
    "subscription.head.failover_all": _("{count?The one consumer is|All {count} consumers are} active."),
    "subscription.head.failover": _(
        "{count} of {consumers} consumers {count?is|are} active; the others stand by."
    ),
    "subscription.head.newcomer": _(
        "{consumer} gets nothing until {older?one older entry is|{older} older entries are} acknowledged."
    ),
    "subscription.head.behind_newcomer": _(
        "No new entries are read: a newcomer waits for entry {position}, which {holder} has not acknowledged."
    ),
    "subscription.head.blocked": _(
        "{count?One consumer is|{count} consumers are} blocked: {consumer} holds {unacked} "
        "unacknowledged {unacked?message|messages}."
    ),
    "subscription.head.subscription_full": _(
        "The subscription is at its limit of {limit} unacknowledged messages."
    ),
    "subscription.head.no_permits": _(
        "{consumer} has no permits left: it holds {unacked} {unacked?message|messages}."
    ),
    "subscription.head.draining": _("{consumer} waits for slots that still drain."),
    "subscription.head.key_waits": _("{consumer} waits: an older message of its key is not acknowledged."),
    "subscription.head.out_of_reach": _(
        "{consumer} waits: the broker is stuck behind {before} older entries that cannot be sent."
    ),
    "subscription.head.refused": _("The broker refused {who}: {error}."),
    "subscription.head.no_range": _("{consumer} owns no part of the hash space."),
    "subscription.head.consumers": _("{count} consumers"),
    "subscription.head.crashed": _("{who} {count?is|are} silent; the broker has not noticed yet."),
    "subscription.head.paused": _("{consumer} is paused and holds {unacked?one message|{unacked} messages}."),
    "subscription.head.holding": _(
        "{consumer} acknowledges nothing: it holds {count?one message|{count} messages} that it has handled."
    ),
    "subscription.head.switching": _(
        "The active consumer has changed: {consumer} begins to read after a second."
    ),
    # Rules
    "subscription.types": _("Subscription type"),
    "subscription.type.Key_Shared": _("Key_Shared"),
    "subscription.type.Failover": _("Failover"),
    "subscription.type.Shared": _("Shared"),
    "subscription.type.Exclusive": _("Exclusive"),
    "subscription.rule": _("Rule"),
    "subscription.order": _("Order"),
    "subscription.rule_option": _("{rule}, {note}"),
    "subscription.rule_of": _("{rule}, rule of {version}"),
    "subscription.version.3.2": _("Pulsar 3.2"),
    "subscription.version.3.2.0": _("Pulsar 3.2.0"),
    "subscription.version.current": _("current Pulsar"),
    "subscription.version.document": _("the article"),
    "subscription.order_words.out_of_order": _("out of order allowed"),
    "subscription.order_words.recently_joined": _("in order, 3.2: newcomers wait"),
    "subscription.order_words.draining": _("in order, current: slots drain"),
    "subscription.order_words.draining_sticky": _("current: with sticky ranges no slot drains"),
    # The space
    "subscription.space.ring": pgettext_lazy("picture", "Hash ring"),
    "subscription.space.ranges": _("Hash ranges"),
    "subscription.space.shared": _("The round"),
    "subscription.space.failover": _("Active and standbys"),
    "subscription.space.exclusive": _("The one consumer"),
    "subscription.space_words.ring": _(
        "{points} points in {space} slots. Outside now, inside before the last change; between them what "
        "changed hands."
    ),
    "subscription.ticks_left_out": _("More than {most} points: no tick is drawn for each."),
    "subscription.space_words.ranges": _("{space} slots, to scale; between the bars what changed hands."),
    "subscription.gap_words.3.2": _(
        "A gap between two ranges of one consumer is that consumer's; a key in any other gap waits."
    ),
    "subscription.gap_words.current": _(
        "A key in a gap waits until a range covers it, even between two ranges of the same consumer."
    ),
    "subscription.gap_words.document": _("A key in a gap waits until a range covers it."),
    "subscription.space_words.shared": _("Consumers in the order of their turns; the topmost is next."),
    "subscription.space_words.failover": _(
        "{count?One topic|{count} partitions}: filled is active, framed comes next when it leaves."
    ),
    "subscription.space_words.exclusive": _(
        "{count?One topic|{count} partitions}, all at one consumer; a second one is refused."
    ),
    "subscription.space_words.topics": _(
        "{count} topics without partitions: filled is active, framed comes next when it leaves."
    ),
    "subscription.about_ring": _(
        "One consumer is active on a topic: the owner of the next point at or after the topic's hash, on "
        "a ring of the consumers' names."
    ),
    "subscription.gap": pgettext_lazy("owner", "nobody"),
    "subscription.handed": _("What moved, from whom to whom"),
    "subscription.handed_one": _(
        "{to} took {part} from {from}, {pieces?one piece|{pieces} pieces}; the largest is {first}..{last}"
    ),
    "subscription.from_nobody": _(
        "{to} took {part} that had no owner, {pieces?one piece|{pieces} pieces}; the largest is "
        "{first}..{last}"
    ),
    "subscription.to_nobody": _(
        "{part} of {from} has no owner now, {pieces?one piece|{pieces} pieces}; the largest is "
        "{first}..{last}"
    ),
    "subscription.handed_more": _("and {count} more"),
    "subscription.handed_all": _("{part} of the hash space changed hands."),
    "subscription.handed_nothing": _("Nothing changed hands at the last change."),
    "subscription.handed_none": _("Nothing has changed hands yet."),
    "subscription.lens": _("Lens"),
    "subscription.lens_at": _("Place of the lens"),
    "subscription.lens_in": _("Zoom in"),
    "subscription.lens_out": _("Zoom out"),
    "subscription.lens_many": _("Too many slices to tell apart: zoom in"),
    # Batches
    "subscription.batches": _("Batches"),
    "subscription.batching.default": _("Default batching: the broker looks at the first key of an entry."),
    "subscription.batching.default_any": _("Default batching: an entry holds messages of any keys."),
    "subscription.batching.key_based": _("KEY_BASED: each key has a batch of its own."),
    "subscription.batches_words": _(
        "{entries?One entry|{entries} entries} sent with {messages?one message|{messages} messages}, "
        "{each} each; "
        "{mixed?one has|{mixed} have} more than one key. {misplaced?One message|{misplaced} messages} "
        "({part}) went to a consumer "
        "that does not own the key."
    ),
    "subscription.batches_right": _(
        "{entries?One entry|{entries} entries} sent with {messages?one message|{messages} messages}, "
        "{each} each; none has more than one key, "
        "and each went to the consumer that owns its key."
    ),
    "subscription.batches_any": _(
        "{entries?One entry|{entries} entries} sent with {messages?one message|{messages} messages}, "
        "{each} each."
    ),
    "subscription.batches_none": _("Nothing has been sent yet."),
    "subscription.batches_index": _(
        "Batch index acks are on: in {entries?one open entry|{entries} open entries} {count?one message "
        "is|{count} messages are} acknowledged."
    ),
    "subscription.batches_whole": _(
        "Batch index acks are off: an entry is acknowledged with the last of its messages."
    ),
    "subscription.batches_gathering": _(
        "{count?One message gathers|{count} messages gather} at the producer."
    ),
    "subscription.batch_entry": _(
        "Entry {position}: {count?one message|{count} messages}, sent to {consumer} {times?once|{times} "
        "times}"
    ),
    "subscription.batch_message": _("{key}: {consumer} owns it and got it; {state}"),
    "subscription.batch_stray": _("{key}: {owner} owns it, {consumer} got it; {state}"),
    "subscription.batch_any": _("{key}: sent to {consumer}; {state}"),
    "subscription.batch_keyless": _("no key"),
    "subscription.batch_state.acked": _("acknowledged"),
    "subscription.batch_state.handled": _("handled, not acknowledged yet"),
    "subscription.batch_state.open": _("not handled yet"),
    "subscription.batch_key.owner": _("Above who got the entry; each key in the colour of its owner."),
    "subscription.batch_key.stray": _("another consumer's key"),
    "subscription.batch_key.handled": _("handled"),
    "subscription.batch_key.acked": _("acknowledged"),
    # What is asked for again
    "subscription.ladder": _("Retries and dead letters"),
    "subscription.again_words": _(
        "{count?One message|{count} messages} could not be handled and {count?is|are} redelivered {delay_us} "
        "after each negative acknowledgement."
    ),
    "subscription.again_retry": _(
        "{count?One message is|{count} messages are} in the retry letter topic, each delivered "
        "{delay_us} after it failed: "
        "{held} at a consumer now, which no cursor below counts."
    ),
    "subscription.again_max": _(
        "After {max?one time|{max} times} a message goes to the dead-letter topic: {letters?one "
        "is|{letters} are} there."
    ),
    "subscription.again_for_ever": _(
        "No dead-letter policy: they are redelivered for ever, and mark-delete stays before the first."
    ),
    "subscription.ladder_step": _("delivery {step}"),
    "subscription.ladder_entry": _("Entry {position}: redelivered {times?once|{times} times}, at {consumer}"),
    "subscription.ladder_none": _("Nothing to redeliver."),
    "subscription.dead_letters": _("dead-letter topic: {count?one message|{count} messages}"),
    # The cursor
    "subscription.cursor": _("Cursor"),
    "subscription.cursor_words": _(
        "{backlog?One entry|{backlog} entries} not acknowledged, with {count?one hole|{count} holes}; "
        "{waiting} read but with no consumer, {unread} not read."
    ),
    "subscription.partition": _("Partition"),
    "subscription.topic": pgettext_lazy("pulsar", "Topic"),
    "subscription.no_partition": _("the topic"),
    "subscription.mark_delete": _("mark-delete"),
    "subscription.read_position": _("read position"),
    "subscription.joined_at": _("{consumer} joined at {position}"),
    "subscription.joined_more": _("{text}, and {count} more"),
    "subscription.near": _("From entry {position} on, one by one:"),
    "subscription.no_cursor": _("There is no subscription, so there is no cursor."),
    "subscription.near_none": _("Everything is acknowledged."),
    "subscription.entry.acked": _("Entry {position}: acknowledged"),
    "subscription.entry.held": _("Entry {position}: at {consumer}, not acknowledged"),
    "subscription.entry.again": _("Entry {position}: read, with no consumer"),
    "subscription.entry.unread": _("Entry {position}: not read yet"),
    "subscription.key.acked": _("acknowledged"),
    "subscription.key.unacked": _("at a consumer"),
    "subscription.key.again": _("read, with no consumer"),
    "subscription.key.unread": _("not read yet"),
    # Draining
    "subscription.draining": _("Draining slots"),
    "subscription.draining_words": _(
        "{count?One slot waits for its old consumer's|{count} slots wait for their old consumers'} "
        "acknowledgements; {drained} have drained."
    ),
    "subscription.draining_left": _("{count?one more slot|{count} more slots}, not shown"),
    # Beside the lab's own subscription
    "subscription.others": _("Other subscriptions on this topic"),
    "subscription.others_about": _("Each has its own cursor and gets every message, too."),
    "subscription.receipts": _("The producer waits for receipts"),
    "subscription.receipts_words": _(
        "{unconfirmed?One message has|{unconfirmed} messages have} no receipt yet; {taken} are stored, "
        "{duplicates} were dropped as duplicates "
        "and {repeated} stored a second time."
    ),
    "subscription.receipts_lost": _("The broker's receipts do not reach it: it will resend."),
    # The chart
    "subscription.series": _("Throughput and skew"),
    "subscription.series_sub": _(
        "Records each consumer finishes per second, and how uneven the shares are: 1.0 is even."
    ),
    "subscription.series_many": _("More than {most} consumers: point at a line for its name."),
    "subscription.series_wait": _("The chart begins once this page has seen two virtual seconds."),
    "subscription.axis_rate": _("messages/s"),
    "subscription.skew": _("skew"),
}
