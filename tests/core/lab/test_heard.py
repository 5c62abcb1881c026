"""What the nodes tell stays as they told it; what a person reads of it is the observers'."""

import copy

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000


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
