"""Whatever command a lab carries out: a lane that it changed does not say that nothing has changed, and any
other lane still does."""

from typing import Any

import pytest

from broker_core.events import Json
from broker_core.lab.commands import COMMANDS
from broker_core.lab.commands.base import ConsumerCommand, LabCommand
from broker_core.lab.commands.rabbitmq_clients import OpenCommand
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from dashboard.presentation import present
from dashboard.sentences import catalogue

LANES: list[dict[str, Any]] = [
    {"model": "kafka", "partitions": 4, "brokers": 3},
    {"model": "pulsar", "receipts": True},
    {"model": "pulsar", "id": "sticky", "algorithm": "sticky"},
    {"model": "tubemq", "masters": 2},
    {"model": "rabbitmq"},
]
EVERY, KAFKA, PULSAR, RABBITMQ, TUBEMQ = (
    ["kafka", "pulsar", "sticky", "tubemq", "rabbitmq"],
    ["kafka"],
    ["pulsar", "sticky"],
    ["rabbitmq"],
    ["tubemq"],
)
PLACE: Json = {"topic": "records", "partition": 0}
LINK = {"one": "broker-1", "other": "broker-2"}

DECLARED: tuple[str, Json] = ("rabbitmq_declare_exchange", {"name": "x", "type": "topic"})
BINDING: Json = {"source": "x", "destination": "records", "destination_type": "queue", "routing_key": "a"}

