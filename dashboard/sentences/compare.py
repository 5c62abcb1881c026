"""Words of Compare: what is compared, on which course, and what each has cost."""

from django.utils.translation import gettext_lazy as _

COMPARE = {
    "compared.title": _("Compare"),
    "compared.sub": _(
        "Two to four ways to share one stream, on the same records and the same history: each runs whole, side by side, "
        "and its bill stands below it."
    ),
    "compared.examples": _("Three to begin with"),
    "compared.example.protocols": _("Three protocols, one newcomer"),
    "compared.example.protocols.about": _(
        "Eager, cooperative, KIP-848: who stops how many partitions for a join, and for how long?"
    ),
    "compared.example.models": _("Four systems, one crash"),
    "compared.example.models.about": _(
        "A consumer dies silently: who notices when, and what waits meanwhile?"
    ),
    "compared.example.hot": _("One hot key, one slow consumer"),
    "compared.example.hot.about": _("What order within a key costs when one key has a third of all records."),
    "compared.ways": _("What is compared: two to four"),
    "compared.stream": _("Records"),
    "compared.stream.flights": _("flights by aircraft"),
    "compared.stream.even": _("200 keys, evenly"),
    "compared.stream.skewed": _("200 keys, skewed (Zipf)"),
    "compared.stream.hot": _("one hot key with 30 %"),
    "compared.stream.lab": _("those of the lab that this begins from"),
    "compared.rate": _("records a second"),
    "compared.consumers": _("consumers at the start"),
    "compared.consumer_rate": _("records a second each handles"),
    "compared.seconds": _("seconds"),
    "compared.seed": _("seed"),
    "compared.history": _("What happens, a line each"),
    "compared.history_hint": _(
        "second, order, consumer: 10 join; 10 join 2; 25 crash c2; 40 rejoin c2; leave, pause, resume; 30 slow c1 2; "
        "45 rate 60: so many records a second arrive. In comparisons of Kafka alone also 20 broker_crash 2 and 40 broker_back 2."
    ),
    "compared.presets": _("Histories"),
    "compared.preset.calm": _("nothing"),
    "compared.preset.join_leave": _("one joins, one leaves"),
    "compared.preset.crash": _("a crash"),
    "compared.preset.rolling": _("rolling restart"),
    "compared.preset.slow": _("one becomes slow"),
    "compared.run": _("Compare"),
    "compared.address": _("Address of this form"),
    "compared.studies": _("Compare studies of your own data on the Analyze pages"),
    "compared.begun": _(
        "This begins from a lab: what its consumers went through is filled in, its lane's settings stay."
    ),
    # The page of a comparison
    "compared.again": _("Change this comparison"),
    "compared.from_here": _("Compare other ways"),
    "compared.sort": _("Sort by"),
    "compared.sort.given": _("as chosen"),
    "compared.bill": _("What it has cost by this moment"),
    "compared.lanes": _("Side by side"),
    "compared.moved": _("keys moved"),
    "compared.paused": _("without a reader"),
    "compared.redelivered": _("redelivered"),
    "compared.out_of_order": _("out of order"),
    "compared.lost": _("lost"),
    "compared.lag": _("waiting now"),
    "compared.skew": _("skew now"),
    "compared.moved.about": _("How often a key got another consumer. A dash where keys have no owner."),
    "compared.paused.about": _(
        "Time in which a part of the keys had no consumer that reads it: the mean over all parts."
    ),
    "compared.redelivered.about": _("Records that were given to a consumer a second time."),
    "compared.out_of_order.about": _("Records that a program finished after a later one of their key."),
    "compared.lost.about": _(
        "Records that no consumer will get any more. A dash where the model counts none."
    ),
    "compared.lag.about": _("Records that arrived and are not done."),
    "compared.skew.about": _("The largest share of a consumer over the mean share; 1 is even."),
    "compared.running": _("Running through its course: {now} of {end}"),
    # Two labs
    "compared.difference": _("diff."),
    "compared.beside": _("{one} beside {other}"),
    "compared.short": _("{name} has come to {clock} only: its last picture is shown, without a difference."),
}
WAYS = {
    "way.kafka.server_uniform": _("KIP-848, uniform"),
    "way.kafka.server_uniform.about": _(
        "The coordinator assigns (KIP-848): as even as possible, then as few moves as possible."
    ),
    "way.kafka.server_range": _("KIP-848, range"),
    "way.kafka.server_range.about": _(
        "The coordinator assigns (KIP-848): each topic's partitions in contiguous runs, static members first."
    ),
    "way.kafka.static_members": _("Range, static members"),
    "way.kafka.static_members.about": _(
        "Each consumer has a group.instance.id: a restart within the timeout moves nothing."
    ),
    "way.kafka.acks_1": _("Range, acks=1"),
    "way.kafka.acks_1.about": _("The leader alone confirms: what only it has is lost when it dies."),
    "way.kafka.acks_0": _("Range, acks=0"),
    "way.kafka.acks_0.about": _("The producer waits for no answer, and learns of no loss."),
    "way.pulsar.draining": _("Hash ring, draining"),
    "way.pulsar.draining.about": _(
        "PIP-379: only hashes that are being drained wait, not the newcomer as a whole."
    ),
    "way.pulsar.unordered": _("Hash ring, any order"),
    "way.pulsar.unordered.about": _(
        "allowOutOfOrderDelivery: nobody waits, and a key may be in two hands for a while."
    ),
    "way.tubemq.newcomer_first": _("Modulo, newcomer first"),
    "way.tubemq.newcomer_first.about": _(
        "The wrong order: the newcomer starts beside clients with the old count."
    ),
    "way.rabbitmq.prefetch_50": _("Prefetch 50"),
    "way.rabbitmq.prefetch_50.about": _("In turn, to consumers with fewer than 50 unacked."),
}
