"""Subscription page: consumers, and why one is idle."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

CONSUMERS = {
    # Consumers
    "subscription.consumers": _("Consumers"),
    "subscription.consumers_about": _("A consumer with nothing to do says why."),
    "subscription.consumer": _("Consumer"),
    "subscription.nobody": _("No consumer is connected."),
    "subscription.nobody_active": _("no active consumer"),
    "subscription.nobody_holds": pgettext_lazy("owner", "nobody"),
    "subscription.former": _(
        "{count?One message is|{count} messages are} still held by its old connection, until the broker "
        "gives up on it."
    ),
    "subscription.former_self": _("its own old connection"),
    "subscription.nobody_owns": _("no consumer: its slot has no owner"),
    "subscription.column.consumer": _("Consumer"),
    "subscription.column.share": _("Share"),
    "subscription.column.permits": _("Per\u00admits"),
    "subscription.column.unacked": _("Un\u00adacked"),
    "subscription.column.queue": _("In queue"),
    "subscription.column.redelivered": _("Re\u00addeliv\u00adered"),
    "subscription.column.rate": _("Per second"),
    "subscription.column.entry": _("Entry"),
    "subscription.column.record": _("Record"),
    "subscription.column.asked_again": _("Asked for again"),
    "subscription.column.again_at": _("Again at"),
    "subscription.column.sent_to": _("Sent to"),
    "subscription.column.messages": _("Messages"),
    "subscription.column.misplaced": _("Of others' keys"),
    "subscription.column.keys": pgettext_lazy("batch", "Keys"),
    "subscription.column.sent_times": _("Times sent"),
    "subscription.column.partition": _("Partition"),
    "subscription.column.active": _("Active"),
    "subscription.column.next": pgettext_lazy("standby", "Next"),
    "subscription.column.standbys": _("Standbys"),
    "subscription.column.mark_delete": _("Mark-delete"),
    "subscription.column.read": _("Read position"),
    "subscription.column.end": _("End"),
    "subscription.column.backlog": _("Backlog"),
    "subscription.column.holes": _("Holes"),
    "subscription.column.waiting": _("Held by nobody"),
    "subscription.column.joins": _("Newcomers"),
    "subscription.column.part": _("Part of the space"),
    "subscription.column.pieces": _("Pieces"),
    "subscription.column.was": _("Before"),
    "subscription.column.from": pgettext_lazy("giver", "From"),
    "subscription.column.to": pgettext_lazy("taker", "To"),
    "subscription.column.slot": _("Slot"),
    "subscription.column.blocked": _("Waited for it"),
    "subscription.state.connected": _("connected"),
    "subscription.state.caught_up": _("caught up"),
    "subscription.state.connecting": _("connecting"),
    "subscription.state.unsubscribed": _("unsubscribed"),
    "subscription.state.holding": _("holds acks"),
    "subscription.state.acks_refused": _("acks refused"),
    "subscription.state.refused": _("refused"),
    "subscription.with_level": _("{state}, level {priority}"),
    "subscription.level": _("level {priority}"),
    "subscription.active": pgettext_lazy("consumer", "active"),
    "subscription.next": pgettext_lazy("standby", "next"),
    "subscription.standby": _("standby"),
    "subscription.waits": _("1\u202fs"),
    "subscription.is_switching": _("{consumer}, in a second"),
    "subscription.cell.active": _("{where}: {consumer} is active"),
    "subscription.cell.switching": _("{where}: {consumer} is active, and reads after a second"),
    "subscription.cell.next": _("{where}: {consumer} becomes active when the active one leaves"),
    "subscription.cell.standby": _("{where}: {consumer} stands by"),
    "subscription.round_permits": _("Permits left"),
    # Why idle
    "subscription.idle.crashed": _(
        "Crashed. The broker hears nothing and gives up on it when the keep-alive expires."
    ),
    "subscription.idle.gone": _("Crashed, and the broker has noticed: other consumers got what it held."),
    "subscription.idle.refused": _("Refused by the broker: {error}."),
    "subscription.idle.unsubscribed": _("Unsubscribed: it deleted the subscription and has no consumer."),
    "subscription.idle.connecting": _("Not subscribed yet."),
    "subscription.idle.paused": _(
        "Paused while holding {unacked?one unacknowledged message|{unacked} unacknowledged messages}: later "
        "messages have to wait."
    ),
    "subscription.idle.holding": _(
        "It has handled {count?one message|{count} messages} but acknowledges none: messages that must "
        "follow them wait."
    ),
    "subscription.idle.standby": _(
        "Standby, place {place} of {consumers}: "
        "{partitions?one topic keeps one consumer|{partitions} topics or partitions keep at most "
        "{partitions} consumers} busy."
    ),
    "subscription.idle.standby_priority": _(
        "Standby: its priority level {priority} comes after level {best}."
    ),
    "subscription.idle.switching": _(
        "It has just become active on {count?one partition|{count} partitions} and begins to read a "
        "second after the switch."
    ),
    "subscription.idle.acks_refused": _(
        "Its client refuses cumulative acknowledgements here (InvalidConfigurationException), "
        "{count?once|{count} times} so far: "
        "its {unacked?one message stays|{unacked} messages stay} unacknowledged."
    ),
    "subscription.idle.blocked": _(
        "Blocked: {unacked} unacknowledged messages have reached its limit of {limit}; it resumes at half of "
        "that."
    ),
    "subscription.idle.subscription_full": _(
        "Nothing is read: the subscription holds {unacked} unacknowledged messages, its limit is {limit}."
    ),
    "subscription.idle.no_permits": _(
        "No permits: its receiver queue is full, {unacked} messages are not acknowledged."
    ),
    "subscription.idle.no_range": _("It owns no part of the hash space, so no key reaches it."),
    "subscription.idle.better_level": _(
        "Its priority level {priority} gets nothing while a consumer of level {best} has permits."
    ),
    "subscription.idle.newcomer": _(
        "Newcomer: nothing from entry {limit} onwards until everything before it is acknowledged. {older} to "
        "go; {holder} holds the oldest, {position}."
    ),
    "subscription.idle.behind_newcomer": _(
        "No new entries are read while {consumer} waits for those before {limit}; {holder} holds the oldest, "
        "{position}."
    ),
    "subscription.idle.draining": _(
        "Slot {slot} is draining: {consumer} still has {count?one message|{count} messages} to acknowledge."
    ),
    "subscription.idle.key_waits": _(
        "Entry {position} waits: {consumer} has not acknowledged an older message of the same key."
    ),
    "subscription.idle.out_of_reach": _(
        "Entry {position} waits behind {before} entries that were read but cannot be sent, the first of them "
        "for {owner}: the broker keeps reading these."
    ),
    "subscription.idle.delayed": _("{count?One message waits|{count} messages wait} for their time."),
    "subscription.idle.nothing_to_read": _("Nothing to read: none of the {end} entries is left for it."),
    "subscription.column.subscription": _("Subscription"),
    "subscription.column.type": pgettext_lazy("subscription", "Type"),
    "subscription.column.finished": _("Handled"),
}
