"""Panel `tubemq`: what the page of a TubeMQ lane draws."""

from typing import Any

import pytest

from broker_core.lab.panels import panels_of
from broker_core.tubemq.assignment import node_of
from tests.core.lab.tubemq.tubemq_lab import at, lab_of, lane_of, seen

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


def test_client_whose_process_starts_has_the_node_id_that_it_will_start_with() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15, "crash", "c1")
    at(lab, 16, "rejoin", "c1")
    shown = panel(lab)
    client = shown["clients"]["c1"]
    assert (client["state"], client["node_id"], client["source_count"]) == ("booting", 0, 2)
    waiting = [each for each in shown["partitions"].values() if each["node"] == client["node_id"]]
    assert waiting and {each["unread"]["code"] for each in waiting} == {"client_starting"}


def test_client_whose_process_starts_without_a_count_has_no_node_id() -> None:
    lab = lab_of(consumers=2, source_count=-1, **LANES)
    shown = panel(lab)
    assert {each["node_id"] for each in shown["clients"].values()} == {-2}


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


def why(lab: Any, key: str) -> Any:
    return panel(lab)["partitions"][key]["unread"]


@pytest.mark.parametrize("count", [5, -1])
def test_what_falls_to_a_client_of_another_count_is_given_to_none_and_names_both_counts(count: int) -> None:
    lab = lab_of(consumers=3, **LANES)
    at(lab, 15)
    own = panel(lab)["clients"]["c2"]["has"]
    at(lab, 16, "tubemq_restart", "c2", source_count=count)
    at(lab, 30)
    shown = panel(lab)
    assert shown["clients"]["c2"]["state"] == "refused" and shown["rule"]["source_count"] == 3
    for key in own:
        cause = {"code": "not_given", "node": 1, "group_count": 3, "consumer": "c2", "count": count}
        assert why(lab, key) == cause
        assert shown["partitions"][key]["node"] == 1
    given = sorted(key for key in shown["partitions"] if count > 0 and node_of(key, count) == 1)
    assert sorted(shown["clients"]["c2"]["takes"]) == given, "what it would take by its own count"
    for key, partition in shown["partitions"].items():
        assert partition["takers"] == ([] if key in own else [partition["owner"]])
        assert key in own or partition["unread"] is None


def test_partition_that_a_list_by_hand_leaves_out_names_the_client_with_the_list() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15)
    kept, *left = panel(lab)["clients"]["c1"]["has"]
    at(lab, 16, "tubemq_assign", "c1", partitions=[kept])
    at(lab, 30)
    shown = panel(lab)
    for key in left:
        assert why(lab, key) == {"code": "list_without", "consumer": "c1", "node_id": 0}
        assert shown["partitions"][key]["node"] == 0
    assert shown["partitions"][kept]["node"] is None, "the list overrules the modulo"
    theirs = panel(lab)["clients"]["c2"]["has"]
    at(lab, 31, "tubemq_assign", "c2", partitions=theirs)
    at(lab, 45)
    assert {why(lab, key)["code"] for key in left} == {"lists_without"}


def test_list_of_a_client_that_has_stopped_overrules_the_modulo() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15)
    kept = panel(lab)["clients"]["c1"]["has"][0]
    at(lab, 16, "tubemq_assign", "c2", partitions=[kept])
    at(lab, 40, "tubemq_call", "c2", call="shutdown")
    at(lab, 60)
    shown = panel(lab)["partitions"][kept]
    assert shown["node"] is None and shown["takers"][-1] == "c2"


def test_partition_that_no_deal_names_says_so() -> None:
    lab = lab_of(consumers=2, algorithm="sticky", over="subscribable", **LANES)
    at(lab, 15, "tubemq_accept", broker=2, accepts=False)
    at(lab, 60, "tubemq_accept", broker=2, accepts=True)
    at(lab, 60.1)
    shown = panel(lab)
    assert {why(lab, key)["code"] for key in shown["brokers"]["2"]["partitions"]} == {"not_dealt"}


