"""How many websockets are open in this process: in all, and of each network address (`quotas.py` has the
rule)."""

from collections import Counter
from typing import Any

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.conf import settings

from broker_core.events import Json
from dashboard.address import address_of_socket
from dashboard.quotas import Quota


class Doors:
    """Counts the open sockets. None is closed to admit another: a socket that finds no room is closed with
    its own code."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Whether there was room; then `leave` must follow once."""
        quota = Quota(
            "", "", settings.SOCKETS_ADDRESS_MAX, settings.SOCKETS_MAX, newcomer=settings.SOCKETS_NEWCOMER
        )
        mine = self._open[address]
        if quota.is_full_for(mine) or quota.is_full(mine, self._open.total()):
            if not mine:
                del self._open[address]
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


class CountedConsumer(AsyncConsumer):
    """A consumer whose socket counts from `enter` until it ends, in whatever way. It connects, receives, and leaves what it
    had joined."""

    channel_layer_alias = (
        "none"  # no group, no layer: see design in docs/; nothing is ever sent to one socket by name
    )
    address: str | None = None

    async def dispatch(self, message: Json) -> None:
        # Not the base class's: that hops to a thread for every message, to close database connections that
        # are not used here.
        match message["type"]:
            case "websocket.connect":
                await self.connect()
            case "websocket.receive":
                await self.receive(message)
            case "websocket.disconnect":
                self.leave()
                raise StopConsumer

    async def connect(self) -> None:
        raise NotImplementedError

    async def receive(self, message: Json) -> None:
        raise NotImplementedError

    def leave(self) -> None:
        """Nothing is sent to it any more; once more does no harm."""
        raise NotImplementedError

    async def close(self, code: int) -> None:
        self.leave()
        await self.send({"type": "websocket.close", "code": code})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.address is not None:
                doors().leave(self.address)

    def enter(self) -> bool:
        """Whether there was room."""
        address = address_of_socket(self.scope)
        if doors().enter(address):
            self.address = address
        return self.address is not None


_doors = Doors()


def doors() -> Doors:
    """This process's."""
    return _doors
