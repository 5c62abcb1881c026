"""What the controller tells people of its decisions: which rule chose a leader, who left the ISR and who
came, and what it was decided from."""

from typing import Any

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster.elections import tell_change
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.replication.partition_state import LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionRegistration
from tests.core.kafka.cluster.controller_desk import ControllerDesk
from tests.core.kafka.cluster.nodes import MS, Out

LED = PartitionRegistration((1, 2, 3), (1, 2, 3), 1, 4, 9)
RECOVERING = LeaderRecoveryState.RECOVERING
PREFERRED, UNCLEAN = 0, 1


def told(
    before: PartitionRegistration | None, now: PartitionRegistration, rule: str = "kafka.controller.heartbeat"
) -> Any:
    out = Out()
    tell_change(("t", 5), before, now, rule, out)  # type: ignore[arg-type]
    return out


def name(kind: str) -> str:
    return kind.removeprefix("kafka.partition.")


# --- one change


def test_a_change_of_leader_says_what_was_and_what_is_and_what_made_the_controller_look() -> None:
    out = told(LED, LED._replace(leader=2, leader_epoch=5, isr=(2, 3), partition_epoch=10))
    (kind, inputs, data), _ = out.facts
    assert (kind, inputs) == (
        "kafka.partition.leader_changed",
        {"leader": 1, "isr": [1, 2, 3], "replicas": [1, 2, 3], "decided_by": "kafka.controller.heartbeat"},
    )
    assert data == {
        "topic": "t",
        "partition": 5,
        "leader": 2,
        "leader_epoch": 5,
        "isr": [2, 3],
        "partition_epoch": 10,
    }


def test_a_change_of_the_isr_names_who_left_and_who_came() -> None:
    out = told(LED._replace(isr=(1, 2)), LED._replace(isr=(3, 1)))
    ((kind, _, data),) = out.facts
    assert (name(kind), data["left"], data["came"], out.told[0][1]) == (
        "isr_changed",
        [2],
        [3],
        "kafka.controller.heartbeat",
    )


def test_the_same_members_in_another_order_are_no_change() -> None:
    assert told(LED, LED._replace(isr=(3, 1, 2), partition_epoch=10)).facts == []


def test_of_a_partition_that_is_new_its_command_says_enough() -> None:
    assert told(None, LED).facts == []


@pytest.mark.parametrize(
    ("now", "rule", "chosen_by"),
    [
        ({"leader": -1, "isr": (1,)}, "kafka.controller.session_timeout", "nobody_in_isr"),
        ({"leader": 2}, "kafka.controller.session_timeout", "first_in_isr"),
        ({"leader": 2}, "kafka.election.preferred", "preferred"),
        ({"leader": -1}, "kafka.election.preferred", "nobody_in_isr"),
        (
            {"leader": 3, "isr": (3,), "leader_recovery_state": RECOVERING},
            "kafka.election.unclean",
            "first_in_isr",
        ),
        (
            {"leader": 9, "isr": (9,), "leader_recovery_state": RECOVERING},
            "kafka.controller.heartbeat",
            "unclean",
        ),
        ({"leader": 9, "isr": (9,)}, "kafka.controller.reassignment", "first_in_isr"),
    ],
)
def test_which_rule_chose_the_leader(now: dict[str, Any], rule: str, chosen_by: str) -> None:
    """A leader is unclean by where it was before: neither in the ISR nor eligible, and recovering since."""
    assert told(LED, LED._replace(**now), rule).told[0] == (
        "kafka.partition.leader_changed",
        f"kafka.election.{chosen_by}",
    )


def test_a_leader_out_of_the_eligible_replicas_is_not_unclean() -> None:
    was = LED._replace(isr=(), leader=-1, elr=(2,))
    out = told(was, LED._replace(leader=2, isr=(2,), leader_recovery_state=RECOVERING))
    assert out.told[0][1] == "kafka.election.first_in_isr"


@pytest.mark.parametrize("change", [{"replicas": (1, 2, 4)}, {"adding": (4,)}, {"removing": (3,)}])
def test_a_move_is_told_with_who_comes_and_who_goes(change: dict[str, tuple[int, ...]]) -> None:
    now = LED._replace(**change)  # type: ignore[arg-type]
    ((kind, _, data),) = told(LED, now).facts
    assert (name(kind), data["replicas"], data["adding"], data["removing"]) == (
        "reassigned", list(now.replicas), list(now.adding), list(now.removing),
    )  # fmt: skip


# --- by request


def test_a_shrink_and_an_expansion_have_their_own_rules() -> None:
    desk = ControllerDesk(3, [[1, 2, 3]])
    desk.alter(1, 1, 2)
    desk.alter(1, 1, 2, 3)
    assert [rule for _, rule in desk.out.told] == ["kafka.isr.replica_lag_time_max", "kafka.isr.caught_up"]


