"""The random part of a member's id, from a node's draws: a UUID for classic groups, 22 characters for the
consumer protocol.

Source: Kafka 3.9 GroupMetadataManager (client id, "-", UUID.randomUUID), Uuid.randomUuid.
"""

from __future__ import annotations

import base64

from broker_core.sim.node import Outbox

_WORD = 1 << 32


def draw_member_id(out: Outbox, is_classic: bool) -> str:
    """16 random bytes as a version 4 UUID; as Kafka's own Uuid, in base64, for the consumer protocol."""
    drawn = bytearray(b"".join(out.draw("kafka.member_id", _WORD).to_bytes(4, "big") for _ in range(4)))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    if not is_classic:
        return base64.urlsafe_b64encode(bytes(drawn)).decode().rstrip("=")
    text = drawn.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