CASES: dict[str, tuple[list[str], Json, list[tuple[str, Json]]]] = {
    "join": (EVERY, {}, []),
    "leave": (EVERY, {}, []),
    "crash": (EVERY, {}, []),
    "rejoin": (EVERY, {}, [("crash", {})]),
    "pause": (EVERY, {}, []),
    "resume": (EVERY, {}, [("pause", {})]),
    "slow": (EVERY, {"rate": 3}, []),
    "set_algorithm": (KAFKA, {"algorithm": "sticky"}, []),
    "set_order": (["pulsar"], {"order": "draining"}, []),
    "cluster_stop": (KAFKA, {"broker": 2}, []),
    "cluster_crash": (KAFKA, {"broker": 2}, []),
    "cluster_cut_power": (KAFKA, {"broker": 2}, []),
    "cluster_lose_disk": (KAFKA, {"broker": 2}, []),
    "cluster_pause": (KAFKA, {"broker": 2}, []),
    "cluster_resume": (KAFKA, {"broker": 2}, [("cluster_pause", {"broker": 2})]),
    "cluster_come_back": (KAFKA, {"broker": 2}, [("cluster_crash", {"broker": 2})]),
    "cluster_slow_disk": (KAFKA, {"broker": 2, "write_us": 9}, []),
    "cluster_skew_clock": (KAFKA, {"broker": 2, "skew_ms": 9}, []),
    "cluster_cut_link": (KAFKA, LINK, []),
    "cluster_heal_link": (KAFKA, LINK, [("cluster_cut_link", LINK)]),
    "cluster_slow_link": (KAFKA, {**LINK, "delay_us": 9}, []),
    "cluster_create_topic": (KAFKA, {"topic": "t", "partitions": 2}, []),
    "cluster_reassign": (KAFKA, {**PLACE, "replicas": [3, 2, 1]}, []),
    "cluster_elect": (KAFKA, PLACE, [("cluster_reassign", {**PLACE, "replicas": [3, 2, 1]})]),
    "cluster_add_partitions": (KAFKA, {"topic": "records", "count": 6}, []),
    "cluster_send_record": (KAFKA, {"partition": 1}, []),
    "cluster_set_acks": (KAFKA, {"acks": 1}, []),
    "cluster_start_writer": (KAFKA, {"writer": 1, "topic": "t"}, [("cluster_create_topic", {"topic": "t"})]),
    "cluster_pause_writer": (
        KAFKA,
        {"writer": 1},
        [("cluster_create_topic", {"topic": "t"}), ("cluster_start_writer", {"writer": 1, "topic": "t"})],
    ),
    "cluster_resume_writer": (
        KAFKA,
        {"writer": 1},
        [
            ("cluster_create_topic", {"topic": "t"}),
            ("cluster_start_writer", {"writer": 1, "topic": "t"}),
            ("cluster_pause_writer", {"writer": 1}),
        ],
    ),
    "group_freeze": (KAFKA, {}, []),
    "group_thaw": (KAFKA, {}, [("group_freeze", {})]),
    "group_stick": (KAFKA, {}, []),
    "group_unstick": (KAFKA, {}, [("group_stick", {})]),
    "group_restart": (KAFKA, {}, []),
    "group_subscribe": (KAFKA, {"topics": ["records"]}, []),
    "group_assignor": (KAFKA, {"source": None}, []),
    "group_pause_partition": (KAFKA, {"partition": 0}, []),
    "group_seek": (KAFKA, {"partition": 0, "to": "end"}, []),
    "group_resume_partition": (KAFKA, {"partition": 0}, [("group_pause_partition", {"partition": 0})]),
    "group_commit": (KAFKA, {"partition": 0, "offset": 1}, []),
    "group_reset_offsets": (KAFKA, {"partition": 0, "offset": 0}, []),
    "pulsar_hold_acks": (PULSAR, {}, []),
    "pulsar_release_acks": (PULSAR, {}, [("pulsar_hold_acks", {})]),
    "pulsar_redeliver": (PULSAR, {}, []),
    "pulsar_seek": (PULSAR, {"entry": 0}, []),
    "pulsar_priority": (PULSAR, {"level": 1}, []),
    "pulsar_unsubscribe": (PULSAR, {}, []),
    "pulsar_ranges": (["sticky"], {"ranges": [[0, 9]]}, []),
    "pulsar_lose_receipts": (["pulsar"], {"seconds": 2}, []),
    "rabbitmq_declare_exchange": (RABBITMQ, {"name": "x", "type": "topic"}, []),
    "rabbitmq_delete_exchange": (RABBITMQ, {"name": "x"}, [DECLARED]),
    "rabbitmq_declare_queue": (RABBITMQ, {"name": "q"}, []),
    "rabbitmq_delete_queue": (RABBITMQ, {"name": "records"}, []),
    "rabbitmq_bind": (RABBITMQ, BINDING, [DECLARED]),
    "rabbitmq_unbind": (RABBITMQ, BINDING, [DECLARED, ("rabbitmq_bind", BINDING)]),
    "rabbitmq_publish": (RABBITMQ, {"routing_key": "records"}, []),
    "rabbitmq_purge": (RABBITMQ, {"name": "records"}, []),
    "rabbitmq_get": (RABBITMQ, {"name": "records"}, []),
    "rabbitmq_vhost": (RABBITMQ, {"name": "v"}, []),
    "rabbitmq_user": (RABBITMQ, {"name": "u"}, []),
    "rabbitmq_change_user": (RABBITMQ, {"user": "guest", "tags": ["monitoring"]}, []),
    "rabbitmq_delete_user": (RABBITMQ, {"user": "u"}, [("rabbitmq_user", {"name": "u"})]),
    "rabbitmq_delete_vhost": (RABBITMQ, {"vhost": "v"}, [("rabbitmq_vhost", {"name": "v"})]),
    "rabbitmq_permissions": (RABBITMQ, {"user": "guest", "vhost": "/"}, []),
    "rabbitmq_topic_permissions": (RABBITMQ, {"user": "guest", "vhost": "/", "exchange": "amq.topic"}, []),
    "rabbitmq_trace": (RABBITMQ, {"connection": 0}, []),
    "rabbitmq_alarm": (RABBITMQ, {"resource": "memory"}, []),
    "rabbitmq_import": (RABBITMQ, {"definitions": {}}, []),
    "rabbitmq_stop": (RABBITMQ, {}, []),
    "rabbitmq_crash": (RABBITMQ, {}, []),
    "rabbitmq_start": (RABBITMQ, {}, [("rabbitmq_crash", {})]),
    "rabbitmq_consume": (RABBITMQ, {"prefetch": 1}, []),
    "rabbitmq_settle": (RABBITMQ, {"how": "ack"}, []),
    "tubemq_restart": (TUBEMQ, {"source_count": 9}, []),
    "tubemq_assign": (TUBEMQ, {"partitions": ["1:records:0"]}, []),
    "tubemq_call": (TUBEMQ, {"call": "getNodeId"}, []),
    "tubemq_hold": (TUBEMQ, {}, []),
    "tubemq_confirm": (TUBEMQ, {}, []),
    "tubemq_offline": (TUBEMQ, {"broker": 2}, []),
    "tubemq_online": (TUBEMQ, {"broker": 2}, [("tubemq_offline", {"broker": 2})]),
    "tubemq_accept": (TUBEMQ, {"broker": 2, "accepts": False}, []),
    "tubemq_black_list": (TUBEMQ, {"listed": True}, []),
    "tubemq_expand": (TUBEMQ, {"broker": 2, "count": 9}, []),
    "tubemq_failover": (TUBEMQ, {}, []),
    "tubemq_master_offline": (TUBEMQ, {"master": 1}, []),
    "tubemq_master_online": (TUBEMQ, {"master": 1}, [("tubemq_master_offline", {"master": 1})]),
    "tubemq_consume_from_max": (TUBEMQ, {}, []),
    "tubemq_rule": (TUBEMQ, {"source": None}, []),
}
"""Kind -> the lanes that it changes when it is ordered in all, its arguments, and what must have been ordered
before."""
ONE_LANE = ("set_algorithm", "set_order", "pulsar_ranges")
OF_EMPTY_GROUP = ("group_reset_offsets",)
OF_OWNERS = ("group_pause_partition", "group_resume_partition", "group_seek")
"""Of a partition that the consumer owns, so not before the start has come to rest."""
SECONDS, STEPS_US, SECOND = {"as it starts": 0, "at rest": 12}, (0, 2_000_000, 10_000_000), 1_000_000