def test_client_that_refuses_its_own_arguments_is_not_refused_by_a_master() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15, "tubemq_restart", "c2", node_id=7)
    at(lab, 25)
    client = panel(lab)["clients"]["c2"]
    assert (client["state"], client["refused_code"], client["is_own_refusal"]) == ("refused", 400, True)
    at(lab, 26, "tubemq_restart", "c2", node_id=0)
    at(lab, 35)
    client = panel(lab)["clients"]["c2"]
    assert (client["refused_code"], client["is_own_refusal"]) == (430, False)


def test_partition_that_two_lists_name_is_given_to_both_on_the_page_and_on_the_stage() -> None:
    lab = lab_of(consumers=2, source_count=-1, **LANES)
    at(lab, 12, "tubemq_assign", "c1", partitions=["1:flights:0", "1:flights:1"])
    at(lab, 20, "tubemq_assign", "c2", partitions=["1:flights:0", "2:flights:0"])
    at(lab, 30)
    page, stage = panel(lab)["partitions"]["1:flights:0"], seen(lab)["picture"]["partitions"]["1:flights:0"]
    assert page["takers"] == ["c1", "c2"] and page["owner"] == stage["owner"] == "c1"
    assert (stage["assigned"], stage["also"]) == ("c1", ["c2"])
    given = {"consumer": "c2", "code": 410, "partition": "1:flights:0", "holder": "c1"}
    assert seen(lab)["sentence"] == {"code": "tubemq.given_twice", "params": given}
    other = seen(lab)["picture"]["partitions"]["2:flights:0"]
    assert (other["assigned"], other["also"]) == ("c2", [])


def test_broker_that_is_down_has_no_owners_once_its_clients_have_noticed() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15, "tubemq_offline", broker=2)
    at(lab, 55)
    shown = panel(lab)
    for key in shown["brokers"]["2"]["partitions"]:
        holders = [name for name, client in shown["clients"].items() if key in client["has"]]
        assert (shown["partitions"][key]["owner"], shown["partitions"][key]["owner_until_us"]) == (None, None)
        assert holders == []


def test_what_a_client_may_not_subscribe_is_what_its_own_map_says() -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15, "tubemq_accept", broker=2, accepts=False)
    at(lab, 15.1)
    shown = panel(lab)
    theirs = shown["brokers"]["2"]["partitions"]
    assert all(not shown["partitions"][key]["is_subscribable"] for key in theirs)
    assert all(client["closed"] == [] for client in shown["clients"].values()), "no map names it yet"
    at(lab, 60)
    assert all(client["closed"] == theirs for client in panel(lab)["clients"].values())


def test_client_that_waits_for_a_release_is_not_said_to_wait_for_an_old_session() -> None:
    lab = lab_of(consumers=2, source_count=-1, **LANES)
    at(lab, 12, "tubemq_assign", "c1", partitions=["1:flights:0"])
    at(lab, 20, "tubemq_hold", "c1", partition="1:flights:0")
    at(lab, 30, "tubemq_assign", "c1", partitions=[])
    at(lab, 30, "tubemq_assign", "c2", partitions=["1:flights:0"])
    at(lab, 33)
    waits = {"consumer": "c2", "code": 410, "partition": "1:flights:0", "holder": "c1"}
    assert lane_of(lab).sentence == {"code": "tubemq.not_released", "params": waits}
    at(lab, 50)
    assert panel(lab)["partitions"]["1:flights:0"]["owner"] == "c2"


def test_partition_that_a_dead_process_is_registered_for_waits_until_its_broker_lets_go() -> None:
    """A new process of the same consumer has another client id: they are not one client."""
    lab = lab_of(consumers=2)
    at(lab, 12, "crash", "c1")
    at(lab, 14, "rejoin", "c1")
    seen_ghosts = 0
    for half in range(30, 120):
        at(lab, half / 2)
        shown = panel(lab)
        for key, each in shown["partitions"].items():
            if each["is_ghost"] and shown["clients"]["c1"]["state"] == "started":
                seen_ghosts += 1
                cause = {"code": "ghost", "consumer": "c1", "node_id": 0, "owner": "c1"}
                assert each["unread"] == cause | {"until_us": each["owner_until_us"]}, key
    assert seen_ghosts and all(each["unread"] is None for each in panel(lab)["partitions"].values())


