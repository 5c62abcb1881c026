"""A lab that is open to real clients: pika speaks to it over a socket, and what came is in its journal before an answer leaves.
The shards are those of the test's own process; their clock is the wall's."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pika
import pytest
from django.conf import settings as site

from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import scenario_from_json
from dashboard.errors import Refused
from dashboard.labs import services, writes
from dashboard.labs.clients.shard import OpenShard
from dashboard.labs.shard import Shard
from dashboard.models import Lab, StoredCommand
from tests.dashboard.world import FakeTransport, World

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_S = 30.0
OPEN = {
    "workload": {"kind": "none"},
    "consumers": 0,
    "lanes": [{"id": "rabbitmq", "model": "rabbitmq", "began_us": 1_764_000_000_000_000}],
}


class Wire(World):
    """An ordinary shard and the one of open labs, by the wall's clock."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        self.shard = Shard(0, self.transport, time.monotonic)  # type: ignore[arg-type]
        self.wire = OpenShard(site.WIRE_SHARD, FakeTransport(), time.monotonic)  # type: ignore[arg-type]

    def turn(self) -> None:
        self.shard.turn()
        self.wire.turn()
        time.sleep(0.002)

    def until(self, holds: Callable[[], Any]) -> Any:
        until_s = time.monotonic() + PATIENCE_S
        while not (found := holds()):
            assert time.monotonic() < until_s, "it did not come to that"
            self.turn()
        return found

    def door(self, lab: Lab) -> Any:
        driver = self.wire.drivers.get(lab.pk)
        return None if driver is None else driver.clients.door

    def listen(self, lab: Lab) -> int:
        """Open the lab; its port."""
        self.order(lab, "rabbitmq_open")
        return int(self.until(lambda: self.door(lab)).port)

    def does(self, work: Callable[[], Any]) -> Any:
        """Turn while a client is at work in a thread of its own. Returns what it did; raises what it raised."""
        found: list[Any] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                found.append(work())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.until(lambda: not thread.is_alive())
        if failed:
            raise failed[0]
        return found[0]

    def close(self) -> None:
        self.wire._forget_all()


@pytest.fixture
def wire(settings: Any) -> Iterator[Wire]:
    settings.LAB_SHARDS, settings.CLIENTS_ON, settings.CLIENTS_LABS_MAX = 1, True, 2
    made = Wire()
    yield made
    made.close()


def connected(port: int, name: str) -> pika.BlockingConnection:
    parameters = pika.ConnectionParameters("127.0.0.1", port, client_properties={"connection_name": name})
    return pika.BlockingConnection(parameters)


def published(port: int, *bodies: bytes) -> int:
    """Each confirmed. Returns how many."""
    connection = connected(port, "billing")
    channel = connection.channel()
    channel.queue_declare("orders", durable=True)
    channel.confirm_delivery()
    for body in bodies:
        channel.basic_publish("", "orders", body, pika.BasicProperties(delivery_mode=2))
    connection.close()
    return len(bodies)


def taken(port: int, count: int) -> list[bytes]:
    connection = connected(port, "shipping")
    channel = connection.channel()
    bodies: list[bytes] = []
    for method, _, body in channel.consume("orders", inactivity_timeout=10):
        assert method is not None
        bodies.append(body)
        channel.basic_ack(method.delivery_tag)
        if len(bodies) == count:
            break
    connection.close()
    return bodies


def reads_of(wire: Wire, lab: Lab) -> Any:
    return wire.wire.drivers[lab.pk].core.lanes["rabbitmq"].reads


def replayed(lab: Lab, until_us: int) -> CoreLab:
    """The lab by its journal alone."""
    core = CoreLab(scenario_from_json(Lab.objects.get(pk=lab.pk).scenario))
    commands = [writes.entry(row) for row in lab.commands.filter(state="applied").order_by("position")]
    Replay(core, commands, until_us).finish()
    return core


def test_pika_publishes_and_consumes_and_the_journal_alone_comes_to_the_same(wire: Wire) -> None:
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    assert Lab.objects.get(pk=lab.pk).shard == site.WIRE_SHARD
    wire.until(lambda: lab.pk not in wire.shard.drivers)
    assert wire.does(lambda: published(port, b"one", b"two", b"three")) == 3
    assert wire.does(lambda: taken(port, 3)) == [b"one", b"two", b"three"]
    wire.until(lambda: not reads_of(wire, lab).living_sockets())
    wire.order(lab, "pause_lab")
    wire.until(lambda: not lab.commands.filter(state="accepted").exists())
    core = wire.wire.drivers[lab.pk].core
    again = replayed(lab, core.now_us)
    assert again.now_us == core.now_us and again.checkpoint() == core.checkpoint()
    kinds = [command.body["kind"] for command in lab.commands.order_by("position")]
    assert kinds[:2] == ["play", "rabbitmq_open"] and kinds.count("rabbitmq_socket") >= 8


