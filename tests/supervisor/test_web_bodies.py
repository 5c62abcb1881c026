"""What a request's body may cost, byte by byte, on the web server's own request over a connection that is
only a string."""

import io
import json
import shutil
from collections import namedtuple

import pytest

from mqsite import web
from mqsite.web import IN_MEMORY_BYTES, NO_ROOM, TOO_LARGE, TOO_MANY, Bodies, BoundedFactory, BoundedServer

from twisted.internet.address import IPv4Address  # isort: skip  (mqsite.web chose the reactor)
from twisted.internet.task import Clock  # isort: skip
from twisted.internet.testing import StringTransport  # isort: skip

KB, MB = 1024, 2**20
HERE, THERE = "192.0.2.7", "198.51.100.1"
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def limits(settings):
    """Small ones: a body of 1 MB at most, 2 MB of one address, 4 MB of everybody."""
    settings.BODY_BYTES_MAX, settings.BODIES_ADDRESS_BYTES_MAX, settings.BODIES_BYTES_MAX = MB, 2 * MB, 4 * MB
    return settings


@pytest.fixture
def disk(monkeypatch):
    """The disk of the run folder: free, in bytes."""
    left = {"free": 10**12}
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(10**12, 0, left["free"]))
    return left


# -- the count -----------------------------------------------------------------------------------------------


def test_one_address_has_its_share_and_no_byte_more(limits, disk):
    bodies = Bodies()
    assert bodies.add(HERE, 2 * MB) is None
    assert bodies.add(HERE, 1) == TOO_MANY
    assert bodies.add(THERE, MB) is None
    bodies.remove(HERE, 1)
    assert bodies.add(HERE, 1) is None


