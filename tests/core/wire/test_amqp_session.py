"""One connection as bytes: the server's end of it, whatever the client sends and however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import SECOND_US
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.connection import FRAME_SIZE_MIN
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.wire.amqp import receiver
from broker_core.wire.amqp.content import BASIC
from broker_core.wire.amqp.frames import (
    BODY,
    EMPTY_FRAME_SIZE,
    HEAD,
    HEADER,
    HEARTBEAT,
    METHOD,
    PROTOCOL_HEADER,
    write_frame,
)
from broker_core.wire.amqp.remote import CLOSING_US, HANDSHAKE_US, Arrived
from broker_core.wire.amqp.sender import encode
from broker_core.wire.amqp.session import OFFERED, Session
from broker_core.wire.amqp.tables import read_octets, write_table
from tests.core.serve.wire_clients import Client, Turns

OPENING = (m.ConnectionTuneOk(heartbeat=0), m.ConnectionOpen(), m.ChannelOpen(1))


def client(cut: int = 0) -> Client:
    return Client(Turns(), 1, cut)


def kinds(methods: list[object]) -> list[str]:
    return [type(method).__struct_config__.tag for method in methods]  # type: ignore[attr-defined]


def test_handshake_of_a_plain_client():
    assert kinds(client().open()) == [
        "connection.start",
        "connection.tune",
        "connection.open-ok",
        "channel.open-ok",
    ]


def test_amqplain_is_a_table_without_its_size():
    one = client()
    one.write(PROTOCOL_HEADER)
    rows = read_octets(write_table({"LOGIN": "guest", "PASSWORD": "guest", "é": "ÿ" * 200})[4:])
    start = m.ConnectionStartOk(mechanism="AMQPLAIN", response=rows)
    assert kinds(one.send(start, *OPENING)) == ["connection.tune", "connection.open-ok", "channel.open-ok"]


@pytest.mark.parametrize("response", ["", "\0guest\0guest", read_octets(write_table({"LOGIN": "guest"})[4:])])
def test_amqplain_without_a_name_or_a_password_ends_the_connection(response):
    one = client()
    one.write(PROTOCOL_HEADER)
    assert one.send(m.ConnectionStartOk(mechanism="AMQPLAIN", response=response)) == []
    assert one.turns.ended == [1] and not one.turns.run.broker.connections


@pytest.mark.parametrize("header", [b"AMQP\x00\x00\x08\x00", b"AMQP\x01\x01\x00\x0a", b"GET / HT"])
def test_another_protocol_header_is_answered_with_ours_and_the_end(header):
    one = client()
    for at in range(0, 8, 3):
        one.turns.act(1, Arrived(header[at : at + 3]))
    assert one.turns.taken(1) == PROTOCOL_HEADER and one.turns.ended == [1]


@pytest.mark.parametrize(
    ("tune", "text"),
    [
        (m.ConnectionTuneOk(frame_max=1_000), "negotiated frame_max = 1000 is lower than the minimum allowed value (4096)"),
        (m.ConnectionTuneOk(frame_max=0), "negotiated frame_max = 0 is higher than the maximum allowed value (131072)"),
        (m.ConnectionTuneOk(channel_max=0),
         "negotiated channel_max = 0 (no limit) is higher than the maximum allowed value (2047)"),
        (m.ConnectionTuneOk(channel_max=9_000), "negotiated channel_max = 9000 is higher than the maximum allowed value (2047)"),
    ],
)  # fmt: skip
def test_tuning_beyond_what_the_server_offers_is_refused(tune, text):
    one = client()
    one.write(PROTOCOL_HEADER)
    (answer,) = one.send(m.ConnectionStartOk(), tune)[1:]
    assert (answer.reply_code, answer.reply_text) == (530, f"NOT_ALLOWED - {text}")


def test_body_is_cut_into_frames_that_both_agreed_on():
    one = client()
    one.write(PROTOCOL_HEADER)
    one.send(m.ConnectionStartOk(), m.ConnectionTuneOk(frame_max=4_096, heartbeat=0), *OPENING[1:])
    one.send(m.QueueDeclare(1, "q"), m.BasicConsume(1, "q", "t", no_ack=True))
    body = bytes(range(256)) * 64
    one.turns.taken(1)
    one.turns.act(1, Arrived(encode(m.BasicPublish(1, "", "q", message=Content(body=body)), 4_096)))
    data = one.turns.taken(1)
    sizes = frame_sizes(data)
    assert max(sizes) == 4_096 and sum(sizes) == len(data)
    ((_, deliver),) = one.receiver.receive(data)
    assert deliver.message.body == body


def frame_sizes(data: bytes) -> list[int]:
    found = []
    while data:
        found.append(int.from_bytes(data[3:7], "big") + EMPTY_FRAME_SIZE)
        data = data[found[-1] :]
    return found


def conversation() -> list[object]:
    message = Content(Properties(content_type="text/plain", headers={"a": [1, {"b": None}]}), b"x" * 300)
    return [
        m.ConnectionStartOk(), *OPENING, m.QueueDeclare(1, "q"), m.ConfirmSelect(1),
        m.BasicPublish(1, "", "q", message=message), m.BasicPublish(1, "", "none", True, message=message),
        m.BasicConsume(1, "q", "t"), m.BasicAck(1, 1), m.BasicAck(1, 9), m.ChannelCloseOk(1), m.ConnectionClose(200, "bye"),
    ]  # fmt: skip


@given(st.integers(1, 200))
def test_any_cut_of_the_bytes_gives_the_same_answers(cut):
    whole, pieces = client(), client(cut)
    data = PROTOCOL_HEADER + b"".join(encode(method) for method in conversation())
    whole.turns.act(1, Arrived(data))
    for at in range(0, len(data), cut):
        pieces.turns.act(1, Arrived(data[at : at + cut]))
    assert whole.turns.taken(1) == pieces.turns.taken(1) and whole.turns.ended == pieces.turns.ended == [1]


@given(st.lists(st.binary(max_size=60), max_size=6), st.integers(0, 12), st.integers(1, 40))
def test_whatever_comes_is_answered_or_ends_the_connection(noise, after, cut):
    """Never another exception, and another client is served as before."""
    one = client(cut)
    one.write(PROTOCOL_HEADER + b"".join(encode(method) for method in conversation()[:after]))
    for data in noise:
        one.turns.act(1, Arrived(data))
    one.turns.wait(CLOSING_US + HANDSHAKE_US)
    other = Client(one.turns, 2)
    assert kinds(other.open())[-1] == "channel.open-ok"


def test_who_does_not_open_within_ten_seconds_is_cut_off():
    one = client()
    one.write(PROTOCOL_HEADER)
    one.turns.wait(HANDSHAKE_US - SECOND_US)
    assert one.turns.ended == []
    one.turns.wait(SECOND_US)
    assert one.turns.ended == [1] and not one.turns.run.broker.connections


def test_server_beats_in_half_the_interval_that_the_client_asked_for_and_gives_a_silent_one_up():
    one = client()
    one.open(heartbeat=10)
    beats = 0
    for _ in range(10):
        one.turns.wait(5 * SECOND_US)
        beats += one.turns.taken(1).count(write_frame(HEARTBEAT, 0, b""))
        if one.turns.ended:
            break
    assert one.turns.ended == [1] and 2 <= beats <= 6 and not one.turns.run.broker.connections


def test_no_heartbeats_mean_that_silence_is_no_fault():
    one = client()
    one.open(heartbeat=0)
    one.turns.wait(600 * SECOND_US)
    assert one.turns.ended == [] and one.turns.taken(1) == b""


def test_half_a_message_is_a_sign_of_life():
    one = client()
    one.open(heartbeat=4)
    data = encode(m.BasicPublish(1, "", "q", message=Content(body=b"x" * 40)))
    for octet in data[:-1]:
        one.turns.wait(3 * SECOND_US)
        one.turns.act(1, Arrived(bytes([octet])))
    assert one.turns.ended == []


def test_server_waits_for_the_close_ok_and_not_for_ever():
    one, two = client(), client()
    for each in (one, two):
        each.open()
        assert kinds(each.send(m.ChannelOpen(1))) == ["connection.close"] and each.turns.ended == []
    one.send(m.ConnectionCloseOk())
    assert one.turns.ended == [1]
    two.turns.wait(CLOSING_US)
    assert two.turns.ended == [1]


def test_method_of_the_connection_on_a_channel_is_refused():
    one = client()
    one.open()
    wrong = bytearray(encode(m.ConnectionOpen()))
    wrong[2] = 1
    (close,) = one.write(bytes(wrong))
    assert (close.reply_code, close.reply_text) == (503, "COMMAND_INVALID - unimplemented method")


def test_session_reads_on_behind_what_breaks_the_protocol():
    session = Session()
    assert list(session.receive(PROTOCOL_HEADER)) == []
    found = list(session.receive(write_frame(9, 0, b"") + encode(m.ConnectionCloseOk())))
    assert kinds(found) == ["unreadable", "connection.close-ok"]


def begun(channel: int, body_size: int) -> bytes:
    """A message's method and header, and nothing of its body."""
    whole = encode(m.BasicPublish(channel, "", "q", message=Content()))
    size = HEAD.unpack_from(whole)[2] + EMPTY_FRAME_SIZE
    header = BASIC.to_bytes(4, "big")[2:] + b"\0\0" + body_size.to_bytes(8, "big") + b"\0\0"
    return whole[:size] + write_frame(HEADER, channel, header)


