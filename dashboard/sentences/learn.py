"""Words of the page Learn: the list of lessons, and a teacher's own file."""

from django.utils.translation import gettext_lazy as _

LEARN = {
    "learn.title": _("Learn"),
    "learn.sub": _(
        "Lessons that play automatically in your own lab, with captions and numbers that check themselves. "
        "You can pause, step, look around and change things yourself."
    ),
    "learn.chapters": _("Chapters"),
    "learn.pulsar": _("Pulsar: subscriptions and keys"),
    "learn.kafka_cluster": _("Kafka: replicas and the producer"),
    "learn.kafka": _("Kafka: consumer groups"),
    "learn.tubemq": _("TubeMQ: clients that decide"),
    "learn.rabbitmq": _("RabbitMQ: a work queue"),
    "learn.compare": _("Side by side"),
    "learn.lasts": _("{watch_us} to watch, {virtual} of virtual time"),
    "learn.checks": _("{count} {count?check|checks}"),
    "learn.play": _("Play"),
    "learn.own": _("Your own lesson"),
    "learn.own_sub": _(
        "A lesson is a text file: seed, lanes, timed commands, captions, checks. Start from one of the files "
        "linked above, change it, and play it here."
    ),
    "learn.text": _("Text of the scenario file"),
    "learn.choose": _("or choose a file"),
    "learn.play_own": _("Play your lesson"),
    "learn.line": _("line {line}"),
}
