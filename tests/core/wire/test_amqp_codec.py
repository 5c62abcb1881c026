"""The AMQP codec: every method there and back, any cut of the bytes, and bytes that break the protocol."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.connection import FRAME_SIZE_MIN
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.rabbitmq.values import same
from broker_core.wire.amqp.errors import LocalProtocolError, RemoteProtocolError
from broker_core.wire.amqp.frames import PROTOCOL_HEADER, write_frame
from broker_core.wire.amqp.receiver import Received, Receiver
from broker_core.wire.amqp.sender import encode
from broker_core.wire.amqp.spec import SPECS, Spec
from broker_core.wire.amqp.tables import Malformed, read_table, write_table

NAMES = st.text(st.characters(codec="utf-8"), max_size=12)


def numbers(letter: str, low: int, high: int) -> st.SearchStrategy:
    return st.integers(low, high).map(lambda value: {"$t": letter, "v": value})


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(1 << 63), (1 << 63) - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        NAMES,
        numbers("b", -128, 127),
        numbers("B", 0, 255),
        numbers("s", -(1 << 15), (1 << 15) - 1),
        numbers("u", 0, (1 << 16) - 1),
        numbers("i", 0, (1 << 32) - 1),
        numbers("l", -(1 << 31), (1 << 31) - 1),
        numbers("T", 0, (1 << 64) - 1),
        st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda value: {"$t": "f", "v": value}),
        st.tuples(st.integers(0, 255), st.integers(0, (1 << 32) - 1)).map(
            lambda v: {"$t": "D", "v": list(v)}
        ),
        st.binary(max_size=8).map(lambda octets: {"$t": "x", "v": octets.hex()}),
        st.just({"$t": "S", "v": {"hex": "ff00"}}),
        st.just({"$t": "F", "v": {"$t": "a", "v": 1}}),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TABLES = st.dictionaries(NAMES, VALUES, max_size=4)
FIELDS = {
    "octet": st.integers(0, 255),
    "short": st.integers(0, (1 << 16) - 1),
    "long": st.integers(0, (1 << 32) - 1),
    "longlong": st.integers(0, (1 << 64) - 1),
    "shortstr": NAMES,
    "longstr": NAMES,
    "bit": st.booleans(),
    "table": TABLES,
}
SHORT = st.none() | NAMES
PROPERTIES = st.builds(
    Properties,
    **dict.fromkeys(Properties.__struct_fields__, SHORT)
    | {
        "headers": st.none() | TABLES,
        "delivery_mode": st.none() | st.integers(0, 255),
        "priority": st.none() | st.integers(0, 255),
        "timestamp": st.none() | st.integers(0, (1 << 64) - 1),
    },
)
CONTENTS = st.builds(Content, PROPERTIES, st.binary(max_size=40))


@st.composite
def some_method(draw: st.DrawFn, spec: Spec) -> object:
    values = [draw(st.integers(1, 65_535))] if spec.has_channel else []
    values += [draw(FIELDS[domain]) for _, domain, is_reserved in spec.fields if not is_reserved]
    return spec.method(*values, *([draw(CONTENTS)] if spec.has_content else []))


METHODS = st.one_of(st.just(m.Heartbeat()), *(some_method(spec) for spec in SPECS.values()))


def received(data: bytes, frame_max: int = 0) -> list[Received]:
    return list(Receiver(frame_max).receive(data))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@settings(max_examples=12)
@given(data=st.data())
def test_a_method_comes_back_as_it_was_sent(spec, data):
    method = data.draw(some_method(spec))
    raw = encode(method)
    assert received(raw) == [(getattr(method, "channel", 0), method)]
    assert encode(received(raw)[0].method) == raw


def test_every_method_is_on_the_wire():
    tags = {each.__struct_config__.tag for each in m.Method.__args__} - {"heartbeat", "unreadable"}
    assert set(SPECS) == tags
    for spec in SPECS.values():
        own = [name for name, _, is_reserved in spec.fields if not is_reserved]
        around = (["channel"] if spec.has_channel else [], ["message"] if spec.has_content else [])
        assert list(spec.method.__struct_fields__) == [*around[0], *own, *around[1]]


@given(TABLES)
def test_a_table_keeps_types_values_and_order(table):
    raw = write_table(table)
    again, end = read_table(raw, 0)
    assert end == len(raw) and write_table(again) == raw
    assert list(again) == list(table) and all(same(table[name], again[name]) for name in table)
    msgspec.json.encode(again)


@given(st.lists(METHODS, max_size=4), st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_any_cut_of_the_bytes_gives_the_same_methods(methods, sizes):
    raw = PROTOCOL_HEADER + b"".join(encode(method, 4_096) for method in methods)
    receiver, found, at, turn = Receiver(expects_header=True), [], 0, 0
    while at < len(raw):
        size = sizes[turn % len(sizes)]
        found += receiver.receive(raw[at : at + size])
        at, turn = at + size, turn + 1
    assert [method for _, method in found] == methods


def test_messages_of_two_channels_may_mix_and_a_body_is_cut_at_frame_max():
    one, other = (m.BasicPublish(channel, "", "q", message=Content(body=b"x" * 9_000)) for channel in (1, 2))
    raws = [encode(each, FRAME_SIZE_MIN) for each in (one, other)]
    frames: list[list[bytes]] = []
    for raw in raws:
        frames.append([])
        while raw:
            size = 8 + int.from_bytes(raw[3:7], "big")
            frames[-1].append(raw[:size])
            raw = raw[size:]
    assert [len(frame) for frame in frames[0]] == [18, 22, 4_096, 4_096, 832]
    mixed = b"".join(frame for pair in zip(*frames, strict=True) for frame in pair)
    assert received(mixed, FRAME_SIZE_MIN) == [(1, one), (2, other)]


def refusal(data: bytes, frame_max: int = FRAME_SIZE_MIN) -> tuple[int, str, int, int]:
    with pytest.raises(RemoteProtocolError) as refused:
        received(data, frame_max)
    error = refused.value
    return error.reply_code, error.reply_text, error.class_id, error.method_id


PUBLISH = encode(m.BasicPublish(1, "", "q"))[:18]


@pytest.mark.parametrize(
    ("raw", "code", "text", "ids"),
    [
        # Recorded.
        ("01000100000004003c00280000", 501,
         "FRAME_ERROR - type 1, all octets = <<0,60,0,40>>: {invalid_frame_end_marker,0}", (0, 0)),
        ("02000100000000ce", 501, "FRAME_ERROR - type 2, all octets = <<>>: unknown_frame", (0, 0)),
        ("09000100000000ce", 501, "FRAME_ERROR - type 9, all octets = <<>>: unknown_frame", (0, 0)),
        ("03000100000001ffce", 505, "UNEXPECTED_FRAME - expected method frame, got non method frame instead", (0, 0)),
        ("0100010000000400630063ce", 0, "no method 99.99", (0, 0)),
        (PUBLISH.hex() + encode(m.BasicQos(1, 0, 1)).hex(), 505,
         "UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead", (60, 40)),
        # By the original's source.
        ("010001000010010000", 501, "FRAME_ERROR - type 1, all octets = <<>>: {frame_too_large,4097,4088}", (0, 0)),
        ("08000100000000ce", 505, 'UNEXPECTED_FRAME - type 8, all octets = <<>>', (0, 0)),
        ("01000100000005003c000a00ce", 501, "FRAME_ERROR - cannot decode <<0>>", (60, 10)),
        ("0300000000000101ce", 505, "UNEXPECTED_FRAME - type 3, all octets = <<1>>", (0, 0)),
        (PUBLISH.hex() + "0200010000000e0032" + "00" * 12 + "ce", 505,
         "UNEXPECTED_FRAME - expected content header for class 60, got one for class 50 instead", (60, 40)),
    ],
)  # fmt: skip
def test_bytes_that_break_the_protocol_are_refused_as_the_original_does(raw, code, text, ids):
    assert refusal(bytes.fromhex(raw)) == (code, text, *ids)


def test_another_protocol_header_ends_the_connection():
    with pytest.raises(RemoteProtocolError) as refused:
        list(Receiver(expects_header=True).receive(b"AMQP\x01\x01\x08\x00"))
    assert refused.value.reply_code == 0


def test_a_long_refusal_is_cut_to_its_field():
    body = write_frame(1, 1, b"\x00\x3c\x00\x0a" + b"\x07" * 200)
    code, text, *_ = refusal(body)
    assert code == 501 and len(text.encode()) == 255 and text.endswith("...")
    encode(m.ConnectionClose(code, text))


@settings(max_examples=400)
@given(st.binary(max_size=80))
@example(b"\x01\x00\x01\xff\xff\xff\xff")
def test_any_bytes_give_methods_or_a_refusal(data):
    receiver = Receiver()
    try:
        for _, method in receiver.receive(data):
            encode(method)
    except RemoteProtocolError as error:
        assert error.reply_code in (0, 501, 505, 541)


@settings(max_examples=400)
@given(METHODS, st.data())
def test_a_damaged_method_gives_methods_or_a_refusal(method, data):
    raw = bytearray(encode(method))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        for _, each in Receiver().receive(bytes(raw)):
            encode(each)
    except RemoteProtocolError as error:
        assert error.reply_code in (0, 501, 505, 541)


def test_tables_in_tables_without_end_are_refused():
    deep = b""
    for _ in range(500):
        inner = b"\x01kF" + len(deep).to_bytes(4, "big") + deep
        deep = inner
    with pytest.raises(Malformed):
        read_table(len(deep).to_bytes(4, "big") + deep, 0)


def test_array_that_ends_within_its_last_value_is_refused():
    inner = b"A" + (2).to_bytes(4, "big") + b"VV"
    array = b"A" + (6).to_bytes(4, "big") + inner  # one byte less than it holds
    rows = b"\x01k" + array
    with pytest.raises(Malformed):
        read_table(len(rows).to_bytes(4, "big") + rows, 0)


def test_a_declared_size_takes_no_memory():
    receiver = Receiver(0)
    assert list(receiver.receive(b"\x03\x00\x01\xff\xff\xff\xff" + b"x" * 100)) == []
    assert len(receiver.frames.data) == 107


@pytest.mark.parametrize(
    "method",
    [
        m.BasicQos(1, 0, 70_000),
        m.BasicQos(70_000),
        m.QueueDeclare(1, "q" * 256),
        m.QueueDeclare(1, "q", arguments={"n": 1 << 64}),
        m.QueueDeclare(1, "q", arguments={"n": object()}),
        m.BasicPublish(1, "", "q", message=7),
        m.BasicPublish(1, "", "q", message=Content(Properties(priority=300))),
    ],
)
def test_what_the_wire_cannot_carry_is_our_own_mistake(method):
    with pytest.raises(LocalProtocolError):
        encode(method)
