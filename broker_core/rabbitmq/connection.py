"""A connection at the broker: who is at the other end, its channels, and whether anything was heard of it
lately.

The server looks once every heartbeat interval whether any bytes have come in; at the second look in a row
that finds none it closes the connection. So a peer that falls silent is noticed two to three intervals later,
never exactly two after its last sign of life.
Source: rabbit_heartbeat's documentation, not recorded in the vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.rabbitmq.channel import Channel

SILENT_CHECKS_MAX = 2


@dataclass(slots=True)
class Connection:
    """name: of the client's program. since_us: opened at; the looks are counted from here. was_heard: since
    the last look. silent: looks in a row that found nothing. is_running: the client's first method was here, with
    which it may have named itself. closing: channels that the broker closed with an exception, until the
    client's channel.close-ok."""

    name: str
    since_us: int
    was_heard: bool = True
    silent: int = 0
    is_running: bool = False
    channels: dict[int, Channel] = field(default_factory=dict)
    closing: list[int] = field(default_factory=list)

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