def test_body_larger_than_the_original_takes_is_refused_by_its_header():
    one = client()
    one.open()
    (close,) = one.write(begun(1, 1 << 63))
    assert (close.reply_code, close.reply_text) == (
        406,
        f"PRECONDITION_FAILED - message size {1 << 63} is larger than configured max size 134217728",
    )


def test_messages_that_never_end_hold_no_more_than_their_bound(monkeypatch):
    monkeypatch.setattr(receiver, "UNFINISHED_BYTES_MAX", 10_000)
    one = client()
    one.open()
    for channel in range(1, 10):
        assert one.write(begun(channel, 1_001) + write_frame(BODY, channel, b"x" * 1_000)) == []
    assert one.write(write_frame(BODY, 1, b"x")) == []  # it is whole, and makes room
    assert one.write(begun(10, 1_001) + write_frame(BODY, 10, b"x" * 1_000)) == []
    (close,) = one.write(begun(11, 1_001) + write_frame(BODY, 11, b"x" * 1_000))
    assert close.reply_code == 506
    assert close.reply_text == "RESOURCE_ERROR - messages that are not complete hold more than 10000 bytes"


def test_client_that_was_refused_begins_no_message():
    one = client()
    one.open()
    session = one.turns.run.sockets[1].session
    one.write(write_frame(9, 0, b""))
    one.write(begun(1, 4_000) + write_frame(BODY, 1, b"x" * 1_000))
    assert session.receiver.assemblies == {} and one.turns.ended == []


@pytest.mark.parametrize("size", [0, FRAME_SIZE_MIN - 1, OFFERED.frame_max + 1, 2**32 - 1])
def test_frame_size_that_the_server_does_not_offer_is_not_gone_by(size):
    session = Session()
    list(session.receive(PROTOCOL_HEADER + encode(m.ConnectionTuneOk(frame_max=size))))
    (found,) = session.receive(HEAD.pack(METHOD, 0, FRAME_SIZE_MIN + 1))
    assert "frame_too_large" in found.reply_text


def test_channel_has_no_place_before_a_virtual_host_is_open():
    one = client()
    one.write(PROTOCOL_HEADER)
    assert one.write(begun(1, 4_000)) == [] and one.turns.ended == [1]