def test_worker_that_dies_loses_nothing_that_was_confirmed_and_listens_at_the_same_port(
    wire: Wire, settings: Any
) -> None:
    settings.LEASE_S = 0.3
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    stays = wire.does(lambda: connected(port, "stays"))
    assert wire.does(lambda: published(port, b"one", b"two")) == 2
    wire.until(lambda: Lab.objects.get(pk=lab.pk).clients_port == port)
    dead = wire.door(lab)
    dead.close()  # its process is gone: nobody lets go of the lease
    wire.begin()
    assert wire.until(lambda: wire.door(lab)).port == port
    assert wire.does(lambda: taken(port, 2)) == [b"one", b"two"]
    wire.until(lambda: not reads_of(wire, lab).living_sockets())
    with pytest.raises(pika.exceptions.AMQPError):
        stays.channel()


def test_no_answer_leaves_before_what_it_follows_from_is_stored(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    channel = wire.does(connection.channel)
    wire.does(lambda: channel.queue_declare("orders"))
    wire.does(channel.confirm_delivery)
    left: list[int] = []
    door = wire.door(lab)
    leave = door.leave

    def watched(leaving: Any, blocked: Any) -> None:
        if leaving:
            waiting = lab.commands.filter(state=StoredCommand.State.ACCEPTED).count()
            left.append(waiting)
            floor_us = Lab.objects.values_list("clock_floor_us", flat=True).get(pk=lab.pk)
            assert floor_us >= wire.wire.drivers[lab.pk].core.now_us
        leave(leaving, blocked)

    monkeypatch.setattr(door, "leave", watched)
    for _ in range(5):
        wire.does(lambda: channel.basic_publish("", "orders", b"x"))
    assert len(left) >= 5 and set(left) == {0}
    wire.does(connection.close)


def test_closing_cuts_clients_off_and_the_lab_goes_back_to_its_shard(wire: Wire) -> None:
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    wire.order(lab, "rabbitmq_close")
    row = wire.until(lambda: Lab.objects.filter(pk=lab.pk, shard=0, clients_port=None).first())
    wire.until(lambda: row.pk in wire.shard.drivers and row.pk not in wire.wire.drivers)
    with pytest.raises(pika.exceptions.AMQPError):
        wire.does(connection.channel)
    with pytest.raises(pika.exceptions.AMQPConnectionError):
        connected(port, "late")


def test_paused_lab_holds_its_clients_until_it_plays(wire: Wire) -> None:
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    wire.order(lab, "pause_lab")
    wire.until(lambda: not wire.wire.drivers[lab.pk].core.playing)
    opened: list[Any] = []
    thread = threading.Thread(target=lambda: opened.append(connection.channel()), daemon=True)
    thread.start()
    wire.until(lambda: wire.door(lab).came)
    at_us, count = wire.wire.drivers[lab.pk].core.now_us, lab.commands.count()
    for _ in range(20):
        wire.turn()
    assert not opened and lab.commands.count() == count
    assert wire.wire.drivers[lab.pk].core.now_us == at_us
    wire.order(lab, "play")
    wire.until(lambda: not thread.is_alive())
    assert opened
    wire.does(connection.close)


def test_clients_beyond_the_bounds_are_turned_away_and_the_page_hears_of_it(
    wire: Wire, settings: Any
) -> None:
    settings.CLIENTS_CONNECTIONS_MAX, settings.CLIENTS_BYTES_MAX = 1, 20_000
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    with pytest.raises(pika.exceptions.AMQPError):
        wire.does(lambda: connected(port, "second"))
    channel = wire.does(connection.channel)
    with pytest.raises(pika.exceptions.AMQPError):
        wire.does(
            lambda: (
                [channel.basic_publish("", "orders", bytes(5_000)) for _ in range(9)]
                and channel.queue_declare("q")
            )
        )
    wire.until(lambda: not reads_of(wire, lab).living_sockets())
    shown = wire.until(lambda: (found := wire.wire.drivers[lab.pk].view["feed"]["clients"])["cut"] and found)
    assert (shown["port"], shown["count"], shown["refused"], shown["cut"], shown["why_not"]) == (
        port,
        0,
        1,
        1,
        "",
    )


def test_lab_whose_journal_is_full_takes_no_client_any_more_and_says_why(wire: Wire, settings: Any) -> None:
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    settings.CLIENTS_ORDERS_MAX = lab.commands.count()
    wire.until(lambda: wire.door(lab) is None and not reads_of(wire, lab).living_sockets())
    wire.until(lambda: wire.wire.drivers[lab.pk].view["feed"]["clients"]["why_not"] == "long")
    with pytest.raises(pika.exceptions.AMQPError):
        wire.does(connection.channel)
    with pytest.raises(pika.exceptions.AMQPConnectionError):
        connected(port, "late")


def test_what_a_client_said_in_vain_ends_its_connection(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    monkeypatch.setattr("broker_core.lab.commands.rabbitmq_clients.CAME_BYTES_MAX", 10)
    with pytest.raises(pika.exceptions.AMQPError):
        wire.does(connection.channel)
    wire.until(lambda: not reads_of(wire, lab).living_sockets())
    refused = lab.commands.filter(state=StoredCommand.State.REFUSED).get()
    assert list(refused.fields) == ["lane"]


def test_copy_of_an_open_lab_is_closed_and_may_be_opened_itself(wire: Wire) -> None:
    lab = wire.open(**OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    copy = services.lab_fork(lab_id=lab.pk, visitor="another-visitor-who-looks").lab
    assert copy.shard == 0 and copy.clients_port is None
    services.lab_watched(lab_ids=[copy.pk], wake=True)
    wire.until(lambda: copy.pk in wire.shard.drivers and wire.shard.drivers[copy.pk].view)
    assert "clients" not in wire.shard.drivers[copy.pk].view["feed"]
    other = wire.listen(copy)
    assert other != port and not reads_of(wire, copy).living_sockets()
    wire.does(wire.does(lambda: connected(other, "shipping")).close)
    wire.does(connection.close)


def refused(wire: Wire, lab: Lab, kind: str, **rest: Any) -> tuple[int, list[str]]:
    with pytest.raises(Refused) as found:
        wire.order(lab, kind, **rest)
    return found.value.status, list(found.value.fields)


def test_what_a_site_or_clients_at_work_do_not_bear_is_refused_at_its_field(
    wire: Wire, settings: Any
) -> None:
    lab, other, third = (wire.open(**OPEN) for _ in range(3))
    settings.CLIENTS_ON = False
    assert refused(wire, lab, "rabbitmq_open") == (409, ["lab"])
    settings.CLIENTS_ON = True
    wire.listen(lab)
    wire.listen(other)
    assert refused(wire, third, "rabbitmq_open") == (429, ["lab"])
    assert refused(wire, lab, "speed", args={"speed": 4}) == (409, ["args.speed"])
    assert refused(wire, lab, "speed", args={"speed": 1, "at_changes": 0.1}) == (409, ["args.speed"])
    assert refused(wire, lab, "play_until", args={"until_us": 10**9, "speed": 2}) == (409, ["args.speed"])
    said = {"acts": [{"do": "open", "socket": 1}]}
    assert refused(wire, lab, "rabbitmq_socket", args=said) == (409, ["args.acts"])
    wire.order(lab, "speed", args={"speed": 1})
    wire.order(lab, "rabbitmq_socket", args={"acts": [{"do": "close", "socket": 1}]})
    closed = wire.open(lanes=[{"model": "rabbitmq"}])
    wire.until(lambda: closed.pk in wire.shard.drivers and wire.shard.drivers[closed.pk].view)
    assert refused(wire, closed, "rabbitmq_close") == (400, ["lane"])


def test_lab_that_nobody_watches_rests_only_when_no_client_is_there(wire: Wire, settings: Any) -> None:
    lab = wire.open(watched=False, **OPEN)
    port = wire.listen(lab)
    connection = wire.does(lambda: connected(port, "billing"))
    settings.LAB_IDLE_PAUSE_S = 0.0
    wire.wire._idle_s = -1e9
    for _ in range(50):
        wire.turn()
    assert Lab.objects.get(pk=lab.pk).status == Lab.Status.RUNNING and wire.door(lab) is not None
    wire.does(connection.close)
    wire.wire.watched_until_s.clear()
    wire.wire._idle_s = -1e9
    wire.until(lambda: Lab.objects.get(pk=lab.pk).status == Lab.Status.IDLE)
    assert lab.pk not in wire.wire.drivers
    services.lab_watched(lab_ids=[lab.pk], wake=True)
    assert wire.until(lambda: wire.door(lab)).port == port


def test_labs_of_a_site_that_takes_no_clients_any_more_are_driven_as_all(wire: Wire, settings: Any) -> None:
    from dashboard.labs.shards import _adopt_orphans

    lab = wire.open(**OPEN)
    wire.listen(lab)
    wire.close()
    settings.CLIENTS_ON = False
    _adopt_orphans()
    row = Lab.objects.get(pk=lab.pk)
    assert row.shard == 0 and row.clients_port is None
