"""RabbitMQ's recorded frames against the codec: what each frame says, and the same bytes again. All exact.

A case is one connection with all its frames, both directions. A frame is checked three times: its decoded view, the
bytes written from its fields again, and the methods that each direction gives as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from struct import Struct
from typing import Any

import msgspec

from broker_core.conformance.pulsar import Check, checked
from broker_core.conformance.result import CaseResult
from broker_core.rabbitmq.connection import FRAME_SIZE_MIN
from broker_core.rabbitmq.values import type_of
from broker_core.wire.amqp import frames
from broker_core.wire.amqp.content import read_header, read_properties, write_header
from broker_core.wire.amqp.fields import read_fields, write_fields
from broker_core.wire.amqp.frames import PROTOCOL_HEADER, Frame, FrameReader, write_frame
from broker_core.wire.amqp.receiver import Receiver
from broker_core.wire.amqp.sender import encode
from broker_core.wire.amqp.spec import BY_ID, Spec

Json = dict[str, Any]

_IDS, _FLAGS = Struct(">HH"), Struct(">H")
_NAMES = {
    "version_major": "major",
    "version_minor": "minor",
    "virtual_host": "vhost",
    "type_": "type",
    "global_": "global",
}
"""Our name of a field -> the file's."""
_MAGIC = b"AMQP"


def run_frames(document: Json) -> Iterator[CaseResult]:
    """One case per recorded connection."""
    for row in document.get("sessions", []):
        yield checked(row["name"], partial(_session, row["frames"]))


def _session(rows: list[Json]) -> Iterator[Check]:
    for index, row in enumerate(rows):
        raw, at = bytes.fromhex(row["hex"]), f"frame {index}: "
        if raw.startswith(_MAGIC):
            yield at + "version", row["version"], list(raw[len(_MAGIC) :])
            continue
        if row["kind"] == "protocol-header":
            # The begin of a frame, which the file cut and took for a header: more has to come.
            yield at + "whole frames", 0, len(_split(raw))
            continue
        view, again = _views(_frame(raw))
        said = {name: _shortest(row[name]) for name in row if name not in ("hex", "from")}
        yield at + "view", said, view
        yield at + "hex", row["hex"], again.hex()
    for side in ("client", "server"):
        sent = [row for row in rows if row["from"] == side]
        raws = [bytes.fromhex(row["hex"]) for row in sent if row["kind"] != "protocol-header"]
        yield from _stream(side, raws, any(row["hex"] == PROTOCOL_HEADER.hex() for row in sent))


def _frame(raw: bytes) -> Frame:
    reader = FrameReader(0)
    reader.feed(raw)
    frame = reader.next_frame()
    if frame is None:
        raise ValueError("not a whole frame")
    return frame


def _views(frame: Frame) -> tuple[Json, bytes]:
    """What a frame says in the file's words, and its bytes written from that."""
    kind, channel, payload = frame
    view: Json = {"channel": channel}
    match kind:
        case frames.METHOD:
            spec = BY_ID[_IDS.unpack_from(payload)]
            values = read_fields(spec, payload, _IDS.size)
            view |= {"kind": "method", "method": spec.name, "fields": _named(spec, values)}
            payload = _IDS.pack(*spec.id) + write_fields(spec, values)
        case frames.HEADER:
            class_id, weight, body_size = read_header(payload)
            properties = read_properties(payload)
            flags = f"{_FLAGS.unpack_from(payload, 12)[0]:04x}"
            payload = write_header(properties, body_size)
            view |= {
                "kind": "header", "class_id": class_id, "weight": weight, "body_size": body_size, "flags": flags,
                "props": msgspec.to_builtins(properties),
            }  # fmt: skip
        case frames.BODY:
            view |= {"kind": "body", "size": len(payload)}
        case frames.HEARTBEAT:
            view |= {"kind": "heartbeat"}
        case _:
            raise ValueError(f"frame of type {kind}")
    return view, write_frame(kind, channel, payload)


def _shortest(value: Any) -> Any:
    """A recorded value in our notation, where a whole number that only a long can carry needs no letter."""
    if isinstance(value, list):
        return [_shortest(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$t", "v"} and value["$t"] == type_of(value["v"]):
        return value["v"]
    return {name: _shortest(each) for name, each in value.items()}


def _named(spec: Spec, values: list[Any]) -> Json:
    return {_NAMES.get(name, name): value for (name, _, _), value in zip(spec.fields, values, strict=True)}


def _stream(side: str, raws: list[bytes], has_header: bool) -> Iterator[Check]:
    """One direction as a stream: as many methods as it has, each as its frames were but for reserved fields."""
    receiver = Receiver(0, expects_header=has_header)
    received = list(receiver.receive((PROTOCOL_HEADER if has_header else b"") + b"".join(raws)))
    read = [_frame(raw) for raw in raws]
    bodies = [len(frame.payload) for frame in read if frame.kind == frames.BODY]
    contents = [method.message for _, method in received if hasattr(method, "message")]
    wanted = sum(frame.kind in (frames.METHOD, frames.HEARTBEAT) for frame in read)
    yield f"{side}: methods", wanted, len(received)
    yield f"{side}: bytes of bodies", sum(bodies), sum(len(content.body) for content in contents)
    frame_max = max(max(bodies, default=0) + frames.EMPTY_FRAME_SIZE, FRAME_SIZE_MIN)
    again: list[bytes] = []
    for _, method in received:
        again += _split(encode(method, frame_max if hasattr(method, "message") else 0))
    yield f"{side}: frames", len(raws), len(again)
    for place, raw in enumerate(raws):
        if not _has_reserved(read[place]):
            yield f"{side}: frame {place} again", raw.hex(), again[place].hex()


def _split(data: bytes) -> list[bytes]:
    reader = FrameReader(0)
    reader.feed(data)
    found = []
    while (frame := reader.next_frame()) is not None:
        found.append(write_frame(*frame))
    return found


def _has_reserved(frame: Frame) -> bool:
    return frame.kind == frames.METHOD and any(
        reserved for _, _, reserved in BY_ID[_IDS.unpack_from(frame.payload)].fields
    )
