"""What the RabbitMQ page says where it follows something: a message on its way, the methods of a connection."""

from django.utils.translation import gettext_lazy as _

FOLLOWED = {
    # A message's way
    "topology.path": _("Where did a message go?"),
    "topology.path.pick": _("the last messages, of what is chosen in the graph"),
    "topology.path.choose": _("choose a message"),
    "topology.path.option": _("{message}: {step}"),
    "topology.path.none": _("no message went through it lately"),
    "topology.path.number": _("or its number"),
    "topology.path.show": _("Show its way"),
    "topology.path.clear": _("Clear"),
    "topology.path.about": _(
        "Press a moving dot or a line of the graph, or choose a message. Without a number the newest is shown."
    ),
    "topology.path.of": _("The way of {message}. Press a step to light it alone."),
    "topology.path.not_kept": _(
        "The way of {message}, as far as it was kept: the last messages alone are followed."
    ),
    "topology.path.no_answer": _("The server did not answer: try again."),
    "topology.path.record": _("message {message}"),
    "topology.path.sent": _("by hand {message}"),
    "topology.path.published": _("{program} publishes it to {exchange} with the key “{key}”: to {names}"),
    "topology.path.published_nowhere": _(
        "{program} publishes it to {exchange} with the key “{key}”: to no queue"
    ),
    "topology.path.returned": _("It is mandatory and has no queue: back to {program}"),
    "topology.path.refused": _("{queue} is at its limit and refuses it"),
    "topology.path.delivered": _("{queue} delivers it to {program}"),
    "topology.path.delivered_again": _("{queue} delivers it to {program}, redelivered"),
    "topology.path.delivered_auto": _(
        "{queue} delivers it to {program}, which acknowledges nothing: it is gone"
    ),
    "topology.path.delivered_auto_again": _(
        "{queue} delivers it to {program}, redelivered; {program} acknowledges nothing: it is gone"
    ),
    "topology.path.ack": _("{program} acknowledges it: {queue} removes it"),
    "topology.path.requeue": _("{program} gives it back: to its place in {queue}"),
    "topology.path.discard": _("{program} rejects it for good"),
    "topology.path.given_back": _("{reason}: what {program} held goes back to its place in {queue}"),
    "topology.path.died": _("{queue} drops it ({reason}); it has no dead letter exchange"),
    "topology.path.died_to": _("{queue} drops it ({reason}): a dead letter to {exchange}, and on to {names}"),
    "topology.path.died_nowhere": _(
        "{queue} drops it ({reason}): a dead letter to {exchange}, which has no queue for it"
    ),
    "topology.path.dropped": _("{queue} drops it: {reason}"),
    "topology.path.left_out": _("{count} {count?step|steps} in between are not kept"),
    "topology.path.reason.rejected": _("rejected"),
    "topology.path.reason.expired": _("expired"),
    "topology.path.reason.maxlen": _("over the maximum length"),
    "topology.path.reason.delivery_limit": _("over the delivery limit"),
    "topology.path.reason.purged": _("the queue is purged"),
    "topology.path.reason.deleted": _("the queue is deleted"),
    "topology.path.reason.lost": _("the server restarts, and it was not on the disk"),
    "topology.path.rule.missed_heartbeats": _("Heartbeats are missed"),
    "topology.path.rule.closed_by_peer": _("The connection breaks"),
    "topology.path.rule.closed_by_operator": _("The connection is closed at the server"),
    "topology.path.rule.closed_by_client": _("The program closes its channel"),
    "topology.path.rule.consumer_timeout": _("The delivery acknowledgement times out"),
    "topology.path.rule.fault": _("A fault of the server closes its channel"),
    "topology.path.rule.exception": _("The server closes the channel for an error"),
    "topology.path.changed": _("Bindings have changed since, so which ones matched is not known."),
    "topology.path.by": _("binding {exchange} → {name}: {why}"),
    "topology.path.by_name": _("default exchange → {name}: the key is the queue's name"),
    "topology.path.by_alternate": _(
        "no binding of {exchange} matches: its alternate exchange {name} takes it"
    ),
    "topology.path.circle": _("{name} does not take it a second time: that would be a circle."),
    "topology.path.why.fanout": _("fanout, whatever the key"),
    "topology.path.why.direct": _("the key is “{key}”"),
    "topology.path.why.hash.key": _("the hash of “{value}” is {hash}, bucket {bucket} of 0 to {last}"),
    "topology.path.why.hash.header": _(
        "the hash of the header {name}, “{value}”, is {hash}, bucket {bucket} of 0 to {last}"
    ),
    "topology.path.why.hash.property": _(
        "the hash of the property {name}, “{value}”, is {hash}, bucket {bucket} of 0 to {last}"
    ),
    "topology.path.why.hash.missing": _(
        "it has no {name}; the hash of nothing is {hash}, bucket {bucket} of 0 to {last}"
    ),
    "topology.path.why.topic_plain": _("every word of “{key}” is there"),
    "topology.path.why.topic": _("“{key}”, where {stands}"),
    "topology.path.why.stands": _("{pattern} is “{taken}”"),
    "topology.path.why.stands_none": _("{pattern} is no word"),
    "topology.path.why.headers": _("x-match {match}: {pairs}"),
    "topology.path.why.headers_none": _("x-match {match} asks for nothing"),
    # Tracing
    "topology.trace": _("Methods of a connection (tracing)"),
    "topology.trace.connection": _("connection"),
    "topology.trace.connection_of": _("{name}: {user} in {vhost}, number {number}"),
    "topology.trace.channel": _("channel"),
    "topology.trace.all_channels": _("all, and the connection"),
    "topology.trace.go": _("Trace for a minute"),
    "topology.trace.stop": _("Stop and forget"),
    "topology.trace.about": _(
        "Nothing is traced. The server keeps the last 60 methods of one connection, for a minute of the lab."
    ),
    "topology.trace.of": _("{heard} {heard?method|methods} of {name} so far; it ends in {left_us}."),
    "topology.trace.of_channel": _(
        "{heard} {heard?method|methods} of {name}, channel {channel}, so far; it ends in {left_us}."
    ),
    "topology.trace.gone": _("The connection is closed; {heard} {heard?method|methods} went over it."),
    "topology.trace.ended": _(
        "Tracing has ended after {heard} {heard?method|methods}. These are the last ones."
    ),
    "topology.trace.head.time": _("time"),
    "topology.trace.head.way": _("direction"),
    "topology.trace.head.channel": _("channel"),
    "topology.trace.head.method": _("method"),
    "topology.trace.head.fields": _("fields"),
    "topology.trace.sent": _("from the server"),
    "topology.trace.received": _("to the server"),
}
