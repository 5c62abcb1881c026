"""What a page offers to do to a member of a group is what the lab does not refuse, and nothing that it would
refuse."""

import pytest

from broker_core.lab.kafka.views.group_verbs import group_verbs, member_verbs
from tests.core.lab.commands.pages import STATES, cluster, page, refused
from tests.core.lab.small import consumer

KINDS = [
    "group_subscribe",
    "group_restart",
    "group_stick",
    "group_unstick",
    "group_freeze",
    "group_thaw",
    "leave",
    "crash",
    "rejoin",
]


@pytest.mark.parametrize("state", STATES)
def test_what_is_offered_is_what_is_not_refused(state: str) -> None:
    facts = page(kafka=cluster(*STATES))
    offered = member_verbs(consumer("x", state))
    assert len(set(offered)) == len(offered)
    allowed = {kind for kind in KINDS if refused(facts, kind, state) is None}
    assert set(offered) == allowed


def test_end_of_a_hold_is_offered_first() -> None:
    assert [member_verbs(consumer("x", state))[0] for state in ("frozen", "stuck", "crashed")] == [
        "group_thaw",
        "group_unstick",
        "rejoin",
    ]


def test_group_can_get_members_and_partitions() -> None:
    facts = page(kafka=cluster("c1"))
    assert [refused(facts, "join"), refused(facts, "cluster_add_partitions", topic="records", count=9)] == [
        None,
        None,
    ]
    assert group_verbs() == ["join", "cluster_add_partitions"]
