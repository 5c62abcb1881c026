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
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Pace, Pause, Resume, Traffic
from broker_core.tubemq import requests as r
from broker_core.tubemq.bound_groups import required_of
from broker_core.tubemq.client import call_results as names
from broker_core.tubemq.client import heartbeats
from broker_core.tubemq.client import partition_cache as cache
from broker_core.tubemq.client.call_results import Call
from broker_core.tubemq.client.consumer_object import READER
from broker_core.tubemq.client.fetcher import REST, Fetcher
from broker_core.tubemq.client.links import close_links, link_to
from broker_core.tubemq.client.master_link import RPC, RPC_TIMEOUT_US
from broker_core.tubemq.client.message_calls import WATCH, MessageCalls
from broker_core.tubemq.client.program_state import Shutdown
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState, StartPull
from broker_core.tubemq.client.reading_program import REFUSED, STARTED, STARTING, STOPPED, STOPPING
from broker_core.tubemq.client.reports import tell_losses, who
from broker_core.tubemq.partition_key import broker_of

REPORT_BEATS = 6
"""With so many heartbeats the master hears what the client holds, though it has done nothing (its setting's default)."""
REGISTER_TRIES, RETRY_US = 5, SECOND_US
RELEASE_WAIT_US = 3 * SECOND_US
SHUTDOWN_SLEEP_US = SECOND_US // 5
REBALANCE = "rebalance"
"""The thread that carries out what the master asks for."""
FROM_MASTER = (r.RegisterResponseM2C, r.HeartResponseM2C, r.RspExceptionBody)
OF_READING = (r.GetMessageResponseB2C, r.CommitOffsetResponseB2C, r.HeartBeatResponseB2C)