def test_everybody_together_leaves_a_place_for_who_has_nothing_on_its_way(limits, disk):
    bodies = Bodies()
    assert [bodies.add(address, size) for address, size in (("a", 2 * MB), ("b", MB + MB // 2))] == [
        None,
        None,
    ]
    assert bodies.add("b", MB // 2) == NO_ROOM, "the last tenth is for newcomers"
    assert bodies.add("c", MB // 2) is None
    assert bodies.add("d", 1) == NO_ROOM


def test_what_is_on_its_way_counts_against_the_disk_before_it_is_written(limits, disk):
    bodies = Bodies()
    disk["free"] = MB
    assert bodies.add("a", MB // 2) is None
    assert bodies.add("b", MB // 2 + 1) == NO_ROOM
    assert bodies.add("b", MB // 2) is None


def test_what_was_refused_is_not_counted_and_who_has_left_leaves_no_trace(limits, disk):
    bodies = Bodies()
    assert bodies.add(HERE, 3 * MB) == TOO_MANY
    bodies.add(HERE, 5)
    bodies.remove(HERE, 5)
    assert list(bodies._bytes) == []
    assert bodies.add(HERE, 2 * MB) is None


# -- the request ---------------------------------------------------------------------------------------------


class Server:
    """What Daphne's request asks of its server; keeps what reached the application."""

    proxy_forwarded_address_header = None
    request_buffer_size = 8192
    root_path, server_name = "", ""

    def __init__(self):
        self.reached = []

    def protocol_connected(self, _protocol): ...

    def protocol_disconnected(self, _protocol): ...

    def log_action(self, *_arguments): ...

    def create_application(self, protocol, scope):
        self.reached.append((protocol, scope))


class Wire(StringTransport):
    """Also knows whether its sending side was closed."""

    is_half_closed = False

    def loseWriteConnection(self):
        self.is_half_closed = True


class Connection:
    """One client's connection: what is sent to the server, and what it wrote back."""

    def __init__(self):
        self.server, self.transport = Server(), Wire(peerAddress=IPv4Address("TCP", HERE, 4711))
        factory = BoundedFactory(self.server)
        factory.log = lambda _request: None
        self.protocol = factory.buildProtocol(self.transport.getPeer())
        self.protocol.makeConnection(self.transport)

    def send(self, *pieces):
        for piece in pieces:
            self.protocol.dataReceived(piece)
        return self

    def head(self, length, *more):
        size = b"Transfer-Encoding: chunked" if length is None else b"Content-Length: %d" % length
        return self.send(b"\r\n".join([b"POST /api/logs/ HTTP/1.1", b"Host: lab", size, *more, b"", b""]))

    @property
    def answer(self):
        """(status, headers, JSON) of the one answer; None before it."""
        written = self.transport.value()
        if not written:
            return None
        top, _, body = written.partition(b"\r\n\r\n")
        status, *lines = top.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        assert int(headers["Content-Length"]) == len(body)
        return int(status.split()[1]), headers, json.loads(body)

    @property
    def is_cut(self):
        return self.transport.disconnecting


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(web, "reactor", clock)
    return clock


@pytest.fixture
def bodies(monkeypatch):
    fresh = Bodies()
    monkeypatch.setattr(web, "bodies", fresh)
    return fresh


@pytest.fixture
def client(limits, disk, clock, bodies, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    connection = Connection()
    yield connection
    for request, _scope in connection.server.reached:
        if request.body_file is not None:
            request.body_file.close()


def refused_with(connection, why):
    status, headers, body = connection.answer
    assert status == {TOO_LARGE: 413, TOO_MANY: 429, NO_ROOM: 507}[why] == why[0]
    assert (status, body) == (why[0], {"fields": {"body": [why[2]]}})
    assert headers["Connection"] == "close" and headers["Content-Type"] == "application/json"
    return headers


def test_a_body_above_the_limit_is_refused_at_its_announcement(client, bodies):
    client.head(MB + 1)
    assert "Retry-After" not in refused_with(client, TOO_LARGE), "it will never fit"
    assert bodies._bytes.total() == 0 and client.server.reached == []


def test_a_body_of_just_the_limit_reaches_the_site_as_a_file(client, bodies):
    client.head(MB).send(b"x" * (MB - 1))
    assert client.server.reached == [] and bodies._bytes == {HERE: MB}
    client.send(b"y")
    [(request, _scope)] = client.server.reached
    assert client.answer is None
    assert request.content.read() == b"" and request.body_file.read() == b"x" * (MB - 1) + b"y"


@pytest.mark.parametrize(("length", "is_file"), [(IN_MEMORY_BYTES, False), (IN_MEMORY_BYTES + 1, True)])
def test_a_short_body_stays_in_memory_and_is_not_counted(client, bodies, length, is_file):
    client.head(length).send(b"x" * length)
    [(request, _scope)] = client.server.reached
    assert (request.body_file is not None) == is_file
    assert bodies._bytes == ({HERE: length} if is_file else {})


def test_a_second_large_body_of_one_address_waits_and_is_told_when(client, bodies):
    bodies.add(HERE, MB + 1)
    client.head(MB)
    assert refused_with(client, TOO_MANY)["Retry-After"] == "60"
    assert bodies._bytes == {HERE: MB + 1}


def test_a_full_disk_is_told_as_such(client, bodies, disk):
    disk["free"] = 1000
    client.head(IN_MEMORY_BYTES + 1)
    assert refused_with(client, NO_ROOM)["Retry-After"] == "60"


def test_an_endless_body_is_counted_as_it_grows_and_refused_at_the_limit(client, bodies):
    client.head(None).send(chunk(b"x" * IN_MEMORY_BYTES))
    assert bodies._bytes.total() == 0
    client.send(chunk(b"x"))
    assert bodies._bytes == {HERE: IN_MEMORY_BYTES + 1}
    client.send(chunk(b"x" * (MB - IN_MEMORY_BYTES - 1)))
    assert bodies._bytes == {HERE: MB} and client.answer is None
    client.send(chunk(b"x"))
    refused_with(client, TOO_LARGE)
    assert bodies._bytes.total() == 0 and client.server.reached == []


def test_an_endless_body_is_refused_when_its_address_has_its_share(client, bodies):
    bodies.add(HERE, 2 * MB - 100 * KB)
    client.head(None).send(chunk(b"x" * 100 * KB))
    assert client.answer is None
    client.send(chunk(b"x"))
    refused_with(client, TOO_MANY)
    assert bodies._bytes == {HERE: 2 * MB - 100 * KB}


def test_who_is_refused_may_end_its_sentence_and_is_then_cut_off(client, clock):
    client.head(MB + 1)
    client.send(b"x" * 1000)
    assert client.answer and client.transport.is_half_closed and not client.is_cut
    clock.advance(web.IGNORED_FOR_S - 0.1)
    assert not client.is_cut
    clock.advance(0.2)
    assert client.is_cut


def test_who_is_refused_and_sends_on_without_end_is_cut_off_at_once(client, monkeypatch):
    monkeypatch.setattr(web, "IGNORED_BYTES_MAX", 2000)
    client.head(MB + 1).send(b"x" * 2000)
    assert not client.is_cut
    client.send(b"x")
    assert client.is_cut and client.server.reached == []


def test_a_refused_body_that_comes_to_its_end_reaches_nobody(client):
    client.head(MB + 1).send(b"x" * (MB + 1))
    assert client.is_cut and client.server.reached == []
    assert client.transport.value().count(b"HTTP/1.1") == 1


def test_who_is_refused_is_not_asked_to_continue(client):
    client.head(MB + 1, b"Expect: 100-continue")
    assert b"100 Continue" not in client.transport.value()
    refused_with(client, TOO_LARGE)


def test_a_client_that_goes_away_in_the_middle_gives_its_bytes_back(client, bodies):
    client.head(MB).send(b"x" * 100_000)
    assert bodies._bytes == {HERE: MB}
    client.protocol.connectionLost(None)
    assert bodies._bytes.total() == 0


def test_an_answer_gives_the_bytes_back(client, bodies):
    client.head(MB).send(b"x" * MB)
    [(request, _scope)] = client.server.reached
    request.handle_reply({"type": "http.response.start", "status": 204, "headers": []})
    assert bodies._bytes == {HERE: MB}
    request.handle_reply({"type": "http.response.body", "body": b""})
    assert bodies._bytes.total() == 0


def test_behind_a_trusted_proxy_the_client_is_counted(client, bodies, settings):
    from ipaddress import ip_network

    settings.TRUSTED_PROXIES = [ip_network(f"{HERE}/32")]
    client.head(MB, b"X-Forwarded-For: 203.0.113.1", b"X-Forwarded-For: " + THERE.encode())
    assert bodies._bytes == {THERE: MB}


def test_a_disk_that_fills_while_the_body_comes_is_told_as_such(client, bodies):
    class Full(io.BytesIO):
        def write(self, _data):
            raise OSError(28, "No space left on device")

    client.head(MB)
    request = client.protocol._channel.requests[0]
    request.content.close()
    request.content = Full()
    client.send(b"x")
    refused_with(client, NO_ROOM)
    assert bodies._bytes.total() == 0


# -- the server ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [None, io.BytesIO(b"long")])
def test_a_long_body_is_handed_over_in_the_scope_beside_what_is_there(file, monkeypatch):
    given = []
    monkeypatch.setattr(
        web.daphne_server.Server, "create_application", lambda _server, _protocol, scope: given.append(scope)
    )
    protocol = type("Protocol", (), {"body_file": file})()
    BoundedServer.create_application(
        object.__new__(BoundedServer), protocol, {"type": "http", "extensions": {"other": 1}}
    )
    extensions = {"other": 1} if file is None else {"other": 1, web.BODY_FILE: file}
    assert given == [{"type": "http", "extensions": extensions}]


def test_a_websocket_has_no_body(monkeypatch):
    given = []
    monkeypatch.setattr(
        web.daphne_server.Server, "create_application", lambda _server, _protocol, scope: given.append(scope)
    )
    BoundedServer.create_application(object.__new__(BoundedServer), object(), {"type": "websocket"})
    assert given == [{"type": "websocket"}]
