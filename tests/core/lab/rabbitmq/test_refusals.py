"""A queue at its limit that refuses: every message is taken, refused, returned or dropped, and the page has each."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.lab.rabbitmq.counts import SAMPLES_KEPT
from tests.core.lab.rabbitmq.test_counts import panel_at, per_second
from tests.core.lab.rabbitmq.test_paths import panel_of
from tests.core.lab.rabbitmq.test_topology import SECOND, lab_of, order


def full(overflow: str, confirms: bool, **arguments: Any) -> Any:
    """The panel of a server whose queue has been full for ten seconds."""
    topology = {
        "exchanges": [{"name": "dead", "type": "fanout"}],
        "queues": [
            {"name": "jobs", "arguments": {"x-max-length": 10, "x-overflow": overflow, **arguments}},
            {"name": "parked"},
        ],
        "bindings": [{"source": "dead", "destination": "parked", "destination_type": "queue"}],
        "publishers": [{"routing_key": "jobs", "confirms": confirms}],
        "consumers": [{"queue": "jobs", "prefetch": 1}],
    }
    workload = {"kind": "uniform", "keys": 4, "rate": 12}
    lab = lab_of(topology, consumers=1, consumer_rate=4, workload=workload)
    lab.advance_to(14 * SECOND)
    return lab, panel_of(lab)


def test_the_lesson_counts_what_is_refused_beside_what_is_taken() -> None:
    panel = panel_at("rabbitmq_queue_maximum", 20, "reject")
    flows = panel["flows"]
    refused, nacked, _ = per_second(flows["limits"], "/", "jobs")
    published, dropped, returned = per_second(flows["exchanges"], "/", "")
    first, *_, last = flows["limits"]
    before, now = (panel["history"][second]["/\njobs"] for second in (first, last))
    taken = (now[2] - before[2]) / (int(last) - int(first))
    assert refused == nacked == pytest.approx(8, abs=0.5)
    assert published == taken + refused + returned + dropped and dropped == returned == 0
    assert len(flows["limits"]) == SAMPLES_KEPT and list(flows["limits"]) == list(flows["exchanges"])


@pytest.mark.parametrize("confirms", [True, False])
def test_a_refusal_is_a_nack_only_to_who_asked_for_confirms(confirms: bool) -> None:
    _, panel = full("reject-publish", confirms)
    graph = panel["vhosts"]["/"]
    jobs, (publisher,) = graph["queues"]["jobs"], graph["publishers"].values()
    assert jobs["refused"] > 50 and jobs["nacked"] == (jobs["refused"] if confirms else 0)
    assert abs(publisher["nacked"] - jobs["nacked"]) <= 2
    assert abs(publisher["published"] - jobs["published"] - jobs["refused"]) <= 2
    refused, nacked, _ = per_second(panel["flows"]["limits"], "/", "jobs")
    assert refused == pytest.approx(8, abs=0.5) and nacked == (refused if confirms else 0)


def test_what_is_refused_and_dead_lettered_is_counted_on_its_way() -> None:
    _, panel = full("reject-publish-dlx", True, **{"x-dead-letter-exchange": "dead"})
    graph = panel["vhosts"]["/"]
    refused = graph["queues"]["jobs"]["refused"]
    assert graph["dead_letters"]["jobs"]["reasons"] == {"maxlen": refused}
    assert graph["queues"]["parked"]["published"] == refused > 50


def test_a_restart_keeps_what_was_refused_and_begins_its_rates_again() -> None:
    topology = {
        "queues": [
            {
                "name": "jobs",
                "durable": True,
                "arguments": {"x-max-length": 5, "x-overflow": "reject-publish"},
            }
        ],
        "publishers": [{"routing_key": "jobs", "confirms": True, "delivery_mode": 2}],
        "consumers": [{"queue": "jobs", "prefetch": 1, "ack": "never"}],
    }
    lab = lab_of(topology, consumers=1)
    lab.advance_to(6 * SECOND)
    before = panel_of(lab)["vhosts"]["/"]["queues"]["jobs"]
    order(lab, "rabbitmq_stop", seconds=1)
    order(lab, "rabbitmq_start", seconds=1)
    panel = panel_of(lab)
    after = panel["vhosts"]["/"]["queues"]["jobs"]
    assert after["nacked"] >= before["nacked"] > 5 and after["refused"] == after["nacked"]
    assert len(panel["flows"]["limits"]) <= 2
