"""What is said of the server of a RabbitMQ lane: orders, their marks, what it told, and why a queue grows."""

from django.utils.translation import gettext_lazy as _

QUEUES = {
    "caption.rabbitmq_declare_exchange": _("A person declares the exchange {name}."),
    "caption.rabbitmq_delete_exchange": _("A person deletes the exchange {name}."),
    "caption.rabbitmq_declare_queue": _("A person declares the queue {name}."),
    "caption.rabbitmq_delete_queue": _("A person deletes the queue {name}."),
    "caption.rabbitmq_bind": _("A person binds {destination} to {source} with the key “{routing_key}”."),
    "caption.rabbitmq_unbind": _("A person takes the binding of {destination} to {source} away."),
    "caption.rabbitmq_publish": _("A person publishes a message with the key “{routing_key}”."),
    "caption.rabbitmq_purge": _("A person purges the queue {name}."),
    "caption.rabbitmq_get": _("A person gets the message at the head of {name}."),
    "caption.rabbitmq_vhost": _("There is a new virtual host: {name}."),
    "caption.rabbitmq_delete_vhost": _("The virtual host {vhost} is deleted."),
    "caption.rabbitmq_user": _("There is a new user: {name}."),
    "caption.rabbitmq_change_user": _("The user {user} changes: tags or password."),
    "caption.rabbitmq_delete_user": _("The user {user} is deleted."),
    "caption.rabbitmq_permissions": _("The permissions of {user} in {vhost} change."),
    "caption.rabbitmq_topic_permissions": _(
        "With which routing keys {user} may use {exchange} in {vhost} changes."
    ),
    "caption.rabbitmq_trace": _("A person traces methods at the server."),
    "caption.rabbitmq_alarm": _("The server’s {resource} alarm changes: publishers wait while it is on."),
    "caption.rabbitmq_import": _("The server takes over definitions of a file."),
    "caption.rabbitmq_stop": _("The server stops in order."),
    "caption.rabbitmq_crash": _("The server crashes."),
    "caption.rabbitmq_start": _("The server starts again, with what is durable."),
    "caption.rabbitmq_consume": _("{consumer} consumes another way."),
    "caption.rabbitmq_settle": _("{consumer} settles at once all that it holds."),
    "tick.rabbitmq_declare_exchange": _("exchange {name}"),
    "tick.rabbitmq_delete_exchange": _("exchange {name} deleted"),
    "tick.rabbitmq_declare_queue": _("queue {name}"),
    "tick.rabbitmq_delete_queue": _("queue {name} deleted"),
    "tick.rabbitmq_bind": _("binding"),
    "tick.rabbitmq_unbind": _("unbinding"),
    "tick.rabbitmq_publish": _("message published"),
    "tick.rabbitmq_purge": _("{name} purged"),
    "tick.rabbitmq_get": _("message got"),
    "tick.rabbitmq_vhost": _("vhost {name}"),
    "tick.rabbitmq_delete_vhost": _("vhost {vhost} deleted"),
    "tick.rabbitmq_user": _("user {name}"),
    "tick.rabbitmq_change_user": _("user {user} changed"),
    "tick.rabbitmq_delete_user": _("user {user} deleted"),
    "tick.rabbitmq_permissions": _("permissions"),
    "tick.rabbitmq_topic_permissions": _("topic permissions"),
    "tick.rabbitmq_trace": _("tracing"),
    "tick.rabbitmq_alarm": _("{resource} alarm"),
    "tick.rabbitmq_import": _("definitions"),
    "tick.rabbitmq_stop": _("server stops"),
    "tick.rabbitmq_crash": _("server crashes"),
    "tick.rabbitmq_start": _("server starts"),
    "tick.rabbitmq_consume": _("{consumer} changes"),
    "tick.rabbitmq_settle": _("{consumer} settles"),
    "event.rabbitmq.operator.answered": _("The broker did it: {verb}"),
    "event.rabbitmq.operator.refused": _("The broker refused {verb}: {reply_text}"),
    "event.rabbitmq.publisher.returned": _(
        "A message with the key “{routing_key}” came back to {publisher}: it matches no binding"
    ),
    "event.rabbitmq.publisher.refused": _("The broker refused what {publisher} published: {reply_text}"),
    "event.rabbitmq.consumer.refused": _("The broker refused {consumer}: {reply_text}"),
    "event.rabbitmq.consumer.cancelled": _("The broker cancelled {consumer}: its queue is deleted"),
    "event.rabbitmq.consumer.consume": _("{consumer} consumes another way"),
    "event.rabbitmq.consumer.settle": _("{consumer} settles all that it holds"),
    "event.rabbitmq.server.vhost": _("Virtual host {name} created"),
    "event.rabbitmq.server.delete_vhost": _("Virtual host {vhost} deleted"),
    "event.rabbitmq.server.user": _("User {name} added"),
    "event.rabbitmq.server.change_user": _("User {user} changed"),
    "event.rabbitmq.server.delete_user": _("User {user} deleted"),
    "event.rabbitmq.server.permissions": _("Permissions of {user} in {vhost} changed"),
    "event.rabbitmq.server.topic_permissions": _(
        "Topic permissions of {user} for {exchange} in {vhost} changed"
    ),
    "event.rabbitmq.server.trace": _("Methods of connection {connection} are traced"),
    "event.rabbitmq.server.alarm": _("The {resource} alarm changed"),
    "event.rabbitmq.server.import": _("Definitions imported"),
    "event.rabbitmq.server.stop": _(
        "The server stopped in order: {connections} {connections?connection|connections} closed"
    ),
    "event.rabbitmq.server.crash": _(
        "The server crashed: {connections} {connections?connection|connections} broken"
    ),
    "event.rabbitmq.server.start": _(
        "The server started with {messages} {messages?message|messages}; {lost} did not come back"
    ),
    "queue.growing.no_consumer": _("no consumer"),
    "queue.growing.unacked": _("unacked by {consumers}"),
    "queue.growing.given_back": _("given back by {consumers}"),
    "queue.growing.no_limit": _("unacked by {consumers}, without a prefetch limit"),
    "queue.growing.only_reader": _("only {consumers} may read it, and is too slow"),
    "queue.growing.at_prefetch": _("all at their prefetch"),
    "queue.growing.slow": _("too slow: {consumers}"),
}
