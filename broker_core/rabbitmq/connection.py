"""A connection at the broker: who is at the other end, its channels, and whether anything was heard of it
lately.

    starting ─ start-ok ─► tuning ─ tune-ok ─► opening ─ open ─► running

The server looks once every heartbeat interval whether any bytes have come in; at the second look in a row
that finds none it closes the connection. So a peer that falls silent is noticed two to three intervals later,
never exactly two after its last sign of life.
Source: RabbitMQ 3.10 rabbit_reader; rabbit_heartbeat's documentation, not recorded in the vectors.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.rabbitmq.channel import Channel
from broker_core.rabbitmq.methods import HEARTBEAT_US, Method

SILENT_CHECKS_MAX = 2
FRAME_SIZE_MIN = 4_096
"""What a side may send before both have agreed on more; no client may ask for less."""
STARTING, TUNING, OPENING, RUNNING = "starting", "tuning", "opening", "running"


class Held(deque[Any]):
    """Methods that wait because the broker reads nothing from the connection."""

    def to_json(self) -> list[Any]:
        return [msgspec.to_builtins(method, builtin_types=(bytes,)) for method in self]

    @classmethod
    def from_json(cls, plain: list[Any]) -> Held:
        return cls(msgspec.convert(method, Method) for method in plain)


@dataclass(slots=True)
class Connection:
    """name: of the client's program. since_us: opened at; the looks are counted from here, or from tune-ok where the
    client asked for another interval than the server's. heartbeat_us: between two looks, 0 for none. was_heard: since
    the last look. silent: looks in a row that found nothing. capabilities: that the client announced and that are
    true. closing: channels that the broker closed with an exception, until the client's channel.close-ok.
    has_published: so that an alarm concerns it. is_blocked: it is not read; held: what came meanwhile."""

    name: str
    since_us: int
    heartbeat_us: int = HEARTBEAT_US
    state: str = STARTING
    user: str = ""
    vhost: str = ""
    capabilities: list[str] = field(default_factory=list)
    channel_max: int = 2_047
    was_heard: bool = True
    silent: int = 0
    channels: dict[int, Channel] = field(default_factory=dict)
    closing: list[int] = field(default_factory=list)
    is_blocked: bool = False
    held: Held = field(default_factory=Held)

    def look(self) -> bool:
        """One look of the heartbeat. Returns whether the peer is given up."""
        self.silent = 0 if self.was_heard else self.silent + 1
        self.was_heard = False
        return self.silent >= SILENT_CHECKS_MAX

    def looks_left(self) -> int:
        """After how many more looks the peer is given up if nothing is heard from now on."""
        return SILENT_CHECKS_MAX + 1 if self.was_heard else SILENT_CHECKS_MAX - self.silent

    def unacked_count(self) -> int:
        return sum(len(channel.unacked) for channel in self.channels.values())