@pytest.fixture(scope="module")
def words() -> dict[str, str]:
    return catalogue()["en"]


def order(lab: Lab, kind: str, args: Json, lane: str) -> None:
    consumer = "c1" if issubclass(COMMANDS[kind], ConsumerCommand) else None
    lab.submit(
        {"command_id": f"n{lab.position}", "kind": kind, "lane": lane, "consumer": consumer, "args": args}
    )


def texts(lab: Lab, words: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Of each lane: its sentence, why figures are missing, and its bill."""
    view = lab.view()
    return {
        lane["id"]: {
            "sentence": lane["slots"]["sentence"],
            "reasons": [figure["reason"] for figure in lane["figures"]],
            "bill": view["lanes"][lane["id"]]["bill"],
        }
        for lane in present(view, words)["lanes"]
    }


def is_nothing(said: str, words: dict[str, str]) -> bool:
    return said.startswith((words["none"], words["none_dark"].partition("{")[0]))


def test_table_has_every_kind_that_changes_a_lane() -> None:
    """An open lane says who is connected, whatever is ordered (test_open_lane.py)."""
    without = (LabCommand, OpenCommand)
    assert set(CASES) == {kind for kind, command in COMMANDS.items() if not issubclass(command, without)}


def orders() -> list[tuple[str, str, str]]:
    """Kind, moment and scope of each order that there is: to one lane as well where it is not one lane that it
    changes in all of them."""
    return [
        (kind, moment, scope)
        for kind, (changed, _, _) in CASES.items()
        for moment in SECONDS
        for scope in ("all lanes", "one lane")
        if (kind not in ONE_LANE if scope == "all lanes" else kind in ONE_LANE or len(changed) > 1)
        and not (moment == "as it starts" and kind in OF_OWNERS)
    ]


@pytest.mark.parametrize(("kind", "moment", "scope"), orders())
def test_a_lane_that_was_changed_does_not_say_that_nothing_has(
    kind: str, moment: str, scope: str, words: dict[str, str]
) -> None:
    changed, args, before = CASES[kind]
    count = 0 if kind in OF_EMPTY_GROUP else 3
    lab = Lab(
        scenario_from_json(
            {"lanes": LANES, "consumers": count, "workload": {"kind": "uniform", "keys": 20, "rate": 9}}
        )
    )
    lab.advance_to(SECONDS[moment] * SECOND)
    lane = changed[0] if scope == "one lane" else "all"
    for earlier, its_args in before:
        order(lab, earlier, its_args, lane)
        lab.advance_to(lab.now_us + 300_000)
    order(lab, kind, args, lane)
    changed = changed if lane == "all" else [lane]
    for step_us in STEPS_US:
        lab.advance_to(lab.now_us + step_us)
        said = texts(lab, words)
        assert [each for each in changed if is_nothing(said[each]["sentence"], words)] == []
        for each in said.values():
            assert not any(is_nothing(reason, words) for reason in each["reasons"])
            assert each["bill"] is None or words["figure.none"] not in each["reasons"]
    assert [each for each in changed if said[each]["sentence"] == words["under_way"]] == []
    if count:
        assert [
            each for each in EVERY if each not in changed and not is_nothing(said[each]["sentence"], words)
        ] == []