class PullConsumer:
    def __init__(self, state: PullConsumerState, traffic: Traffic) -> None:
        self.state = state
        self.consumer = MessageCalls(state.consumer)
        self.fetcher = Fetcher(state, self.consumer, traffic)

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if isinstance(message, OF_READING):
            self.consumer.receive(connection, message, now_us, out)
        elif isinstance(message, r.RegisterResponseB2C):
            self.on_call_answered(message, now_us, out)
        elif isinstance(message, FROM_MASTER):
            if connection == self.state.consumer.masters.connection:
                self.on_master(message, now_us, out)
        elif isinstance(message, Closed):
            self.on_closed(connection, message, now_us, out)
        else:
            self.obey(message, now_us, out)
        self.follow(now_us, out)

    def obey(self, order: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        match order:
            case StartPull(masters, brokers, boot_us):
                state.consumer.masters.names, state.consumer.brokers = masters, brokers
                state.launched_us = now_us
                out.deadline("boot", now_us + boot_us)
            case Shutdown():
                self.shut_down(now_us, out)
            case Pause() | Resume() | Pace():
                state.program.obey(order)
                if state.program.is_paused:
                    self.fetcher.pause(out)
                else:
                    self.fetcher.go_on(now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        if name == DONE:
            self.fetcher.on_handled(now_us, out)
        elif name == REST:
            self.fetcher.fetch(now_us, out)
        elif name == RPC:
            self.master_failed(now_us, out)
        elif name == "boot":
            self.state.phase = STARTING
            if self.state.first_record_us is None:
                self.state.first_start_us, self.state.start_us = self.state.first_start_us or now_us, now_us
            self.register(now_us, out)
        elif name == heartbeats.TO_MASTER:
            self.beat(now_us, out)
        elif name == "release":
            self.release(now_us, out)
        elif name == "call":
            self.register_next(now_us, out)
        elif name == "no_answer":
            self.call_failed(now_us, out)
        elif name == "shutdown":
            self.end(now_us, out)
        else:
            silent = self.state.consumer.silent[:] if name == heartbeats.SILENT else []
            self.consumer.wake(name, now_us, out)
            for broker_id in silent:
                self.on_broker_lost(broker_id, now_us, out)
        self.follow(now_us, out)

    def follow(self, now_us: int, out: Outbox) -> None:
        """Hand results to the thread that reads, and look at what has changed in the client."""
        state, held, results = self.state, self.state.consumer.held, self.consumer.results
        while results or state.seen != len(held):
            if state.seen != len(held):
                state.seen = len(held)
                tell_losses(state, "tubemq.broker.one_owner", out)
                self.fetcher.look_at_batches(now_us, out)
            if results:
                call, result = results.pop(READER)
                self.fetcher.ended(call, result, now_us, out)
        if REBALANCE in state.consumer.calls and not self.is_in_use():
            self.release(now_us, out)
            self.follow(now_us, out)

    # -- the master ------------------------------------------------------------------------------------------

    def register(self, now_us: int, out: Outbox) -> None:
        state, bound = self.state, self.state.binding
        request = r.RegisterRequestC2M(
            state.client_id,
            state.consumer.group,
            state.topics[:],
            partitions=state.registered,
            flow_id=state.consumer.flow_id,
        )
        if bound is not None:
            request.require_bound, request.session_key = True, bound.session_key
            request.total_count, request.select_big = bound.source_count, bound.select_big
            request.required_partition = bound.required
        state.tries += 1
        state.consumer.masters.ask(request, now_us, out)

    def beat(self, now_us: int, out: Outbox) -> None:
        state, consumer = self.state, self.state.consumer
        cache.resume_overdue(consumer, now_us)
        self.consumer.serve_waiting(now_us, out)
        consumer.beats += 1
        held = None
        if state.done or consumer.beats >= REPORT_BEATS:
            held, consumer.beats = state.registered, 0
        done = state.done[0] if state.done else 0
        request = r.HeartRequestC2M(state.client_id, consumer.group, held, done, consumer.flow_id)
        consumer.masters.ask(request, now_us, out)

    def on_master(
        self,
        answer: r.RegisterResponseM2C | r.HeartResponseM2C | r.RspExceptionBody,
        now_us: int,
        out: Outbox,
    ) -> None:
        state = self.state
        if isinstance(answer, r.RspExceptionBody):
            self.master_failed(now_us, out)
            return
        request = state.consumer.masters.answered(now_us, out)
        if request is None or state.phase not in (STARTING, STARTED):
            return
        state.is_not_allocated = state.is_not_allocated and answer.is_not_allocated
        cache.take_rules(state.consumer, answer)
        if isinstance(answer, r.RegisterResponseM2C):
            self.on_registered(answer.code, now_us, out)
            return
        heartbeats.master_answered(state.consumer, now_us, out)
        if answer.code == r.HB_NO_NODE:
            self.register(now_us, out)  # this master does not know it
            return
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
        out.tell("tubemq.client.started", None, {}, who(state))
        heartbeats.begin(now_us, out)
        self.beat(now_us, out)  # the first one at once
        self.fetcher.fetch(now_us, out)

    def refuse(self, code: int, now_us: int, out: Outbox) -> None:
        """start() has failed; its operator starts it again."""
        state = self.state
        state.phase, state.tries = REFUSED, 0
        out.deadline("boot", now_us + RETRY_US)
        if state.refused_code != code:
            state.refused_code = code
            out.tell("tubemq.client.refused", f"tubemq.master.{code}", {}, {**who(state), "code": code})

    def master_failed(self, now_us: int, out: Outbox, *, is_closed: bool = False) -> None:
        """The master in use does not answer; once none does, the call has failed."""
        state = self.state
        lost = state.consumer.masters.failed(now_us, out, is_closed=is_closed)
        if state.phase == STARTING and isinstance(lost, r.RegisterRequestC2M):
            if state.tries >= REGISTER_TRIES:
                self.refuse(r.UNSPECIFIED, now_us, out)
            else:
                state.phase = REFUSED  # until it tries again
                out.deadline("boot", now_us + RETRY_US)
        elif state.phase == STARTED and lost is not None:
            heartbeats.master_failed(state.consumer, now_us, out)

    # -- rebalancing: one event at a time --------------------------------------------------------------------

    def is_releasing(self) -> bool:
        events = self.state.events
        return bool(events) and events[0].kind in (r.DISCONNECT, r.ONLY_DISCONNECT)

    def begin_event(self, now_us: int, out: Outbox) -> None:
        state = self.state
        event = state.events[0]
        if not self.is_releasing():
            state.calls.extend(key for key in event.partitions if key not in state.consumer.held)
            self.register_next(now_us, out)
        elif self.is_in_use():  # while its thread waits nothing is read
            state.consumer.calls[REBALANCE] = Call(names.DISCONNECT, REBALANCE)
            out.deadline("release", now_us + RELEASE_WAIT_US)
        else:
            self.release(now_us, out)

    def is_in_use(self) -> bool:
        """Whether a batch is out of a partition that is to be released."""
        state = self.state
        return any(state.consumer.held.get(key) for key in state.events[0].partitions)

    def release(self, now_us: int, out: Outbox) -> None:
        """The event's partitions go, what is out of them unconfirmed."""
        state = self.state
        out.cancel("release")
        state.consumer.calls.pop(REBALANCE, None)
        gone = [key for key in state.events[0].partitions if key in state.consumer.held]
        for key in gone:
            cache.drop(state.consumer, key)
            self.unregister(key, out)
        state.told = [key for key in state.told if key not in gone]
        self.consumer.serve_waiting(now_us, out)
        self.end_event(gone, now_us, out)

    def unregister(self, key: str, out: Outbox) -> None:
        state = self.state
        request = r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.consumer.group, key)
        out.send(link_to(state.consumer, broker_of(key), out), request)

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
        consumer = state.consumer
        read_status = r.FROM_FIRST if key in consumer.asked else state.position
        consumer.asked = sorted({*consumer.asked, key})
        out.deadline("no_answer", now_us + RPC_TIMEOUT_US)
        request = r.RegisterRequestC2B(
            r.REGISTER, state.client_id, consumer.group, key, offset, read_status=read_status
        )
        out.send(link_to(consumer, broker_of(key), out), request)

    def on_call_answered(self, answer: r.RegisterResponseB2C, now_us: int, out: Outbox) -> None:
        state = self.state
        if answer.op_type != r.REGISTER or state.phase != STARTED:
            return
        if state.calling != answer.partition:
            return
        key, state.calling = state.calling, ""
        out.cancel("no_answer")
        if answer.code == r.SUCCESS:
            cache.add(state.consumer, answer, now_us)
            self.consumer.serve_waiting(now_us, out)
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
        data = {**who(self.state), "code": code}
        out.tell("tubemq.client.refused", "tubemq.broker.one_owner", {"partition": key}, data)

    def end_event(self, gone: list[str], now_us: int, out: Outbox) -> None:
        state = self.state
        event = state.events.popleft()
        state.done.append(event.event_id)
        rule = "tubemq.server_balance.event"
        if gone:
            out.tell("tubemq.client.disconnected", rule, {}, {**who(state), "partitions": gone})
        elif event.kind in (r.CONNECT, r.ONLY_CONNECT):
            state.told = state.registered
            out.tell("tubemq.client.connected", rule, {}, {**who(state), "partitions": state.registered})
        if state.events:
            self.begin_event(now_us, out)

    # -- the brokers -----------------------------------------------------------------------------------------

    def on_closed(self, connection: int, closed: Closed, now_us: int, out: Outbox) -> None:
        consumer = self.state.consumer
        if connection == consumer.masters.connection:
            self.master_failed(now_us, out, is_closed=True)
            return
        lost = [broker_id for broker_id, number in consumer.links.items() if number == connection]
        self.consumer.receive(connection, closed, now_us, out)
        for broker_id in lost:
            self.on_broker_lost(broker_id, now_us, out)

    def on_broker_lost(self, broker_id: int, now_us: int, out: Outbox) -> None:
        """A connection to this broker is no more; what was asked on it has no answer."""
        if self.state.calling and broker_of(self.state.calling) == broker_id:
            self.call_failed(now_us, out)

    # -- the end ---------------------------------------------------------------------------------------------

    def shut_down(self, now_us: int, out: Outbox) -> None:
        state = self.state
        for name in ("boot", heartbeats.TO_MASTER, "release", "call", "no_answer", REST):
            out.cancel(name)
        heartbeats.end(state.consumer, out)
        state.consumer.calls.pop(REBALANCE, None)
        for waiting in (state.events, state.calls, state.again):
            waiting.clear()  # what was to be released goes with all that it holds
        state.consumer.masters.forget(out)
        self.consumer.interrupt(READER, out)
        self.fetcher.drop_batch(now_us, out)
        if state.phase in (STARTING, STARTED):
            state.phase = STOPPING
            out.deadline("shutdown", now_us + SHUTDOWN_SLEEP_US)
        else:
            state.phase = STOPPED

    def end(self, now_us: int, out: Outbox) -> None:
        """Everything is released and the master informed. A registration without an answer may have come through."""
        state = self.state
        held, state.told = state.registered, []
        out.tell("tubemq.client.stopped", None, {}, {**who(state), "partitions": held})
        for key in [*held, *filter(None, [state.calling])]:
            cache.drop(state.consumer, key)
            self.unregister(key, out)
        state.calling = ""
        state.consumer.calls.clear()
        out.cancel(WATCH)
        state.consumer.masters.send(r.CloseRequestC2M(state.client_id, state.consumer.group), out)
        close_links(state.consumer, out)
        state.phase = STOPPED