def test_partition_that_the_masters_map_does_not_show_yet_waits_for_its_cycle_and_then_for_a_pass() -> None:
    """A pass before the cycle gets the map that was."""
    lab = lab_of(consumers=1, **LANES)
    at(lab, 15, "tubemq_expand", broker=3, count=3)
    new = "3:flights:2"
    for second in (16, 29):
        at(lab, second)
        why = panel(lab)["partitions"][new]["unread"]
        assert (why["code"], why["until_us"]) == ("master_map", 30_000_000), second
    at(lab, 31)
    why = panel(lab)["partitions"][new]["unread"]
    assert why["code"] == "old_map" and 31_000_000 < why["until_us"] < 41_000_000
    at(lab, 41)
    assert panel(lab)["partitions"][new]["unread"] is None


def test_partition_that_a_pass_under_way_has_still_to_connect_does_not_wait_for_the_next_pass() -> None:
    lab = lab_of(consumers=3, algorithm="sticky", **LANES)
    at(lab, 12, "tubemq_assign", "c3", partitions=["1:flights:0", "1:flights:1"])
    at(lab, 12.1)
    waiting = panel(lab)["partitions"]
    codes = {key: each["unread"]["code"] for key, each in waiting.items() if each["unread"]}
    assert set(codes.values()) <= {"this_pass", "occupied"} and codes, codes
    for key, each in waiting.items():
        if (
            each["owner"]
            and key in panel(lab)["clients"][each["owner"]]["has"]
            and each["owner"] in each["takers"]
        ):
            assert each["unread"] is None, "it is registered, and read"
    at(lab, 14)
    assert all(each["unread"] is None for each in panel(lab)["partitions"].values())


def test_all_of_a_partition_is_by_the_groups_count_not_by_that_of_a_client_it_refuses() -> None:
    """c3 starts with count 3 in a group of 2, and c1 after it: what c1 leaves no client with count 2 takes."""
    lab = lab_of(consumers=2, scale_out="newcomer_first", **LANES)
    at(lab, 10, "join")
    at(lab, 25, "tubemq_restart", "c1", source_count=3)
    for second in (26, 30):
        at(lab, second)
        shown = panel(lab)
        assert shown["rule"]["source_count"] == 2 and {"2:flights:1"} < set(shown["clients"]["c3"]["takes"])
        unread = {key: each for key, each in shown["partitions"].items() if each["unread"]}
        assert {*unread} == {key for key, each in shown["partitions"].items() if each["node"] == 0} != set()
        for each in unread.values():
            cause = {"code": "not_given", "node": 0, "group_count": 2, "consumer": "c1", "count": 3}
            assert (each["takers"], each["unread"]) == ([], cause)
        read = [each for key, each in shown["partitions"].items() if key not in unread]
        assert {(each["owner"], *each["takers"]) for each in read} == {("c2", "c2")}


def test_a_client_that_is_there_with_the_groups_count_is_named_not_one_of_another_count() -> None:
    """c1 crashes; c2, with its node id and another count, is refused."""
    lab = lab_of(consumers=3, **LANES)
    at(lab, 15, "crash", "c1")
    at(lab, 16, "tubemq_restart", "c2", source_count=5, node_id=0)
    at(lab, 25)
    shown = panel(lab)["partitions"].values()
    fallen = [each for each in shown if each["node"] == 0]
    assert fallen and {each["unread"]["consumer"] for each in fallen} == {"c1"}
    assert {each["unread"]["code"] for each in fallen} == {"client_crashed"}
    left = [each["unread"] for each in shown if each["node"] == 1]
    assert left and all(each == {"code": "not_given", "node": 1, "group_count": 3} for each in left)


