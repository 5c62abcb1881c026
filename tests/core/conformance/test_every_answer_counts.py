"""No recorded answer is looked away from: any single value of it changed, or a list cut short, fails its
case.

A runner that skips a field passes a wrong answer for ever. What a row asks, and the recorder's own notes, are
named in QUESTIONS; every other value in the shortest rows that show it must count.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest

from broker_core.conformance.kinds import KINDS
from tests.core.conformance.recorded import Place, at, is_noticed, recorded, values, with_other

pytestmark = pytest.mark.slow

ROWS_LOOKED_AT = 20
NOTES = ("id", "name", "kind", "note", "seed")
STEP_FIELDS = (
    "op", "ch", "conn", "vhost", "user", "password", "capabilities", "channel_max", "ms", "body", "count", "first",
    "body_repeat", "props", "arguments", "queue", "exchange", "type", "passive", "durable", "auto_delete", "internal",
    "exclusive", "nowait", "if_unused", "if_empty", "source", "destination", "routing_key", "consumer_tag", "no_ack",
    "no_local", "mandatory", "immediate", "delivery_tag", "multiple", "requeue", "prefetch_size", "prefetch_count",
    "global", "active", "reply_code", "reply_text", "hex",
)  # fmt: skip
STEPS_ASKED = ("steps.*.op", "steps.*.at_ms", "steps.*.args", "steps.*.args.*", "config.*", "steps")
GROUP_ASKED = (
    "config.*",
    "start_ms",
    "member_ids.*",
    "topics.*",
    "topics",
    "racks",
    "steps.*.request.*",
    "steps.*.request_no",
    "steps.*.at_ms",
    "steps",
    # Texts, how long a client must wait, and what the harness says of a member: comparable() leaves them out.
    "*.throttleTimeMs",
    "*.errorMessage",
    "*.error",
    "*.from",
    "*.new",
)

AMQP_ASKED = (
    "setup*",
    "theme",
    "cut",
    "repeat_runs*",
    "steps",
    *(f"steps.*.{field}" for field in STEP_FIELDS),
    "steps.*.arguments.*",
    "steps.*.props.*",
    "steps.*.capabilities.*",
    # The present time of the recording.
    "*.time*",
)

QUESTIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("murmur", "strings"): ("s",),
    ("murmur", "bytes"): ("bytes_b64",),
    ("auto_split", "cases"): ("range_size", "keys", "keys.*", "steps", "steps.*.op", "steps.*.c"),
    ("consistent_hash", "cases"): (
        "points",
        "names.*",
        "keys",
        "keys.*",
        "full",
        "steps",
        "steps.*.op",
        "steps.*.c",
    ),
    ("sticky_ranges", "cases"): (
        "range_size",
        "keys",
        "keys.*",
        "slots",
        "slots.*",
        "steps",
        "steps.*.op",
        "steps.*.c",
        "steps.*.ranges",
        "steps.*.ranges.*",
    ),
    ("sticky_ranges", "client_validate"): ("ranges", "ranges.*"),
    ("failover", "cases"): (
        "topics",
        "topics.*",
        "names.*",
        "ch",
        "steps",
        "steps.*.op",
        "steps.*.c",
        "steps.*.priority",
    ),
    ("shared_dispatch", "cases"): (
        "steps",
        "steps.*.op",
        "steps.*.c",
        "steps.*.priority",
        "steps.*.permits",
        "steps.*.n",
        "steps.*.take",
    ),
    # key_pending_on_two_consumers repeats what the step's `pending` says.
    ("key_shared_order_3_2", "cases"): (
        "mode",
        "allow_out_of_order",
        "read_batch",
        "steps",
        "steps.*.op",
        "steps.*.c",
        "steps.*.n",
        "steps.*.name",
        "steps.*.permits",
        "steps.*.keys",
        "steps.*.keys.*",
        "steps.*.positions",
        "steps.*.positions.*",
        "steps.*.ranges*",
        "*key_pending_on_two_consumers*",
    ),
    ("partitioner", "murmur2"): ("hex",),
    ("partitioner", "groups"): ("group",),
    ("partitioner", "sticky"): (
        "queue_sizes*",
        "partition_ids*",
        "length",
        "partitions_in_topic",
        "picks",
        "picks.*.*",
    ),
    ("mod_assign", "cases"): ("source_count", "partitions", "partitions.*"),
    ("mod_assign", "scale_changes"): ("partitions", "partitions.*", "from_source_count", "to_source_count"),
    ("mod_assign", "single_checks"): ("partition", "source_count", "node_id"),
    ("meta_expand", "cases"): ("brokers*", "topic_meta*", "meta_id", "second_meta_id", "second_topic_meta*"),
    ("set_difference", "cases"): (
        "source_count",
        "node_id",
        "meta_query_error",
        "partition_subscribable.*",
        "registered_before*",
        "stored_offsets.*",
        "connect_error.*",
        "disconnect_error.*",
    ),
    ("broker_register", "cases"): (
        "broker_id",
        "topics.*",
        "min_offset",
        "max_offset",
        "batch_messages",
        "stored_offsets.*",
        "steps",
        "steps.*.do.*",
        "steps.*.result.msg",
        "steps.*.do.partitions.*",
    ),
    ("master_register", "cases"): (
        "brokers.*",
        "auth_required_topics.*",
        "auth_required_topics",
        "steps",
        "steps.*.do.*",
        "steps.*.result.msg",
    ),
    ("client_life", "cases"): (
        "brokers.*",
        "log.*",
        "steps",
        "steps.*.do.*",
        "steps.*.result.msg",
    ),
    ("server_start_assign", "cases"): (
        "brokers.*",
        "topics",
        "topics.*",
        "consumers_in_join_order",
        "consumers_in_join_order.*",
        "allowed_broker_client_rate",
    ),
    ("server_cycles", "cases"): (
        "brokers.*",
        "topics",
        "topics.*",
        "cycles",
        "cycles.*.before*",
        "cycles.*.rule",
        "cycles.*.subscribable*",
        "cycles.*.consumer_order*",
        "cycles.*.held_order*",
        "cycles.*.unassigned_order*",
        "cycles.*.random_choices*",
    ),
    ("server_resource_rate", "cases"): ("allowed_broker_client_rate", "steps", "steps.*.do"),
    ("consumer_protocol", "subscriptions"): ("topics*", "user_data", "owned*", "generation", "rack"),
    ("consumer_protocol", "assignments"): ("partitions", "partitions.*"),
    ("consumer_protocol", "sticky_user_data"): ("partitions*", "before_first_assignment"),
    ("consumer_protocol", "malformed_or_newer"): ("hex", "subscription_outcome"),
    ("group_coordinator", "cases"): GROUP_ASKED,
    ("group_coordinator_old", "cases"): (*GROUP_ASKED, "same_as_new"),
    ("batches", "batches_sets"): ("reencode", "hex"),
    ("corrupt", "cases"): ("base", "change", "hex", "batches.*.records_cause"),
    ("compaction_filter", "cases"): (
        "batch_retention",
        "control_batches_are_for_empty_txn",
        "current_time",
        "delete_retention_ms",
        "keep_offsets*",
        "input_hex",
        "compare",
        # The input in fields is for the reader; what is read is its bytes.
        "input",
        "input.*",
    ),
    ("varint_crc", "malformed"): ("hex",),
    ("epoch_cache", "cases"): STEPS_ASKED,
    ("sessions", "sessions"): AMQP_ASKED,
    ("topology", "scenarios"): AMQP_ASKED,
    ("topic_routing", "multi"): ("bindings*", "messages", "messages.[*]", "messages.[*].[*]"),
    ("direct_fanout_headers", "cases"): (
        "type",
        "bindings",
        "bindings.*.queue",
        "bindings.*.key",
        "bindings.*.arguments*",
        "messages",
        "messages.*.key",
        "messages.*.headers*",
    ),
    ("erlang_hash", "phash2"): ("value", "value*"),
    ("erlang_hash", "jump"): ("key", "buckets"),
    ("frames", "sessions"): ("frames", "frames.*.hex", "frames.*.from", "*closed"),
    ("producer_state", "cases"): (*STEPS_ASKED, "producer_id_expiration_ms", "transaction_verification"),
    ("unified_log", "cases"): (*STEPS_ASKED, "producer_id_expiration_ms", "transaction_verification"),
    ("partition", "cases"): (*STEPS_ASKED, "local_broker", "min_insync_replicas", "replicas*"),
    ("fetcher", "cases"): (*STEPS_ASKED, "truncation", "brokers*", "min_insync_replicas"),
    ("controller", "cases"): (*STEPS_ASKED, "setup.*", "initial.*", "java_random_seed"),
}

FILES = {
    "group_coordinator": "kafka/group/classic",
    "group_coordinator_old": "kafka/group/classic_old_scala",
} | {
    kind: f"{folder}/{kind}"
    for folder, kinds in {
        "pulsar": (
            "murmur",
            "auto_split",
            "consistent_hash",
            "sticky_ranges",
            "failover",
            "shared_dispatch",
            "key_shared_order_3_2",
        ),
        "rabbitmq": (
            "sessions",
            "topology",
            "topic_routing",
            "direct_fanout_headers",
            "erlang_hash",
            "frames",
        ),
        "tubemq": (
            "mod_assign",
            "meta_expand",
            "set_difference",
            "broker_register",
            "master_register",
            "client_life",
            "server_start_assign",
            "server_cycles",
            "server_resource_rate",
        ),
        "kafka": ("partitioner", "consumer_protocol"),
        "kafka/records": ("batches", "corrupt", "compaction_filter", "varint_crc"),
        "kafka/replication": (
            "epoch_cache",
            "producer_state",
            "unified_log",
            "partition",
            "fetcher",
            "controller",
        ),
    }.items()
    for kind in kinds
}


def shape(place: Place) -> str:
    """A place with "*" for a number in a list and for a name that a row chose: two places of one shape hold
    the same figure."""
    parts: list[str] = []
    for step in place:
        is_name = isinstance(step, int) or not step.isidentifier() or bool(parts and parts[-1] in CHOSEN)
        parts.append("*" if is_name else str(step))
    return ".".join(parts)


CHOSEN = frozenset(
    {
        "members",
        "state",
        "assigned",
        "target",
        "assigned_partitions",
        "selected",
        "removed",
        "added",
        "reported_ranges",
        "owned_by_node",
    }
)
"""Below these a row's own names stand."""


