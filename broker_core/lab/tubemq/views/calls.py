"""The 17 calls of a client as its page lists them: the last answer of each, and for those that give a value the value
that they would give now; beside them the last answers to a person's own calls, whole."""

from __future__ import annotations

from typing import Any

from broker_core.events import Json
from broker_core.lab.messages import Messages
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.plain import to_plain
from broker_core.tubemq import requests as r
from broker_core.tubemq.client import call_results as names
from broker_core.tubemq.client.by_person import BOOLEAN, CALLS, SUCCESS, VALUES, VOID
from broker_core.tubemq.client.call_results import LastAnswer
from broker_core.tubemq.client.client_balance_consumer import ClientBalanceConsumer
from broker_core.tubemq.client.consumer_object import PERSON
from broker_core.tubemq.client.program_state import ProgramState


def calls_view(client: ProgramState, messages: Messages) -> Json:
    """Call by name -> {at_us, argument, code, why, exception, value}, null for one that was never made and gives no
    value."""
    consumer = ClientBalanceConsumer(client.consumer)
    views: Json = {}
    for name in CALLS:
        last = client.consumer.last.get(name)
        if name not in VALUES:
            views[name] = last and _answer(name, last, messages)
            continue
        argument = last.argument if last is not None else ""
        value = to_plain(VALUES[name](consumer, argument or ",".join(client.topics)))
        given = LastAnswer(0, argument, SUCCESS, value=value)
        views[name] = _answer(name, given, messages) | {"at_us": last and last.at_us}
    query = views[names.QUERY]
    if (
        query is not None and query["code"] == SUCCESS
    ):  # of each client the numbers, of a person's call the map
        status = client.consumer.metadata.status
        query["value"] = {"partitions": len(status), "subscribable": sum(status.values())}
    return views


def answers_view(client: ProgramState, messages: Messages) -> Json:
    """Call by name -> the answer to a person's last one, in the same form."""
    return {name: _answer(name, answer, messages) for name, answer in client.answers.items()}


def waiting_view(client: ProgramState) -> list[str]:
    """A person's calls that wait for their answer."""
    return sorted({call.name for call in client.consumer.calls.values() if call.thread.startswith(PERSON)})


def _answer(name: str, answer: LastAnswer, messages: Messages) -> Json:
    """code: null for a call that gives none, or that threw."""
    has_code = name not in VALUES and name not in BOOLEAN and name not in VOID and not answer.exception
    return {
        "at_us": answer.at_us,
        "argument": answer.argument,
        "code": answer.code if has_code else None,
        "why": answer.why,
        "exception": answer.exception,
        "value": _value(name, answer, messages),
    }


def _value(name: str, answer: LastAnswer, messages: Messages) -> Any:
    if name in VALUES:
        return answer.value
    if name in BOOLEAN:
        return answer.code == SUCCESS
    if answer.code != SUCCESS or name not in (names.GET, names.CONFIRM, names.QUERY):
        return None
    if name == names.QUERY:
        return None if answer.metadata is None else dict(answer.metadata.status)
    offsets = {
        "partition": answer.partition,
        "curr_offset": answer.curr_offset,
        "max_offset": answer.max_offset,
    }
    if name == names.CONFIRM:
        return offsets
    records = [
        {"key": None if code == NO_KEY else messages.key(code), "offset": answer.curr_offset + place * r.ENTRY_BYTES}
        for place, code in enumerate(messages.codes_of(answer.messages))
    ]  # fmt: skip
    return offsets | {"context": answer.context, "count": answer.count, "records": records}
