"""getMessage and confirmConsume, which a pulling consumer and a ClientBalanceConsumer have alike, and what happens to a call
between its request and its result.

    call ─► request ─► answer ─────────────► result, for the thread that waits for it
              └──────► nothing for 10 s ───► as after a broken connection: the original's code for an exception
    getMessage ─► an idle partition? ─► request     none ─► waits up to 90 s for one

Source: TubeMQ (InLong a6c7a6a670) BaseMessageConsumer.fetchMessage, SimpleClientBalanceConsumer, RmtDataCache. What differs
by class stands in `call_answers.py` (the other calls) and `pull_consumer.py` (events of the master).
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import SECOND_US
from broker_core.sim.node import Closed, Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client import call_results as names
from broker_core.tubemq.client import confirm_context, heartbeats
from broker_core.tubemq.client import partition_cache as cache
from broker_core.tubemq.client.call_results import Call, CallResult, CodedResult, answer_of
from broker_core.tubemq.client.consumer_object import ASSIGNER, BaseConsumer
from broker_core.tubemq.client.links import forget_link, link_to
from broker_core.tubemq.partition_key import broker_of

REQUEST_TIMEOUT_US = 10 * SECOND_US
"""rpcTimeoutMs as shipped."""
LOOK, WATCH = "call:", "requests"
"""Deadlines: a thread's call looks again (with the thread's name behind it), and requests are looked at."""
NOT_ASKED, AT_MASTER = -1, 0
"""Instead of a connection: the call only waits, or its request is at the masters (`master_link.py`)."""
NO_ANSWER = Closed("no answer")


class MessageCalls:
    """state: whole. result: of the last call that has ended, None while one that began later is under way. results: of
    calls that had to wait, by thread, until it has taken them."""

    def __init__(self, state: BaseConsumer) -> None:
        self.state = state
        self.result: CallResult | None = None
        self.results: dict[str, tuple[Call, CallResult]] = {}

    def is_shutdown(self) -> bool:
        return False

    # -- a call's way ----------------------------------------------------------------------------------------

    def begin(self, call: Call) -> None:
        self.state.calls[call.thread], self.result = call, None

    def done(self, call: Call, result: CallResult, now_us: int) -> CallResult:
        """The call has its result without having waited."""
        self.state.last[call.name] = answer_of(call, result, now_us)
        self.result = result
        return result

    def end(self, call: Call, result: CallResult, now_us: int) -> None:
        """The call has waited for its result, and its thread takes it."""
        del self.state.calls[call.thread]
        self.results[call.thread] = call, self.done(call, result, now_us)

    def interrupt(self, thread: str, out: Outbox) -> None:
        """The thread gives up a call that only waits for an idle partition."""
        call = self.state.calls.get(thread)
        if call is not None and call.name == names.GET and call.connection == NOT_ASKED:
            del self.state.calls[thread]
            out.cancel(LOOK + thread)

    def ask_broker(self, call: Call, request: r.Request, now_us: int, out: Outbox) -> None:
        state = self.state
        self.result = None
        call.connection, call.asked_us = link_to(state, broker_of(call.key), out), now_us
        out.send(call.connection, request)
        if not state.is_watched:  # one look for all requests: moving a deadline with each would cost more
            state.is_watched = True
            out.deadline(WATCH, now_us + REQUEST_TIMEOUT_US)

    def look_again(self, call: Call, at_us: int, out: Outbox) -> None:
        call.connection = NOT_ASKED
        out.deadline(LOOK + call.thread, at_us)

    def asked(self, name: str, key: str) -> Call | None:
        """The call that waits for this answer: answers of one broker come in the order of its requests."""
        for call in self.state.calls.values():
            if call.name == name and call.key == key and call.connection != NOT_ASKED:
                return call
        return None

    # -- the two calls ---------------------------------------------------------------------------------------

    def get_message(self, now_us: int, out: Outbox, thread: str = ASSIGNER) -> CallResult | None:
        """One batch of the next idle partition, for which it waits a while."""
        state = self.state
        call = Call(names.GET, thread, until_us=now_us + state.config.ready_wait_us)
        if self.is_shutdown():
            return self.done(call, CodedResult(r.CLIENT_SHUTDOWN), now_us)
        key = self.next_idle(now_us)
        if not key and not state.config.ready_wait_us:
            return self.done(call, CodedResult(cache.why_none_idle(state)), now_us)
        state.calls[thread] = call
        if key:
            self.read(call, key, now_us, out)
        else:
            self.await_idle(call, out)
        return None

    def confirm_consume(
        self, context: str, is_consumed: bool, now_us: int, out: Outbox, thread: str = ASSIGNER
    ) -> CallResult | None:
        """A batch was handled, or is to come again. Raises ValueError for a token that is no number, as there."""
        state = self.state
        call = Call(names.CONFIRM, thread, argument=context)
        parsed = confirm_context.parse(context)
        if parsed is None:
            return self.done(call, CodedResult(r.BAD_REQUEST, why=confirm_context.fault(context)), now_us)
        if self.is_shutdown():
            return self.done(call, CodedResult(r.CLIENT_SHUTDOWN), now_us)
        key, token = parsed
        if token == 0 or state.held.get(key) != token:
            return self.done(call, CodedResult(r.BAD_REQUEST, why=confirm_context.NOT_CURRENT), now_us)
        call.key = key
        state.calls[thread] = call
        request = r.CommitOffsetRequestC2B(state.client_id, state.group, key, is_consumed)
        self.ask_broker(call, request, now_us, out)
        return None

    def has_idle(self, now_us: int) -> bool:
        """Whether a partition could be read now. While a release waits for its batch, nothing is read."""
        state = self.state
        cache.wake_rested(state, now_us)
        if not state.idle:
            return False
        return not any(
            call.name == names.DISCONNECT and call.connection == NOT_ASKED for call in state.calls.values()
        )

    def next_idle(self, now_us: int) -> str:
        """The next partition in turn, "" if none is idle."""
        return self.state.idle.popleft() if self.has_idle(now_us) else ""

    def await_idle(self, call: Call, out: Outbox) -> None:
        self.look_again(call, min(call.until_us, *self.state.resting.values(), call.until_us), out)

    def serve_waiting(self, now_us: int, out: Outbox) -> None:
        """Those that wait for an idle partition read it, should there be one."""
        for call in [*self.state.calls.values()]:
            if call.name == names.GET and call.connection == NOT_ASKED:
                key = self.next_idle(now_us)
                if key:
                    out.cancel(LOOK + call.thread)
                    self.read(call, key, now_us, out)
                else:
                    self.await_idle(call, out)

    def read(self, call: Call, key: str, now_us: int, out: Outbox) -> None:
        state = self.state
        cache.take(state, key, now_us)
        call.key = key
        request = r.GetMessageRequestC2B(state.client_id, state.group, key)
        request.escapes_flow_control = cache.escapes_brokers_rules(state, now_us)
        self.ask_broker(call, request, now_us, out)

    # -- answers ---------------------------------------------------------------------------------------------

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        """An answer, or the word that the connection broke and there will be none."""
        self.take_answer(connection, message, now_us, out)
        self.serve_waiting(now_us, out)

    def take_answer(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        kind = type(message)
        if kind is r.GetMessageResponseB2C:
            self.answered(self.asked(names.GET, message.partition), message, now_us, out)
        elif kind is r.CommitOffsetResponseB2C:
            self.answered(self.asked(names.CONFIRM, message.partition), message, now_us, out)
        elif kind is r.HeartBeatResponseB2C:
            heartbeats.broker_answered(self.state, connection, message, out)
        elif kind is Closed:
            self.on_closed(connection, message, now_us, out)

    def answered(self, call: Call | None, answer: Any, now_us: int, out: Outbox) -> None:
        """Give the answer, or Closed for none, to the call."""
        if call is None:
            return
        if call.name == names.GET:
            self.on_message(call, answer, now_us)
        elif call.name == names.CONFIRM:
            self.on_confirmed(call, answer, now_us)

    def on_closed(self, connection: int, closed: Closed, now_us: int, out: Outbox) -> None:
        broker_id = forget_link(self.state, connection)
        if broker_id is not None:
            heartbeats.broker_closed(self.state, broker_id, out)
        self.fail(connection, closed, now_us, out)

    def fail(self, connection: int, closed: Closed, now_us: int, out: Outbox) -> None:
        """The requests on this connection have no answer."""
        for call in [*self.state.calls.values()]:
            if call.connection == connection:
                self.answered(call, closed, now_us, out)

    def on_message(self, call: Call, answer: Any, now_us: int) -> None:
        state, key = self.state, call.key
        code = answer.code if isinstance(answer, r.GetMessageResponseB2C) else r.BAD_REQUEST
        token = state.held.get(key)
        if not token:  # it was dropped while the answer was on its way
            self.end(call, CodedResult(code if code != r.SUCCESS else r.BAD_REQUEST), now_us)
        elif code == r.SUCCESS:
            cache.note_batch(state, answer, now_us)
            state.offsets[key] = (answer.curr_offset, answer.max_offset, now_us)
            context = confirm_context.make(key, token)
            found = CodedResult(code, key, answer.curr_offset, answer.max_offset, answer.messages, context)
            self.end(call, found, now_us)
        else:
            if isinstance(answer, r.GetMessageResponseB2C):
                cache.failed(state, answer, now_us)
            else:
                cache.rest(state, key, 0, now_us)
            self.end(call, CodedResult(code, key), now_us)

    def on_confirmed(self, call: Call, answer: Any, now_us: int) -> None:
        """In every case the partition is in turn again, or rests."""
        state, key = self.state, call.key
        code = answer.code if isinstance(answer, r.CommitOffsetResponseB2C) else r.BAD_REQUEST
        if key in state.held:
            cache.end_batch(state, key, now_us)
        if code != r.SUCCESS:
            self.end(call, CodedResult(code), now_us)
            return
        if key in state.held:
            state.offsets[key] = (answer.curr_offset, answer.max_offset, now_us)
        self.end(call, CodedResult(code, key, answer.curr_offset, answer.max_offset), now_us)

    # -- deadlines -------------------------------------------------------------------------------------------

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        self.come_due(name, now_us, out)
        self.serve_waiting(now_us, out)

    def come_due(self, name: str, now_us: int, out: Outbox) -> None:
        if name == WATCH:
            self.look_at_requests(now_us, out)
        elif name == heartbeats.TO_BROKERS:
            heartbeats.beat_brokers(self.state, now_us, out)
        elif name == heartbeats.SILENT:
            for connection in heartbeats.give_up_silent(self.state, out):
                self.fail(connection, NO_ANSWER, now_us, out)
        else:
            call = self.state.calls.get(name.removeprefix(LOOK))
            if call is not None:
                self.looks(call, now_us, out)

    def looks(self, call: Call, now_us: int, out: Outbox) -> None:
        """The call has waited, and looks whether it can go on."""
        if call.name == names.GET and now_us >= call.until_us and not self.has_idle(now_us):
            self.end(call, CodedResult(cache.why_none_idle(self.state)), now_us)

    def look_at_requests(self, now_us: int, out: Outbox) -> None:
        state = self.state
        for call in [*state.calls.values()]:
            if call.connection > AT_MASTER and call.asked_us + REQUEST_TIMEOUT_US <= now_us:
                self.answered(call, NO_ANSWER, now_us, out)
        asked = [call.asked_us for call in state.calls.values() if call.connection > AT_MASTER]
        state.is_watched = bool(asked)
        if asked:
            out.deadline(WATCH, min(asked) + REQUEST_TIMEOUT_US)
