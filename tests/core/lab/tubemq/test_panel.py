"""Panel `tubemq`: what the page of a TubeMQ lane draws."""

from typing import Any

from broker_core.lab.panels import panels_of
from tests.core.lab.tubemq.tubemq_lab import at, lab_of, lane_of

LANES = {"partitions": 6, "brokers": 3}


def panel(lab: Any) -> Any:
    return panels_of(lane_of(lab), ["tubemq"])["tubemq"]


def test_at_rest_each_client_has_what_the_rule_gives_it_and_every_partition_is_read() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15)
    shown = panel(lab)
    for client in shown["clients"].values():
        assert client["state"] == "started" and client["takes"] == client["has"] != []
        assert client["releases"] == client["registers"] == []
    for key, partition in shown["partitions"].items():
        (taker,) = partition["takers"]
        assert partition["owner"] == taker and key in shown["clients"][taker]["has"]
        assert partition["is_shown"] is True and partition["unread"] is None


def test_partitions_of_a_crashed_client_name_it_as_the_cause() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15)
    own = panel(lab)["clients"]["c1"]["has"]
    at(lab, 16, "crash", "c1")
    shown = panel(lab)
    for key in own:
        assert shown["partitions"][key]["unread"]["code"] == "client_crashed"
        assert shown["partitions"][key]["unread"]["consumer"] == "c1"
    assert all(shown["partitions"][key]["unread"] is None for key in shown["clients"]["c2"]["has"])


def test_lane_without_consumers_says_so_at_each_partition() -> None:
    lab = lab_of(consumers=1, **LANES)
    at(lab, 5, "leave", "c1")
    at(lab, 10)
    shown = panel(lab)
    assert shown["clients"] == {} and shown["cycle_us"] is None
    assert {each["unread"]["code"] for each in shown["partitions"].values()} == {"no_client"}


def test_the_modulos_arithmetic_is_that_of_the_owner() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15)
    shown = panel(lab)
    for partition in shown["partitions"].values():
        assert partition["node"] == partition["hash"] % 2 == shown["clients"][partition["owner"]]["node_id"]


def test_an_operators_query_is_answered_from_what_the_clients_reported() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 5)
    members = panel(lab)["query"]["members"]
    assert [each["partitions"] for each in members] == [[], []], (
        "they report with their heartbeats, 13 s apart"
    )
    at(lab, 16)
    shown = panel(lab)
    assert shown["query"]["kind"] == "client-rebalance"
    for each in shown["query"]["members"]:
        (client,) = [own for own in shown["clients"].values() if own["client_id"] == each["client_id"]]
        assert (each["node_id"], each["partitions"]) == (client["node_id"], client["has"])
