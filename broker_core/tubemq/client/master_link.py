"""How a client, of either kind, reaches whichever master is active: it knows the addresses of all, and asks them in turn.

    ask ─► the one in use ─► answer
               │ its connection breaks, nothing comes for 10 s, or it says StandbyException
               └─► the next one is asked the same; once each of them has failed, so has the request

Source: TubeMQ (InLong) RpcServiceFailoverInvoker.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.clock import SECOND_US
from broker_core.sim.node import Outbox
from broker_core.tubemq import requests as r

RPC_TIMEOUT_US = 10 * SECOND_US
"""rpcReadTimeoutMs."""
RPC = "rpc"
"""Name of the deadline at which the master in use has not answered."""


@dataclass(slots=True)
class MasterLink:
    """names: nodes of the masters. turn: of the one in use. connection: to it, 0 for none. asked: requests without an
    answer, in the order of asking. tries: masters that the first of them was sent to."""

    names: list[str] = field(default_factory=list)
    turn: int = 0
    connection: int = 0
    asked: list[r.Request] = field(default_factory=list)
    tries: int = 0

    @property
    def name(self) -> str:
        return self.names[self.turn]

    def ask(self, request: r.Request, now_us: int, out: Outbox) -> None:
        """Send a request that has an answer."""
        self.asked.append(request)
        if len(self.asked) == 1:
            self.tries = 1
            out.deadline(RPC, now_us + RPC_TIMEOUT_US)
        self.send(request, out)

    def send(self, request: r.Request, out: Outbox) -> None:
        if not self.connection:
            self.connection = out.connect(self.name)
        out.send(self.connection, request)

    def answered(self, now_us: int, out: Outbox) -> r.Request | None:
        """An answer has come: to this request."""
        if not self.asked:
            return None
        self.tries = 1
        request = self.asked.pop(0)
        if self.asked:
            out.deadline(RPC, now_us + RPC_TIMEOUT_US)
        else:
            out.cancel(RPC)
        return request

    def failed(self, now_us: int, out: Outbox, *, is_closed: bool = False) -> r.Request | None:
        """The master in use is not to be had: the next one is asked. Gives the request that has failed at all of
        them, None while there is hope. is_closed: the connection is no more."""
        if self.connection and not is_closed:
            out.close(self.connection)
        self.connection, self.turn = 0, (self.turn + 1) % len(self.names)
        lost = None
        if self.asked and self.tries >= len(self.names):
            lost, self.tries = self.asked.pop(0), 0
        if self.asked:
            self.tries += 1
            out.deadline(RPC, now_us + RPC_TIMEOUT_US)
            for request in self.asked:
                self.send(request, out)
        else:
            out.cancel(RPC)
        return lost

    def forget(self, out: Outbox) -> None:
        """What was asked does not matter any more."""
        self.asked.clear()
        out.cancel(RPC)

    def close(self, out: Outbox) -> None:
        """The process ends."""
        self.forget(out)
        if self.connection:
            out.close(self.connection)
            self.connection = 0