def test_a_move_from_beginning_to_end() -> None:
    desk = ControllerDesk(3, [[1, 2]])
    assert desk.tool(c.AlterPartitionReassignmentsRequest("t", 0, [2, 3])).error_code == 0
    ((inputs, data),) = desk.facts("kafka.partition.reassigned")
    assert (inputs["replicas"], data["replicas"], data["adding"], data["removing"]) == (
        [1, 2],
        [2, 3, 1],
        [3],
        [1],
    )
    desk.forget()
    answer = next(each for each in desk.alter(1, 1, 2, 3) if isinstance(each, c.AlterPartitionResponse))
    assert (answer.error_code, answer.isr) == (ErrorCode.NEW_LEADER_ELECTED, []), (
        "the sender has to go, and is told so"
    )
    assert [name(kind) for kind, _ in desk.out.told] == ["leader_changed", "reassigned", "isr_changed"]
    ((_, data),) = desk.facts("kafka.partition.isr_changed")
    assert (data["left"], data["came"], desk.known().replicas) == ([1], [3], (2, 3))


def test_a_move_that_is_taken_back_is_told_as_one() -> None:
    desk = ControllerDesk(3, [[1, 2]])
    desk.tool(c.AlterPartitionReassignmentsRequest("t", 0, [3, 2]))
    desk.forget()
    assert desk.tool(c.AlterPartitionReassignmentsRequest("t", 0, None)).error_code == 0
    ((inputs, data),) = desk.facts("kafka.partition.reassigned")
    assert (inputs["replicas"], data["replicas"], data["adding"]) == ([3, 2, 1], [2, 1], []), (
        "in the order in which they are now"
    )


def without_leader(unclean: bool = False) -> ControllerDesk:
    """The last member of t-0's ISR, 1, is fenced; 2 is alive, and has been out of the ISR before. t-1 is led
    by 2."""
    desk = ControllerDesk(2, [[1, 2], [2, 1]], unclean=unclean)
    desk.alter(1, 1)
    desk.beat(1, fence=True)
    return desk


def test_an_unclean_election_by_a_tool_is_told_as_what_it_is() -> None:
    desk = without_leader()
    assert (desk.known().leader, desk.known().isr) == (-1, (1,))
    desk.forget()
    assert desk.tool(c.ElectLeadersRequest(UNCLEAN, [("t", 0)])).results == [("t", 0, 0)]
    assert desk.out.told[0] == ("kafka.partition.leader_changed", "kafka.election.unclean")
    assert (desk.known().leader, desk.known().isr, desk.known().leader_recovery_state) == (
        2,
        (2,),
        RECOVERING,
    )


def test_a_leader_that_has_recovered_says_so_with_its_next_isr() -> None:
    desk = without_leader()
    desk.tool(c.ElectLeadersRequest(UNCLEAN, [("t", 0)]))
    answer = next(each for each in desk.alter(2, 2) if isinstance(each, c.AlterPartitionResponse))
    assert (answer.error_code, desk.known().leader_recovery_state) == (0, LeaderRecoveryState.RECOVERED)


def test_where_the_topic_allows_it_the_fence_itself_elects_uncleanly() -> None:
    desk = without_leader(unclean=True)
    assert ("kafka.partition.leader_changed", "kafka.election.unclean") in desk.out.told
    assert desk.known().leader == 2


def test_a_tool_that_asks_for_all_elects_each_that_needs_it_and_names_no_other() -> None:
    desk = ControllerDesk(3, [[1, 2], [2, 1], [3, 1]])
    desk.beat(1, fence=True)
    desk.beat(1)
    desk.alter(2, 2, 1, part=0)
    desk.beat(3, fence=True)
    desk.forget()
    answer = desk.tool(c.ElectLeadersRequest(PREFERRED))
    assert answer.results == [("t", 0, 0), ("t", 2, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)], (
        "t-1 is led by its first replica"
    )
    assert [rule for _, rule in desk.out.told] == ["kafka.election.preferred"]


def test_each_election_is_a_record_of_its_own_for_the_brokers() -> None:
    desk = ControllerDesk(2, [[1, 2], [1, 2]])
    desk.beat(1, fence=True)
    desk.beat(1)
    for part in (0, 1):
        desk.alter(2, 2, 1, part=part)
    desk.forget()
    before = desk.state.end_offset
    assert desk.tool(c.ElectLeadersRequest(PREFERRED, [("t", 0), ("t", 1)])).results == [
        ("t", 0, 0),
        ("t", 1, 0),
    ]
    assert [delta.end_offset for delta in desk.sent_to(2)] == [before + 1, before + 2]


def test_who_went_silent_is_named_with_how_long() -> None:
    desk = ControllerDesk(2, [[1, 2]])
    desk.beat(2, after_ms=4_000)
    desk.now_us += 6_000 * MS
    desk.out.deadlines["sessions"] = desk.now_us
    desk.wake("sessions")
    ((inputs, _),) = desk.facts("kafka.broker.fenced")
    assert inputs["silent_ms"] == 10_002
    ((inputs, _),) = desk.facts("kafka.partition.leader_changed")
    assert inputs["decided_by"] == "kafka.controller.session_timeout"
