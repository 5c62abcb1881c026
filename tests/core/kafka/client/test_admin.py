"""The operator's tool on its own: it takes a silent member out of its group, in that member's name."""

from broker_core.kafka import requests as r
from broker_core.kafka.client.admin import Admin, AdminState, RemoveMember
from broker_core.sim.node import PERSON, Closed
from tests.core.playbook import Played, play


def admin() -> tuple[Admin, Played]:
    return Admin(AdminState()), Played("admin")


def remove(member: str) -> RemoveMember:
    return RemoveMember("broker", "lab", member)


def test_it_connects_once_and_leaves_the_group_for_each_member():
    node, out = admin()
    assert play(node, out, PERSON, remove("c1-1"), remove("c2-2")) == [
        (1, r.LeaveGroupRequest("lab", "c1-1")), (1, r.LeaveGroupRequest("lab", "c2-2"))
    ]  # fmt: skip
    assert out.connected == {1: "broker"}


def test_an_answer_changes_nothing():
    node, out = admin()
    play(node, out, PERSON, remove("c1-1"))
    assert play(node, out, 1, r.LeaveGroupResponse(0)) == []
    assert node.state == AdminState(1) and not out.deadlines


def test_after_its_connection_broke_it_connects_again():
    node, out = admin()
    play(node, out, PERSON, remove("c1-1"))
    play(node, out, 1, Closed("reset"))
    assert play(node, out, PERSON, remove("c1-1")) == [(2, r.LeaveGroupRequest("lab", "c1-1"))]
