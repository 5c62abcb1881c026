"""The sentence under a RabbitMQ lane. Codes are the core's (`broker_core/lab`)."""

from django.utils.translation import gettext_lazy as _

RABBITMQ = {
    "rabbitmq.join": _("Nothing to move: {consumer} simply takes its turn. No order within a key."),
    "rabbitmq.join_former": _(
        "{consumer} takes its turn. Its old connection still holds {former} unacked {former?record|records}: "
        "{left_us} left."
    ),
    "rabbitmq.join_many": _(
        "Nothing to move: the {count} newcomers simply take their turn. No order within a key."
    ),
    "rabbitmq.join_first": _(
        "{consumer} is the only consumer: it takes what waits in the queue, from the head."
    ),
    "rabbitmq.join_first_many": _("The {count} newcomers take what waits in the queue, in turn."),
    "rabbitmq.server_down": _(
        "The server is down: nothing is delivered, and its clients try to connect again."
    ),
    "rabbitmq.leave": _("{consumer} left: {redelivered} unacked went back to the head of the queue."),
    "rabbitmq.leave_last": _(
        "{consumer}, the last one, left: {redelivered} unacked wait at the head of the queue."
    ),
    "rabbitmq.paused": _("{consumer} takes no more records and holds {held} unacked."),
    "rabbitmq.paused_former": _(
        "{consumer} is paused while holding {held} unacked; its old connection holds {former}: {left_us} "
        "left."
    ),
    "rabbitmq.crash_pending": _(
        "{consumer} is silent. Its {unacked} unacked {unacked?record waits|records wait} for the heartbeat "
        "timeout: {left_us} left."
    ),
    "rabbitmq.crash_noticed": _(
        "{consumer} missed its heartbeats: its {unacked} unacked went back to the head of the queue."
    ),
    "rabbitmq.ghost_noticed": _(
        "{consumer}'s old connection missed its heartbeats: {unacked} unacked went back to the head of "
        "the queue."
    ),
    "rabbitmq.timed_out": _(
        "{consumer} left a record unacknowledged for over {timeout_us}: the broker closed its channel (406), "
        "and {unacked} unacked went back to the queue."
    ),
    "rabbitmq.timed_out_former": _(
        "{consumer}'s old connection left a record unacknowledged for over {timeout_us}: its channel is "
        "closed (406), {unacked} unacked went back."
    ),
    "rabbitmq.crash_noticed_last": _(
        "{consumer}, the last consumer, missed its heartbeats: its {unacked} {unacked?record waits|records "
        "wait} in the queue."
    ),
}
