"""A lane with a topology of its own: what a scenario may say of it, what the server refuses of that, and that the lab
is the same whatever way it came about."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json

SECOND = 1_000_000
TOPOLOGY: dict[str, Any] = {
    "vhosts": [{"name": "shop"}],
    "users": [{"name": "bob", "password": "b", "tags": "management,monitoring"}],
    "permissions": [{"user": "bob", "vhost": "shop", "configure": "", "write": "^orders$", "read": ".*"}],
    "exchanges": [
        {"name": "orders", "vhost": "shop", "type": "topic", "durable": True},
        {"name": "dead", "vhost": "shop", "type": "fanout", "durable": False},
    ],
    "queues": [
        {"name": "all", "vhost": "shop", "durable": True, "arguments": {"x-max-length": 20}},
        {"name": "new", "vhost": "shop", "durable": False, "arguments": {"x-dead-letter-exchange": "dead"}},
        {"name": "morgue", "vhost": "shop", "durable": False},
    ],
    "bindings": [
        {"source": "orders", "vhost": "shop", "destination": "all", "destination_type": "queue", "routing_key": "#"},
        {"source": "orders", "vhost": "shop", "destination": "new", "destination_type": "queue", "routing_key": "*.created"},
        {"source": "dead", "vhost": "shop", "destination": "morgue", "destination_type": "queue"},
    ],
    "publishers": [
        {
            "vhost": "shop", "user": "bob", "exchange": "orders", "routing_key": ["{key}.created", "{key}.paid"],
            "headers": {"of": "{key}"}, "confirms": True, "delivery_mode": 2,
        },
    ],
    "consumers": [
        {"queue": "all", "vhost": "shop", "prefetch": 3},
        {"queue": "new", "vhost": "shop", "ack": "reject", "only": "key-1.created"},
        {"queue": "", "vhost": "shop", "ack": "auto", "bindings": [{"exchange": "orders", "routing_key": "#"}]},
    ],
}  # fmt: skip


def scenario_of(topology: object, **fields: Any):
    lane = {"model": "rabbitmq", "topology": topology}
    workload = {"kind": "uniform", "keys": 4, "rate": 20}
    return scenario_from_json({"lanes": [lane], "workload": workload, "consumers": 3, **fields})


def lab_of(topology: object = TOPOLOGY, **fields: Any) -> Lab:
    return Lab(scenario_of(topology, **fields))


def changed(kind: str, place: int, **fields: Any) -> dict[str, Any]:
    rows = [dict(row) for row in TOPOLOGY[kind]]
    rows[place] |= fields
    return {**TOPOLOGY, kind: rows}


def queue_of(lab: Lab, name: str, vhost: str = "shop"):
    return lab.lanes["rabbitmq"].reads.broker().vhosts[vhost].queues[name]


def order(lab: Lab, kind: str, consumer: str | None = None, seconds: int = 1, **args: Any):
    events = lab.submit(
        {
            "command_id": f"x{lab.position + 1}", "kind": kind, "lane": "rabbitmq", "consumer": consumer,
            "args": args,
        }
    )  # fmt: skip
    return events + lab.advance_to(lab.now_us + seconds * SECOND)


def test_records_take_the_ways_that_the_bindings_say() -> None:
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    assert queue_of(lab, "all").published in (398, 399, 400)
    assert queue_of(lab, "new").published in (199, 200)
    own = [queue for queue in lab.lanes["rabbitmq"].reads.queues().values() if queue.state.owner]
    assert [queue.unacked_count for queue in own] == [0] and own[0].published >= 398
    assert queue_of(lab, "new").state.dropped["rejected"] == queue_of(lab, "morgue").ready > 10
    publishing = lab.lanes["rabbitmq"].world.slots["publisher"].node.state.roles[0]
    assert publishing.confirmed >= 390 and not publishing.refused
    message = next(iter(lab.lanes["rabbitmq"].reads.broker().messages.at.values()))
    assert message.content.properties.headers["of"].startswith("key-")


def test_scenario_is_the_same_there_and_back() -> None:
    scenario = scenario_of(TOPOLOGY)
    assert scenario_from_json(scenario_to_json(scenario)) == scenario


@pytest.mark.parametrize(
    ("topology", "field", "text"),
    [
        (changed("queues", 1, arguments={"x-message-ttl": -1}), "queues.1",
         "406 PRECONDITION_FAILED - invalid arg 'x-message-ttl' for queue 'new' in vhost 'shop': {value_negative,-1}"),
        (changed("exchanges", 0, type="bogus"), "exchanges.0.type", "must be one of direct"),
        (changed("bindings", 0, source="nobody"), "bindings.0",
         "404 NOT_FOUND - no exchange 'nobody' in vhost 'shop'"),
        (changed("queues", 0, name="amq.x"), "queues.0",
         "403 ACCESS_REFUSED - queue name 'amq.x' contains reserved prefix 'amq.*'"),
        (changed("queues", 0, vhost="other"), "queues.0.vhost", "there is no other"),
        (changed("publishers", 0, user="eve"), "publishers.0.user", "must be one of bob, guest"),
        (changed("consumers", 0, prefetch=70_000), "consumers.0.prefetch", "whole number"),
        (changed("consumers", 0, ack="sometimes"), "consumers.0.ack", "must be one of"),
        (changed("publishers", 0, headers={"a": [[[[[1]]]]]}), "publishers.0.headers.a.0.0.0", "levels deep"),
        (changed("publishers", 0, lazy=True), "publishers.0.lazy", "is unknown"),
        ({**TOPOLOGY, "consumers": []}, "consumers", "list of 1 to 16"),
        ({**TOPOLOGY, "queues": 7}, "queues", "must be a list"),
        ([], "", "must be an object"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field_in_the_servers_words(topology, field, text) -> None:
    with pytest.raises(CommandError) as refused:
        scenario_of(topology)
    assert refused.value.field == f"lanes.0.topology{'.' if field else ''}{field}"
    assert text in str(refused.value)


def test_refused_consumer_and_publisher_say_why() -> None:
    topology = changed("consumers", 0, queue="none") | {
        "publishers": [{"vhost": "shop", "user": "bob", "exchange": "dead"}]
    }
    lab = lab_of(topology, consumers=1)
    lab.advance_to(5 * SECOND)
    lane = lab.lanes["rabbitmq"]
    assert lane.state_word(lane.consumers["c1"]) == "failed"
    worker = lane.world.slots["c1"].node.state
    assert (worker.refused, worker.refused_text) == (404, "NOT_FOUND - no queue 'none' in vhost 'shop'")
    publishing = lane.world.slots["publisher"].node.state.roles[0]
    assert publishing.refused_text.startswith("ACCESS_REFUSED - access to exchange 'dead'")


def test_same_lab_by_steps_by_checkpoint_and_again() -> None:
    one, other = lab_of(), lab_of()
    for lab, step in ((one, 10 * SECOND), (other, 700_000)):
        while lab.now_us < 10 * SECOND:
            lab.advance_to(min(10 * SECOND, lab.now_us + step))
        order(
            lab, "rabbitmq_publish", vhost="shop", exchange="orders", routing_key="x.created", body="by hand"
        )
        order(lab, "rabbitmq_consume", "c1", ack="never")
        order(lab, "crash", "c2")
        order(lab, "rabbitmq_crash")
        order(lab, "rabbitmq_start")
        lab.advance_to(40 * SECOND)
    assert one.view() == other.view() and one.checkpoint() == other.checkpoint()
    kept = Lab.restore(one.scenario, one.checkpoint())
    for lab in (one, kept):
        order(lab, "rejoin", "c2")
        order(lab, "rabbitmq_settle", "c1", how="nack")
        lab.advance_to(60 * SECOND)
    assert one.view() == kept.view()


def test_switching_the_prefetch_keeps_the_topology() -> None:
    lab = lab_of({**TOPOLOGY, "consumers": [{"queue": "all", "vhost": "shop"}]})
    lab.advance_to(3 * SECOND)
    order(lab, "set_algorithm", algorithm="prefetch_1")
    prefetches = {each.prefetch for each in queue_of(lab, "all").consumers.by_key.values()}
    assert prefetches == {1} and queue_of(lab, "new").published > 20
