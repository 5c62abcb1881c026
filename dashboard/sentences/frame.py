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
    # Which of a lesson's own texts this language reads.
    "lesson.language": _("en"),
    "frame.story": _("What happened, and what it means"),
    "story.silent": _("{who} crashed and {count?has|have} not been noticed everywhere."),
    # What a lab without a name is called
    "labs.unnamed": _("{workload}, {time}"),
}
