"""What the transaction coordinator asks of the broker that it runs on."""

from __future__ import annotations

from typing import Any, Protocol

from broker_core.events import Cause, Json
from broker_core.kafka.cluster import transaction_requests as t


class CoordinatorOut(Protocol):
    """What a coordinator can do."""

    def answer(self, ticket: int, response: t.TransactionMessage) -> None:
        """Answer the request of that ticket."""
        ...

    def append(self, write: int, state_partition: int, record: Any) -> None:
        """Append to `__transaction_state` with acks=-1; `written` is called with the number when that is
        decided, perhaps at once."""
        ...

    def send_markers(self) -> None:
        """There are markers to be sent (`take_markers`)."""
        ...

    def new_producer_id(self) -> int:
        """An id that nobody had; -1: the controller has yet to give some."""
        ...

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause: ...
