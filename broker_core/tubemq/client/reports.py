"""What a program around a ClientBalanceConsumer reports: turning points of its client, each once."""

from __future__ import annotations

from broker_core.events import Json
from broker_core.sim.node import Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.call_results import LastAnswer
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client.reading_program import ReadingProgram
from broker_core.tubemq.client_id import host_of

MODULO, LIST = "tubemq.assignment.modulo", "tubemq.assignment.list"
"""Rules by which a client takes partitions."""


def who(state: ReadingProgram) -> Json:
    return {"consumer": host_of(state.client_id), "client": state.client_id}


def rule_of(state: ProgramState) -> str:
    return MODULO if state.share is None else LIST


def tell_started(state: ProgramState, out: Outbox) -> None:
    inputs = {"source_count": state.source_count}
    out.tell("tubemq.client.started", None, inputs, {**who(state), "node_id": state.node_id})


def tell_refusal(state: ProgramState, code: int, out: Outbox) -> None:
    """A refusal is reported once, however often the client asks again."""
    if state.refused_code == code:
        return
    state.refused_code = code
    rule = "tubemq.broker.one_owner" if code == r.PARTITION_OCCUPIED else f"tubemq.master.{code}"
    inputs = {"source_count": state.source_count, "node_id": state.node_id}
    out.tell("tubemq.client.refused", rule, inputs, {**who(state), "code": code})


def tell_partitions(state: ProgramState, out: Outbox) -> None:
    """Which partitions it reads, if it has new ones."""
    held = state.registered
    if held == state.told:
        return
    state.told = held
    inputs = {"source_count": state.source_count, "node_id": state.node_id}
    out.tell("tubemq.client.connected", rule_of(state), inputs, {**who(state), "partitions": held[:]})


def tell_releases(state: ProgramState, keys: list[str], out: Outbox) -> None:
    """Which of its partitions it releases now, one after another."""
    known = [key for key in keys if key in state.told]
    if known:
        state.told = [key for key in state.told if key not in known]
        out.tell("tubemq.client.released", rule_of(state), {}, {**who(state), "partitions": known})


def tell_losses(state: ReadingProgram, rule: str | None, out: Outbox) -> None:
    """Partitions that it has told of and that are its own no longer."""
    held = state.consumer.held
    lost = [key for key in state.told if key not in held]
    if lost:
        state.told = [key for key in state.told if key in held]
        out.tell("tubemq.client.disconnected", rule, {}, {**who(state), "partitions": lost})


def tell_map(state: ProgramState, out: Outbox) -> None:
    """The master's map is another one than before."""
    status = state.consumer.metadata.status
    numbers = {"configured": len(status), "subscribable": sum(status.values())}
    meta_id = state.consumer.metadata.meta_id
    out.tell("tubemq.client.map_changed", None, {"meta_id": meta_id}, {**who(state), **numbers})


def tell_stopped(state: ProgramState, out: Outbox) -> None:
    partitions, state.told = state.told, []
    out.tell("tubemq.client.stopped", None, {}, {**who(state), "partitions": partitions})


def tell_answer(state: ProgramState, name: str, answer: LastAnswer, is_coded: bool, out: Outbox) -> None:
    """What a person's call came to. is_coded: it gives a code, unless it throws an exception."""
    data: Json = {**who(state), "call": name, "argument": answer.argument}
    rule = f"tubemq.call.{name}"
    if answer.exception:
        out.tell("tubemq.client.threw", rule, {}, {**data, "exception": answer.exception})
    elif is_coded:
        out.tell("tubemq.client.answered", rule, {}, {**data, "code": answer.code})
    else:
        out.tell("tubemq.client.returned", rule, {}, data)
