"""What a person does to a client beside its program: any of the 17 calls, each in a thread of its own, and batches that
are held back. What a person's call came to is kept apart from the program's own.

A batch that a person gets counts as handled, and is held until it is confirmed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from broker_core.plain import to_plain
from broker_core.sim.node import Outbox
from broker_core.tubemq.client import call_results as names
from broker_core.tubemq.client.call_results import (
    NUMBER_FORMAT,
    Call,
    CallResult,
    CodedResult,
    LastAnswer,
    answer_of,
)
from broker_core.tubemq.client.client_balance_consumer import ClientBalanceConsumer
from broker_core.tubemq.client.consumer_object import PERSON
from broker_core.tubemq.client.fetcher import Fetcher
from broker_core.tubemq.client.program_state import Hold, LetGo, MakeCall, ProgramState
from broker_core.tubemq.client.reports import tell_answer

SUCCESS = 200
VALUES: dict[str, Callable[[ClientBalanceConsumer, str], Any]] = {
    "getClientVersion": lambda client, _: client.get_client_version(),
    "getConsumerId": lambda client, _: client.get_consumer_id(),
    "getConsumerConfig": lambda client, _: client.get_consumer_config(),
    "isShutdown": lambda client, _: client.is_shutdown(),
    "isFilterConsume": lambda client, topic: client.is_filter_consume(topic),
    "getSourceCount": lambda client, _: client.get_source_count(),
    "getNodeId": lambda client, _: client.get_node_id(),
    "getCurRegisteredPartSet": lambda client, _: client.get_cur_registered_part_set(),
    "getCurPartitionOffsetInfos": lambda client, _: client.get_cur_partition_offset_infos(),
}
"""Calls that give a value, whatever state the client is in."""
CODED = (
    names.START, names.SHUTDOWN, names.QUERY, names.READY, names.CONNECT, names.DISCONNECT, names.GET, names.CONFIRM,
)  # fmt: skip
"""Calls that may have to wait. All give a code but the two below."""
BOOLEAN, VOID = (names.READY,), (names.SHUTDOWN,)
CALLS = (*CODED, *VALUES)


class ByPerson:
    def __init__(self, state: ProgramState, consumer: ClientBalanceConsumer, fetcher: Fetcher) -> None:
        self.state = state
        self.consumer = consumer
        self.fetcher = fetcher

    def obey(self, order: MakeCall | Hold | LetGo, now_us: int, out: Outbox) -> None:
        match order:
            case Hold(partition):
                self.state.holds = partition
            case LetGo(is_consumed):
                self.state.holds = None
                for context in [*self.state.unconfirmed.values()]:
                    self.consumer.confirm_consume(context, is_consumed, now_us, out, self.free_thread())
                self.state.unconfirmed.clear()
            case MakeCall():
                self.call(order, now_us, out)

    def free_thread(self) -> str:
        """A thread that waits for nothing."""
        number = 1
        while f"{PERSON}-{number}" in self.state.consumer.calls:
            number += 1
        return f"{PERSON}-{number}"

    def call(self, order: MakeCall, now_us: int, out: Outbox) -> None:
        """Make the call; its answer is a turning point, once it is there."""
        thread = self.free_thread()
        if order.name in VALUES:
            value = to_plain(VALUES[order.name](self.consumer, order.key))
            self.state.consumer.last[order.name] = LastAnswer(now_us, order.key, SUCCESS, value=value)
        else:
            self.coded(order, now_us, out, thread)
        if thread not in self.state.consumer.calls:
            self.keep(order.name, self.state.consumer.last[order.name], out)

    def keep(self, name: str, answer: LastAnswer, out: Outbox) -> None:
        if name == names.QUERY and answer.code == SUCCESS:
            answer = replace(answer, metadata=self.state.consumer.metadata)
        self.state.answers[name] = answer
        tell_answer(self.state, name, answer, name in CODED and name not in (*BOOLEAN, *VOID), out)

    def coded(self, order: MakeCall, now_us: int, out: Outbox, thread: str) -> None:
        client, key = self.consumer, order.key
        match order.name:
            case names.START:
                filters = order.filters.split(",") if order.filters else None
                topics = dict.fromkeys(key.split(","), filters) if key else {}
                client.start(topics, order.number, order.second, now_us, out, thread)
            case names.SHUTDOWN:
                client.shutdown(now_us, out, thread)
            case names.QUERY:
                client.get_partition_meta_info(now_us, out, thread)
            case names.READY:
                client.is_partitions_ready(order.number * 1_000, now_us, out, thread)
            case names.CONNECT:
                client.connect_2_partition(key, order.number, now_us, out, thread)
            case names.DISCONNECT:
                client.disconnect_from_partition(key, now_us, out, thread)
            case names.GET:
                client.get_message(now_us, out, thread)
            case names.CONFIRM:
                try:
                    client.confirm_consume(key, order.number == 1, now_us, out, thread)
                except ValueError:  # NumberFormatException, as there
                    self.state.consumer.last[order.name] = LastAnswer(now_us, key, 0, exception=NUMBER_FORMAT)

    def ended(self, call: Call, result: CallResult, now_us: int, out: Outbox) -> None:
        """A person's call has its result."""
        self.keep(call.name, answer_of(call, result, now_us), out)
        if call.name == names.GET and isinstance(result, CodedResult) and result.is_success:
            self.fetcher.received(result.messages, now_us, out)
            for number in result.messages:
                self.fetcher.traffic.handled(out.name, number, now_us)
            self.state.unconfirmed[result.partition] = result.context
        elif call.name == names.CONFIRM:
            self.state.unconfirmed.pop(call.key, None)
