"""Words around every page of a lab: its name, the tabs of its pages, the story."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

FRAME = {
    "frame.lab": _("This lab"),
    "frame.to_labs": _("Labs"),
    "frame.to_learn": _("Learn"),
    "frame.pages": _("Pages of this lab"),
    "frame.more_tabs": pgettext_lazy("pages", "{count} more"),
    "frame.rename": _("Rename this lab"),
    "frame.name": _("Name of the lab: Enter saves, Escape leaves"),
    "frame.stage": _("Stage"),
    "frame.pulsar": _("Pulsar"),
    "frame.cluster": _("Kafka cluster"),
    "frame.groups": _("Kafka group"),
    "frame.log": _("Log"),
    "frame.tubemq": _("TubeMQ"),
    "frame.rabbitmq": _("RabbitMQ"),
    "frame.code": _("Code"),
    "frame.compare": _("Compare"),
    "frame.break": _("Break it"),
    # One picture for a room
    "projector": _("Projector: one picture, large"),
    "projector.leave": _("Leave (Esc)"),
    "projector.before": _("Picture before"),
    "projector.after": _("Next picture"),
    "projector.waiting": _("{count?record not done yet|records not done yet}"),
    # Which of a lesson's own texts this language reads.
    "lesson.language": _("en"),
    "frame.story": _("What happened, and what it means"),
    # A lab's branches, as tabs
    "branches": _("Branches of this lab"),
    "branches.beside": _("side by side"),
    "branches.beside_title": _("Both at the same moments, with what differs"),
    "branches.first": _("first course"),
    "branches.first_short": _("first"),
    "branches.named": _("{letter}: {what}"),
    "branches.starts": _("an action here starts {letter}"),
    "branches.unchanged": _("nothing done yet"),
    # The list of its events
    "events": _("Events"),
    "events.title": _("All events of this lab: search, and go to that moment"),
    "events.find": _("Search, for example: first rebalance"),
    "events.kind": _("Kind"),
    "events.lane": _("Lane"),
    "events.consumer": _("Consumer"),
    "events.any": pgettext_lazy("filter", "all"),
    "events.order": _("Order"),
    "events.oldest": _("oldest first"),
    "events.newest": _("newest first"),
    "events.counted": _("{name} ({count})"),
    "events.working": _("Searching"),
    "events.found": _("{count?One event|{count} events}"),
    "events.found_more": _("The first {count?event|{count} events} that match"),
    "events.none": _(
        "No event matches. An event changes who gets what: a single message that is sent, read or acknowledged is none."
    ),
    "events.empty": _("Nothing has happened in this lab yet."),
    "events.more": _("Show more"),
    "events.newer": _("{count?One newer event|{count} newer events}: search again"),
    # What asks for one event, before the words that are searched for: words with spaces between them
    "events.word.first": pgettext_lazy("search", "first"),
    "events.word.last": pgettext_lazy("search", "last"),
    "story.silent": _("{who} crashed and {count?has|have} not been noticed everywhere."),
    # What a lab without a name is called
    "labs.unnamed": _("{workload}, {time}"),
}
