"""What a strategy of a study is called: its name in a table, its short name in a chart, and how it is named
when it fits best.

A code is `strategy.<model>.<algorithm>` with `.short` and `.best`; places are the strategy's parameters.
`param.<name>` names a parameter.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

STRATEGIES = {
    "strategy.pulsar.consistent_hash": _("ring, {points} {points?point|points}"),
    "strategy.pulsar.consistent_hash.short": _("ring {points}"),
    "strategy.pulsar.consistent_hash.best": _("Ring of {points} {points?point|points}"),
    "strategy.pulsar.consistent_hash_3_2_0": _("ring of 3.2.0, {points} {points?point|points}"),
    "strategy.pulsar.consistent_hash_3_2_0.short": _("ring 3.2.0"),
    "strategy.pulsar.consistent_hash_3_2_0.best": _("Pulsar 3.2.0's ring of {points} {points?point|points}"),
    "strategy.pulsar.consistent_hash_current": _("ring of 4.x, {points} {points?point|points}"),
    "strategy.pulsar.consistent_hash_current.short": _("ring 4.x"),
    "strategy.pulsar.consistent_hash_current.best": _("Pulsar 4.x's ring of {points} {points?point|points}"),
    "strategy.pulsar.consistent_hash_unnamed": _("ring, {points} {points?point|points}, no consumer names"),
    "strategy.pulsar.consistent_hash_unnamed.short": _("ring unnamed"),
    "strategy.pulsar.consistent_hash_unnamed.best": _("A ring without consumer names"),
    "strategy.pulsar.consistent_hash_current_unnamed": _(
        "ring of 4.x, {points} {points?point|points}, no consumer names"
    ),
    "strategy.pulsar.consistent_hash_current_unnamed.short": _("ring 4.x unnamed"),
    "strategy.pulsar.consistent_hash_current_unnamed.best": _("Pulsar 4.x's ring without consumer names"),
    "strategy.pulsar.auto_split": _("auto-split ranges"),
    "strategy.pulsar.auto_split.short": _("auto-split"),
    "strategy.pulsar.auto_split.best": _("Pulsar's auto-split"),
    "strategy.pulsar.sticky": _("sticky ranges"),
    "strategy.pulsar.sticky.short": _("sticky ranges"),
    "strategy.pulsar.sticky.best": _("Pulsar with sticky ranges"),
    "strategy.pulsar.ring_document": _("the article's ring, {points} {points?point|points}"),
    "strategy.pulsar.ring_document.short": _("article ring"),
    "strategy.pulsar.ring_document.best": _("The article's ring"),
    "strategy.pulsar.auto_split_document": _("the article's auto-split"),
    "strategy.pulsar.auto_split_document.short": _("article split"),
    "strategy.pulsar.auto_split_document.best": _("The article's auto-split"),
    "strategy.pulsar.sticky_document": _("the article's sticky ranges"),
    "strategy.pulsar.sticky_document.short": _("article sticky"),
    "strategy.pulsar.sticky_document.best": _("The article's sticky ranges"),
    "strategy.pulsar.shared": _("Shared subscription"),
    "strategy.pulsar.shared.short": _("Shared"),
    "strategy.pulsar.shared.best": _("Pulsar's Shared subscription"),
    "strategy.kafka.server_uniform": _(
        "consumer protocol, uniform, {partitions} {partitions?partition|partitions}"
    ),
    "strategy.kafka.server_uniform.short": _("KIP-848 uniform"),
    "strategy.kafka.server_uniform.best": _("Kafka's consumer protocol with uniform"),
    "strategy.kafka.server_range": _(
        "consumer protocol, range, {partitions} {partitions?partition|partitions}"
    ),
    "strategy.kafka.server_range.short": _("KIP-848 range"),
    "strategy.kafka.server_range.best": _("Kafka's consumer protocol with range"),
    "strategy.kafka.range": _("Range, {partitions} {partitions?partition|partitions}"),
    "strategy.kafka.range.short": "Range",
    "strategy.kafka.range.best": _("Kafka's Range"),
    "strategy.kafka.roundrobin": _("RoundRobin, {partitions} {partitions?partition|partitions}"),
    "strategy.kafka.roundrobin.short": "RoundRobin",
    "strategy.kafka.roundrobin.best": _("Kafka's RoundRobin"),
    "strategy.kafka.sticky": _("Sticky, {partitions} {partitions?partition|partitions}"),
    "strategy.kafka.sticky.short": pgettext_lazy("kafka", "Sticky"),
    "strategy.kafka.sticky.best": _("Kafka's Sticky"),
    "strategy.kafka.cooperative-sticky": _(
        "CooperativeSticky, {partitions} {partitions?partition|partitions}"
    ),
    "strategy.kafka.cooperative-sticky.short": "Cooperative",
    "strategy.kafka.cooperative-sticky.best": _("Kafka's CooperativeSticky"),
    "strategy.kafka.static_range": _(
        "static members, Range, {partitions} {partitions?partition|partitions}, session {session_s} s"
    ),
    "strategy.kafka.static_range.short": _("static Range"),
    "strategy.kafka.static_range.best": _("Kafka's static members with Range"),
    "strategy.kafka.static_cooperative-sticky": _(
        "static members, CooperativeSticky, {partitions} {partitions?partition|partitions}, session {session_s} s"
    ),
    "strategy.kafka.static_cooperative-sticky.short": _("static Cooperative"),
    "strategy.kafka.static_cooperative-sticky.best": _("Kafka's static members with CooperativeSticky"),
    "strategy.kafka.static_server_uniform": _(
        "static members, consumer protocol, uniform, {partitions} {partitions?partition|partitions}, "
        "session {session_s} s"
    ),
    "strategy.kafka.static_server_uniform.short": _("static KIP-848"),
    "strategy.kafka.static_server_uniform.best": _("Kafka's consumer protocol with static members"),
    "strategy.kafka.keyless": _("without keys, {partitions} {partitions?partition|partitions}"),
    "strategy.kafka.keyless.short": _("no keys"),
    "strategy.kafka.keyless.best": _("Kafka without keys"),
    "strategy.kafka.range_global": _("the article's Range, {partitions} {partitions?partition|partitions}"),
    "strategy.kafka.range_global.short": _("article Range"),
    "strategy.kafka.range_global.best": _("The article's Range"),
    "strategy.kafka.round_robin_hashed": _(
        "the article's RoundRobin, {partitions} {partitions?partition|partitions}"
    ),
    "strategy.kafka.round_robin_hashed.short": _("article robin"),
    "strategy.kafka.round_robin_hashed.best": _("The article's RoundRobin"),
    "strategy.tubemq.modulo": _("modulo, {partitions} {partitions?partition|partitions}"),
    "strategy.tubemq.modulo.short": _("modulo"),
    "strategy.tubemq.modulo.best": _("TubeMQ's modulo"),
    "strategy.rabbitmq.queue": _("queue, prefetch {prefetch}"),
    "strategy.rabbitmq.queue.short": _("queue"),
    "strategy.rabbitmq.queue.best": _("A RabbitMQ queue with prefetch {prefetch}"),
    "strategy.rabbitmq.consistent_hash": _("consistent hash, a queue each, prefetch {prefetch}"),
    "strategy.rabbitmq.consistent_hash.short": _("consistent hash"),
    "strategy.rabbitmq.consistent_hash.best": _("RabbitMQ's consistent-hash exchange"),
    "param.points": _("points"),
    "param.partitions": pgettext_lazy("parameter", "partitions"),
    "param.session_s": _("session, seconds"),
    "param.brokers": _("brokers"),
    "param.prefetch": _("prefetch"),
}
