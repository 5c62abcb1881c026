"""Words of the page /fidelity/: what was recorded, how much of it is met, and what is known to differ."""

from django.utils.translation import gettext_lazy as _

FIDELITY_LINE = {
    "fidelity.lane": _("equal to {count} recorded answers of {product}"),
    "fidelity.lane_rest": _(
        "a rule that no product runs; the rest is equal to {count} recorded answers of {product}"
    ),
}
FIDELITY = {
    "fidelity.title": _("Fidelity"),
    "fidelity.sub": _(
        "The original systems were run, and their answers recorded. The same questions go to the core at each "
        "commit; an answer that differs and is not "
        "named below fails the build."
    ),
    "fidelity.sum": _("{met} of {recorded} recorded answers are met."),
    "fidelity.command": _("Count them again:"),
    "fidelity.product": _("{met} of {recorded} answers of {versions}"),
    "fidelity.what": _("recorded"),
    "fidelity.algorithm": _("algorithm"),
    "fidelity.all": _("all lanes"),
    "fidelity.version": _("version"),
    "fidelity.recorded": _("answers"),
    "fidelity.met": _("met"),
    "fidelity.partly": _("in part"),
    "fidelity.partly_about": _(
        "in part: compared up to the point where the original itself differs from run to run, or by what it "
        "promises (who gets how many, how many move) where its choice depends on the order of a hash map."
    ),
    "fidelity.differs": _("Known differences"),
    "fidelity.skipped": _("not followed:"),
    # What a file holds
    "fidelity.of.kafka.assignors": _("single assignments"),
    "fidelity.of.kafka.assignors_rack": _("assignments with racks"),
    "fidelity.of.kafka.assignor_sequences": _("histories of a group, each round"),
    "fidelity.of.kafka.consumer_protocol": _("subscriptions and assignments as bytes"),
    "fidelity.of.kafka.partitioner": _("partitions of keys, groups and records without a key"),
    "fidelity.of.kafka.group.classic": _("classic groups: join, sync, heartbeat, leave"),
    "fidelity.of.kafka.group.classic_old_scala": _("classic groups at the older Scala coordinator"),
    "fidelity.of.kafka.group.consumer_protocol_848": _("groups of KIP-848"),
    "fidelity.of.kafka.group.offsets": _("committed offsets and their expiry"),
    "fidelity.of.kafka.group.offsets_old_scala": _("committed offsets at the older Scala coordinator"),
    "fidelity.of.kafka.records.batches": _("record batches, read and written byte for byte"),
    "fidelity.of.kafka.records.corrupt": _("damaged record batches"),
    "fidelity.of.kafka.records.compaction_filter": _("batches rewritten by compaction"),
    "fidelity.of.kafka.records.varint_crc": _("numbers and checksums as bytes"),
    "fidelity.of.kafka.replication.controller": _("the controller: topics, leaders, moves"),
    "fidelity.of.kafka.replication.epoch_cache": _("leader epochs"),
    "fidelity.of.kafka.replication.fetcher": _("followers: fetching and truncation"),
    "fidelity.of.kafka.replication.partition": _("a partition’s leader: ISR, high watermark"),
    "fidelity.of.kafka.replication.producer_state": _("idempotent and transactional producers"),
    "fidelity.of.kafka.replication.unified_log": _("the log: segments, retention, recovery"),
    "fidelity.of.pulsar.auto_split": _("hash ranges as consumers come and go"),
    "fidelity.of.pulsar.consistent_hash": _("hash rings as consumers come and go"),
    "fidelity.of.pulsar.failover": _("the active consumer as consumers come and go"),
    "fidelity.of.pulsar.key_shared_order_3_2": _("order of keys while consumers join"),
    "fidelity.of.pulsar.murmur": _("hashes of keys"),
    "fidelity.of.pulsar.shared_dispatch": _("whose turn it is"),
    "fidelity.of.pulsar.sticky_ranges": _("ranges that consumers ask for"),
    "fidelity.of.tubemq.broker_register": _("the broker: registration, offsets, messages"),
    "fidelity.of.tubemq.client_life": _("the client with master and brokers"),
    "fidelity.of.tubemq.master_register": _("the master: checks and groups"),
    "fidelity.of.tubemq.meta_expand": _("the client’s list of partitions"),
    "fidelity.of.tubemq.mod_assign": _("which node owns which partition"),
    "fidelity.of.tubemq.server_cycles": _("cycles of the balancer"),
    "fidelity.of.tubemq.server_resource_rate": _("the check of how many clients there are"),
    "fidelity.of.tubemq.server_start_assign": _("the balancer’s first cycle"),
    "fidelity.of.tubemq.set_difference": _("a pass of the client: what it connects and releases"),
    "fidelity.of.rabbitmq.consistent_hash_exchange": _("the consistent-hash exchange, in whole sessions"),
    "fidelity.of.rabbitmq.direct_fanout_headers": _("direct, fanout and headers exchanges"),
    "fidelity.of.rabbitmq.dispatch": _("dispatch: turns, prefetch, acknowledgements"),
    "fidelity.of.rabbitmq.erlang_hash": _("Erlang’s hash of terms, and the bucket of a key"),
    "fidelity.of.rabbitmq.frames": _("connections as bytes, both directions"),
    "fidelity.of.rabbitmq.sessions": _("whole sessions of clients"),
    "fidelity.of.rabbitmq.topic_routing": _("topic exchanges"),
    "fidelity.of.rabbitmq.topology": _("declaring, binding, deleting, and what is refused"),
    # What is known to differ, and why
    "fidelity.differs.kafka.hash_order": _("Some choices among equals of the sticky assignors"),
    "fidelity.differs.kafka.hash_order.why": _(
        "They follow Java’s hash maps or the order in which members were listed. Equal subscriptions are reproduced; "
        "of the others spread and moves are compared."
    ),
    "fidelity.differs.kafka.old_coordinator": _("The older Scala coordinator after it has gone its own way"),
    "fidelity.differs.kafka.old_coordinator.why": _(
        "Its answers count up to the first that the new coordinator would not give; the rest is counted and not "
        "asked for."
    ),
    "fidelity.differs.kafka.controller": _("One controller stands for the KRaft quorum"),
    "fidelity.differs.kafka.controller.why": _("Its failover elects no leader and moves no record."),
    "fidelity.differs.kafka.read_records": _(
        "What all consumers have read is deleted, but for three segments"
    ),
    "fidelity.differs.kafka.read_records.why": _(
        "A long lab would fill the memory. A topic that sets a retention, or is compacted, keeps its own rule."
    ),
    "fidelity.differs.kafka.full_disk": _("No disk is ever full"),
    "fidelity.differs.kafka.full_disk.why": _(
        "Kafka takes a full disk for a lost one, and that can be shown."
    ),
    "fidelity.differs.kafka.topics": _(
        "No deletion of topics, no change of their configuration, no quotas, ACLs or tiered storage"
    ),
    "fidelity.differs.kafka.topics.why": _("None of them decides who reads what."),
    "fidelity.differs.pulsar.epoch": _("The consumer’s epoch"),
    "fidelity.differs.pulsar.epoch.why": _(
        "After a request to redeliver, messages on their way still reach the program, and come once more; a client of "
        "2.10 or later drops them."
    ),
    "fidelity.differs.pulsar.fenced": _("A fenced subscription"),
    "fidelity.differs.pulsar.fenced.why": _(
        "It is closed or deleted in one step here, so no client meets it."
    ),
    "fidelity.differs.pulsar.compacted": _("readCompacted, chunked messages, transactions, several ledgers"),
    "fidelity.differs.pulsar.compacted.why": _("No rule of dispatch depends on them."),
    "fidelity.differs.pulsar.consumers_max": _("maxConsumersPerSubscription"),
    "fidelity.differs.pulsar.consumers_max.why": _("It is 0, no limit, by default; only auto-split refuses."),
    "fidelity.differs.pulsar.simple_cursor": _("The order of keys was recorded on a simple cursor"),
    "fidelity.differs.pulsar.simple_cursor.why": _(
        "The dispatcher is the original’s; the cursor below it was written for the recording."
    ),
    "fidelity.differs.tubemq.texts": _("Texts of refusals"),
    "fidelity.differs.tubemq.texts.why": _(
        "Codes are compared; their texts name threads and addresses of a run."
    ),
    "fidelity.differs.tubemq.split_events": _("Events of a cycle split over several answers"),
    "fidelity.differs.tubemq.split_events.why": _("The split follows their size; the events are the same."),
    "fidelity.differs.tubemq.local_confirm": _("pullConfirmInLocal, and filters at the client"),
    "fidelity.differs.tubemq.local_confirm.why": _("They change when a client confirms, not who owns what."),
    "fidelity.differs.rabbitmq.own_fault": _("One argument of a queue ends in an internal error"),
    "fidelity.differs.rabbitmq.own_fault.why": _("It is the server’s own fault, which is not worth copying."),
    "fidelity.differs.rabbitmq.moment": _("One reading between a closed channel and the requeue"),
    "fidelity.differs.rabbitmq.moment.why": _(
        "The recording caught the moment in between; here closing and requeueing are one step."
    ),
    "fidelity.differs.rabbitmq.one_node": _("One node: no clustering, quorum queues, streams or plug-ins"),
    "fidelity.differs.rabbitmq.one_node.why": _("Replication is shown with Kafka’s cluster."),
    "fidelity.differs.rabbitmq.disk": _("An acknowledgement is on the disk at once"),
    "fidelity.differs.rabbitmq.disk.why": _("The original may deliver such a message again after a crash."),
    "fidelity.differs.rabbitmq.memory": _("Lazy queues, paging, flow credit"),
    "fidelity.differs.rabbitmq.memory.why": _("They change when a message goes out, not where it goes."),
}
