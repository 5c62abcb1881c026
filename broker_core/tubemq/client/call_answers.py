"""What happens to a call of a ClientBalanceConsumer between its request and its result: answers, connections that
break, requests without an answer, and waits.

    call ─► request ─► answer ─────────────► result, for the thread that waits for it
              └──────► nothing for 10 s ───► as after a broken connection: the original's code for an exception
    call ─► wait: for an idle partition, for the batch that is out, until the next try ─► request, or result

Source: TubeMQ (InLong a6c7a6a670) SimpleClientBalanceConsumer, RmtDataCache; docs/tubemq/calls.md.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.node import Closed, Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client import call_results as names
from broker_core.tubemq.client import confirm_context, heartbeats
from broker_core.tubemq.client.call_results import (
    Call,
    CallResult,
    CodedResult,
    RejectedExecutionError,
    answer_of,
)
from broker_core.tubemq.client.consumer_object import (
    MASTER_LINK,
    NOT_RUNNING,
    REST_AFTER_US,
    STARTED,
    ConsumerObject,
)
from broker_core.tubemq.client.links import forget_link, link_to, next_master
from broker_core.tubemq.partition_key import broker_of

READY_STEP_US = 250 * MILLISECOND_US
RELEASE_STEP_US = 200 * MILLISECOND_US
SHUTDOWN_SLEEP_US = 200 * MILLISECOND_US
START_RETRY_US = SECOND_US
CONNECT_TRIES, CONNECT_RETRY_US = 2, SECOND_US
CONNECT_GUARD_US = 5 * SECOND_US
REQUEST_TIMEOUT_US = 10 * SECOND_US
"""rpcTimeoutMs as shipped."""
DROPPED_BY = (r.HB_NO_NODE, r.DUPLICATE_PARTITION, r.CERTIFICATE_FAILURE)
LOOK, WATCH, HEARTBEAT = "call:", "requests", "heartbeat"
"""Deadlines: a thread's call looks again (with the thread's name behind it), requests are looked at, heartbeats."""
NO_ANSWER = Closed("no answer")


class CallAnswers:
    """state: whole. result: of the last call that has ended, None while one that began later is under way. results: of
    calls that had to wait, by thread, until it has taken them."""

    def __init__(self, state: ConsumerObject) -> None:
        self.state = state
        self.result: CallResult | None = None
        self.results: dict[str, tuple[Call, CallResult]] = {}

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
        if call is not None and call.name == names.GET and call.connection < 0:
            del self.state.calls[thread]
            out.cancel(LOOK + thread)

    def ask(self, call: Call, broker_id: int, request: r.Request, now_us: int, out: Outbox) -> None:
        state = self.state
        self.result = None
        call.connection, call.asked_us = link_to(state, broker_id, out), now_us
        out.send(call.connection, request)
        if not state.is_watched:  # one look for all requests: moving a deadline with each would cost more
            state.is_watched = True
            out.deadline(WATCH, now_us + REQUEST_TIMEOUT_US)

    def ask_broker(self, call: Call, request: r.Request, now_us: int, out: Outbox) -> None:
        self.ask(call, broker_of(call.key), request, now_us, out)

    def look_again(self, call: Call, at_us: int, out: Outbox) -> None:
        call.connection = -1
        out.deadline(LOOK + call.thread, at_us)

    def asked(self, name: str, key: str) -> Call | None:
        """The call that waits for this answer: answers of one broker come in the order of its requests."""
        for call in self.state.calls.values():
            if call.name == name and call.key == key and call.connection >= 0:
                return call
        return None

    # -- answers ---------------------------------------------------------------------------------------------

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        """An answer, or the word that the connection broke and there will be none."""
        kind = type(message)
        if kind is r.GetMessageResponseB2C:
            self.answered(self.asked(names.GET, message.partition), message, now_us, out)
        elif kind is r.CommitOffsetResponseB2C:
            self.answered(self.asked(names.CONFIRM, message.partition), message, now_us, out)
        elif kind is r.RegisterResponseB2C:
            name = names.CONNECT if message.op_type == r.REGISTER else names.DISCONNECT
            self.answered(self.asked(name, message.partition), message, now_us, out)
        elif kind is r.GetPartMetaResponseM2C:
            self.answered(self.asked(names.QUERY, ""), message, now_us, out)
        elif kind is r.RegisterResponseM2C:
            self.answered(self.asked(names.START, ""), message, now_us, out)
        elif kind is r.HeartBeatResponseB2C:
            heartbeats.on_broker(self.state, connection, message)
        elif kind is r.HeartResponseM2C:
            heartbeats.on_master(self.state, connection, message, out)
        elif message == r.STANDBY:
            self.on_standby(connection, now_us, out)
        elif kind is Closed:
            self.on_closed(connection, message, now_us, out)
        self.serve_waiting(now_us, out)

    def answered(self, call: Call | None, answer: Any, now_us: int, out: Outbox) -> None:
        """Give the answer, or Closed for none, to the call."""
        if call is None:
            return
        match call.name:
            case names.GET:
                self.on_message(call, answer, now_us)
            case names.CONFIRM:
                self.on_confirmed(call, answer, now_us)
            case names.CONNECT:
                self.on_connected(call, answer, now_us, out)
            case names.DISCONNECT:
                self.end(call, CodedResult(), now_us)  # whatever the broker says, or if it says nothing
            case names.QUERY:
                self.on_metadata(call, answer, now_us, out)
            case names.START:
                self.on_started(call, answer, now_us, out)

    def on_closed(self, connection: int, closed: Closed, now_us: int, out: Outbox) -> None:
        broker_id = forget_link(self.state, connection)
        if broker_id == MASTER_LINK:
            next_master(self.state, out)
        heartbeats.on_closed(self.state, connection, broker_id)
        self.fail(connection, closed, now_us, out)

    def on_standby(self, connection: int, now_us: int, out: Outbox) -> None:
        """The master is not the active one."""
        if self.state.links.get(MASTER_LINK) == connection:
            next_master(self.state, out)
        self.fail(connection, NO_ANSWER, now_us, out)

    def fail(self, connection: int, closed: Closed, now_us: int, out: Outbox) -> None:
        """The requests on this connection have no answer."""
        for call in [*self.state.calls.values()]:
            if call.connection == connection:
                self.answered(call, closed, now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if name == WATCH:
            self.look_at_requests(now_us, out)
        elif name == HEARTBEAT:
            heartbeats.beat(self.state, now_us, out)
            out.deadline(HEARTBEAT, now_us + heartbeats.HEARTBEAT_US)
        else:
            call = self.state.calls.get(name.removeprefix(LOOK))
            if call is not None:
                self.looks(call, now_us, out)
        self.serve_waiting(now_us, out)

    def look_at_requests(self, now_us: int, out: Outbox) -> None:
        state = self.state
        for call in [*state.calls.values()]:
            if call.connection >= 0 and call.asked_us + REQUEST_TIMEOUT_US <= now_us:
                if call.connection == state.links.get(MASTER_LINK):  # a silent master: another one may answer
                    next_master(state, out)
                self.answered(call, NO_ANSWER, now_us, out)
        asked = [call.asked_us for call in state.calls.values() if call.connection >= 0]
        state.is_watched = bool(asked)
        if asked:
            out.deadline(WATCH, min(asked) + REQUEST_TIMEOUT_US)

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
            case names.GET if now_us >= call.until_us and not self.has_idle(now_us):
                self.end(call, CodedResult(self.why_none_idle()), now_us)

    # -- the master ------------------------------------------------------------------------------------------

    def ask_to_start(self, call: Call, now_us: int, out: Outbox) -> None:
        call.tries += 1
        self.ask(call, MASTER_LINK, heartbeats.registration(self.state), now_us, out)

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
            out.deadline(HEARTBEAT, now_us + heartbeats.HEARTBEAT_US)
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
            state.held[call.key] = 0
            state.offsets[call.key] = (answer.curr_offset, answer.max_offset, now_us)
            state.idle.append(call.key)
            self.end(call, CodedResult(), now_us)
            return
        if call.code in (r.PARTITION_OCCUPIED, r.CERTIFICATE_FAILURE):
            state.guarded[call.key] = now_us + CONNECT_GUARD_US
        self.look_again(call, now_us + CONNECT_RETRY_US, out)

    def unregister(self, key: str, now_us: int, out: Outbox, call: Call | None = None) -> None:
        """A batch that is out is read again by the next owner. call: the one that releases it, None for the client's
        own doing."""
        state = self.state
        heartbeats.drop(state, key)
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
            each.key for each in state.calls.values() if each.name == names.CONNECT and each.connection >= 0
        ]
        for key in sorted(state.held):
            self.unregister(key, now_us, out)
        for key in asked:
            request = r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.group, key)
            out.send(link_to(state, broker_of(key), out), request)
        state.offsets = offsets
        out.send(link_to(state, MASTER_LINK, out), r.CloseRequestC2M(state.client_id, state.group))
        out.cancel(HEARTBEAT)
        state.phase = NOT_RUNNING
        self.end(call, CodedResult(), now_us)
        for other in [*state.calls.values()]:
            self.end(other, CodedResult(r.CLIENT_SHUTDOWN), now_us)
            out.cancel(LOOK + other.thread)

    # -- reading ---------------------------------------------------------------------------------------------

    def has_idle(self, now_us: int) -> bool:
        """Whether a partition could be read now. While a release waits for its batch, nothing is read."""
        state = self.state
        if state.resting:
            for key in [key for key, until_us in state.resting.items() if until_us <= now_us]:
                del state.resting[key]
                state.idle.append(key)
        if not state.idle:
            return False
        return not any(call.name == names.DISCONNECT and call.connection < 0 for call in state.calls.values())

    def next_idle(self, now_us: int) -> str:
        """The next partition in turn, "" if none is idle."""
        return self.state.idle.popleft() if self.has_idle(now_us) else ""

    def why_none_idle(self) -> int:
        held = self.state.held
        if not held:
            return r.NONE_REGISTERED
        return r.ALL_IN_USE if any(held.values()) else r.ALL_WAITING

    def await_idle(self, call: Call, out: Outbox) -> None:
        self.look_again(call, min(call.until_us, *self.state.resting.values(), call.until_us), out)

    def serve_waiting(self, now_us: int, out: Outbox) -> None:
        """Those that wait for an idle partition read it, should there be one."""
        for call in [*self.state.calls.values()]:
            if call.name == names.GET and call.connection < 0:
                key = self.next_idle(now_us)
                if key:
                    out.cancel(LOOK + call.thread)
                    self.read(call, key, now_us, out)
                else:
                    self.await_idle(call, out)

    def read(self, call: Call, key: str, now_us: int, out: Outbox) -> None:
        state = self.state
        state.tokens += 1
        state.held[key] = state.tokens
        call.key = key
        self.ask_broker(call, r.GetMessageRequestC2B(state.client_id, state.group, key), now_us, out)

    def on_message(self, call: Call, answer: Any, now_us: int) -> None:
        state, key = self.state, call.key
        code = answer.code if isinstance(answer, r.GetMessageResponseB2C) else r.BAD_REQUEST
        token = state.held.get(key)
        if not token:  # it was dropped while the answer was on its way
            self.end(call, CodedResult(code if code != r.SUCCESS else r.BAD_REQUEST), now_us)
            return
        if code == r.SUCCESS:
            state.offsets[key] = (answer.curr_offset, answer.max_offset, now_us)
            context = confirm_context.make(key, token)
            found = CodedResult(code, key, answer.curr_offset, answer.max_offset, answer.messages, context)
            self.end(call, found, now_us)
            return
        state.held[key] = 0
        if code in DROPPED_BY:
            heartbeats.drop(state, key)
        elif code in REST_AFTER_US:
            state.resting[key] = now_us + REST_AFTER_US[code]
        elif code == r.SERVER_CONSUME_SPEED_LIMIT:
            state.resting[key] = now_us + answer.min_limit_us
        else:
            state.idle.append(key)
        self.end(call, CodedResult(code, key), now_us)

    def on_confirmed(self, call: Call, answer: Any, now_us: int) -> None:
        """In every case the partition is idle again."""
        state, key = self.state, call.key
        code = answer.code if isinstance(answer, r.CommitOffsetResponseB2C) else r.BAD_REQUEST
        if key in state.held:
            state.held[key] = 0
            state.idle.append(key)
        if code != r.SUCCESS:
            self.end(call, CodedResult(code), now_us)
            return
        if key in state.held:
            state.offsets[key] = (answer.curr_offset, answer.max_offset, now_us)
        self.end(call, CodedResult(code, key, answer.curr_offset, answer.max_offset), now_us)
