"""Subscription page: what can be ordered, and what is asked beforehand."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

VERBS = {
    # Verbs
    "subscription.verbs": _("Actions"),
    "subscription.choose": _("Choose a consumer in the table to pause, slow, crash or remove it."),
    "subscription.choose_none": _("Add a consumer to begin."),
    "subscription.chosen": _("{consumer} is chosen."),
    "subscription.verb.join": _("Add consumer"),
    "subscription.verb.pause": _("Pause"),
    "subscription.verb.resume": _("Resume"),
    "subscription.verb.full_speed": _("Full speed"),
    "subscription.verb.pulsar_redeliver": _("Redeliver all"),
    "subscription.verb.pulsar_hold_acks": _("Hold acks"),
    "subscription.verb.pulsar_release_acks": _("Release acks"),
    "subscription.verb.slow": _("Slow"),
    "subscription.verb.crash": _("Crash"),
    "subscription.verb.rejoin": _("Rejoin"),
    "subscription.verb.leave": _("Leave"),
    "subscription.verb.pulsar_unsubscribe": _("Unsubscribe"),
    "subscription.verb.pulsar_lose_receipts": _("Lose receipts"),
    "subscription.verb_about.join": _("The next consumer joins"),
    "subscription.verb_about.pulsar_redeliver": _(
        "redeliverUnacknowledgedMessages(): the broker redelivers everything it has not acknowledged"
    ),
    "subscription.verb_about.pause": _(
        "The program takes no more messages and keeps those it holds: a stuck consumer"
    ),
    "subscription.verb_about.resume": _("The program resumes at its normal pace"),
    "subscription.verb_about.pulsar_hold_acks": _(
        "It keeps handling messages but acknowledges none: to the broker it looks stuck"
    ),
    "subscription.verb_about.pulsar_release_acks": _("It acknowledges again, first what it held back"),
    "subscription.verb_about.slow": _("Two messages a second"),
    "subscription.verb_about.crash": _("The machine goes silent; the broker gets no notice"),
    "subscription.verb_about.rejoin": _("It starts again under its name"),
    "subscription.verb_about.pulsar_unsubscribe": _(
        "It deletes the subscription and its cursor; refused while another consumer is connected"
    ),
    "subscription.verb_about.pulsar_lose_receipts": _(
        "The producer gets no receipts for 2 s, reconnects and resends what has no receipt"
    ),
    "subscription.verb_about.leave": _("It closes its consumer cleanly"),
    "subscription.seek": _("Seek"),
    "subscription.seek_to": _("Seek to"),
    "subscription.seek_by.entry": pgettext_lazy("seek", "entry"),
    "subscription.seek_by.time": _("second of publishing"),
    "subscription.seek_kept": _("Kept from {first}; the end is {end}"),
    "subscription.set_level": _("Set level"),
    "subscription.newcomer": _("Add one with a name or settings of its own"),
    "subscription.join": _("Add it"),
    "subscription.join_name": _("Name"),
    "subscription.join_ranges": _("Its ranges…"),
    "subscription.a_newcomer": _("a newcomer"),
    "subscription.join_with_ranges": _("Join with these"),
    "subscription.priority": _("Priority level"),
    # What if
    "subscription.ask": _("What if?"),
    "subscription.ask_key": _("Key"),
    "subscription.ask_name": _("Next to join"),
    "subscription.answer.hash": _("Hash"),
    "subscription.answer.spread_hash": _(
        "another for each message: of its producer's name and its sequence id"
    ),
    "subscription.answer.spread": _("whoever owns the slot of that hash"),
    "subscription.answer.keyless": _("{hash}, of a message without a key"),
    "subscription.answer.slot": _("Slot"),
    "subscription.answer.range": _("Slice"),
    "subscription.answer.partition": _("Partition"),
    "subscription.answer.now": _("Now"),
    "subscription.answer.nobody": pgettext_lazy("owner", "nobody"),
    "subscription.answer.any": _("whichever consumer is next: in Shared no key has an owner"),
    "subscription.answer.in_turn": _("without a key: to each partition or topic in turn"),
    "subscription.answer.join": _("{consumer} joins"),
    "subscription.answer.leave": _("{consumer} leaves"),
    "subscription.answer.others": _("another consumer leaves"),
    "subscription.answer.moves_nowhere": _("gets no owner"),
    "subscription.answer.stays_nowhere": _("still has no owner"),
    "subscription.answer.moves": _("goes to {consumer}"),
    "subscription.answer.stays": _("stays at {consumer}"),
    "subscription.answer.refused": _("refused: {reason}"),
    "subscription.answer.not": _("Not possible"),
    # Sticky ranges
    "subscription.editor": _("Sticky ranges"),
    "subscription.editor_about": _("Both ends included, such as 0-16383, 32768-49151."),
    "subscription.editor_half_open": _(
        "The article's ranges: the end is not included, such as 0-16384, 32768-49152."
    ),
    "subscription.ranges": _("Ranges"),
    "subscription.covers": _("{part} of the space has a consumer; {count?one gap|{count} gaps}."),
    "subscription.overlap": _("{first}..{last} belongs to {consumer}."),
    "subscription.overlap_own": _("{first}..{last} is named twice."),
    "subscription.would_refuse": _("Refused: {reason}"),
    "subscription.would_refuse_for": _("Refused: it overlaps {consumer}. {reason}"),
    "subscription.would_take": _("The broker would accept these ranges."),
    "subscription.take_ranges": _("Subscribe again with these"),
}
