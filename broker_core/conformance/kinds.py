"""Which kinds of vector files there are, how each is recognized, and what runs it.

A kind is recognized by its content: a list under a known name, whose rows have the fields that only this kind
has. The file's name decides only where the content cannot, that is for a list without rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from broker_core.conformance import (
    erlang_hash,
    kafka,
    kafka_controller,
    kafka_epochs,
    kafka_fetcher,
    kafka_group,
    kafka_group_bytes,
    kafka_log,
    kafka_partition,
    kafka_records,
    pulsar,
    pulsar_dispatch,
    rabbitmq,
    rabbitmq_frames,
    rabbitmq_routing,
    tubemq,
    tubemq_balance,
    tubemq_broker,
    tubemq_client,
    tubemq_master,
)
from broker_core.conformance.result import CaseResult

Document = dict[str, Any]
Runner = Callable[[Document], Iterator[CaseResult]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of vector file. sections: list in the document -> fields of a row that together only this kind
    has. step: a field of the row's steps, where the rows of several kinds have the same. files: the names of
    its files, where there are several or another one."""

    name: str
    sections: dict[str, set[str]]
    run: Runner
    step: str = ""
    files: tuple[str, ...] = ()

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names, without suffix, that its files have."""
        return self.files or (self.name,)

    def recognises(self, document: Document) -> bool:
        """Whether one of the document's lists has rows of this kind."""
        return any(
            row.keys() >= fields and (not self.step or any(self.step in step for step in row["steps"]))
            for section, fields in self.sections.items()
            if (row := _first(document, section))
        )


