"""Words around every page of a lab: its name, the tabs of its pages, the story."""

from django.utils.translation import gettext_lazy as _

FRAME = {
    "frame.lab": _("This lab"),
    "frame.to_labs": _("Labs"),
    "frame.to_learn": _("Learn"),
    "frame.pages": _("Pages of this lab"),
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
    # One picture for a room
    "projector": _("Projector: one picture, large"),
    "projector.leave": _("Leave (Esc)"),
    "projector.before": _("Picture before"),
    "projector.after": _("Next picture"),
    "projector.waiting": _("{count?record waits|records wait}"),
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
    "story.silent": _("{who} crashed and {count?has|have} not been noticed everywhere."),
    # What a lab without a name is called
    "labs.unnamed": _("{workload}, {time}"),
}
