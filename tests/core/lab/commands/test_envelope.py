"""What all commands share: the first field that is wrong decides, either name of the lane is as good, and the
journal's entry reads back."""

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS, CONSUMER_KINDS, check_command, command_from_json
from broker_core.lab.commands.base import ConsumerCommand, LabCommand, LaneCommand

SOURCE = "def assign(members, partitions):\n    return {}\n"
NEEDED: dict[str, dict[str, Any]] = {
    "slow": {"rate": 3},
    "speed": {"speed": 2.5},
    "record_rate": {"rate": 50},
    "play_until": {"until_us": 9, "speed": 0.5},
    "set_algorithm": {"algorithm": "range"},
    "set_order": {"order": "draining"},
    "cluster_slow_disk": {"broker": 2, "write_us": 5},
    "cluster_skew_clock": {"broker": 1, "skew_ms": -5},
    "cluster_cut_link": {"one": "broker-1", "other": "c1", "one_way": True},
    "cluster_heal_link": {"one": "broker-1", "other": "controller"},
    "cluster_slow_link": {"one": "broker-1", "other": "producer", "delay_us": 7},
    "cluster_create_topic": {"topic": "t", "partitions": 2},
    "cluster_reassign": {"topic": "t", "partition": 1, "replicas": [2, 1]},
    "cluster_elect": {"topic": "t", "partition": 0, "unclean": True},
    "cluster_set_acks": {"acks": 0},
    "cluster_start_writer": {"writer": 1, "topic": "t"},
    "cluster_pause_writer": {"writer": 1},
    "cluster_resume_writer": {"writer": 1},
    "cluster_add_partitions": {"topic": "t", "count": 4},
    "group_restart": {"down_s": 3, "assignors": ["range", "sticky"], "protocol": "classic"},
    "group_subscribe": {"topics": ["b", "a", "b"]},
    "pulsar_seek": {"time_us": 0},
    "pulsar_priority": {"level": 2},
    "group_pause_partition": {"partition": 1},
    "group_resume_partition": {"topic": "t", "partition": 1},
    "group_seek": {"partition": 1, "to": "end"},
    "group_commit": {"partition": 1, "offset": 7},
    "group_reset_offsets": {"topic": "t", "partition": 0, "offset": 0},
    "cluster_send_record": {"partition": 1, "key": "k", "value": "v"},
    "pulsar_ranges": {"ranges": [[0, 9]]},
    "join": {"count": 3, "priority": 1},
    "rabbitmq_declare_exchange": {"name": "x", "type": "topic"},
    "rabbitmq_delete_exchange": {"name": "x", "if_unused": True},
    "rabbitmq_declare_queue": {"name": "q", "arguments": {"x-max-length": 3}},
    "rabbitmq_delete_queue": {"name": "q", "if_empty": True},
    "rabbitmq_bind": {"source": "x", "destination": "q", "routing_key": "#"},
    "rabbitmq_unbind": {"source": "x", "destination": "q"},
    "rabbitmq_publish": {"routing_key": "q", "headers": {"a": 1}, "body": "b", "priority": 0},
    "rabbitmq_purge": {"name": "q"},
    "rabbitmq_get": {"name": "q", "then": "ack"},
    "rabbitmq_vhost": {"name": "shop"},
    "rabbitmq_user": {"name": "bob", "tags": ["administrator"]},
    "rabbitmq_change_user": {"user": "bob", "tags": ["monitoring"]},
    "rabbitmq_delete_user": {"user": "bob"},
    "rabbitmq_delete_vhost": {"vhost": "shop"},
    "rabbitmq_permissions": {"user": "bob", "vhost": "/", "read": ""},
    "rabbitmq_topic_permissions": {"user": "bob", "vhost": "/", "exchange": "x", "write": "^a"},
    "rabbitmq_trace": {"connection": 3, "channel": 1, "seconds": 5},
    "rabbitmq_socket": {
        "acts": [{"do": "open", "socket": 1}, {"do": "bytes", "socket": 1, "data": "QU1RUA=="}]
    },
    "rabbitmq_fault": {"do": "delay", "method": "basic.publish", "ms": 5},
    "rabbitmq_fault_end": {"fault": 1},
    "rabbitmq_alarm": {"resource": "disk"},
    "rabbitmq_import": {"definitions": {"queues": [{"name": "q", "vhost": "/"}]}},
    "rabbitmq_consume": {"ack": "never", "prefetch": 0},
    "rabbitmq_settle": {"how": "nack", "requeue": False},
    "tubemq_restart": {"source_count": -1, "node_id": 2},
    "tubemq_assign": {"partitions": ["1:t:0"], "bootstrap": {"1:t:0": 28}},
    "tubemq_call": {"call": "connect2Partition", "key": "1:t:0", "number": 56, "filters": "a,b"},
    "tubemq_hold": {"partition": "1:t:0"},
    "tubemq_confirm": {"consumed": False},
    "tubemq_offline": {"broker": 2},
    "tubemq_online": {"broker": 2},
    "tubemq_master_offline": {"master": 2},
    "tubemq_master_online": {"master": 2},
    "tubemq_accept": {"broker": 2, "accepts": False},
    "tubemq_black_list": {"listed": False},
    "tubemq_expand": {"broker": 2, "count": 9},
}
"""Arguments of kinds that need some, or have something to lose on the way to the journal and back."""


