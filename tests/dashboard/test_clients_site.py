"""A real client, the real processes: the worker that holds its socket is killed while it publishes with confirms."""

import time
from collections.abc import Iterator
from typing import Any

import pika
import pytest

from tests.dashboard.processes import Site

PATIENCE_S = 40.0
OPEN = {
    "workload": {"kind": "none"},
    "consumers": 0,
    "lanes": [{"id": "rabbitmq", "model": "rabbitmq", "began_us": 1_764_000_000_000_000}],
}


@pytest.fixture(scope="module")
def wired(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("clients"), shards=1, wire=True) as site:
        yield site


def port_of(site: Site, lab: dict[str, Any]) -> int:
    """Where the lab listens, by its view."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        status, seen = site.request("GET", f"/api/labs/{lab['id']}/snapshot/")
        clients = seen["view"]["feed"].get("clients") if status == 200 else None
        if clients and clients["port"]:
            return int(clients["port"])
        time.sleep(0.1)
    raise TimeoutError("the lab does not listen")


def connected(port: int) -> pika.BlockingConnection:
    until_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            parameters = pika.ConnectionParameters(
                "127.0.0.1", port, client_properties={"connection_name": "billing"}
            )
            return pika.BlockingConnection(parameters)
        except pika.exceptions.AMQPConnectionError:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.1)


def test_killed_worker_comes_back_at_its_port_with_all_that_it_confirmed(wired: Site) -> None:
    status, lab = wired.request("POST", "/api/labs/", OPEN)
    assert status == 201
    path, order = f"/api/labs/{lab['id']}/commands/", {"command_id": "open", "kind": "rabbitmq_open"}
    assert wired.request("POST", path, order, lab["owner_token"])[0] == 202
    port = port_of(wired, lab)
    assert wired.request("GET", "/healthz")[1]["clients"]["ok"]
    channel = connected(port).channel()
    channel.queue_declare("orders", durable=True)
    channel.confirm_delivery()
    confirmed: list[bytes] = []
    is_killed = False
    while len(confirmed) < 40:
        body = b"%d" % len(confirmed)
        try:
            channel.basic_publish("", "orders", body, pika.BasicProperties(delivery_mode=2))
            confirmed.append(body)
        except pika.exceptions.AMQPError:
            assert is_killed
            channel = connected(port).channel()
            channel.confirm_delivery()
        if len(confirmed) == 15 and not is_killed:
            wired.kill("worker wire.0")
            is_killed = True
    taken: list[bytes] = []
    for method, _, body in channel.consume("orders", inactivity_timeout=3):
        if method is None:
            break
        taken.append(body)
        channel.basic_ack(method.delivery_tag)
    # Whatever was confirmed is there; what was sent again, as no answer came, may be there twice.
    assert is_killed and set(taken) == set(confirmed)
    assert [body for place, body in enumerate(taken) if body not in taken[:place]] == confirmed
