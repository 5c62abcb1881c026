"""The course that the lessons make: where each one stands, how hard it is, and which moment shows it best.

One table for all lessons that come along, in the order in which they are read. `key_s` is a moment of the
lesson's own run, in virtual seconds: dashboard/stills draws it.
"""

from dataclasses import dataclass
from functools import cache

FIRST, DEEPER, EXPERT = LEVELS = ("first", "deeper", "expert")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a lesson stands. chapter: of CHAPTERS. level: of LEVELS. key_s: when its key frame is."""

    chapter: str
    level: str
    key_s: float


START = (
    "four_models_one_crash",
    "pulsar_ring_join",
    "kafka_group_protocols",
    "kafka_cluster_high_watermark",
    "kafka_cluster_acks",
    "rabbitmq_fast_and_slow",
)
"""What someone new begins with, in this order: one lesson of each kind. Each is in its chapter, too."""

CHAPTERS: dict[str, dict[str, dict[str, float]]] = {
    "hashing": {
        FIRST: {
            "pulsar_ring_join": 20,
            "pulsar_four_split_and_merge": 22,
            "pulsar_four_types": 20,
            "pulsar_shared_turns": 20,
            "pulsar_broadcast": 35,
            "pulsar_exclusive_refusal": 5,
            "pulsar_failover_two_partitions": 15,
        },
        DEEPER: {
            "pulsar_ring_against_ranges": 25,
            "pulsar_restart_under_a_new_name": 32,
            "pulsar_sticky_newcomer": 20,
            "pulsar_failover_nine_partitions": 65,
            "pulsar_failover_one_topic": 15,
            "pulsar_dead_letters": 20,
            "pulsar_cumulative_acks": 33,
            "pulsar_sent_twice": 10,
        },
        EXPERT: {
            "pulsar_ring_against_ranges_sixteen": 70,
            "pulsar_newcomer_read_position": 10,
            "pulsar_newcomer_waits": 32,
            "pulsar_one_stuck_consumer": 25,
            "pulsar_out_of_order_allowed": 25,
            "pulsar_batches_and_keys": 40,
        },
    },
    "assignors": {
        FIRST: {
            "kafka_eager_join": 61.5,
            "kafka_range_odd_partitions": 8,
            "kafka_group_range_two_topics": 19,
            "kafka_group_exclusive": 25,
            "kafka_group_protocols": 15.2,
            "four_models_one_crash": 90,
        },
        DEEPER: {
            "kafka_cooperative_join": 13,
            "kafka_round_robin_against_sticky": 20,
            "kafka_balance_before_stickiness": 16,
            "kafka_group_c1_leaves": 36,
            "kafka_group_unequal_subscriptions": 21,
            "kafka_crash_session_timeout": 30,
            "kafka_group_auto_commit": 25,
            "kafka_group_static_restart": 17,
            "kafka_group_stuck_or_crashed": 28,
            "kafka_group_triggers": 20,
        },
        EXPERT: {
            "kafka_dead_leader": 20,
            "kafka_restart_meets_its_ghost": 25,
            "kafka_group_zombie": 30,
            "kafka_group_coordinator_failover": 23,
            "kafka_group_migration": 50,
            "kafka_group_two_bounces": 60,
        },
    },
    "log": {
        FIRST: {"kafka_group_broadcast": 30},
        DEEPER: {"kafka_log_compaction": 32, "kafka_cluster_idempotence": 45},
        EXPERT: {"kafka_group_offsets_expire": 100},
    },
    "replication": {
        FIRST: {
            "kafka_cluster_high_watermark": 9.3,
            "kafka_cluster_acks": 18.5,
            "kafka_cluster_isr": 20,
        },
        DEEPER: {
            "kafka_cluster_min_insync": 14,
            "kafka_cluster_lag_time_or_messages": 18,
            "kafka_cluster_two_crashes": 40,
            "kafka_cluster_unclean_election": 40,
            "kafka_cluster_zombie": 26,
        },
        EXPERT: {
            "kafka_cluster_data_loss": 35.5,
            "kafka_cluster_divergence": 52,
            "kafka_cluster_one_way_cut": 30,
        },
    },
    "tubemq": {
        FIRST: {
            "tubemq_join_restarts_everybody": 13,
            "tubemq_surplus_clients_idle": 10,
            "tubemq_server_wait": 65,
            "tubemq_chosen_partitions": 20,
            "tubemq_master_failover": 25,
        },
        DEEPER: {
            "tubemq_ghost_holds_the_node_id": 16,
            "tubemq_wrong_source_count": 20,
            "tubemq_scale_out_order": 30,
            "tubemq_topic_expanded": 60,
            "tubemq_broker_offline": 60,
            "tubemq_own_rule": 20,
        },
        EXPERT: {
            "tubemq_source_count_off": 25,
            "tubemq_bootstrap_offset": 26,
            "tubemq_unconfirmed_batch": 40,
        },
    },
    "rabbitmq": {
        FIRST: {
            "rabbitmq_one_to_one": 10,
            "rabbitmq_fast_and_slow": 20,
            "rabbitmq_publish_subscribe": 10,
            "rabbitmq_routing": 10,
        },
        DEEPER: {
            "rabbitmq_topics": 15,
            "rabbitmq_mandatory_returned": 8,
            "rabbitmq_alternate_exchange": 12,
            "rabbitmq_consistent_hash": 24,
            "rabbitmq_dies_before_ack": 11.9,
            "rabbitmq_crash_requeue": 16,
            "rabbitmq_qos_with_auto_ack": 20,
            "rabbitmq_priority_queue": 20,
            "rabbitmq_queue_maximum": 15,
            "rabbitmq_single_active_consumer": 15,
            "rabbitmq_server_restart": 19,
        },
        EXPERT: {
            "rabbitmq_retry_ladder": 20,
            "rabbitmq_poison_message": 12,
            "rabbitmq_consumer_timeout": 20,
            "rabbitmq_vhost_isolation": 12,
        },
    },
}
"""Chapter -> level -> lesson -> key_s; chapters in the order of the articles, levels from first to expert."""


@cache
def places() -> dict[str, Place]:
    """Lesson -> where it stands, in the order of the course."""
    return {
        name: Place(chapter, level, key_s)
        for chapter, levels in CHAPTERS.items()
        for level, lessons in levels.items()
        for name, key_s in lessons.items()
    }
