"""Programs that crash while their group forms: nothing has been read yet, so nothing is paused, and all wait
for a session timeout."""

import pytest

from broker_core.clock import SECOND_US as SECOND
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

BOTH = pytest.mark.parametrize("brokers", [1, 3])


class Group:
    """A lab of one Kafka lane, and what its page says."""

    def __init__(self, brokers, consumers):
        self.lab = Lab(
            scenario_from_json({"consumers": consumers, "lanes": [{"model": "kafka", "brokers": brokers}]})
        )

    def at(self, second):
        self.lab.advance_to(int(second * SECOND))
        return self

    def do(self, kind, consumer=None):
        self.lab.submit(
            {
                "command_id": f"f{self.lab.position}",
                "kind": kind,
                "lane": "all",
                "consumer": consumer,
                "args": {},
            }
        )
        return self

    def view(self):
        return self.lab.view()["lanes"]["kafka"]

    def sentence(self):
        said = self.view()["sentence"]
        return said["code"], said["params"]


@BOTH
def test_the_only_member_crashes_before_its_assignment_and_no_partition_is_called_paused(brokers):
    code, params = Group(brokers, 1).at(1).do("crash", "c1").at(20).sentence()
    assert code == "kafka.leader_silent_first" and params["silent"] == "c1"


def test_a_group_that_waits_for_a_dead_leader_does_not_say_for_long_that_it_waits_three_seconds():
    group = Group(3, 3).at(0.5).do("crash", "c1").at(1).do("join")
    assert group.at(4).sentence()[0] == "kafka.first"
    code, params = group.at(20).sentence()
    assert code == "kafka.leader_silent_first" and params["silent"] == "c1"
    assert group.at(60).view()["sentence"]["code"] == "kafka.crash_noticed_idle"


def test_what_a_dead_member_is_assigned_was_not_paused_but_waits():
    group = Group(1, 3).at(0.5).do("crash", "c2").at(1).do("join")
    code, params = group.at(20).sentence()
    owners = [part["owner"] for part in group.view()["picture"]["partitions"].values()]
    assert code == "kafka.assigned_to_silent" and params["waiting"] == owners.count("c2") > 0


def test_once_it_is_noticed_the_sentence_is_the_crash_s():
    assert (
        Group(1, 3).at(0.5).do("crash", "c1").at(1).do("join").at(60).sentence()[0]
        == "kafka.crash_noticed_idle"
    )


def test_a_dead_leader_of_a_group_that_reads_leaves_its_partitions_paused():
    """The words of the first rebalance are not used where partitions were read before."""
    group = Group(1, 3).at(40).do("crash", "c1").at(42).do("rejoin", "c1").at(60)
    code, params = group.sentence()
    assert code == "kafka.held_up" and params["paused"] > 0
