"""A lab that real clients come to: its journal is their run. The runs are those of `tests/core/serve/test_run.py`."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.lab.commands import rabbitmq_clients
from broker_core.lab.journal import Journal as LabJournal
from broker_core.lab.lab import Lab
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from broker_core.lab.why.answer import why
from broker_core.plain import to_plain
from broker_core.rabbitmq import methods as m
from broker_core.serve.journal import Came, Full, Left, digest_of, entries_in
from broker_core.wire.acts import SetFault
from broker_core.wire.amqp.frames import PROTOCOL_HEADER
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.sender import encode
from broker_core.wire.faults.fault import read_fault
from dashboard.labs.clients_run import lab_run
from tests.core.serve.test_run import broken, lived, noisy
from tests.core.serve.wire_clients import BEGAN_US, SEED, Client, Turns

LIVES = (lived, noisy, broken)
OPEN = {
    "seed": SEED,
    "workload": {"kind": "none"},
    "consumers": 0,
    "lanes": [{"id": "rabbitmq", "model": "rabbitmq", "began_us": BEGAN_US}],
}


def opened(life):
    life(turns := Turns())
    return turns, lab_run(turns.journal.data())


def server_of(lab: Lab):
    return lab.lanes["rabbitmq"].reads.server


def gone_through(run, until=None):
    lab = Lab(scenario_from_json(run["scenario"]))
    server_of(lab).is_heard = True
    for command in run["commands"][:until]:
        lab.advance_to(command["at_us"])
        lab.submit({key: value for key, value in command.items() if key != "at_us"})
    return lab


def ordered(lab: Lab, kind: str, **args):
    position = lab.position + 1
    return lab.submit({"command_id": f"t{position}", "kind": kind, "args": args, "position": position})


def bytes_of(*methods) -> str:
    return b64encode(b"".join(encode(method, 131_072) for method in methods)).decode()


GREETED = b64encode(PROTOCOL_HEADER).decode()
LOGIN = (
    m.ConnectionStartOk({"connection_name": "billing"}),
    m.ConnectionTuneOk(heartbeat=0),
    m.ConnectionOpen(),
    m.ChannelOpen(1),
)


def open_lab() -> Lab:
    return Lab(scenario_from_json(OPEN))


def connected() -> Lab:
    lab = open_lab()
    acts = [
        {"do": "open", "socket": 1},
        {"do": "bytes", "socket": 1, "data": GREETED},
        {"do": "bytes", "socket": 1, "data": bytes_of(*LOGIN)},
    ]
    ordered(lab, "rabbitmq_socket", acts=acts)
    return lab


@pytest.mark.parametrize("life", LIVES)
def test_lab_of_a_run_answers_every_client_as_the_run_did(life):
    """By the hashes that the run has of what left."""
    turns, run = opened(life)
    lab = Lab(scenario_from_json(run["scenario"]))
    server = server_of(lab)
    server.is_heard = True
    commands, compared = list(run["commands"]), 0
    for entry in entries_in(turns.journal.data()):
        if not isinstance(entry, Came | Left | Full):
            continue
        lab.advance_to(entry.at_us)
        while commands and commands[0]["at_us"] <= entry.at_us and isinstance(entry, Left):
            lab.submit({key: value for key, value in commands.pop(0).items() if key != "at_us"})
        if isinstance(entry, Came):
            while commands and commands[0]["at_us"] <= entry.at_us:
                lab.submit({key: value for key, value in commands.pop(0).items() if key != "at_us"})
            continue
        assert digest_of([(socket, parts) for socket, parts, _ in server.taken()]) == entry.digest
        compared += 1
    assert compared > 8 and not commands
    lab.advance_to(turns.now_us)
    assert to_plain(server.broker.state) == to_plain(turns.run.broker.state)
    assert to_plain(server.faults) == to_plain(turns.run.faults)


@pytest.mark.parametrize("life", LIVES)
def test_lab_goes_on_the_same_from_a_checkpoint_between_any_two_orders(life):
    _, run = opened(life)
    whole = gone_through(run)
    lab = Lab(scenario_from_json(run["scenario"]))
    for command in run["commands"]:
        lab.advance_to(command["at_us"])
        lab.submit({key: value for key, value in command.items() if key != "at_us"})
        lab = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (whole, lab):
        each.advance_to(run["at_us"] + 30 * SECOND_US)
    assert lab.checkpoint() == whole.checkpoint() and lab.view() == whole.view()


@pytest.mark.parametrize("life", LIVES)
def test_journal_of_an_open_lab_is_the_lab_at_every_order(life):
    _, run = opened(life)
    journal = LabJournal(scenario_from_json(run["scenario"]), run["commands"])
    for command in run["commands"][:: max(1, len(run["commands"]) // 6)]:
        there = journal.seek(command["at_us"], command["position"])
        assert there.position == command["position"]
        assert there.checkpoint() == gone_through(run, command["position"]).checkpoint()


@given(st.data())
def test_time_may_pass_in_any_steps(data):
    _, run = opened(broken)
    step = data.draw(st.integers(100_000, 3 * SECOND_US))
    lab = Lab(scenario_from_json(run["scenario"]))
    Replay(lab, run["commands"], run["at_us"]).finish()
    other = Lab(scenario_from_json(run["scenario"]))
    for command in run["commands"]:
        while other.now_us + step < command["at_us"]:
            other.advance_to(other.now_us + step)
        other.advance_to(command["at_us"])
        other.submit({key: value for key, value in command.items() if key != "at_us"})
    other.advance_to(lab.now_us)
    assert other.checkpoint() == lab.checkpoint()


@given(
    st.lists(
        st.tuples(
            st.integers(1, 3),
            st.sampled_from(("open", "bytes", "close", "full", "drained")),
            st.binary(max_size=80),
        ),
        max_size=12,
    )
)
def test_any_acts_are_carried_out_or_refused_with_nothing_changed(acts):
    lab = connected()
    for socket, do, data in acts:
        act = {"do": do, "socket": socket, **({"data": b64encode(data).decode()} if do == "bytes" else {})}
        before = lab.checkpoint()
        try:
            ordered(lab, "rabbitmq_socket", acts=[act])
        except CommandError as error:
            assert lab.checkpoint() == before and error.field == "args.acts.0.socket"
    lab.advance_to(lab.now_us + 90 * SECOND_US)
    assert Lab.restore(lab.scenario, lab.checkpoint()).view() == lab.view()


@pytest.mark.parametrize(
    ("acts", "field"),
    [
        ([], "args.acts"),
        ([{"do": "open"}], "args.acts.0.socket"),
        ([{"do": "open", "socket": 0}], "args.acts.0.socket"),
        ([{"do": "look", "socket": 1}], "args.acts.0.do"),
        ([{"do": "open", "socket": 1, "data": ""}], "args.acts.0.data"),
        ([{"do": "bytes", "socket": 1, "data": "%%"}], "args.acts.0.data"),
        ([{"do": "bytes", "socket": 1, "data": "é"}], "args.acts.0.data"),
        ([{"do": "bytes", "socket": 1, "data": b64encode(bytes(262_145)).decode()}], "args.acts"),
        ([{"do": "open", "socket": 2}, {"do": "open", "socket": 2}], "args.acts.1.socket"),
    ],
)
def test_acts_that_cannot_be_are_refused_at_their_field(acts, field):
    lab = connected()
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refused:
        ordered(lab, "rabbitmq_socket", acts=acts)
    assert refused.value.field == field and lab.checkpoint() == before


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ("CAME_BYTES_MAX", "sent more bytes"),
        ("OPEN_PARTS_MAX", "declared more"),
        ("RECORDS_WAITING_MAX", "more messages wait"),
    ],
)
def test_clients_that_fill_a_lab_are_refused_with_nothing_changed(monkeypatch, bound, said):
    lab = connected()
    declares = bytes_of(m.QueueDeclare(1, "q"), m.BasicPublish(1, "", "q"))
    ordered(lab, "rabbitmq_socket", acts=[{"do": "bytes", "socket": 1, "data": declares}])
    monkeypatch.setattr(rabbitmq_clients, bound, 0)
    before = lab.checkpoint()
    with pytest.raises(CommandError, match=said):
        ordered(lab, "rabbitmq_socket", acts=[{"do": "bytes", "socket": 1, "data": declares}])
    assert lab.checkpoint() == before


def test_fault_of_an_open_lab_strikes_is_ended_and_refused_at_its_field():
    lab = connected()
    ordered(lab, "rabbitmq_fault", do="hold", method="queue.declare", connection="billing")
    ordered(
        lab,
        "rabbitmq_socket",
        acts=[{"do": "bytes", "socket": 1, "data": bytes_of(m.QueueDeclare(1, "orders"))}],
    )
    assert server_of(lab).faults.held(server_of(lab).faults.row(1)) == 1
    ordered(lab, "rabbitmq_fault_end", fault=1)
    assert [queue.name for queue in lab.lanes["rabbitmq"].reads.queues().values()] == ["orders"]
    for kind, args, field in (
        ("rabbitmq_fault", {"do": "hold", "method": "no.such"}, "args.method"),
        ("rabbitmq_fault_end", {"fault": 9}, "args.fault"),
    ):
        with pytest.raises(CommandError) as refused:
            ordered(lab, kind, **args)
        assert refused.value.field == field


def test_lane_that_nobody_opened_takes_no_sockets_and_an_open_one_no_consumers_and_no_steps():
    closed = Lab(scenario_from_json({"workload": {"kind": "uniform"}, "lanes": [{"model": "rabbitmq"}]}))
    with pytest.raises(CommandError, match="not open to clients"):
        ordered(closed, "rabbitmq_socket", acts=[{"do": "open", "socket": 1}])
    lab = open_lab()
    for kind, args in (("join", {}), ("step", {}), ("record_rate", {"rate": 5})):
        with pytest.raises(CommandError):
            ordered(lab, kind, **args)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"consumers": 1}, "consumers"),
        ({"workload": {"kind": "uniform"}}, "workload.kind"),
        ({"workload": {"kind": "none", "rate": 1}}, "workload.kind"),
        ({"lanes": [{"model": "rabbitmq"}]}, "workload.kind"),
        ({"lanes": [*OPEN["lanes"], {"model": "kafka"}]}, "lanes"),
        ({"lanes": [{**OPEN["lanes"][0], "network_delay_us": 5}]}, "lanes.0.network_delay_us"),
        ({"lanes": [{**OPEN["lanes"][0], "began_us": -1}]}, "lanes.0.began_us"),
    ],
)
def test_open_scenario_is_checked_at_its_fields(change, field):
    with pytest.raises(CommandError) as refused:
        scenario_from_json({**OPEN, **change})
    assert refused.value.field == field
    checked = scenario_from_json(OPEN)
    assert scenario_from_json(scenario_to_json(checked)) == replace(checked)


def test_view_names_real_clients_and_what_they_do():
    lab = connected()
    acts = [
        {"do": "open", "socket": 2},
        {"do": "bytes", "socket": 2, "data": GREETED},
        {
            "do": "bytes",
            "socket": 2,
            "data": bytes_of(m.ConnectionStartOk({"connection_name": "mailer"}), *LOGIN[1:]),
        },
        {
            "do": "bytes",
            "socket": 1,
            "data": bytes_of(
                m.QueueDeclare(1, "orders"),
                m.BasicPublish(1, "", "orders"),
                m.BasicPublish(1, "amq.topic", "x", True),
            ),
        },
        {"do": "bytes", "socket": 2, "data": bytes_of(m.BasicQos(1, 0, 3), m.BasicConsume(1, "orders", "t"))},
    ]
    ordered(lab, "rabbitmq_socket", acts=acts)
    view = lab.view()
    lane = view["lanes"]["rabbitmq"]
    graph = lane["rabbitmq"]["vhosts"]["/"]
    assert [(each["name"], each["published"], each["is_real"]) for each in graph["publishers"].values()] == [
        ("billing", 2, True)
    ]
    assert {(each["exchange"], each["published"]) for each in graph["publishes"].values()} == {
        ("", 1),
        ("amq.topic", 1),
    }
    assert [each["returned"] for each in graph["returns"].values()] == [1]
    assert [(each["name"], each["queue"], each["is_real"]) for each in graph["consumers"].values()] == [
        ("mailer", "orders", True)
    ]
    assert lane["order"] == ["mailer"] and lane["consumers"]["mailer"]["is_real"]
    picture = lane["picture"]
    assert picture["kind"] == "queues" and picture["publishers"] == ["billing"] and not picture["more"]
    assert list(picture["queues"]) == ["orders"]
    assert picture["queues"]["orders"]["consumers"] == {
        "mailer": {"unacked": 1, "prefetch": 3, "in_flight": [{"record": 1, "redelivered": False}]}
    }
    assert lane["sentence"]["code"] == "rabbitmq.open" and lane["sentence"]["params"]["clients"] == 2
    assert view["caption"]["params"]["client"] == "mailer, billing"
    came, taken = lane["rabbitmq"]["paths"]["of"]["1"]["steps"]
    assert came["program"] == "billing" and came["method"]["name"] == "basic.publish"
    assert came["method"]["fields"]["routing_key"] == "orders" and not came["method"]["fields"]["mandatory"]
    assert taken["method"]["name"] == "basic.deliver" and taken["method"]["fields"]["consumer_tag"] == "t"
    ordered(lab, "rabbitmq_socket", acts=[{"do": "bytes", "socket": 2, "data": bytes_of(m.BasicAck(1, 1))}])
    (*_, acked) = lab.view()["lanes"]["rabbitmq"]["rabbitmq"]["paths"]["of"]["1"]["steps"]
    assert acked["kind"] == "ack" and acked["method"] == {
        "name": "basic.ack", "fields": {"delivery_tag": 1, "multiple": False},
    }  # fmt: skip


def test_real_client_gets_what_a_person_publishes():
    lab = connected()
    server = server_of(lab)
    taking = bytes_of(m.QueueDeclare(1, "orders"), m.BasicConsume(1, "orders", "t", no_ack=True))
    ordered(lab, "rabbitmq_socket", acts=[{"do": "bytes", "socket": 1, "data": taking}])
    server.is_heard = True
    for body in ("grüße", ""):
        ordered(lab, "rabbitmq_publish", routing_key="orders", body=body)
        ((socket, parts, is_over),) = server.taken()
        (received,) = Receiver(0).receive(b"".join(parts))
        assert socket == 1 and not is_over and received.method.message.body == body.encode()
    assert list(lab.lanes["rabbitmq"].reads.notes.paths.sent)


def test_why_answers_about_a_real_client_and_the_queue_that_it_reads():
    lab = connected()
    taking = bytes_of(
        m.QueueDeclare(1, "orders"), m.BasicPublish(1, "", "orders"), m.BasicConsume(1, "orders", "t")
    )
    ordered(lab, "rabbitmq_socket", acts=[{"do": "bytes", "socket": 1, "data": taking}])
    lane = lab.lanes["rabbitmq"]
    found = why(lane, "consumer:billing", [], {})
    assert found["says"] == {"code": "why.is.client", "params": {"consumer": "billing"}}
    assert found["sums"][0]["params"] == {"unacked": 1}
    assert why(lane, "queue:orders", [], {})["says"]["params"]["consumers"] == 1
    with pytest.raises(CommandError):
        why(lane, "consumer:nobody", [], {})


def test_two_clients_of_one_name_are_told_apart():
    turns = Turns()
    workers = [Client(turns, number) for number in (1, 2)]
    for count, worker in enumerate(workers, 1):
        worker.open(name="worker")
        worker.send(m.QueueDeclare(1, "q"), m.BasicQos(1, 0, count), m.BasicConsume(1, "q", "t"))
    workers[0].send(*(m.BasicPublish(1, "", "q") for _ in range(4)))
    turns.act(0, SetFault(read_fault({"do": "hold", "method": "tx.select"})))
    lab = gone_through(lab_run(turns.journal.data()))
    assert list(lab.lanes["rabbitmq"].reads.names().values()) == ["worker (1)", "worker (2)"]
    shown = lab.view()["lanes"]["rabbitmq"]
    rows = {name: row["unacked"] for name, row in shown["consumers"].items()}
    subscribed = shown["rabbitmq"]["vhosts"]["/"]["consumers"].values()
    assert rows == {"worker (1)": 1, "worker (2)": 2}
    assert [each["name"] for each in shown["rabbitmq"]["connections"].values()] == list(rows)
    assert {each["name"]: each["unacked"] for each in subscribed} == rows, (
        "the page finds a row's queue by its name"
    )
