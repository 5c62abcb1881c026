"""A consumer whose partitions its master gives out: it registers, says every 13 s that it lives, and does what the
answers ask of it.

    boot ─► register ─► heartbeat at once, then every 13 s ─► an event? ─► rebalancing: release, or register, its
                            ▲                                              partitions ─► reported with the next
                            └── 411: register again, and say what it holds
                            └── no master: after the fifth time in a row wait 60 s

So a newcomer waits for a cycle of the master and up to three heartbeats (the loser's, its report, its own) before its
first message. A release waits up to 3 s for the batch that is out; a partition that is another's (410) is given up, any
other refusal is tried five times, 1 s apart.
Source: TubeMQ (InLong) BaseMessageConsumer, SimplePullMessageConsumer; docs/tubemq/server_balance.md. [read]
Left out: push consumers, several readers, filters. A client that the master refuses starts again every second, as a
process that its operator restarts.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Pace, Pause, Resume, Traffic
from broker_core.tubemq import requests as r
from broker_core.tubemq.bound_groups import required_of
from broker_core.tubemq.client.master_link import RPC, RPC_TIMEOUT_US
from broker_core.tubemq.client.program_state import (
    REFUSED,
    STARTED,
    STARTING,
    STOPPED,
    STOPPING,
    Shutdown,
)
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState, StartPull
from broker_core.tubemq.client.reader import REST, Reader
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.partition_key import broker_of

HEARTBEAT_US = 13 * SECOND_US
REPORT_BEATS = 6
"""With so many heartbeats the master hears what the client holds, though it has done nothing (its setting's default)."""
FAILED_BEATS_MAX, AFTER_FAILING_US = 5, 60 * SECOND_US
REGISTER_TRIES, RETRY_US = 5, SECOND_US
RELEASE_WAIT_US = 3 * SECOND_US
SHUTDOWN_SLEEP_US = SECOND_US // 5


class PullConsumer:
    def __init__(self, state: PullConsumerState, traffic: Traffic) -> None:
        self.state = state
        self.reader = Reader(state.reader, state.client_id, state.group, traffic)

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case r.GetMessageResponseB2C():
                self.lost([self.reader.on_read(message, now_us, out)], out)
            case r.CommitOffsetResponseB2C():
                pass  # nothing depends on it
            case r.RegisterResponseB2C():
                self.on_call_answered(message, now_us, out)
            case r.HeartBeatResponseB2C():
                self.on_broker_beat(connection, message, now_us, out)
            case r.RegisterResponseM2C() | r.HeartResponseM2C():
                self.on_master(message, now_us, out)
            case r.RspExceptionBody() if connection == self.state.masters.connection:
                self.master_failed(now_us, out)
            case Closed():
                self.on_closed(connection, now_us, out)
            case _:
                self.obey(message, now_us, out)

    def obey(self, order: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        match order:
            case StartPull(masters, brokers, boot_us):
                state.masters.names, state.reader.brokers = masters, brokers
                state.launched_us = now_us
                out.deadline("boot", now_us + boot_us)
            case Shutdown():
                self.shut_down(now_us, out)
            case Pause() | Resume() | Pace():
                state.reader.program.obey(order)
                self.reader.go_on(now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if name == DONE:
            over = self.reader.on_handled(now_us, out)
            if self.is_releasing() and over in self.state.events[0].partitions:
                self.release(now_us, out)
        elif name.startswith(REST):
            self.reader.rested(name.removeprefix(REST), now_us, out)
        elif name == RPC:
            self.master_failed(now_us, out)
        elif name == "boot":
            self.state.phase = STARTING
            self.state.first_start_us = self.state.first_start_us or now_us
            self.register(now_us, out)
        elif name == "heartbeat":
            self.beat(now_us, out)
        elif name == "release":
            self.release(now_us, out)
        elif name == "call":
            self.register_next(now_us, out)
        elif name == "no_answer":
            self.call_failed(now_us, out)
        elif name == "beat_brokers":
            self.beat_brokers(now_us, out)
        elif name == "silent":
            for broker_id in self.state.silent:
                out.close(self.state.reader.connections[broker_id])
                self.lose_broker(broker_id, now_us, out)
        elif name == "shutdown":
            self.end(now_us, out)

    def who(self) -> Json:
        return {"consumer": host_of(self.state.client_id), "client": self.state.client_id}

    # -- the master ------------------------------------------------------------------------------------------

    def register(self, now_us: int, out: Outbox) -> None:
        state, bound = self.state, self.state.binding
        request = r.RegisterRequestC2M(
            state.client_id,
            state.group,
            state.topics[:],
            partitions=state.reader.held[:],
            flow_id=state.reader.flow_id,
        )
        if bound is not None:
            request.require_bound, request.session_key = True, bound.session_key
            request.total_count, request.select_big = bound.source_count, bound.select_big
            request.required_partition = bound.required
        state.tries += 1
        state.masters.ask(request, now_us, out)

    def beat(self, now_us: int, out: Outbox) -> None:
        state = self.state
        self.reader.resume_overdue(now_us)
        state.beats += 1
        held = None
        if state.done or state.beats >= REPORT_BEATS:
            held, state.beats = state.reader.held[:], 0
        done = state.done[0] if state.done else 0
        request = r.HeartRequestC2M(state.client_id, state.group, held, done, state.reader.flow_id)
        state.masters.ask(request, now_us, out)

    def on_master(self, answer: r.RegisterResponseM2C | r.HeartResponseM2C, now_us: int, out: Outbox) -> None:
        state = self.state
        request = state.masters.answered(now_us, out)
        if request is None or state.phase not in (STARTING, STARTED):
            return
        state.is_not_allocated = state.is_not_allocated and answer.is_not_allocated
        self.reader.take_rules(answer)
        if isinstance(answer, r.RegisterResponseM2C):
            self.on_registered(answer.code, now_us, out)
            return
        out.deadline("heartbeat", now_us + HEARTBEAT_US)
        if answer.code == r.HB_NO_NODE:
            self.register(now_us, out)  # this master does not know it
            return
        state.failed_beats = 0
        if isinstance(request, r.HeartRequestC2M) and request.done and state.done:
            state.done.popleft()
        if answer.event is not None:
            state.events.append(answer.event)
            if len(state.events) == 1:
                self.begin_event(now_us, out)

    def on_registered(self, code: int, now_us: int, out: Outbox) -> None:
        state = self.state
        if state.phase == STARTED:
            return  # registered again; a refusal waits for the next heartbeat
        if code != r.SUCCESS:
            if state.tries < REGISTER_TRIES and code != r.CONSUME_GROUP_FORBIDDEN:
                self.register(now_us, out)
                return
            self.refuse(code, now_us, out)
            return
        state.phase, state.refused_code, state.tries, state.started_us = STARTED, 0, 0, now_us
        out.tell("tubemq.client.started", None, {}, self.who())
        out.deadline("beat_brokers", now_us + HEARTBEAT_US)
        self.beat(now_us, out)

    def refuse(self, code: int, now_us: int, out: Outbox) -> None:
        """start() has failed; its operator starts it again."""
        state = self.state
        state.phase, state.tries = REFUSED, 0
        out.deadline("boot", now_us + RETRY_US)
        if state.refused_code != code:
            state.refused_code = code
            out.tell("tubemq.client.refused", f"tubemq.master.{code}", {}, {**self.who(), "code": code})

    def master_failed(self, now_us: int, out: Outbox, *, is_closed: bool = False) -> None:
        """The master in use does not answer; once none does, the call has failed."""
        state = self.state
        lost = state.masters.failed(now_us, out, is_closed=is_closed)
        if state.phase == STARTING and isinstance(lost, r.RegisterRequestC2M):
            if state.tries >= REGISTER_TRIES:
                self.refuse(r.UNSPECIFIED, now_us, out)
            else:
                state.phase = REFUSED  # until it tries again
                out.deadline("boot", now_us + RETRY_US)
        elif state.phase == STARTED and lost is not None:
            state.failed_beats += 1
            is_worn = state.failed_beats > FAILED_BEATS_MAX
            out.deadline("heartbeat", now_us + HEARTBEAT_US + (AFTER_FAILING_US if is_worn else 0))

    # -- rebalancing: one event at a time --------------------------------------------------------------------

    def is_releasing(self) -> bool:
        events = self.state.events
        return bool(events) and events[0].kind in (r.DISCONNECT, r.ONLY_DISCONNECT)

    def begin_event(self, now_us: int, out: Outbox) -> None:
        state = self.state
        event = state.events[0]
        if not self.is_releasing():
            state.calls.extend(key for key in event.partitions if key not in state.reader.held)
            self.register_next(now_us, out)
        elif state.reader.reading in event.partitions and state.reader.reading:
            out.deadline("release", now_us + RELEASE_WAIT_US)
        else:
            self.release(now_us, out)

    def release(self, now_us: int, out: Outbox) -> None:
        """The event's partitions go, what is out of them unconfirmed."""
        state = self.state
        out.cancel("release")
        gone = [key for key in state.events[0].partitions if key in state.reader.held]
        for key in gone:
            self.reader.drop(key, now_us, out)
            self.unregister(key, out)
        self.end_event(gone, now_us, out)

    def unregister(self, key: str, out: Outbox) -> None:
        state = self.state
        request = r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.group, key)
        self.reader.send(key, request, out)

    def register_next(self, now_us: int, out: Outbox) -> None:
        """Register the next partition of the event; at the end of a round those that failed wait for the next."""
        state = self.state
        if not state.calls:
            if state.again and state.rounds + 1 < REGISTER_TRIES:
                state.rounds += 1
                state.calls.extend(state.again)
                state.again.clear()
                out.deadline("call", now_us + RETRY_US)
                return
            state.rounds, state.is_first = 0, False
            state.again.clear()
            self.end_event([], now_us, out)
            return
        key = state.calling = state.calls.popleft()
        offset = -1
        if state.binding is not None and state.is_first and state.is_not_allocated:
            offset = required_of(state.binding.required).get(key, -1)
        read_status = r.FROM_FIRST if key in state.asked else state.position
        state.asked = sorted({*state.asked, key})
        out.deadline("no_answer", now_us + RPC_TIMEOUT_US)
        request = r.RegisterRequestC2B(
            r.REGISTER, state.client_id, state.group, key, offset, read_status=read_status
        )
        self.reader.send(key, request, out)

    def on_call_answered(self, answer: r.RegisterResponseB2C, now_us: int, out: Outbox) -> None:
        state = self.state
        if answer.op_type != r.REGISTER or state.phase != STARTED:
            return
        if state.calling != answer.partition:
            return
        key, state.calling = state.calling, ""
        out.cancel("no_answer")
        if answer.code == r.SUCCESS:
            self.reader.add(key, now_us, out)
        elif answer.code in (r.PARTITION_OCCUPIED, r.CERTIFICATE_FAILURE):
            self.tell_refusal(answer.code, key, out)
        else:
            state.again.append(key)
        self.register_next(now_us, out)

    def call_failed(self, now_us: int, out: Outbox) -> None:
        """The register request under way has no answer, and will have none."""
        state = self.state
        key, state.calling = state.calling, ""
        out.cancel("no_answer")
        if state.phase == STARTED:
            state.again.append(key)
            self.register_next(now_us, out)

    def tell_refusal(self, code: int, key: str, out: Outbox) -> None:
        out.tell(
            "tubemq.client.refused",
            "tubemq.broker.one_owner",
            {"partition": key},
            {**self.who(), "code": code},
        )

    def end_event(self, gone: list[str], now_us: int, out: Outbox) -> None:
        state = self.state
        event = state.events.popleft()
        state.done.append(event.event_id)
        rule = "tubemq.server_balance.event"
        if gone:
            out.tell("tubemq.client.disconnected", rule, {}, {**self.who(), "partitions": gone})
        elif event.kind in (r.CONNECT, r.ONLY_CONNECT):
            out.tell("tubemq.client.connected", rule, {}, {**self.who(), "partitions": state.reader.held[:]})
        if state.events:
            self.begin_event(now_us, out)

    # -- the brokers -----------------------------------------------------------------------------------------

    def beat_brokers(self, now_us: int, out: Outbox) -> None:
        state = self.state
        for broker_id in sorted({broker_of(key) for key in state.reader.held}):
            held = [key for key in state.reader.held if broker_of(key) == broker_id]
            self.reader.send(held[0], r.HeartBeatRequestC2B(state.client_id, state.group, held), out)
            state.silent.append(broker_id)
        if state.silent:
            out.deadline("silent", now_us + RPC_TIMEOUT_US)
        out.deadline("beat_brokers", now_us + HEARTBEAT_US)

    def on_broker_beat(
        self, connection: int, answer: r.HeartBeatResponseB2C, now_us: int, out: Outbox
    ) -> None:
        state = self.state
        connections = state.reader.connections
        state.silent = [broker_id for broker_id in state.silent if connections.get(broker_id) != connection]
        if not state.silent:
            out.cancel("silent")
        self.lose([key for _, key in answer.failures], now_us, out)

    def lose(self, keys: list[str], now_us: int, out: Outbox) -> None:
        held = [key for key in keys if key in self.state.reader.held]
        for key in held:
            self.reader.drop(key, now_us, out)
        self.lost(held, out)

    def lost(self, keys: list[str], out: Outbox) -> None:
        """Partitions that are its own no longer, against its will."""
        gone = [key for key in keys if key]
        if gone:
            out.tell(
                "tubemq.client.disconnected",
                "tubemq.broker.one_owner",
                {},
                {**self.who(), "partitions": gone},
            )

    def on_closed(self, connection: int, now_us: int, out: Outbox) -> None:
        state = self.state
        if connection == state.masters.connection:
            self.master_failed(now_us, out, is_closed=True)
        for broker_id, number in state.reader.connections.items():
            if number == connection:
                self.on_broker_closed(broker_id, now_us, out)
                return

    def on_broker_closed(self, broker_id: int, now_us: int, out: Outbox) -> None:
        """What was asked on the connection has no answer; a heartbeat without one costs all of that broker's."""
        state = self.state
        if broker_id in state.silent:
            self.lose_broker(broker_id, now_us, out)
            return
        del state.reader.connections[broker_id]
        if state.reader.waiting and broker_of(state.reader.waiting) == broker_id:
            self.reader.read_failed(now_us, out)
        if state.calling and broker_of(state.calling) == broker_id:
            self.call_failed(now_us, out)

    def lose_broker(self, broker_id: int, now_us: int, out: Outbox) -> None:
        """A broker is not to be had: all that it gave is dropped."""
        state = self.state
        state.silent = [other for other in state.silent if other != broker_id]
        state.reader.connections.pop(broker_id, None)
        self.lose([key for key in state.reader.held if broker_of(key) == broker_id], now_us, out)
        if state.calling and broker_of(state.calling) == broker_id:
            self.call_failed(now_us, out)

    # -- the end ---------------------------------------------------------------------------------------------

    def shut_down(self, now_us: int, out: Outbox) -> None:
        state = self.state
        for name in ("boot", "heartbeat", "beat_brokers", "silent", "release", "call", "no_answer"):
            out.cancel(name)
        for waiting in (state.events, state.calls, state.again):
            waiting.clear()  # what was to be released goes with all that it holds
        state.masters.forget(out)
        self.reader.stop(now_us, out)
        if state.phase in (STARTING, STARTED):
            state.phase = STOPPING
            out.deadline("shutdown", now_us + SHUTDOWN_SLEEP_US)
        else:
            state.phase = STOPPED

    def end(self, now_us: int, out: Outbox) -> None:
        """Everything is released and the master informed. A registration without an answer may have come through."""
        state = self.state
        held = state.reader.held[:]
        out.tell("tubemq.client.stopped", None, {}, {**self.who(), "partitions": held})
        for key in [*held, *filter(None, [state.calling])]:
            self.reader.drop(key, now_us, out)
            self.unregister(key, out)
        state.calling = ""
        state.masters.send(r.CloseRequestC2M(state.client_id, state.group), out)
        out.close(state.masters.connection)
        for connection in state.reader.connections.values():
            out.close(connection)
        state.phase = STOPPED
