"""The control over HTTP, and scenarios: what one may ask, what is refused at which field, and by whom it may be asked."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import suppress

import pika
import pytest
from pika.exceptions import AMQPError

import highwater
from broker_core.errors import CommandError
from broker_core.serve import http_control
from broker_core.serve.http_control import BODY_BYTES_MAX, HttpControl
from broker_core.serve.http_routes import _ROUTES
from broker_core.serve.replay import replay
from broker_core.serve.scenario import read_scenario
from mqsite.keeper import ROOT

PATIENCE_S = 30


class Asking:
    def __init__(self, rabbitmq, port: int) -> None:
        self.rabbitmq, self.port = rabbitmq, port

    def send(self, verb: str, path: str, body: bytes | None = None, **headers: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(verb, path, body, headers)
            response = connection.getresponse()
            data = response.read()
            if response.getheader("Content-Type") == "application/json":
                return response.status, json.loads(data)
            return response.status, data
        finally:
            connection.close()

    def get(self, path: str):
        return self.send("GET", path)

    def post(self, path: str, **fields):
        return self.send("POST", path, json.dumps(fields).encode(), **{"Content-Type": "application/json"})


@pytest.fixture
def asking():
    with highwater.run() as rabbitmq:
        control = HttpControl(rabbitmq.control, rabbitmq.loop, "127.0.0.1", 0)
        yield Asking(rabbitmq, control.port)
        control.close()


@pytest.fixture
def channel(asking):
    connection = pika.BlockingConnection(pika.URLParameters(asking.rabbitmq.url))
    yield connection.channel()
    with suppress(AMQPError):  # the server may be another by now
        connection.close()


def test_state_queues_and_connections_are_shown(asking, channel):
    channel.queue_declare("orders", arguments={"x-max-length": 5})
    status, state = asking.get("/")
    assert status == 200 and state["is_up"] and state["connections"] == 1
    assert asking.get("/queues")[1] == [{
        "vhost": "/", "queue": "orders", "durable": False, "arguments": {"x-max-length": 5},
        "ready": 0, "unacked": 0, "consumers": 0,
    }]  # fmt: skip
    assert [each["user"] for each in asking.get("/connections")[1]] == ["guest"]


def test_fault_is_set_strikes_is_listed_released_and_removed(asking, channel):
    status, fault = asking.post("/faults", do="hold", method="queue.declare")
    assert status == 201 and fault["id"] == 1
    held = threading.Thread(target=channel.queue_declare, args=("orders",))
    held.start()
    status, fault = asking.post("/wait", fault=1, timeout_s=PATIENCE_S)
    assert (status, fault["hits"], fault["held"]) == (200, 1, 1)
    assert asking.get("/faults") == (200, [fault]) and asking.get("/faults/1") == (200, fault)
    status, fault = asking.post("/faults/1/release")
    assert (status, fault["held"], fault["is_over"]) == (200, 0, True)
    held.join(timeout=PATIENCE_S)
    assert asking.send("DELETE", "/faults/1") == (200, {}) and asking.get("/faults") == (200, [])


def test_queue_is_waited_for_and_what_does_not_come_is_said(asking, channel):
    channel.queue_declare("orders")
    found = []
    waiting = threading.Thread(
        target=lambda: found.append(asking.post("/wait", queue="orders", ready=1, timeout_s=PATIENCE_S))
    )
    waiting.start()
    while not asking.rabbitmq.control.server.waiting:
        pass
    channel.basic_publish("", "orders", b"one")
    waiting.join(timeout=PATIENCE_S)
    assert found == [(200, {"vhost": "/", "queue": "orders", "ready": 1, "unacked": 0, "consumers": 0})]
    status, answer = asking.post("/wait", queue="orders", ready=0, timeout_s=0.05)
    assert status == 504 and answer["seen"]["ready"] == 1
    assert answer["fields"]["timeout_s"][0].startswith("queue orders with ready=0 has not come in 0.05 s")


def test_server_is_crashed_started_alarmed_and_reset(asking, channel):
    channel.queue_declare("orders", durable=True)
    assert asking.post("/alarm", resource="memory", is_on=True)[1]["alarms"] == ["memory"]
    assert asking.post("/server", do="crash")[1]["is_up"] is False
    assert asking.post("/server", do="crash") == (409, {"fields": {"server": ["is down"]}})
    assert asking.get("/queues") == (200, [])
    assert asking.post("/server", do="start")[1]["is_up"] is True
    assert [each["queue"] for each in asking.get("/queues")[1]] == ["orders"]
    assert asking.post("/reset") == (200, {}) and asking.get("/queues") == (200, [])


def test_definitions_come_and_the_journal_is_given(asking, tmp_path):
    assert asking.post("/definitions", queues=[{"name": "orders", "vhost": "/"}]) == (200, {})
    status, data = asking.get("/journal")
    path = tmp_path / "run.highwater"
    path.write_bytes(data)
    assert status == 200 and "orders" in replay(path).run.broker.state.vhosts["/"].queues


@pytest.mark.parametrize(
    ("verb", "path", "fields", "field", "text"),
    [
        ("POST", "/faults", {"do": "refuse"}, "code", "refuse needs it"),
        ("POST", "/faults", {"do": "hold", "colour": 1}, "colour", "a fault has no such field"),
        ("POST", "/faults/7/release", {}, "fault", "there is no fault 7"),
        ("DELETE", "/faults/7", {}, "fault", "there is no fault 7"),
        ("GET", "/faults/x", {}, "path", "there is no GET /faults/x"),
        ("POST", "/queues", {}, "path", "there is no POST /queues"),
        ("POST", "/wait", {}, "queue", "is missing"),
        ("POST", "/wait", {"queue": "q", "hits": 1}, "hits", "there is no such field here"),
        ("POST", "/wait", {"queue": "q", "ready": -1}, "ready", "must be a whole number, 0 or more"),
        ("POST", "/wait", {"queue": "q", "ready": "1"}, "ready", "must be a whole number, 0 or more"),
        ("POST", "/wait", {"queue": "q", "timeout_s": 1e9}, "timeout_s", "must be 0 to 600"),
        ("POST", "/wait", {"fault": 7}, "fault", "there is no fault 7"),
        ("POST", "/alarm", {"resource": "cpu", "is_on": True}, "resource", "must be one of memory, disk"),
        ("POST", "/alarm", {"resource": "disk"}, "is_on", "is missing"),
        ("POST", "/server", {"do": "explode"}, "do", "must be one of crash, stop, start"),
        ("POST", "/reset", {"now": True}, "now", "there is no such field here"),
        ("POST", "/definitions", {"queues": 1}, "queues", "must be a list"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_at_its_field(asking, verb, path, fields, field, text):
    before = asking.get("/faults")
    body = json.dumps(fields).encode() if verb == "POST" else None
    status, answer = asking.send(verb, path, body, **{"Content-Type": "application/json"})
    assert (status, list(answer["fields"])) == (400, [field]), answer
    assert text in answer["fields"][field][0] and asking.get("/faults") == before


@pytest.mark.parametrize(
    ("verb", "body", "headers", "status"),
    [
        ("GET", None, {"Host": "evil.example"}, 421),
        ("GET", None, {"Host": "127.0.0.1.evil.example"}, 421),
        ("POST", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", b"{}", {"Content-Type": "application/json", "Content-Length": str(BODY_BYTES_MAX + 1)}, 413),
        ("POST", b"{}", {"Content-Type": "application/json", "Content-Length": "-1"}, 413),
        ("POST", b"0\r\n\r\n", {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}, 411),
        ("POST", b"[]", {"Content-Type": "application/json"}, 400),
        ("POST", b"{", {"Content-Type": "application/json"}, 400),
        ("POST", b"[" * 100_000, {"Content-Type": "application/json"}, 400),
        ("PUT", b"{}", {"Content-Type": "application/json"}, 501),
    ],
)  # fmt: skip
def test_request_that_is_not_for_us_changes_nothing(asking, channel, verb, body, headers, status):
    channel.queue_declare("orders")
    found, _ = asking.send(verb, "/reset", body, **headers)
    assert found == status and [each["queue"] for each in asking.get("/queues")[1]] == ["orders"]


def test_request_beyond_the_bound_is_answered_503_and_the_next_one_is_served(monkeypatch):
    monkeypatch.setattr(http_control, "REQUESTS_MAX", 2)
    with highwater.run() as rabbitmq:
        control = HttpControl(rabbitmq.control, rabbitmq.loop, "127.0.0.1", 0)
        asking = Asking(rabbitmq, control.port)
        kept = [http.client.HTTPConnection("127.0.0.1", control.port, timeout=PATIENCE_S) for _ in range(2)]
        for each in kept:
            each.request("GET", "/")
            assert each.getresponse().read()
        assert asking.get("/") == (503, {"detail": "as many requests as fit are asked"})
        kept[0].close()
        until_s = time.monotonic() + PATIENCE_S
        while asking.get("/")[0] != 200:
            assert time.monotonic() < until_s
        kept[1].close()
        control.close()


def test_page_of_the_docs_has_every_request():
    text = (ROOT / "docs" / "clients" / "control.md").read_text()
    for verb, pattern, _ in _ROUTES:
        assert f"`{verb} {pattern.replace('([0-9]{1,9})', 'ID')}`" in text


# --- scenarios


def test_scenario_is_what_a_server_begins_with(tmp_path):
    (tmp_path / "shop.json").write_text(json.dumps({"queues": [{"name": "orders", "vhost": "/"}]}))
    path = tmp_path / "scenario.toml"
    path.write_text('definitions = "shop.json"\n[[faults]]\ndo = "hold"\nmethod = "basic.get"\n')
    with highwater.run(scenario=path) as rabbitmq:
        for _ in range(2):
            assert [each["queue"] for each in rabbitmq.queues()] == ["orders"]
            assert [each["method"] for each in rabbitmq.faults()] == ["basic.get"]
            rabbitmq.reset()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[[faults]]\ndo = 'refuse'\ncode = 999\n", "line 3, faults.0.code: must be one of"),
        ("[[faults]]\ndo = 'hold'\n\n[[faults]]\ndo = 'refuse'\n\n", "line 4, faults.1.code: refuse needs it"),
        ("[[faults]]\ndo = 'hold'\n[[faults]]\ndo = 'hold'\ncolour = 1\n", "line 5, faults.1.colour: a fault"),
        ("faults = [\n  {do = 'hold', nth = -1},\n]\n", "line 3, faults.0.nth: must be 0 to"),
        ("[[faults]]\ndo = 'refuse'\ncode = 403\ntext = '''\n[[faults]]\n'''\nms = 5\n", "line 7, faults.0.ms: does not"),
        ("colour = 1\n", "line 1, colour: there is no such field"),
        ("faults = 5\n", "line 1, faults: must be tables"),
        ("\ndefinitions = 5\n", "line 2, definitions: must be a file's name or a table"),
        ("definitions = 'none.json'\n", "line 1, definitions: cannot be read"),
        ("do = \n", "is no TOML"),
    ],
)  # fmt: skip
def test_wrong_scenario_is_refused_with_the_line_of_its_field(tmp_path, text, error):
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    with pytest.raises(CommandError) as refused:
        read_scenario(path)
    assert str(refused.value).startswith(f"scenario: {error}")
