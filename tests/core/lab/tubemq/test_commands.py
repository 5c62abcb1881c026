"""What a person may order of a TubeMQ lane: what each order does, and what is refused at which field."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.assignors import custom
from broker_core.lab.lab import Lab
from broker_core.lab.panels import panels_of
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.tubemq.tubemq_lab import at, kinds, lab_of, lane_of, order, seen

SMALL: dict[str, Any] = {"consumers": 2, "partitions": 6, "brokers": 3, "rate": 12}


def panel(lab: Lab) -> Any:
    return panels_of(lane_of(lab), ["tubemq"])["tubemq"]


def has(lab: Lab, name: str) -> list[str]:
    return panel(lab)["clients"][name]["has"]


def unread(lab: Lab) -> dict[str, str]:
    return {key: each["unread"]["code"] for key, each in panel(lab)["partitions"].items() if each["unread"]}


def refused(lab: Lab, kind: str, consumer: str | None = None, **args: Any) -> str:
    with pytest.raises(CommandError) as error:
        order(lab, kind, consumer, **args)
    return error.value.field


# -- clients -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("args", "code"), [({"source_count": 3}, 429), ({"node_id": 1}, 430)])
def test_client_that_starts_with_another_count_or_node_id_is_refused(args: dict[str, int], code: int) -> None:
    lab = lab_of(**SMALL)
    own = has_at(lab, 15, "c1")
    at(lab, 15, "tubemq_restart", "c1", **args)
    at(lab, 25)
    client = panel(lab)["clients"]["c1"]
    assert (client["state"], client["refused_code"], client["has"]) == ("refused", code, [])
    assert own and set(own) <= set(unread(lab))
    at(lab, 26, "tubemq_restart", "c1", source_count=2, node_id=0)
    at(lab, 40)
    assert has(lab, "c1") == own and unread(lab) == {}


def has_at(lab: Lab, second: float, name: str) -> list[str]:
    at(lab, second)
    return has(lab, name)


def test_count_that_nobody_uses_gives_nobody_anything() -> None:
    lab = lab_of(source_count=-1, **SMALL)
    at(lab, 15)
    assert set(unread(lab).values()) == {"count_off"} and panel(lab)["rule"]["source_count"] == -1
    assert {client["source_count"] for client in panel(lab)["clients"].values()} == {-2}


def test_join_in_the_wrong_order_is_refused_until_the_last_old_client_has_gone() -> None:
    lab = lab_of(scale_out="newcomer_first", **SMALL)
    at(lab, 15, "join")
    at(lab, 25)
    assert panel(lab)["clients"]["c3"]["refused_code"] == 429 and unread(lab) == {}
    at(lab, 25, "tubemq_restart", "c1", source_count=3)
    at(lab, 35)
    assert panel(lab)["clients"]["c1"]["refused_code"] == 429
    assert set(unread(lab).values()) == {"not_given"}, "no client with the group's count has node id 0"
    at(lab, 35, "tubemq_restart", "c2", source_count=3)
    at(lab, 50)
    assert unread(lab) == {} and {each["source_count"] for each in panel(lab)["clients"].values()} == {3}


def test_list_by_hand_replaces_the_rule_and_starts_where_it_says() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    theirs = has(lab, "c2")
    at(lab, 15, "tubemq_assign", "c1", partitions=[])
    at(lab, 20)
    assert has(lab, "c1") == [] and panel(lab)["clients"]["c1"]["by_hand"]
    mine = [key for key in panel(lab)["partitions"] if key not in theirs]
    assert {unread(lab)[key] for key in mine} == {"list_without"}
    at(lab, 21, "tubemq_assign", "c1", partitions=mine[:1], bootstrap={mine[0]: 30})
    assert panel(lab)["partitions"][mine[0]]["offset"] > 28
    at(lab, 21.02)
    assert panel(lab)["partitions"][mine[0]]["offset"] == 28, "rounded down to an entry"
    at(lab, 22, "tubemq_assign", "c1", partitions=None)
    at(lab, 30)
    assert has(lab, "c1") == sorted(mine) and unread(lab) == {}


def test_two_clients_with_the_same_partition_by_hand_fight_for_it() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    theirs = has(lab, "c2")[0]
    at(lab, 15, "tubemq_assign", "c1", partitions=[theirs])
    at(lab, 20)
    shown = panel(lab)["partitions"][theirs]
    assert shown["takers"] == ["c1", "c2"] and shown["owner"] == "c2"
    assert panel(lab)["clients"]["c1"]["pass"]["refused"] == {theirs: 410}


def test_call_keeps_its_answer_and_the_refusal_is_the_originals() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    theirs = has(lab, "c2")[0]
    events = at(lab, 15, "tubemq_call", "c1", call="connect2Partition", key="9:flights:0")
    assert kinds(events)[-2:] == ["client.called", "client.answered"]
    assert events[-1]["data"] == {
        "consumer": "c1", "client": "c1-1", "call": "connect2Partition", "argument": "9:flights:0, -1", "code": 404,
    }  # fmt: skip
    order(lab, "tubemq_call", "c1", call="connect2Partition", key=theirs)
    at(lab, 18)
    assert panel(lab)["clients"]["c1"]["calls"]["connect2Partition"]["code"] == 410
    order(lab, "tubemq_call", "c1", call="connect2Partition", key=theirs)
    assert panel(lab)["clients"]["c1"]["calls"]["connect2Partition"]["code"] == 421
    calls = panel(lab)["clients"]["c1"]["calls"]
    assert (
        len(calls) == 17 and calls["getSourceCount"]["value"] == 2 and calls["isShutdown"]["value"] is False
    )


def test_every_call_can_be_made_and_the_lab_lives_on() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    for number, call in enumerate(panel(lab)["clients"]["c1"]["calls"]):
        order(
            lab,
            "tubemq_call",
            "c1",
            call=call,
            key=["", "flights", "1:flights:0", "1:flights:0:4"][number % 4],
        )
        at(lab, 16 + number)
    at(lab, 60)
    assert panel(lab)["clients"]["c2"]["has"]


def test_batch_that_is_held_blocks_its_partition_until_it_is_confirmed() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15, "tubemq_hold", "c1")
    at(lab, 30)
    ((key, code),) = unread(lab).items()
    assert code == "unconfirmed" and panel(lab)["clients"]["c1"]["unconfirmed"] == [key]
    assert panel(lab)["clients"]["c1"]["contexts"][key].startswith(f"{key}:")
    at(lab, 30, "tubemq_confirm", "c1")
    at(lab, 45)
    assert (
        unread(lab) == {}
        and lane_of(lab).reads.redelivered() == 0
        and panel(lab)["partitions"][key]["lag"] < 9
    )


def test_batch_that_is_held_and_let_go_unconsumed_comes_again() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15, "tubemq_hold", "c1")
    at(lab, 25, "tubemq_confirm", "c1", consumed=False)
    at(lab, 35)
    assert lane_of(lab).reads.redelivered() > 0 and unread(lab) == {}


# -- brokers, topic, masters ---------------------------------------------------------------------------------


def test_broker_offline_is_released_waited_for_and_taken_again_by_the_same_clients() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    before = {name: has(lab, name) for name in ("c1", "c2")}
    at(lab, 15, "tubemq_offline", broker=2)
    at(lab, 60)
    shown = panel(lab)
    assert shown["brokers"]["2"]["state"] == "offline"
    assert unread(lab) == {"2:flights:0": "broker_offline", "2:flights:1": "broker_offline"}
    assert all("2:flights:0" not in has(lab, name) for name in before)
    assert shown["partitions"]["2:flights:0"]["takers"], "it stays assigned"
    at(lab, 60, "tubemq_online", broker=2)
    at(lab, 110)
    assert {name: has(lab, name) for name in before} == before and unread(lab) == {}
    lane = lane_of(lab)
    assert lane.reads.lag() < 20 and lane.ledger.tally is not None
    offsets = [each["lag"] for each in panel(lab)["partitions"].values()]
    assert max(offsets) < 20, "nothing was lost on the way"


@pytest.mark.parametrize(("over", "moves"), [("configured", False), ("subscribable", True)])
def test_only_over_the_subscribable_set_does_an_offline_broker_move_partitions_of_others(
    over: str, moves: bool
) -> None:
    lab = lab_of(algorithm="by_lag", over=over, consumers=4, partitions=12, brokers=3)
    at(lab, 15)
    before = {name: has(lab, name) for name in ("c1", "c2", "c3", "c4")}
    at(lab, 15, "tubemq_offline", broker=2)
    events = at(lab, 70)
    assert ("group.dealt" in kinds(events)) is moves
    stays = {name: [key for key in keys if key[0] != "2"] for name, keys in before.items()}
    assert ({name: has(lab, name) for name in before} != stays) is moves
    assert {code for key, code in unread(lab).items()} == {"broker_offline"}


@pytest.mark.parametrize("kind", ["tubemq_accept", "tubemq_black_list"])
def test_partitions_that_accept_no_subscription_are_released_and_taken_again(kind: str) -> None:
    lab = lab_of(**SMALL)
    args: Any = {"broker": 1, "accepts": False} if kind == "tubemq_accept" else {"listed": True}
    back: Any = {"broker": 1, "accepts": True} if kind == "tubemq_accept" else {"listed": False}
    at(lab, 15, kind, **args)
    at(lab, 60)
    assert len(unread(lab)) == (2 if kind == "tubemq_accept" else 6)
    assert set(unread(lab).values()) == {"no_subscribing" if kind == "tubemq_accept" else "black_listed"}
    at(lab, 60, kind, **back)
    at(lab, 110)
    assert unread(lab) == {}


@pytest.mark.parametrize("algorithm", ["modulo", "sticky", "by_lag", "server"])
def test_topic_that_is_expanded_has_its_new_partitions_read_and_published_to(algorithm: str) -> None:
    lab = lab_of(algorithm=algorithm, **SMALL)
    at(lab, 60, "tubemq_expand", broker=2, count=4)
    at(lab, 180)
    shown = panel(lab)["partitions"]
    assert "2:flights:3" in shown and len(shown) == 8 and unread(lab) == {}
    assert any(shown[key]["end"] for key in ("2:flights:2", "2:flights:3"))
    kept = lane_of(lab)
    assert sum(each["lag"] for each in shown.values()) < 60 and kept.reads.units().keys() == shown.keys()


def test_expanded_topic_is_there_after_a_checkpoint() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15, "tubemq_expand", broker=2, count=4)
    at(lab, 20)
    twin = Lab.restore(lab.scenario, lab.checkpoint())
    at(twin, 40)
    at(lab, 40)
    assert panel(twin) == panel(lab) and twin.view() == lab.view()


def test_standby_master_takes_over_and_the_clients_register_there_with_all_that_they_hold() -> None:
    lab = lab_of(masters=2, **SMALL)
    at(lab, 15)
    before = {name: has(lab, name) for name in ("c1", "c2")}
    at(lab, 15, "tubemq_failover")
    at(lab, 45)
    shown = panel(lab)
    assert {name: (each["is_active"], each["clients"]) for name, each in shown["masters"].items()} == {
        "master": (False, 0), "master-2": (True, 2),
    }  # fmt: skip
    assert {name: has(lab, name) for name in before} == before and unread(lab) == {}


# -- refusals of ours ----------------------------------------------------------------------------------------


def test_what_makes_no_sense_is_refused_at_its_field() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    assert refused(lab, "tubemq_offline", broker=9) == "args.broker"
    assert refused(lab, "tubemq_online", broker=1) == "args.broker"
    assert refused(lab, "tubemq_expand", broker=1, count=2) == "args.count"
    assert refused(lab, "tubemq_failover") == "lane"
    assert refused(lab, "tubemq_accept", broker=1, accepts=1) == "args.accepts"
    assert refused(lab, "tubemq_rule", source="import os") == "args.source"
    assert refused(lab, "tubemq_assign", "c1", partitions=["9:flights:0"]) == "args.partitions"
    assert (
        refused(lab, "tubemq_assign", "c1", partitions=[], bootstrap={"1:flights:0": 0}) == "args.bootstrap"
    )
    assert refused(lab, "tubemq_call", "c1", call="explode") == "args.call"
    assert refused(lab, "tubemq_hold", "c1", partition="9:flights:0") == "args.partition"
    assert refused(lab, "tubemq_restart", "c9") == "consumer"
    order(lab, "tubemq_offline", broker=1)
    assert refused(lab, "tubemq_expand", broker=1, count=9) == "args.broker"
    order(lab, "tubemq_offline", broker=2)
    assert refused(lab, "tubemq_offline", broker=3) == "args.broker", "the producer needs one"


def test_client_of_a_group_that_the_master_balances_has_no_calls() -> None:
    lab = lab_of(algorithm="server", **SMALL)
    at(lab, 15)
    assert refused(lab, "tubemq_call", "c1", call="getMessage") == "lane"
    assert refused(lab, "tubemq_rule", source=None) == "lane"


@pytest.mark.parametrize(
    ("option", "field"),
    [
        ({"masters": 3}, "masters"), ({"source_count": 3}, "source_count"), ({"over": "x"}, "over"),
        ({"scale_out": "x"}, "scale_out"), ({"partitions": 7}, "partitions"),
    ],
)  # fmt: skip
def test_option_that_makes_no_sense_is_refused_at_its_field(option: dict[str, Any], field: str) -> None:
    with pytest.raises(CommandError) as error:
        scenario_from_json({"lanes": [{"model": "tubemq", **option}]})
    assert error.value.field.endswith(f".{field}")


def test_sentence_says_what_the_operator_deals_out() -> None:
    lab = lab_of(algorithm="sticky", **SMALL)
    at(lab, 15, "join")
    assert seen(lab)["sentence"]["code"] == "tubemq.dealing"
    at(lab, 30)
    assert seen(lab)["sentence"] == {
        "code": "tubemq.dealt",
        "params": {**seen(lab)["sentence"]["params"], "partitions_moved": 2, "partitions_total": 6},
    }


EVERYTHING_TO_C2 = "def assign(members, partitions):\n    return {'c2': [(t, n) for t in partitions for n in range(partitions[t])]}"


@pytest.mark.parametrize("algorithm", ["modulo", "sticky"])
def test_own_rule_deals_the_partitions_out_until_the_lanes_rule_is_wanted_again(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        custom,
        "_runner",
        lambda _, members, partitions: {
            "assignment": {
                member: [[topic, number] for topic, count in partitions.items() for number in range(count)]
                if member == "c2"
                else []
                for member in members
            }
        },
    )
    lab = lab_of(algorithm=algorithm, **SMALL)
    at(lab, 15)
    before = {name: has(lab, name) for name in ("c1", "c2")}
    at(lab, 15, "tubemq_rule", source=EVERYTHING_TO_C2)
    at(lab, 30)
    assert (len(has(lab, "c1")), len(has(lab, "c2"))) == (0, 6) and unread(lab) == {}
    assert panel(lab)["rule"]["own"] == EVERYTHING_TO_C2 and panel(lab)["rule"]["source_count"] == -1
    at(lab, 30, "join")
    at(lab, 45)
    assert (len(has(lab, "c2")), has(lab, "c3")) == (6, [])
    at(lab, 45, "leave", "c3")
    at(lab, 55, "tubemq_rule", source=None)
    at(lab, 75)
    assert unread(lab) == {} and panel(lab)["rule"]["own"] is None
    if algorithm == "modulo":
        assert {name: has(lab, name) for name in before} == before
    else:
        assert [len(has(lab, name)) for name in before] == [3, 3]


@pytest.mark.parametrize("algorithm", ["modulo", "sticky", "by_lag"])
def test_own_rule_that_fails_is_told_with_its_line_and_the_shares_before_it_hold(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custom, "_runner", lambda *_: {"error": "KeyError: 'x'", "line": 2})
    lab = lab_of(algorithm=algorithm, **SMALL)
    at(lab, 15)
    before = {name: sorted(has(lab, name)) for name in ("c1", "c2")}
    events = at(lab, 15, "tubemq_rule", source=EVERYTHING_TO_C2) + at(lab, 35)
    assert "group.rule_failed" in kinds(events)
    assert {name: sorted(has(lab, name)) for name in before} == before and unread(lab) == {}
    failed = panel(lab)["rule"]["failed"]
    assert (failed["reason"], failed["line"]) == ("KeyError: 'x'", 2)
    monkeypatch.setattr(
        custom,
        "_runner",
        lambda _, members, partitions: {
            "assignment": {
                member: [[t, n] for t in partitions for n in range(partitions[t])] if member == "c2" else []
                for member in members
            }
        },
    )
    at(lab, 35, "tubemq_rule", source=EVERYTHING_TO_C2 + "\n")
    assert panel(lab)["rule"]["failed"] is None
    at(lab, 55)
    assert (has(lab, "c1"), len(has(lab, "c2"))) == ([], 6) and panel(lab)["rule"]["failed"] is None


def test_switched_lane_goes_through_the_orders_to_its_clients_and_brokers_again() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15, "tubemq_assign", "c1", partitions=["1:flights:0"])
    at(lab, 16, "tubemq_call", "c2", call="shutdown")
    at(lab, 17, "tubemq_expand", broker=3, count=3)
    for algorithm in ("server", "sticky"):
        at(lab, lab.now_us / 1_000_000 + 20)
        lab.submit(
            {
                "command_id": f"s-{algorithm}", "kind": "set_algorithm", "lane": "tubemq",
                "args": {"algorithm": algorithm},
            }
        )  # fmt: skip
        at(lab, lab.now_us / 1_000_000 + 20)
        assert "3:flights:2" in panel(lab)["partitions"]
    assert has(lab, "c1") == ["1:flights:0"] and panel(lab)["clients"]["c2"]["state"] == "stopped"


def test_bootstrap_offset_past_all_that_was_read_skips_what_lies_between() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15, "tubemq_assign", "c1", partitions=[])
    at(lab, 16, "tubemq_assign", "c2", partitions=[])
    at(lab, 40, "tubemq_assign", "c1", partitions=["1:flights:0"], bootstrap={"1:flights:0": 10**9})
    at(lab, 40.2)
    shown = panel(lab)["partitions"]["1:flights:0"]
    assert shown["owner"] == "c1" and shown["lag"] <= 1
    at(lab, 60)


def test_client_that_crashes_while_the_new_master_does_not_know_it_is_given_up_by_the_brokers() -> None:
    lab = lab_of(masters=2, **SMALL)
    at(lab, 15, "tubemq_failover")
    at(lab, 15.5, "crash", "c1")
    assert seen(lab)["sentence"]["code"] == "tubemq.crash_pending"
    at(lab, 50)
    assert seen(lab)["consumers"]["c1"]["state"] == "gone" and set(unread(lab).values()) == {"client_gone"}
