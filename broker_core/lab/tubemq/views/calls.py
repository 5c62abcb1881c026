"""The 17 calls of a client as its page lists them: the last answer of each, and for those that give a value the value
that they would give now."""

from __future__ import annotations

from typing import Any

from broker_core.events import Json
from broker_core.tubemq.client.by_person import CALLS, VALUES
from broker_core.tubemq.client.client_balance_consumer import ClientBalanceConsumer
from broker_core.tubemq.client.program_state import ProgramState

WITH_ARGUMENT = "isFilterConsume"


def calls_view(client: ProgramState) -> Json:
    """Call by name -> {at_us, argument, code, value}, null for one that was never made and gives a code."""
    consumer = ClientBalanceConsumer(client.consumer)
    views: Json = {}
    for name in CALLS:
        last = client.consumer.last.get(name)
        if name not in VALUES:
            views[name] = last and {
                "at_us": last.at_us,
                "argument": last.argument,
                "code": last.code,
                "value": None,
            }
            continue
        argument = last.argument if last is not None else ""
        views[name] = {
            "at_us": last and last.at_us,
            "argument": argument,
            "code": None,
            "value": _plain(VALUES[name](consumer, argument or ",".join(client.topics))),
        }
    return views


def _plain(value: Any) -> Any:
    """As JSON has it: settings as an object, offsets as a list."""
    if isinstance(value, dict):
        return {key: list(each) for key, each in value.items()}
    if hasattr(value, "__slots__"):
        return {name: getattr(value, name) for name in value.__slots__}
    return value
