"""What an operator learns from a master about a group's assignment: what its members reported."""

from broker_core.tubemq import requests as r
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState, StepDown
from tests.core.playbook import Played, play
from tests.core.tubemq.balanced import KEYS, Cluster

META = ["t#1:1:3:1,2:1:3:1"]


def master() -> tuple[Master, Played]:
    return Master(MasterState(configured(META))), Played("master")


def test_groups_that_balance_for_themselves_are_listed_alone():
    node, out = master()
    play(
        node,
        out,
        1,
        r.RegisterRequestC2MV2("a", "own", 1, 0, ["t"]),
        r.RegisterRequestC2M("b", "served", ["t"]),
    )
    assert play(node, out, 9, r.QueryClientBalanceGroupSet()) == [(9, r.ClientBalanceGroupSet(["own"]))]


def test_members_partitions_are_those_of_their_last_report():
    node, out = master()
    play(node, out, 1, r.RegisterRequestC2MV2("a", "g", 2, 0, ["t"], ["t#x"]))
    play(node, out, 1, r.RegisterRequestC2MV2("b", "g", 2, 1, ["t"], ["t#x"], partitions=["2:t:1"]))
    play(node, out, 1, r.HeartRequestC2MV2("a", "g", ["1:t:1", "1:t:0"]), r.HeartRequestC2MV2("b", "g"))
    play(node, out, 1, r.GetPartMetaRequestC2M("a", "g", -2))
    ((_, answer),) = play(node, out, 9, r.QueryConsumeGroupDetail("g"))
    assert answer == r.ConsumeGroupDetail(
        "g", "client-rebalance", ["t"], {"t": ["x"]}, 2, True, [-2, -2, -2], 1, META,
        [r.MemberDetail("a", 0, ["1:t:0", "1:t:1"]), r.MemberDetail("b", 1, ["2:t:1"])],
    )  # fmt: skip


def test_group_that_is_not_there_has_no_members_and_a_standby_master_answers_nobody():
    node, out = master()
    assert play(node, out, 9, r.QueryConsumeGroupDetail("g")) == [(9, r.ConsumeGroupDetail("g"))]
    node.receive(0, StepDown(), 0, out)
    assert (
        play(node, out, 9, r.QueryConsumeGroupDetail("g"), r.QueryClientBalanceGroupSet())
        == [(9, r.STANDBY)] * 2
    )


def test_server_balanced_groups_assignment_is_what_its_members_hold():
    cluster = Cluster()
    cluster.join("a-1")
    cluster.join("b-1")
    cluster.wait(60)
    node, out = cluster.world.node("m1"), Played("m1")
    ((_, answer),) = play(node, out, 9, r.QueryConsumeGroupDetail("g"))
    assert answer.kind == "unbound" and answer.check == [1, 1, -2]
    assert [each.partitions for each in answer.members] == [KEYS[:3], KEYS[3:]]


def test_order_to_consume_from_the_end_is_for_groups_that_balance_for_themselves() -> None:
    node, out = Master(MasterState(configured(["t#1:1:2:1"]))), Played()
    play(
        node,
        out,
        1,
        r.RegisterRequestC2MV2("a", "own", -2, -2, ["t"]),
        r.RegisterRequestC2M("b", "served", ["t"]),
    )
    answers = {}
    for group in ("own", "served", "none"):
        ((_, answer),) = play(node, out, 9, r.SetClientBalanceGroupConsumeFromMax(group), now_us=7_000)
        answers[group] = answer.code, answer.from_max_id
    assert answers == {"own": (200, 7), "served": (404, -2), "none": (404, -2)}
    ((_, again),) = play(node, out, 9, r.SetClientBalanceGroupConsumeFromMax("own"), now_us=7_000)
    assert again.from_max_id == 8, "another order has another number"
    for client, group, number in (("a", "own", 8), ("b", "served", -2)):
        kind = r.HeartRequestC2MV2 if group == "own" else r.HeartRequestC2M
        ((_, heart),) = play(node, out, 1, kind(client, group, None))
        assert heart.from_max_id == number
    node.receive(0, StepDown(), 0, out)
    assert play(node, out, 9, r.SetClientBalanceGroupConsumeFromMax("own")) == [(9, r.STANDBY)]