def looked_through(rows: list[Any]) -> list[Any]:
    """Rows from all over the file, the short ones first: they run quickly. Where two coordinators part, not
    all of a case has to match."""
    whole = [row for row in rows if row.get("same_as_new", True)]
    return sorted(whole[:: max(1, len(whole) // ROWS_LOOKED_AT)], key=lambda row: len(str(row)))


def answers(kind: str, section: str, rows: list[Any]) -> list[tuple[Any, Place]]:
    """Of each shape of an answer the first place that has it, with its row."""
    asked = (*NOTES, *QUESTIONS[kind, section])
    found: dict[str, tuple[Any, Place]] = {}
    for row in rows:
        for place, _ in values(row):
            form = shape(place)
            if form not in found and not any(fnmatchcase(form, question) for question in asked):
                found[form] = (row, place)
    return list(found.values())


@pytest.mark.parametrize(("kind", "section"), QUESTIONS, ids=lambda part: part)
def test_any_other_answer_fails_its_case(kind: str, section: str) -> None:
    file = FILES[kind]
    rows = looked_through(recorded(file)[section])
    looked_at = answers(kind, section, rows)
    assert looked_at
    passed_over = [
        (row, place)
        for row, place in looked_at
        if not is_noticed(kind, file, section, with_other(row, place))
    ]
    assert [
        f"{row.get('id', row.get('name'))}: {shape(place)} = {at(row, place)!r:.60}"
        for row, place in passed_over
    ] == []


def test_the_table_of_questions_knows_every_list_of_every_kind_but_the_assignors() -> None:
    assignors = {"assignors", "assignors_rack", "assignor_sequences"}
    assert set(QUESTIONS) == {
        (kind.name, section) for kind in KINDS if kind.name not in assignors for section in kind.sections
    }
