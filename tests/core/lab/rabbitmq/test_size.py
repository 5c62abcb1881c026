"""What a RabbitMQ lane costs: what its topology declares counts, at the beginning and as a person adds to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import command_from_json
from broker_core.lab.limits import Limits
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.sizing import size_of, size_of_lane
from tests.core.lab.rabbitmq.test_topology import SECOND, TOPOLOGY, lab_of, order


def test_a_topology_counts_as_much_before_the_lab_as_in_it() -> None:
    before = size_of("rabbitmq", "prefetch_5", {"topology": TOPOLOGY}, 3)
    assert (before.declared, before.publishers) == (8, 1)
    lab = lab_of({**TOPOLOGY, "consumers": TOPOLOGY["consumers"][:2]})
    lab.advance_to(SECOND)
    assert size_of_lane(lab.lanes["rabbitmq"]) == before
    assert before.parts > size_of("rabbitmq", "prefetch_5", {}, 3).parts


def test_what_a_person_declares_is_added() -> None:
    lab = lab_of()
    lab.advance_to(SECOND)
    before = size_of_lane(lab.lanes["rabbitmq"]).declared
    order(lab, "rabbitmq_declare_queue", vhost="shop", name="mine")
    order(lab, "rabbitmq_bind", vhost="shop", source="orders", destination="mine", routing_key="#")
    assert size_of_lane(lab.lanes["rabbitmq"]).declared == before + 2


def many(count: int) -> dict[str, object]:
    return {"queues": [{"name": f"q{number}", "vhost": "/"} for number in range(count)]}


def test_a_topology_that_is_too_large_is_refused_at_its_field() -> None:
    topology = {**many(60), "publishers": [{"routing_key": "q0"}], "consumers": [{"queue": "q0"}]}
    raw = {"lanes": [{"model": "rabbitmq", "topology": topology}], "consumers": 1}
    raw["workload"] = {"kind": "uniform", "keys": 1, "rate": 1}
    assert scenario_from_json(raw, Limits(parts_max=140))
    with pytest.raises(CommandError) as error:
        scenario_from_json(raw, Limits(parts_max=139))
    assert error.value.field == "lanes.0.topology"


@pytest.mark.parametrize(
    ("kind", "args", "field", "grows"),
    [
        ("import", {"definitions": many(60)}, "args.definitions", 120),
        ("declare_queue", {"name": "mine"}, "args.name", 2),
        ("declare_exchange", {"name": "mine", "type": "topic"}, "args.name", 2),
        ("bind", {"source": "amq.topic", "destination": "mine", "routing_key": "#"}, "args.source", 2),
    ],
)
def test_what_makes_a_lab_too_large_is_refused_at_its_field(
    kind: str, args: Json, field: str, grows: int
) -> None:
    lab = lab_of()
    lab.advance_to(SECOND)
    raw = {"command_id": "x", "kind": f"rabbitmq_{kind}", "lane": "rabbitmq", "consumer": None, "args": args}
    command, facts = command_from_json(raw), lab.facts()
    command.check_all(replace(facts, limits=Limits(parts_max=facts.parts + grows)))
    with pytest.raises(CommandError) as error:
        command.check_all(replace(facts, limits=Limits(parts_max=facts.parts + grows - 1)))
    assert error.value.field == field
