"""Words of Compare: what is compared, on which course, and what each has cost."""

from django.utils.translation import gettext_lazy as _

COMPARE = {
    "compare.title": _("Compare"),
    "compare.sub": _(
        "Two to four ways to share one stream, on the same records and the same history: each runs whole, side by side, "
        "and its bill stands below it."
    ),
    "compare.examples": _("Three to begin with"),
    "compare.example.protocols": _("Three protocols, one newcomer"),
    "compare.example.protocols.about": _(
        "Eager, cooperative, KIP-848: who stops how many partitions for a join, and for how long?"
    ),
    "compare.example.models": _("Four systems, one crash"),
    "compare.example.models.about": _(
        "A consumer dies silently: who notices when, and what waits meanwhile?"
    ),
    "compare.example.hot": _("One hot key, one slow consumer"),
    "compare.example.hot.about": _("What order within a key costs when one key has a third of all records."),
    "compare.ways": _("What is compared: two to four"),
    "compare.stream": _("Records"),
    "compare.stream.flights": _("flights by aircraft"),
    "compare.stream.even": _("200 keys, evenly"),
    "compare.stream.skewed": _("200 keys, skewed (Zipf)"),
    "compare.stream.hot": _("one hot key with 30 %"),
    "compare.stream.lab": _("those of the lab that this begins from"),
    "compare.rate": _("records a second"),
    "compare.consumers": _("consumers at the start"),
    "compare.consumer_rate": _("records a second each handles"),
    "compare.seconds": _("seconds"),
    "compare.seed": _("seed"),
    "compare.history": _("What happens, a line each"),
    "compare.history_hint": _(
        "second, order, consumer: 10 join; 10 join 2; 25 crash c2; 40 rejoin c2; leave, pause, resume; 30 slow c1 2. In "
        "comparisons of Kafka alone also 20 broker_crash 2 and 40 broker_back 2."
    ),
    "compare.presets": _("Histories"),
    "compare.preset.calm": _("nothing"),
    "compare.preset.join_leave": _("one joins, one leaves"),
    "compare.preset.crash": _("a crash"),
    "compare.preset.rolling": _("rolling restart"),
    "compare.preset.slow": _("one becomes slow"),
    "compare.run": _("Compare"),
    "compare.address": _("Address of this form"),
    "compare.studies": _("Compare studies of your own data on the Analyze pages"),
    "compare.begun": _(
        "This begins from a lab: what its consumers went through is filled in, its lane's settings stay."
    ),
    # The page of a comparison
    "compare.again": _("Change this comparison"),
    "compare.from_here": _("Compare other ways on this lab's course"),
    "compare.sort": _("Sort by"),
    "compare.sort.given": _("as chosen"),
    "compare.bill": _("What it has cost by this moment"),
    "compare.lanes": _("Side by side"),
    "compare.moved": _("keys moved"),
    "compare.paused": _("without a reader"),
    "compare.redelivered": _("redelivered"),
    "compare.out_of_order": _("out of order"),
    "compare.lost": _("lost"),
    "compare.lag": _("waiting now"),
    "compare.skew": _("skew now"),
    "compare.moved.about": _("How often a key got another consumer. A dash where keys have no owner."),
    "compare.paused.about": _(
        "Time in which a part of the keys had no consumer that reads it: the mean over all parts."
    ),
    "compare.redelivered.about": _("Records that were given to a consumer a second time."),
    "compare.out_of_order.about": _("Records that a program finished after a later one of their key."),
    "compare.lost.about": _(
        "Records that no consumer will get any more. A dash where the model counts none."
    ),
    "compare.lag.about": _("Records that arrived and are not done."),
    "compare.skew.about": _("The largest share of a consumer over the mean share; 1 is even."),
    "compare.running": _("Running through its course: {now} of {end}"),
    # Two labs
    "compare.difference": _("difference"),
    "compare.beside": _("{one} beside {other}"),
    "compare.short": _("{name} has come to {clock} only: its last picture is shown, without a difference."),
    "compare.open": _("Open this lab"),
    # Ways that are a rule with a setting
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