KINDS = (
    Kind(
        "sessions",
        {"sessions": {"theme", "setup", "steps", "final"}},
        rabbitmq.run_sessions,
        files=("sessions", "consistent_hash_exchange"),
    ),
    Kind(
        "topology",
        {"scenarios": {"id", "note", "steps", "repeat_runs"}},
        rabbitmq.run_sessions,
        files=("topology", "dispatch"),
    ),
    Kind(
        "topic_routing",
        {"multi": {"name", "bindings", "messages"}},
        rabbitmq_routing.run_topic_routing,
    ),
    Kind(
        "direct_fanout_headers",
        {"cases": {"type", "bindings", "messages"}},
        rabbitmq_routing.run_direct_fanout_headers,
    ),
    Kind(
        "erlang_hash",
        {"phash2": {"kind", "value", "hash"}, "jump": {"key", "buckets", "bucket"}},
        erlang_hash.run_erlang_hash,
    ),
    Kind("murmur", {"strings": {"s", "masked"}, "bytes": {"bytes_b64", "masked"}}, pulsar.run_murmur),
    Kind("auto_split", {"cases": {"steps", "keys", "murmur31"}}, pulsar.run_auto_split),
    Kind("consistent_hash", {"cases": {"points", "names", "steps", "keys"}}, pulsar.run_consistent_hash),
    Kind(
        "sticky_ranges",
        {"cases": {"range_size", "steps", "slots"}, "client_validate": {"ranges", "result"}},
        pulsar.run_sticky_ranges,
    ),
    Kind("failover", {"cases": {"topics", "names", "steps"}}, pulsar_dispatch.run_failover, "notified"),
    Kind("shared_dispatch", {"cases": {"id", "steps"}}, pulsar_dispatch.run_shared_dispatch, "index_after"),
    Kind(
        "key_shared_order_3_2",
        {"cases": {"allow_out_of_order", "read_batch", "steps"}},
        pulsar_dispatch.run_key_shared_order,
    ),
    Kind(
        "partitioner",
        {"murmur2": {"hex", "murmur2"}, "groups": {"group", "hash_code"}, "sticky": {"queue_sizes", "picks"}},
        kafka.run_partitioner,
    ),
    # Before the plain assignors, whose fields a row with racks has as well.
    Kind(
        "assignors_rack", {"scenarios": {"partition_racks", "members", "results"}}, kafka.run_assignors_rack
    ),
    Kind("assignors", {"scenarios": {"topics", "members", "results"}}, kafka.run_assignors),
    Kind("assignor_sequences", {"sequences": {"assignor", "steps"}}, kafka.run_assignor_sequences),
    Kind(
        "consumer_protocol",
        {
            "subscriptions": {"encoded", "decoded"},
            "assignments": {"encoded", "decoded_partitions"},
            "sticky_user_data": {"before_first_assignment", "hex"},
            "malformed_or_newer": {"hex", "subscription_outcome"},
        },
        kafka_group_bytes.run_consumer_protocol,
    ),
    # Before the new coordinator, whose fields a row of the old one has as well.
    Kind(
        "group_coordinator_old",
        {"cases": {"start_ms", "member_ids", "steps", "same_as_new"}},
        kafka_group.run_group_coordinator_old,
        files=("classic_old_scala", "offsets_old_scala"),
    ),
    # Before the logs, whose cases have a configuration and steps as well.
    Kind(
        "group_coordinator",
        {"cases": {"start_ms", "member_ids", "steps"}},
        kafka_group.run_group_coordinator,
        files=("classic", "offsets", "consumer_protocol_848"),
    ),
    Kind("batches", {"batches_sets": {"hex", "batches", "reencode"}}, kafka_records.run_batches),
    Kind("corrupt", {"cases": {"hex", "change", "batch_iteration"}}, kafka_records.run_corrupt),
    Kind("compaction_filter", {"cases": {"input_hex", "keep_offsets"}}, kafka_records.run_compaction_filter),
    Kind("varint_crc", {"malformed": {"hex", "read_varlong"}}, kafka_records.run_varint_crc),
    Kind("epoch_cache", {"cases": {"checkpoint_file_after", "steps"}}, kafka_epochs.run_epoch_cache),
    # The same steps on the same log; only the first names an expiration in every case.
    Kind(
        "producer_state",
        {"cases": {"name", "config", "producer_id_expiration_ms", "steps"}},
        kafka_log.run_log,
    ),
    Kind("unified_log", {"cases": {"name", "config", "steps"}}, kafka_log.run_log),
    Kind(
        "partition",
        {"cases": {"local_broker", "min_insync_replicas", "steps"}},
        kafka_partition.run_partition,
    ),
    Kind("controller", {"cases": {"kind", "name", "steps"}}, kafka_controller.run_controller),
    Kind("fetcher", {"cases": {"truncation", "brokers", "steps", "final_logs"}}, kafka_fetcher.run_fetcher),
    Kind(
        "mod_assign",
        {
            "cases": {"source_count", "partitions", "owned_by_node"},
            "scale_changes": {"from_source_count", "to_source_count"},
            "single_checks": {"partition", "mine"},
        },
        tubemq.run_mod_assign,
    ),
    Kind("meta_expand", {"cases": {"topic_meta", "second_topic_meta"}}, tubemq.run_meta_expand),
    Kind("frames", {"sessions": {"name", "frames"}}, rabbitmq_frames.run_frames),
    Kind(
        "set_difference",
        {"cases": {"partition_subscribable", "registered_before"}},
        tubemq.run_set_difference,
    ),
    Kind(
        "broker_register",
        {"cases": {"batch_messages", "stored_offsets", "steps"}},
        tubemq_broker.run_broker_register,
    ),
    Kind(
        "master_register",
        {"cases": {"brokers", "auth_required_topics", "steps"}},
        tubemq_master.run_master_register,
    ),
    Kind(
        "server_start_assign",
        {"cases": {"consumers_in_join_order", "expected"}},
        tubemq_balance.run_server_start_assign,
    ),
    Kind("client_life", {"cases": {"brokers", "log", "steps"}}, tubemq_client.run_client_life),
    Kind("server_cycles", {"cases": {"brokers", "topics", "cycles"}}, tubemq_balance.run_server_cycles),
    Kind(
        "server_resource_rate",
        {"cases": {"allowed_broker_client_rate", "steps"}},
        tubemq_balance.run_server_resource_rate,
    ),
)


def kind_of(document: Document, file_name: str) -> Kind | None:
    """Tell the kind of a document. file_name: without folder, with or without suffixes. None: a kind we do
    not know.

    >>> kind_of({"cases": [{"topic_meta": [], "second_topic_meta": []}]}, "renamed.json").name
    'meta_expand'
    """
    stem = file_name.split(".")[0]
    for kind in KINDS:
        if kind.recognises(document):
            return kind
    for kind in KINDS:
        if stem in kind.file_names and any(document.get(section) == [] for section in kind.sections):
            return kind
    return None


def _first(document: Document, section: str) -> dict[str, Any] | None:
    rows = document.get(section)
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None