def raw_of(kind: str) -> dict[str, Any]:
    needed = NEEDED.get(kind, {"broker": 1} if kind.startswith("cluster_") else {})
    consumer = "c1" if issubclass(COMMANDS[kind], ConsumerCommand) else None
    lane = "kafka" if kind in ("set_algorithm", "set_order") else "all"
    return {"command_id": "x1", "kind": kind, "lane": lane, "consumer": consumer, "args": needed}


@pytest.mark.parametrize("kind", COMMANDS)
def test_entry_of_the_journal_reads_back_as_the_same_command(kind: str) -> None:
    command = command_from_json(raw_of(kind))
    assert (
        command_from_json(command.to_json()) == command
        and check_command(command.to_json()) == command.to_json()
    )


@pytest.mark.parametrize("kind", COMMANDS)
def test_entry_has_every_argument_of_its_kind_or_leaves_it_to_its_default(kind: str) -> None:
    command = command_from_json(raw_of(kind))
    assert set(command.args()) <= COMMANDS[kind].ARGS
    assert set(command.said()) <= set(command.args()) | (
        {"own"} if kind in ("group_assignor", "tubemq_rule") else set()
    )
    assert NEEDED.get(kind, {}).keys() <= command.args().keys()


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("extra", {"extra": 1}),
    ("command_id", {"command_id": "-x"}),
    ("kind", {"kind": "explode"}),
    ("lane", {"lane": "K"}),
    ("args", {"args": 5}),
    ("args.colour", {"args": {"colour": 1}}),
    ("consumer", {"consumer": ""}),
]
"""Each field of a request made wrong, in the order in which they are looked at."""


@pytest.mark.parametrize("first", range(len(WRONG)))
def test_of_several_wrong_fields_the_first_one_decides(first: int) -> None:
    raw: dict[str, Any] = {"command_id": "x1", "kind": "leave"}
    for _, change in reversed(WRONG[first:]):
        raw |= (
            {"args": {**change["args"], **raw.get("args", {})}}
            if isinstance(change.get("args"), dict) and first == 5
            else change
        )
    with pytest.raises(CommandError) as refused:
        command_from_json(raw)
    assert refused.value.field == WRONG[first][0]


def test_arguments_left_out_and_null_are_none() -> None:
    assert command_from_json({"command_id": "x1", "kind": "join"}) == command_from_json(
        {"command_id": "x1", "kind": "join", "args": None}
    )


def test_field_that_is_no_name_is_not_repeated_to_whoever_sent_it() -> None:
    for raw, field in (({"<b>": 1}, "command"), ({"args": {"<b>": 1}}, "args")):
        with pytest.raises(CommandError) as refused:
            command_from_json({"command_id": "x1", "kind": "join", **raw})
        assert refused.value.field == field and "<b>" not in refused.value.reason


def test_place_and_time_of_the_journal_are_known_fields_that_a_command_does_not_keep() -> None:
    assert check_command({"command_id": "x1", "kind": "play", "position": 4, "at_us": 9}).keys() == {
        "command_id",
        "kind",
        "lane",
        "consumer",
        "args",
    }


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind, made in COMMANDS.items()
        if issubclass(made, (LabCommand, LaneCommand)) or kind[:4] == "set_"
    ],
)
def test_order_that_is_about_no_consumer_refuses_one(kind: str) -> None:
    with pytest.raises(CommandError, match="leave this out") as refused:
        command_from_json(raw_of(kind) | {"consumer": "c1"})
    assert refused.value.field == "consumer" and kind not in CONSUMER_KINDS


@pytest.mark.parametrize("kind", [kind for kind in COMMANDS if issubclass(COMMANDS[kind], ConsumerCommand)])
def test_order_about_a_consumer_asks_for_its_name_before_its_arguments(kind: str) -> None:
    with pytest.raises(CommandError, match=f"name the consumer for {kind}") as refused:
        command_from_json(
            raw_of(kind) | {"consumer": None, "args": dict.fromkeys(COMMANDS[kind].ARGS, "wrong")}
        )
    assert refused.value.field == "consumer" and kind in CONSUMER_KINDS


@pytest.mark.parametrize("kind", ["play", "play_until", "pause_lab", "step", "speed", "record_rate"])
def test_order_to_the_lab_belongs_to_no_lane(kind: str) -> None:
    with pytest.raises(CommandError, match="whole lab") as refused:
        command_from_json(raw_of(kind) | {"lane": "kafka", "consumer": "c1"})
    assert refused.value.field == "lane"
