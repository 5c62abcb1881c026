"""What the page of a RabbitMQ lane says of its server: counts that are true, and where a message is."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.messages import FIRST_SENT
from broker_core.lab.panels import panels_of
from broker_core.lab.rabbitmq.views.server import where_is
from tests.core.lab.rabbitmq.test_paths import panel_of
from tests.core.lab.rabbitmq.test_topology import SECOND, lab_of, order


def graph_of(lab: Any) -> Any:
    return panels_of(lab.lanes["rabbitmq"])["rabbitmq"]["vhosts"]["shop"]


def edge(graph: Any, source: str, destination: str) -> Any:
    (found,) = [
        each
        for each in graph["bindings"].values()
        if (each["source"], each["destination"]) == (source, destination)
    ]
    return found


def test_counts_at_exchanges_and_bindings_are_those_of_all_who_publish() -> None:
    lab = lab_of()
    lab.advance_to(10 * SECOND)
    before = graph_of(lab)
    order(lab, "rabbitmq_publish", vhost="shop", exchange="dead", body="by hand")
    order(lab, "rabbitmq_publish", vhost="shop", exchange="", routing_key="nowhere")
    graph = graph_of(lab)
    orders, dead, default = (graph["exchanges"][name] for name in ("orders", "dead", ""))
    queues = graph["queues"]
    assert orders["published"] > 200 and not orders["unroutable"]
    assert edge(graph, "orders", "all")["routed"] == orders["published"] == queues["all"]["published"]
    assert edge(graph, "orders", "new")["routed"] == queues["new"]["published"] < orders["published"]
    died = graph["dead_letters"]["new"]["reasons"]["rejected"]
    assert dead["published"] == edge(graph, "dead", "morgue")["routed"] == died + 1 > 1
    assert (default["published"], default["unroutable"]) == (1, 1)
    assert edge(graph, "", "morgue")["routed"] == 0
    assert before["exchanges"]["dead"]["published"] < dead["published"]


def test_where_a_message_is_names_every_copy_and_how_it_died() -> None:
    lab = lab_of()
    lab.advance_to(10 * SECOND)
    reads = lab.lanes["rabbitmq"].reads
    position = lab.position + 1
    order(lab, "rabbitmq_publish", vhost="shop", exchange="orders", routing_key="key-1.created", body="x")
    sent = FIRST_SENT + position
    found = {each["queue"]: each for each in where_is(reads, sent)}
    assert found["morgue"]["routing_key"] == "key-1.created"
    assert found["morgue"]["exchange"] == "dead"
    deaths = [(each["queue"], each["reason"]) for each in found["morgue"]["deaths"]]
    assert deaths == [("new", "rejected")] and found["morgue"]["consumer"] is None
    assert where_is(reads, 10**9) == []


def test_where_a_message_is_names_who_holds_it() -> None:
    lab = lab_of(consumer_rate=1)
    lab.advance_to(5 * SECOND)
    reads = lab.lanes["rabbitmq"].reads
    queue = reads.broker().vhosts["shop"].queues["all"]
    (key, consumer) = next((key, each) for key, each in queue.consumers.by_key.items() if each.unacked)
    position = next(iter(consumer.unacked))
    found = where_is(reads, reads.record(queue.bodies[position]))
    assert (key, position) in [(each["consumer"], each["position"]) for each in found]


def test_a_delay_queue_that_fills_waits_on_purpose() -> None:
    lab = Lab(scenario_from_text(read_file(shelf()["rabbitmq_retry_ladder"])))
    filled = 0
    for second in range(4, 12):
        lab.advance_to(second * SECOND)
        wait = panels_of(lab.lanes["rabbitmq"])["rabbitmq"]["vhosts"]["/"]["queues"]["wait"]
        assert wait["growing"] == "" and wait["is_delay"]
        filled = max(filled, wait["ready"])
    assert filled > 3


def panel_down(topology: dict[str, Any], verb: str) -> Any:
    lab = lab_of(topology, consumers=1)
    lab.advance_to(6 * SECOND)
    order(lab, verb, seconds=4)
    return lab, panels_of(lab.lanes["rabbitmq"])["rabbitmq"]


@pytest.mark.parametrize("verb", ["rabbitmq_stop", "rabbitmq_crash"])
@pytest.mark.parametrize("is_durable", [True, False])
def test_of_a_server_that_is_down_what_its_disk_has_is_seen_and_nothing_else(
    verb: str, is_durable: bool
) -> None:
    topology = {
        "exchanges": [{"name": "x", "type": "fanout", "durable": is_durable}],
        "queues": [{"name": "work", "durable": is_durable}],
        "bindings": [{"source": "x", "destination": "work", "destination_type": "queue", "routing_key": ""}],
        "publishers": [{"exchange": "x", "routing_key": "", "delivery_mode": 2}],
        "consumers": [{"queue": "work", "ack": "never", "prefetch": 5}],
    }
    lab, panel = panel_down(topology, verb)
    graph = panel["vhosts"]["/"]
    assert not panel["is_running"] and not panel["connections"]
    assert not graph["consumers"] and not graph["publishers"] and not graph["publishes"]
    assert ("work" in graph["queues"], "x" in graph["exchanges"]) == (is_durable, is_durable)
    if is_durable:
        queue = graph["queues"]["work"]
        assert queue["ready"] > 9 and (queue["unacked"], queue["growing"]) == (0, "")
    last = max(map(int, panel["history"]))
    assert last * SECOND <= lab.now_us - 3 * SECOND, "nothing is noted while it is down"
    again = panels_of(lab.lanes["rabbitmq"])["rabbitmq"]
    assert again == panel, "to look changes nothing"
    order(lab, "rabbitmq_start", seconds=0)
    after = panels_of(lab.lanes["rabbitmq"])["rabbitmq"]["vhosts"]["/"]["queues"]
    assert after.keys() == graph["queues"].keys()
    assert {name: each["ready"] for name, each in after.items()} == {
        name: each["ready"] for name, each in graph["queues"].items()
    }


def test_a_consumer_whose_queue_is_deleted_is_cancelled_and_quotes_no_reply() -> None:
    topology = {
        "queues": [{"name": "work"}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work"}],
    }
    lab = lab_of(topology, consumers=2)
    lab.advance_to(SECOND)
    events = order(lab, "rabbitmq_delete_queue", name="work")
    panel = panel_of(lab)
    assert (panel["cancelled"], panel["refused"]) == (["c1", "c2"], {})
    kinds = [event["kind"] for event in events]
    assert kinds.count("rabbitmq.consumer.cancelled") == 2 and "rabbitmq.consumer.refused" not in kinds
    assert lab.lanes["rabbitmq"].reads.is_settled(), "nothing more is on its way"
    order(lab, "rabbitmq_consume", "c1", ack="late")
    panel = panel_of(lab)
    assert panel["cancelled"] == ["c2"]
    assert panel["refused"] == {"c1": "404 NOT_FOUND - no queue 'work' in vhost '/'"}, (
        "it asked, and heard that"
    )
    order(lab, "rabbitmq_declare_queue", name="work")
    order(lab, "rabbitmq_consume", "c2", ack="late")
    assert panel_of(lab)["cancelled"] == []
    assert [each["name"] for each in panel_of(lab)["vhosts"]["/"]["consumers"].values()] == ["c2"]
