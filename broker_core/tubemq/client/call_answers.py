"""What happens to those calls of a ClientBalanceConsumer that no other consumer has, between request and result; to
getMessage and confirmConsume: `message_calls.py`.

    call ─► request to the masters, or to a broker ─► answer, or none ─► result
    call ─► wait: for the batch that is out, until the next try ─► request, or result

A master that does not know the client (411, with a heartbeat) is one that has just taken over: the client registers again,
and says what it holds.

Source: TubeMQ (InLong a6c7a6a670) SimpleClientBalanceConsumer, RmtDataCache; docs/tubemq/calls.md.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.node import Closed, Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client import call_results as names
from broker_core.tubemq.client import heartbeats
from broker_core.tubemq.client import partition_cache as cache
from broker_core.tubemq.client.call_results import Call, CodedResult, RejectedExecutionError
from broker_core.tubemq.client.consumer_object import NOT_RUNNING, STARTED, ConsumerObject
from broker_core.tubemq.client.links import link_to
from broker_core.tubemq.client.master_link import RPC
from broker_core.tubemq.client.message_calls import AT_MASTER, LOOK, NO_ANSWER, NOT_ASKED, MessageCalls
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.metadata import UNDEFINED
from broker_core.tubemq.partition_key import broker_of

READY_STEP_US = 250 * MILLISECOND_US
RELEASE_STEP_US = 200 * MILLISECOND_US
SHUTDOWN_SLEEP_US = 200 * MILLISECOND_US
START_RETRY_US = SECOND_US
CONNECT_TRIES, CONNECT_RETRY_US = 2, SECOND_US
CONNECT_GUARD_US = 5 * SECOND_US
REPORT_BEATS = 60
"""With so many heartbeats the master hears what the client holds, changed or not."""


class CallAnswers(MessageCalls):
    """Like `MessageCalls`, with what the other calls wait for."""

    def __init__(self, state: ConsumerObject) -> None:
        MessageCalls.__init__(self, state)
        self.state: ConsumerObject = state

    # -- answers ---------------------------------------------------------------------------------------------

    def take_answer(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        kind = type(message)
        if kind is r.RegisterResponseB2C:
            name = names.CONNECT if message.op_type == r.REGISTER else names.DISCONNECT
            call = self.asked(name, message.partition)
            if call is None and message.op_type == r.REGISTER and message.code == r.SUCCESS:
                self.registered_again(message, now_us)
            self.answered(call, message, now_us, out)
        elif connection == self.state.masters.connection:
            self.on_master(message, now_us, out)
        else:
            MessageCalls.take_answer(self, connection, message, now_us, out)

    def registered_again(self, answer: r.RegisterResponseB2C, now_us: int) -> None:
        """The broker's answer to `consume_from_max`."""
        if answer.partition in self.state.held:
            cache.add(self.state, answer, now_us)

    def answered(self, call: Call | None, answer: Any, now_us: int, out: Outbox) -> None:
        """Give the answer, or Closed for none, to the call."""
        if call is None:
            return
        match call.name:
            case names.CONNECT:
                self.on_connected(call, answer, now_us, out)
            case names.DISCONNECT:
                self.end(call, CodedResult(), now_us)  # whatever the broker says, or if it says nothing
            case names.QUERY:
                self.on_metadata(call, answer, now_us, out)
            case names.START:
                self.on_started(call, answer, now_us, out)
            case _:
                MessageCalls.answered(self, call, answer, now_us, out)

    def come_due(self, name: str, now_us: int, out: Outbox) -> None:
        if name == RPC:
            self.master_failed(now_us, out)
        elif name == heartbeats.TO_MASTER:
            self.beat(now_us, out)
        else:
            MessageCalls.come_due(self, name, now_us, out)

    def looks(self, call: Call, now_us: int, out: Outbox) -> None:
        """The call has waited, and looks whether it can go on."""
        state = self.state
        match call.name:
            case names.START:
                self.ask_to_start(call, now_us, out)
            case names.CONNECT:
                if call.tries < CONNECT_TRIES:
                    self.try_to_connect(call, now_us, out)
                else:
                    self.end(call, CodedResult(call.code), now_us)
            case names.DISCONNECT:
                if call.key not in state.held:  # dropped meanwhile
                    self.end(call, CodedResult(), now_us)
                elif state.held[call.key] and now_us < call.until_us:
                    self.look_again(call, min(now_us + RELEASE_STEP_US, call.until_us), out)
                else:
                    self.unregister(call.key, now_us, out, call)
            case names.SHUTDOWN:
                self.stop(call, now_us, out)
            case names.READY if call.bound < READY_STEP_US and not state.held:
                self.look_again(call, now_us + READY_STEP_US, out)
            case names.READY:
                self.end(call, CodedResult(r.SUCCESS if state.held else r.NONE_REGISTERED), now_us)
            case _:
                MessageCalls.looks(self, call, now_us, out)

    # -- the master ------------------------------------------------------------------------------------------

    def ask_master(self, call: Call, request: r.Request, now_us: int, out: Outbox) -> None:
        self.result = None
        call.connection = AT_MASTER
        self.state.masters.ask(request, now_us, out)

    def on_master(self, message: Any, now_us: int, out: Outbox) -> None:
        """An answer of the master in use, or the word that there is none."""
        state = self.state
        if isinstance(message, Closed | r.RspExceptionBody):
            self.master_failed(now_us, out, is_closed=isinstance(message, Closed))
            return
        if state.masters.answered(now_us, out) is None:
            return
        if isinstance(message, r.GetPartMetaResponseM2C):
            self.answered(self.asked(names.QUERY, ""), message, now_us, out)
            return
        cache.take_rules(state, message)
        if isinstance(message, r.RegisterResponseM2C):
            state.from_max_id = message.from_max_id  # an order from before its time is not for it
            self.answered(self.asked(names.START, ""), message, now_us, out)
        elif state.phase == STARTED:
            heartbeats.master_answered(state, now_us, out)
            if message.code == r.HB_NO_NODE:  # it does not know what the client holds, either
                state.beats = 0
                state.masters.ask(self.registration(), now_us, out)
            elif message.from_max_id not in (state.from_max_id, UNDEFINED):
                state.from_max_id = message.from_max_id
                self.consume_from_max(out)

    def consume_from_max(self, out: Outbox) -> None:
        """An operator's order: register each partition again, at the end that it last heard of. What is out and not
        confirmed is not read again."""
        state = self.state
        keys = sorted(state.held)
        for key in keys:
            end = state.offsets[key][1]
            request = r.RegisterRequestC2B(r.REGISTER, state.client_id, state.group, key, end)
            out.send(link_to(state, broker_of(key), out), request)
        who = {"consumer": host_of(state.client_id), "client": state.client_id}
        out.tell("tubemq.client.from_max", "tubemq.master.from_max", {}, {**who, "partitions": len(keys)})

    def master_failed(self, now_us: int, out: Outbox, *, is_closed: bool = False) -> None:
        """The master in use does not answer; once none does, what was asked has failed."""
        state = self.state
        lost = state.masters.failed(now_us, out, is_closed=is_closed)
        if isinstance(lost, r.RegisterRequestC2MV2):
            self.answered(self.asked(names.START, ""), NO_ANSWER, now_us, out)
        elif isinstance(lost, r.GetPartMetaRequestC2M):
            self.answered(self.asked(names.QUERY, ""), NO_ANSWER, now_us, out)
        elif lost is not None and state.phase == STARTED:
            heartbeats.master_failed(state, now_us, out)

    def registration(self) -> r.RegisterRequestC2MV2:
        """The client's request to be a member of its group, with what it holds."""
        state = self.state
        conditions = [f"{topic}#{','.join(items)}" for topic, items in state.topics.items() if items]
        return r.RegisterRequestC2MV2(
            state.client_id, state.group, state.source_count, state.node_id, [*state.topics], conditions,
            [*state.held], state.flow_id,
        )  # fmt: skip

    def beat(self, now_us: int, out: Outbox) -> None:
        """Say that it lives, and what it holds if that has changed."""
        state = self.state
        held, report = [*state.held], None
        if state.beats % REPORT_BEATS == 0 or held != state.reported:
            report = state.reported = held
        state.beats += 1
        request = r.HeartRequestC2MV2(state.client_id, state.group, report, state.flow_id)
        state.masters.ask(request, now_us, out)

    def ask_to_start(self, call: Call, now_us: int, out: Outbox) -> None:
        call.tries += 1
        self.ask_master(call, self.registration(), now_us, out)

    def on_started(self, call: Call, answer: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        if not isinstance(answer, r.RegisterResponseM2C) and call.tries < state.config.start_tries:
            self.look_again(call, now_us + START_RETRY_US, out)
            return
        code = answer.code if isinstance(answer, r.RegisterResponseM2C) else r.UNSPECIFIED
        if code != r.SUCCESS:
            state.phase = NOT_RUNNING
            self.end(call, CodedResult(code), now_us)
        elif state.is_used:  # its threads cannot be started twice: it stays in this phase for ever
            self.end(call, RejectedExecutionError(), now_us)
        else:
            state.phase, state.is_used = STARTED, True
            heartbeats.begin(now_us, out)
            self.end(call, CodedResult(), now_us)

    def on_metadata(self, call: Call, answer: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        if not isinstance(answer, r.GetPartMetaResponseM2C):
            self.end(call, CodedResult(r.INTERNAL_ERROR), now_us)
            return
        if answer.code != r.SUCCESS:
            self.end(call, CodedResult(answer.code), now_us)
            return
        state.metadata = state.metadata.updated(answer.topic_meta_id, answer.topic_meta, answer.broker_ids)
        self.end(call, CodedResult(status=state.metadata.status), now_us)
        for key in sorted(key for key in state.held if not state.metadata.status.get(key)):
            self.unregister(key, now_us, out)

    # -- registering -----------------------------------------------------------------------------------------

    def try_to_connect(self, call: Call, now_us: int, out: Outbox) -> None:
        state = self.state
        call.tries += 1
        # Only the first request of a partition says where to begin, even when it fails on the way.
        read_status = r.FROM_FIRST if call.key in state.asked else state.config.position + 1
        state.asked = sorted({*state.asked, call.key})
        request = r.RegisterRequestC2B(
            r.REGISTER, state.client_id, state.group, call.key, max(call.bound, -1), False, read_status
        )
        self.ask_broker(call, request, now_us, out)

    def on_connected(self, call: Call, answer: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        call.code = answer.code if isinstance(answer, r.RegisterResponseB2C) else r.UNSPECIFIED
        if call.code == r.SUCCESS:
            cache.add(state, answer, now_us)
            self.end(call, CodedResult(), now_us)
            return
        if call.code in (r.PARTITION_OCCUPIED, r.CERTIFICATE_FAILURE):
            state.guarded[call.key] = now_us + CONNECT_GUARD_US
        self.look_again(call, now_us + CONNECT_RETRY_US, out)

    def unregister(self, key: str, now_us: int, out: Outbox, call: Call | None = None) -> None:
        """A batch that is out is read again by the next owner. call: the one that releases it, None for the client's
        own doing."""
        state = self.state
        cache.drop(state, key)
        request = r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.group, key)
        if call is not None:
            self.ask_broker(call, request, now_us, out)
        else:
            out.send(link_to(state, broker_of(key), out), request)

    def stop(self, call: Call, now_us: int, out: Outbox) -> None:
        """The end of shutdown(). A partition that was asked for and is not answered yet is given back, too."""
        state = self.state
        offsets = dict(state.offsets)
        asked = [
            each.key
            for each in state.calls.values()
            if each.name == names.CONNECT and each.connection != NOT_ASKED
        ]
        for key in sorted(state.held):
            self.unregister(key, now_us, out)
        for key in asked:
            request = r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.group, key)
            out.send(link_to(state, broker_of(key), out), request)
        state.offsets = offsets
        state.masters.forget(out)
        state.masters.send(r.CloseRequestC2M(state.client_id, state.group), out)
        heartbeats.end(state, out)
        state.phase = NOT_RUNNING
        self.end(call, CodedResult(), now_us)
        for other in [*state.calls.values()]:
            self.end(other, CodedResult(r.CLIENT_SHUTDOWN), now_us)
            out.cancel(LOOK + other.thread)
