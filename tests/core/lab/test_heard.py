"""What the nodes tell stays as they told it; what a person reads of it is the observers'."""

import copy

from broker_core.events import Cause, TurningPoint
from broker_core.lab.lab import Lab
from broker_core.lab.observers.kafka_names import with_names
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000


def turning_point(kind, inputs=None, **data) -> TurningPoint:
    return TurningPoint("kafka:1", 5, "kafka", kind, Cause(), None, inputs or {}, data)


def test_members_are_named_by_their_programs():
    left = with_names(turning_point("kafka.group.member_left", member_id="c1-2a3b4c5d"), 12)
    assert left.data == {"member_id": "c1-2a3b4c5d", "consumer": "c1"}
    assert with_names(turning_point("kafka.consumer.assigned", client="c1", partitions=[3]), 12).data == {
        "partitions": [3],
        "consumer": "c1",
    }
    given = with_names(turning_point("kafka.group.assigned", assignment={"c1-a": [0, 1], "c2-b": [2]}), 3)
    assert given.data == {"assignment": {"c1": [0, 1], "c2": [2]}}
    assert given.inputs == {"partitions": 3, "members": 2, "quota": 1, "one_more_for_the_first": 1}


def test_no_observer_writes_into_what_a_node_told():
    lab = Lab(scenario_from_json({"workload": {"kind": "zipf", "keys": 40, "rate": 20}}))
    kept = []
    for lane in lab.lanes.values():
        tell = lane.world.tell

        def note(*told, tell=tell):
            kept.append((told, copy.deepcopy(told)))
            return tell(*told)

        lane.world.tell = note
    for second, kind, consumer in (
        (12, "join", None),
        (30, "crash", "c2"),
        (34, "rejoin", "c2"),
        (60, "crash", "c1"),
        (250, "leave", "c3"),
    ):
        lab.advance_to(second * SECOND)
        lab.submit({"command_id": str(second), "kind": kind, "consumer": consumer})
    lab.advance_to(300 * SECOND)
    assert len(kept) > 40 and all(told == before for told, before in kept)
