"""A websocket on the wire, with an end to what it may bring before the application sees any of it.

Autobahn answers every ping and collects the fragments of a message for as long as they come. Here each frame
counts, whatever it is: pings, pongs and fragments against the same rate as messages, a message's fragments
and bytes against what a browser has to say. A socket beyond that gets a code, is not read any more, and
cut a second later.
"""

from typing import Any

from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings

from dashboard.allowance import Allowance

CLOSE_TOO_BIG = 1009
CLOSE_TOO_MANY = 4429
FRAMES_TIMES = 2  # of the messages' rate: beside each there may be a ping or a pong
FRAGMENTS_MAX = 16
MESSAGE_BYTES_TIMES = 16  # of the longest message: up to here the application says what is wrong


class BoundedSocket(WebSocketProtocol):
    """A socket whose frames are counted."""

    def onOpen(self) -> None:
        self._allowance = Allowance(FRAMES_TIMES * settings.SOCKET_MESSAGES_PER_S)
        self._fragments = 0
        super().onOpen()

    def onFrameBegin(self) -> None:
        super().onFrameBegin()
        if not self._allowance.take():
            self._end(CLOSE_TOO_MANY)

    def onMessageBegin(self, isBinary: bool) -> None:
        self._fragments = 0
        super().onMessageBegin(isBinary)

    def onMessageFrameBegin(self, length: int) -> None:
        super().onMessageFrameBegin(length)
        self._fragments += 1
        if (
            self._fragments > FRAGMENTS_MAX
            or self.message_data_total_length > MESSAGE_BYTES_TIMES * settings.SOCKET_MESSAGE_BYTES_MAX
        ):
            self._end(CLOSE_TOO_BIG)

    def _end(self, code: int) -> None:
        """Say why and read no further; autobahn cuts the connection when no close comes back in time."""
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=code, isReply=False)
            self.transport.pauseProducing()


class BoundedSocketFactory(WebSocketFactory):
    """Makes such sockets."""

    protocol: Any = BoundedSocket
