"""A consumer that balances for itself: TubeMQ's ClientBalanceConsumer with the loop of the official example
around it.

    boot ─► register at the master ─► every 10 s: query the partitions, release and connect (assignment.py)
                                  └─► read one batch, handle it, confirm it, next partition in turn

Each call waits for its answer before the next one is made, as in the original, where one thread makes them. A
refused connect is tried once more after 1 s and then left alone for 5 s; a partition without new messages
rests 400 ms. Heartbeats go to the master and to each broker every 13 s. Source: TubeMQ (InLong a6c7a6a670)
SimpleClientBalanceConsumer, ClientBalanceConsumerExample; docs/tubemq/facts.md.
Left out: several readers, flow control, read positions. A client that the master refuses starts again every
second, as a process that its operator restarts.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.events import Json
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Pace, Pause, Resume, Traffic
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import Call, Connect, planned_calls
from broker_core.tubemq.client.consumer_state import (
    REFUSED,
    STARTED,
    STARTING,
    STOPPED,
    STOPPING,
    ConsumerState,
    Shutdown,
    Start,
)
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.partition_key import broker_of

META_PERIOD_US = 10 * SECOND_US
HEARTBEAT_US = 13 * SECOND_US
REPORT_BEATS = 60
"""With so many heartbeats the master hears what the client holds, changed or not."""
REST_US = 400 * MILLISECOND_US
REGISTER_RETRY_US = SECOND_US
CONNECT_GUARD_US = 5 * SECOND_US
RELEASE_WAIT_US = 3 * SECOND_US
SHUTDOWN_SLEEP_US = 200 * MILLISECOND_US
CONNECT_TRIES = 2
REST = "rest:"
"""Before the key of a partition: the deadline at which it is read again."""


class BalanceConsumer:
    """calls_of: partition -> its broker's connection, and the requests to read and to confirm, which are the
    same each time."""

    def __init__(self, state: ConsumerState, traffic: Traffic) -> None:
        self.state = state
        self.traffic = traffic
        self.calls_of: dict[str, tuple[int, r.GetMessageRequestC2B, r.CommitOffsetRequestC2B]] = {}

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        kind = type(message)
        if kind is r.CommitOffsetResponseB2C:
            return  # nothing depends on it
        if kind is r.GetMessageResponseB2C:
            self.on_read(message, now_us, out)
        elif kind is r.RegisterResponseB2C:
            self.on_call_answered(message, now_us, out)
        elif kind is r.GetPartMetaResponseM2C:
            self.on_metadata(message, now_us, out)
        elif kind is r.HeartBeatResponseB2C:
            self.lose(
                [partition for _, partition in message.failures], "tubemq.broker.one_owner", now_us, out
            )
        elif kind is r.RegisterResponseM2C:
            self.on_registered(message, now_us, out)
        elif kind is Closed:
            self.on_closed(connection, now_us, out)
        else:
            self.obey(message, now_us, out)

    def obey(self, order: Any, now_us: int, out: Outbox) -> None:
        match order:
            case Start(master, brokers, boot_us):
                self.state.master_name, self.state.broker_names = master, brokers
                out.deadline("boot", now_us + boot_us)
            case Shutdown():
                self.shut_down(now_us, out)
            case Pause() | Resume() | Pace():
                self.state.program.obey(order)
                self.go_on(now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if name == DONE:
            self.on_handled(now_us, out)
            return
        if name.startswith(REST):
            state.idle.append(name.removeprefix(REST))
            self.read(now_us, out)
        elif name == "boot":
            state.phase = STARTING
            if not state.master:
                state.master = out.connect(state.master_name)
            out.send(
                state.master,
                r.RegisterRequestC2MV2(
                    state.client_id, state.group, state.source_count, state.node_id, state.topics[:]
                ),
            )
        elif name == "pass":
            self.begin_pass(now_us, out)
        elif name == "call":
            self.make_call(now_us, out)
        elif name == "heartbeat":
            self.beat(now_us, out)
        elif name == "shutdown":
            self.release_all(now_us, out)

    # -- the master ------------------------------------------------------------------------------------------

    def on_registered(self, answer: r.RegisterResponseM2C, now_us: int, out: Outbox) -> None:
        state = self.state
        if state.phase != STARTING:
            return
        if answer.code != r.SUCCESS:
            self.tell_refusal(answer.code, f"tubemq.master.{answer.code}", out)
            state.phase = REFUSED
            out.deadline("boot", now_us + REGISTER_RETRY_US)
            return
        state.phase, state.refused_code = STARTED, 0
        state.connections = {broker_id: out.connect(name) for broker_id, name in state.broker_names.items()}
        out.tell(
            "tubemq.client.started",
            None,
            {"source_count": state.source_count},
            {**self.who(), "node_id": state.node_id},
        )
        out.deadline("heartbeat", now_us + HEARTBEAT_US)
        self.begin_pass(now_us, out)

    def beat(self, now_us: int, out: Outbox) -> None:
        state = self.state
        report = None
        if state.beats % REPORT_BEATS == 0 or state.registered != state.reported:
            report = state.reported = state.registered[:]
        state.beats += 1
        out.send(state.master, r.HeartRequestC2MV2(state.client_id, state.group, report))
        for broker_id, connection in state.connections.items():
            held = [key for key in state.registered if broker_of(key) == broker_id]
            if held:
                out.send(connection, r.HeartBeatRequestC2B(state.client_id, state.group, held))
        out.deadline("heartbeat", now_us + HEARTBEAT_US)

    # -- the assigner's pass ---------------------------------------------------------------------------------

    def begin_pass(self, now_us: int, out: Outbox) -> None:
        state = self.state
        state.next_pass_us = now_us + META_PERIOD_US
        out.deadline("pass", state.next_pass_us)
        if not state.calls:  # a pass that is held up by refused connects goes on before the next begins
            out.send(
                state.master, r.GetPartMetaRequestC2M(state.client_id, state.group, state.metadata.meta_id)
            )

    def on_metadata(self, answer: r.GetPartMetaResponseM2C, now_us: int, out: Outbox) -> None:
        state = self.state
        if state.phase != STARTED or answer.code != r.SUCCESS:
            return
        state.metadata = state.metadata.updated(answer.topic_meta_id, answer.topic_meta, answer.broker_ids)
        calls: list[Call] = planned_calls(
            state.metadata.status,
            state.registered,
            source_count=state.source_count,
            node_id=state.node_id,
            saved_offsets={},
        )
        state.calls.extend(call for call in calls if state.guarded.get(call.key, 0) <= now_us)
        self.make_call(now_us, out)

    def make_call(self, now_us: int, out: Outbox) -> None:
        """Make the first call of the pass, or end the pass."""
        state = self.state
        if not state.calls:
            return
        call = state.calls[0]
        connection = state.connections[broker_of(call.key)]
        state.tries += 1
        if isinstance(call, Connect):
            request = r.RegisterRequestC2B(
                r.REGISTER, state.client_id, state.group, call.key, call.bootstrap_offset
            )
        elif call.key == state.reading and state.tries == 1:
            out.deadline(
                "call", now_us + RELEASE_WAIT_US
            )  # disconnectFromPartition waits for the batch in use, but not forever
            return
        else:
            self.drop(call.key, now_us, out)
            request = r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.group, call.key)
        out.send(connection, request)

    def on_call_answered(self, answer: r.RegisterResponseB2C, now_us: int, out: Outbox) -> None:
        state = self.state
        if state.phase != STARTED or not state.calls or state.calls[0].key != answer.partition:
            return
        if answer.op_type == r.REGISTER and answer.code != r.SUCCESS:
            self.tell_refusal(answer.code, "tubemq.broker.one_owner", out)
            self.tell_partitions(out)  # what it has by now; the rest will take a while
            if state.tries >= CONNECT_TRIES:
                state.guarded[answer.partition] = now_us + CONNECT_GUARD_US
                self.end_call()
            out.deadline("call", now_us + REGISTER_RETRY_US)
            return
        self.end_call()
        if answer.op_type == r.REGISTER:
            state.guarded.pop(answer.partition, None)
            state.registered.append(answer.partition)
            state.idle.append(answer.partition)
        state.is_told = False
        if not state.calls:
            self.tell_partitions(out)
            state.refused_code = r.PARTITION_OCCUPIED if state.guarded else 0
        self.make_call(now_us, out)
        self.read(now_us, out)

    def end_call(self) -> None:
        self.state.calls.popleft()
        self.state.tries = 0

    # -- what it tells ---------------------------------------------------------------------------------------

    def who(self) -> Json:
        return {"consumer": host_of(self.state.client_id), "client": self.state.client_id}

    def tell_refusal(self, code: int, rule: str, out: Outbox) -> None:
        """A refusal is reported once, however often the client asks again."""
        state = self.state
        if state.refused_code != code:
            state.refused_code = code
            out.tell(
                "tubemq.client.refused",
                rule,
                {"source_count": state.source_count, "node_id": state.node_id},
                {**self.who(), "code": code},
            )

    def tell_partitions(self, out: Outbox) -> None:
        """Which partitions it reads, after its pass has changed them."""
        state = self.state
        if not state.is_told:
            state.is_told = True
            out.tell(
                "tubemq.client.connected",
                "tubemq.assignment.modulo",
                {"source_count": state.source_count, "node_id": state.node_id},
                {**self.who(), "partitions": state.registered[:]},
            )

    def lose(self, keys: list[str], rule: str | None, now_us: int, out: Outbox) -> None:
        """Partitions that are its own no longer, against its will."""
        lost = [key for key in keys if key in self.state.registered]
        for key in keys:
            self.drop(key, now_us, out)
        if lost:
            out.tell("tubemq.client.disconnected", rule, {}, {**self.who(), "partitions": lost})
        self.read(now_us, out)  # the next in turn, should it have been the one that was read

    # -- reading ---------------------------------------------------------------------------------------------

    def read(self, now_us: int, out: Outbox) -> None:
        """getMessage of the next idle partition, if the program is free and no other read is under way."""
        state = self.state
        if (
            state.idle
            and not state.waiting
            and not state.reading
            and not state.program.is_paused
            and state.phase == STARTED
        ):
            key = state.waiting = state.idle.popleft()
            connection, request, _ = self.calls_of.get(key) or self.calls_for(key)
            out.send(connection, request)

    def calls_for(self, key: str) -> tuple[int, r.GetMessageRequestC2B, r.CommitOffsetRequestC2B]:
        state = self.state
        connection = state.connections[broker_of(key)]
        read = r.GetMessageRequestC2B(state.client_id, state.group, key)
        calls = self.calls_of[key] = (
            connection,
            read,
            r.CommitOffsetRequestC2B(state.client_id, state.group, key, True),
        )
        return calls

    def on_read(self, answer: r.GetMessageResponseB2C, now_us: int, out: Outbox) -> None:
        state = self.state
        if answer.partition != state.waiting:
            return  # it was dropped while the answer was under way
        state.waiting = ""
        if answer.code == r.SUCCESS:
            state.reading = answer.partition
            state.batch.extend(answer.messages)
            for number in answer.messages:
                self.traffic.received(out.name, number, now_us)
            if state.program.is_free:
                state.program.take(state.batch.popleft(), now_us, out)
            return
        if answer.code == r.NOT_FOUND:
            out.deadline(REST + answer.partition, now_us + REST_US)
        else:
            self.lose([answer.partition], "tubemq.broker.one_owner", now_us, out)
            return
        self.read(now_us, out)

    def go_on(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message of its batch; with none, the next read."""
        state = self.state
        if not state.batch:
            self.read(now_us, out)
        elif state.program.is_free:
            state.program.take(state.batch.popleft(), now_us, out)

    def on_handled(self, now_us: int, out: Outbox) -> None:
        """The batch is confirmed with its last message; its partition goes to the end of the turn."""
        state = self.state
        state.program.done(now_us, out, self.traffic)
        if not state.batch:
            key, state.reading = state.reading, ""
            connection, _, request = self.calls_of.get(key) or self.calls_for(key)
            out.send(connection, request)
            state.idle.append(key)
            if state.calls and state.calls[0].key == key:  # a release has waited for this
                out.cancel("call")
                self.make_call(now_us, out)
        self.go_on(now_us, out)

    def drop(self, key: str, now_us: int, out: Outbox) -> None:
        """Forget a partition here; of a batch that is out, what is not confirmed is read again by the next
        owner."""
        state = self.state
        if key in state.registered:
            state.registered.remove(key)
        if key in state.idle:
            state.idle.remove(key)
        out.cancel(REST + key)
        if key == state.waiting:
            state.waiting = ""
        if key == state.reading:
            self.drop_batch(now_us, out)

    def drop_batch(self, now_us: int, out: Outbox) -> None:
        """Let go of all that was read and is not confirmed."""
        state = self.state
        state.waiting = state.reading = ""
        state.program.drop(now_us, out, self.traffic)
        for number in state.batch:
            self.traffic.dropped(out.name, number, now_us)
        state.batch.clear()

    # -- the end ---------------------------------------------------------------------------------------------

    def shut_down(self, now_us: int, out: Outbox) -> None:
        """shutdown(): 200 ms, then every partition is released and the master told. A client that no master
        knows has nothing to end."""
        state = self.state
        for name in ("boot", "pass", "call", "heartbeat"):
            out.cancel(name)
        state.next_pass_us = None
        self.drop_batch(now_us, out)  # what is on its way here comes too late
        if state.phase in (STARTING, STARTED):
            state.phase = STOPPING
            out.deadline("shutdown", now_us + SHUTDOWN_SLEEP_US)
        else:
            self.stopped(out)

    def release_all(self, now_us: int, out: Outbox) -> None:
        state = self.state
        asked = [call.key for call in state.calls if isinstance(call, Connect) and state.tries][
            :1
        ]  # the answer came too late, or never
        out.tell("tubemq.client.stopped", None, {}, {**self.who(), "partitions": state.registered[:]})
        for key in [*state.registered, *asked]:
            out.send(
                state.connections[broker_of(key)],
                r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.group, key),
            )
        out.send(state.master, r.CloseRequestC2M(state.client_id, state.group))
        for connection in (state.master, *state.connections.values()):
            out.close(connection)
        self.stopped(out)

    def stopped(self, out: Outbox) -> None:
        self.state.phase = STOPPED
        for key in self.state.registered:
            out.cancel(REST + key)
        self.state.registered.clear()
        self.state.idle.clear()
        self.state.calls.clear()

    def on_closed(self, connection: int, now_us: int, out: Outbox) -> None:
        """A connection broke: everything that this broker gave is dropped; the next pass connects again. What
        was asked on it and has no answer yet is asked again."""
        state = self.state
        for broker_id in [
            broker_id for broker_id, number in state.connections.items() if number == connection
        ]:
            state.connections[broker_id] = out.connect(state.broker_names[broker_id])
            self.calls_of.clear()
            self.lose([key for key in state.registered if broker_of(key) == broker_id], None, now_us, out)
            if state.phase == STARTED and state.tries and broker_of(state.calls[0].key) == broker_id:
                out.deadline("call", now_us + REGISTER_RETRY_US)  # the answer to it will never come
        if connection == state.master:
            state.master = out.connect(state.master_name)
            if state.phase == STARTING:
                out.deadline("boot", now_us + REGISTER_RETRY_US)
