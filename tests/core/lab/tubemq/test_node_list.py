"""Which node id each client has while one is down: the worked example of docs/tubemq/modulo.md."""

from tests.core.lab.tubemq.tubemq_lab import at, lab_of, lane_of


def node_list(lab):
    """The clients in the order of their node ids."""
    return list(lane_of(lab).rules.reads.notes.plan)


def test_a_crash_leaves_the_list_and_a_join_drops_who_is_down():
    lab = lab_of(consumers=4)
    at(lab, 20, "crash", "c2")
    at(lab, 60)
    assert node_list(lab) == ["c1", "c2", "c3", "c4"], "noticed or not, its node id stays taken"
    at(lab, 70, "join")
    at(lab, 90)
    assert node_list(lab) == ["c1", "c3", "c4", "c5"]
    at(lab, 100, "rejoin", "c2")
    assert node_list(lab) == ["c1", "c2", "c3", "c4", "c5"], "its old place in the order of joining"


def test_who_comes_back_has_its_node_id_and_whoever_was_dropped_takes_a_free_one():
    lab = lab_of(consumers=4)
    at(lab, 20, "crash", "c2")
    at(lab, 60, "rejoin", "c2")
    assert node_list(lab) == ["c1", "c2", "c3", "c4"]
    at(lab, 80, "crash", "c2")
    at(lab, 120, "join")
    at(lab, 140, "crash", "c4")
    at(lab, 180, "rejoin", "c2")
    assert node_list(lab) == ["c1", "c3", "c2", "c5"], "c4's node id"
