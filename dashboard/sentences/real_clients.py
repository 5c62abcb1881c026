"""What is said of real clients at the server of a RabbitMQ lane, and of the faults that it has for them. Methods have the
specification's names, sockets those of TCP."""

from django.utils.translation import gettext_lazy as _

REAL_CLIENTS = {
    "caption.rabbitmq_socket": _("{client}: {methods}"),
    "caption.rabbitmq_open": _("The lab is open to real clients: its clock is the one on the wall."),
    "caption.rabbitmq_close": _("The lab is closed to real clients; those that were there are cut off."),
    "caption.rabbitmq_fault": _("The server has a fault: {do} for {method}."),
    "caption.rabbitmq_fault_end": _("Fault {fault} ends, and what it held is on its way."),
    "tick.rabbitmq_socket": _("{client}: {methods}"),
    "tick.rabbitmq_open": _("open to clients"),
    "tick.rabbitmq_close": _("closed to clients"),
    "tick.rabbitmq_fault": _("fault: {do}"),
    "tick.rabbitmq_fault_end": _("fault {fault} ends"),
    "event.rabbitmq.client.came": _("{client} connects from outside the lab"),
    "event.rabbitmq.client.went": _("{client} closes its socket"),
    "event.rabbitmq.server.open": _("The lab is open to real clients"),
    "event.rabbitmq.server.close": _("The lab is closed to real clients"),
    "event.rabbitmq.server.fault": _("Fault {fault} is set: {do} for {method}"),
    "event.rabbitmq.server.fault_end": _("Fault {fault} ends"),
    "event.serve.fault.struck": _("Fault {fault} strikes {method} of {connection}: {do}"),
    "event.serve.fault.crashes": _("Fault {fault}: the server crashes"),
    "event.serve.fault.cuts": _("Fault {fault}: a client's link carries nothing any more"),
    "event.serve.fault.ends": _("The time of fault {fault} is up"),
    "rabbitmq.open": _(
        "{clients} real {clients?client is|clients are} connected. In all queues {ready} {ready?message is|messages are} ready and {unacked} "
        "unacked."
    ),
    "client.message": _("a client’s message"),
    "client.sub": _("{count} real {count?client consumes|clients consume} now."),
    "client.lane": _("open to clients"),
    "client.lane_about": _("Real programs use this server; the lab has no consumers or records of its own."),
    "client.no_consumer": _("No client consumes now."),
    "client.none_own": _("A real program does what its own code says."),
    "client.own_code": _("{consumer} is a real program: it does what its own code says."),
    "client.real": _("real"),
    "client.real_title": _("A real program, connected from outside the lab"),
    "workload.none": _("no records"),
    "clients.title": _("Real clients"),
    "clients.own": _(
        "Programs of your own can be clients of a lab that has nothing but a server: pika, kombu, Celery, aio-pika, amqplib."
    ),
    "clients.off": _(
        "Real clients are off on this site; its operator turns them on with HIGHWATER_CLIENTS=1."
    ),
    "clients.closed": _(
        "Closed. Once open, the server listens at an address of its own, and the lab’s clock is the one on the wall."
    ),
    "clients.opening": _("The lab is opening."),
    "clients.full": _("As many labs are open as this site allows; this one listens when another is closed."),
    "clients.long": _(
        "The lab has as many moments as one for real clients may have: it takes none any more. A copy of an earlier moment does."
    ),
    "clients.no_port": _("No port is free for this lab; it keeps trying."),
    "clients.listening": _("Open: {count} {count?client is|clients are} connected."),
    "clients.paused": _(
        "Open, and paused: {count} {count?client is|clients are} connected, and what they send waits until the lab plays."
    ),
    "clients.refused": _(
        "{count} {count?client was|clients were} turned away: a lab takes {most} connections at a time."
    ),
    "clients.cut": _("{count} {count?client was|clients were} cut off: a connection may send {most} MiB."),
    "clients.channels": _("{count} {count?channel|channels}"),
    "clients.unacked": _("{count} unacked"),
    "clients.held": _("{count} {count?answer is|answers are} held"),
    "clients.verb.hold": _("Hold its answers"),
    "clients.verb.let_go": _("Let its answers go"),
    "clients.verb.slow": _("Slow its link"),
    "clients.verb.full_speed": _("Full speed"),
    "clients.verb.drop": _("Drop its connection"),
    "clients.verb_about.hold": _("Hold what the server sends to {name} until it is let go"),
    "clients.verb_about.let_go": _("Send {name} what was held, in its order"),
    "clients.verb_about.slow": _("What the server sends to {name} arrives a second late"),
    "clients.verb_about.full_speed": _("What the server sends to {name} arrives at once again"),
    "clients.verb_about.drop": _("Cut {name} off: its socket closes, and what it held goes back"),
    "clients.new": _("Make a lab for real clients"),
    "clients.open": _("Open to real clients"),
    "clients.close": _("Close to real clients"),
    "clients.address": _("Address"),
    "clients.copy": _("Copy"),
    "clients.copied": _("Copied."),
    "clients.program": _("A program to begin with"),
    "clients.library": _("Client library"),
    "clients.copy_program": _("Copy the program"),
    "clients.save": _("Save it as {file}, then run:"),
    "why.is.client": _("{consumer} is a real program that consumes; it is connected from outside the lab."),
    "why.client": _("because of what came from outside: {did}"),
    "fact.queue": _("queue"),
    "fact.nth": _("which of them"),
    "fact.when": _("before or after the method"),
    "fact.by": _("sent by"),
    "fact.vhost": _("virtual host"),
    "fact.code": _("reply code"),
    "fact.text": _("reply text"),
    "fact.ms": _("milliseconds"),
    "fact.resource": _("resource"),
    "fact.way": _("way"),
    "fact.must_hit": _("must strike"),
}