def test_partition_that_is_read_is_so_while_no_master_says_the_groups_count() -> None:
    """Without a master the count is the one to start with, 3; c2 reads on by the group's, 2."""
    lab = lab_of(consumers=2, scale_out="newcomer_first", **LANES)
    at(lab, 10, "join")
    at(lab, 25, "tubemq_master_offline", master=1)
    at(lab, 26)
    shown = panel(lab)
    assert shown["rule"]["source_count"] == 3 and shown["clients"]["c3"]["state"] == "starting"
    assert all(each["owner"] and each["unread"] is None for each in shown["partitions"].values())


def test_a_list_by_hand_gives_its_partitions_whatever_count_its_client_has() -> None:
    lab = lab_of(consumers=3, **LANES)
    at(lab, 15)
    key = panel(lab)["clients"]["c2"]["has"][0]
    at(lab, 16, "tubemq_assign", "c2", partitions=[key])
    at(lab, 20, "tubemq_restart", "c2", source_count=5)
    at(lab, 35)
    shown = panel(lab)["partitions"][key]
    assert (shown["node"], shown["takers"]) == (None, ["c2"])
    assert shown["unread"]["code"] == "client_refused"
    assert (shown["unread"]["count"], shown["unread"]["group_count"]) == (5, 3)


@pytest.mark.parametrize(
    ("kind", "args", "code"),
    [
        ("tubemq_accept", {"broker": 3, "accepts": False}, "no_subscribing"),
        ("tubemq_black_list", {"listed": True}, "black_listed"),
    ],
)
def test_partition_that_may_not_be_subscribed_is_read_until_its_client_releases_it(
    kind: str, args: Any, code: str
) -> None:
    lab = lab_of(consumers=2, **LANES)
    at(lab, 15, kind, **args)
    at(lab, 16)
    shown = panel(lab)["partitions"]
    closed = [key for key, each in shown.items() if not each["is_subscribable"]]
    assert closed and all(shown[key]["unread"] is None and shown[key]["owner"] for key in closed)
    at(lab, 60)
    shown = panel(lab)["partitions"]
    assert all(shown[key]["unread"]["code"] == code and shown[key]["owner"] is None for key in closed)


def test_partition_that_a_cycle_has_planned_waits_for_its_losers_report_then_for_its_gainers_heartbeat() -> (
    None
):
    lab = lab_of(consumers=2, algorithm="server", **LANES)
    at(lab, 60, "join")
    causes: list[Any] = []
    for second in range(61, 140):
        at(lab, second)
        shown = panel(lab)
        for key, each in shown["partitions"].items():
            unread = each["unread"]
            if unread is not None:
                assert unread["code"] in ("loser_reports", "gainer_hears", "gainer_registers"), unread
                assert unread["consumer"] == "c3" and each["takers"] == ["c3"]
                assert key in shown["clients"]["c3"]["takes"]
                until_us = unread.get("until_us")
                assert (
                    unread["code"] == "gainer_registers" or 0 <= until_us - second * 1_000_000 <= 13_100_000
                )
                causes += [unread["code"]] if causes[-1:] != [unread["code"]] else []
            elif each["owner"] not in each["takers"]:
                assert each["takers"] == ["c3"], "planned, and read until its loser hears"
    assert causes[:2] == ["loser_reports", "gainer_hears"]
    assert all(each["owner"] == each["takers"][0] for each in panel(lab)["partitions"].values())


@pytest.mark.parametrize("algorithm", ["server", "modulo"])
def test_while_no_master_is_active_that_is_the_cause_and_no_cycle_is_promised(algorithm: str) -> None:
    lab = lab_of(consumers=2, algorithm=algorithm, **LANES)
    at(lab, 60, "tubemq_master_offline", master=1)
    assert all(each["unread"] is None for each in panel(lab)["partitions"].values()), "brokers ask no master"
    at(lab, 61, "crash", "c1")
    at(lab, 62, "rejoin", "c1")
    for second in (70, 85, 100):
        at(lab, second)
        shown = panel(lab)
        causes = [each["unread"] for each in shown["partitions"].values() if each["unread"]]
        assert shown["cycle_us"] is None and causes
        for cause in causes:
            assert (cause["code"], "until_us" in cause) == ("no_master", False), cause
