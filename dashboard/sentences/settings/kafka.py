"""What a Kafka lane may set, a sentence each."""

from django.utils.translation import gettext_lazy as _

KAFKA = {
    "setting.kafka.partitions.about": _(
        "Of the lane’s topic. They are what an assignor gives to the members."
    ),
    "setting.kafka.brokers.about": _("How many brokers the cluster has, beside a controller."),
    "setting.kafka.replication_factor.about": _(
        "Copies of each partition, at most one a broker; 3 or as many as there are brokers."
    ),
    "setting.kafka.min_insync_replicas.about": _(
        "With acks=all a record is refused while fewer replicas than this are in sync."
    ),
    "setting.kafka.racks.about": _(
        "A rack for each broker, separated by commas: replicas are spread over them."
    ),
    "setting.kafka.more_topics.about": _(
        'Further topics to subscribe to, as [{"name": "audit", "partitions": 3}]; no records go to them.'
    ),
    "setting.kafka.groups.about": _(
        'Other groups that read the same topic, as {"billing": {"consumers": 2, "rate": 50}}.'
    ),
    "setting.kafka.retention_ms.about": _(
        "A segment older than this is deleted; -1 keeps it. Without it 7 days."
    ),
    "setting.kafka.retention_bytes.about": _(
        "What a partition’s log has beyond this size is deleted, whole segments only; -1 for no bound."
    ),
    "setting.kafka.segment_ms.about": _(
        "A segment is closed after this time. Without it 20 s, so that something happens while you look."
    ),
    "setting.kafka.segment_bytes.about": _("A segment is closed at this size. Without it 16,384."),
    "setting.kafka.min_cleanable_dirty_ratio_percent.about": _(
        "A compacted log is cleaned when more than this part of it is dirty."
    ),
    "setting.kafka.delete_retention_ms.about": _("How long a tombstone stays after compaction."),
    "setting.kafka.min_compaction_lag_ms.about": _("A record younger than this is not compacted."),
    "setting.kafka.max_compaction_lag_ms.about": _(
        "A dirty record older than this makes the log due for compaction."
    ),
    "setting.kafka.retention_check_interval_ms.about": _("How often brokers look for segments to delete."),
    "setting.kafka.lag_messages_max.about": _(
        "The rule from before 0.9: a replica that is further behind leaves the ISR. Without it the rule of time."
    ),
    "setting.kafka.offsets_partitions.about": _(
        "Partitions of __consumer_offsets; the leader of one of them coordinates the group."
    ),
    "setting.kafka.session_timeout_ms.about": _(
        "A member without a heartbeat for so long is removed from the group."
    ),
    "setting.kafka.heartbeat_interval_ms.about": _(
        "How often a member sends a heartbeat. Without it 3,000, and 5,000 with group_protocol consumer."
    ),
    "setting.kafka.max_poll_interval_ms.about": _(
        "A member that does not poll for so long leaves the group."
    ),
    "setting.kafka.max_poll_records.about": _("How many records a poll gives at most."),
    "setting.kafka.metadata_max_age_ms.about": _(
        "After how long clients ask again who leads which partition."
    ),
    "setting.kafka.auto_commit_interval_ms.about": _("How often the library commits, where commits is auto."),
    "setting.kafka.group_max_size.about": _("A further member is refused. Without it there is no bound."),
    "setting.kafka.initial_rebalance_delay_ms.about": _(
        "How long an empty group waits for more members before its first rebalance."
    ),
    "setting.kafka.offsets_retention_minutes.about": _(
        "Committed offsets of an empty group are removed after so long."
    ),
    "setting.kafka.offsets_retention_check_interval_ms.about": _(
        "How often the coordinator looks for expired offsets."
    ),
    "setting.kafka.placement_seed.about": _(
        "From what the controller draws the places of replicas; without it from the lab’s seed."
    ),
    "setting.kafka.acks.about": _(
        "When a record counts as written: 0 at once, 1 when the leader has it, -1 (all) when the ISR has it."
    ),
    "setting.kafka.truncation.about": _("How a follower finds where its log parts from the leader’s."),
    "setting.kafka.group_protocol.about": _(
        "classic: members assign, all stop. consumer: KIP-848, the coordinator assigns step by step."
    ),
    "setting.kafka.remote_assignor.about": _(
        "Which assignor of the server a group of protocol consumer asks for."
    ),
    "setting.kafka.cleanup_policy.about": _(
        "What happens to old records: deleted by time and size, or only the newest of each key kept."
    ),
    "setting.kafka.unclean_election.about": _(
        "A replica that is not in sync may become leader: available sooner, and records may be lost."
    ),
    "setting.kafka.idempotence.about": _(
        "The producer numbers its records, so that a retry is not written twice; needs acks=-1."
    ),
    "setting.kafka.static_members.about": _(
        "Each consumer keeps its group.instance.id: a restart within the session moves nothing."
    ),
    "setting.kafka.commits.about": _(
        "When a program commits: by time (auto), after each poll (sync, async), or never."
    ),
    "setting.kafka.migration_policy.about": _(
        "Whether a group may change from one protocol to the other while it runs."
    ),
    "setting.kafka.group_coordinator.about": _(
        "new: the coordinator of 4.0. old: the Scala one, 3.9’s default, for classic groups."
    ),
    "setting.kafka.isolation_level.about": _(
        "read_committed: no record of a transaction that is open or was aborted."
    ),
    "setting.kafka.auto_offset_reset.about": _(
        "Where a group begins in a partition without a committed offset."
    ),
}
