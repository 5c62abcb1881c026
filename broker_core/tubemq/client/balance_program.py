"""A program around a ClientBalanceConsumer, as the official example is: it starts the client, and lets one thread
share out partitions (`assigner.py`) and one read (`fetcher.py`).

    boot ─► start() ─200─► assigner and fetcher ─► a person ends it: shutdown(), exit
              └─ refused: again every second, as a process that its operator restarts

Each thread waits for its call before it makes the next one. A person may call the client beside them.
Source: TubeMQ (InLong a6c7a6a670) ClientBalanceConsumerExample; docs/tubemq/calls.md.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import SECOND_US
from broker_core.sim.node import PERSON, Outbox
from broker_core.sim.program import DONE, Pace, Pause, Resume, Traffic
from broker_core.tubemq.client import consumer_object as objects
from broker_core.tubemq.client.assigner import PASS, Assigner
from broker_core.tubemq.client.by_person import ByPerson
from broker_core.tubemq.client.client_balance_consumer import ClientBalanceConsumer
from broker_core.tubemq.client.consumer_object import ASSIGNER, READER
from broker_core.tubemq.client.fetcher import REST, Fetcher
from broker_core.tubemq.client.links import close_links
from broker_core.tubemq.client.program_state import (
    Hold,
    LetGo,
    MakeCall,
    ProgramState,
    Share,
    Shutdown,
    Start,
)
from broker_core.tubemq.client.reading_program import REFUSED, STARTED, STARTING, STOPPED, STOPPING
from broker_core.tubemq.client.reports import (
    tell_losses,
    tell_partitions,
    tell_refusal,
    tell_started,
    tell_stopped,
)
from broker_core.tubemq.metadata import PartitionMetadata

START_RETRY_US = SECOND_US
BOOT, MAIN = "boot", "main"
"""The deadline at which it calls start(), and the thread that does."""


class BalanceProgram:
    def __init__(self, state: ProgramState, traffic: Traffic) -> None:
        self.state = state
        self.consumer = ClientBalanceConsumer(state.consumer)
        self.assigner = Assigner(state, self.consumer)
        self.fetcher = Fetcher(state, self.consumer, traffic)
        self.by_person = ByPerson(state, self.consumer, self.fetcher)

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if connection == PERSON:
            self.obey(message, now_us, out)
            self.follow(self.state.consumer.metadata, now_us, out)
            return
        before = self.state.consumer.metadata
        self.consumer.receive(connection, message, now_us, out)
        self.follow(before, now_us, out)

    def obey(self, order: Any, now_us: int, out: Outbox) -> None:
        match order:
            case Start(masters, brokers, boot_us):
                self.state.consumer.masters.names, self.state.consumer.brokers = masters, brokers
                self.state.launched_us = now_us
                out.deadline(BOOT, now_us + boot_us)
            case Shutdown():
                self.shut_down(now_us, out)
            case Share():
                self.assigner.share(order, now_us, out)
            case MakeCall() | Hold() | LetGo():
                self.by_person.obey(order, now_us, out)
            case Pause() | Resume() | Pace():
                self.state.program.obey(order)
                if self.state.program.is_paused:
                    self.fetcher.pause(out)
                else:
                    self.fetcher.go_on(now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        before = self.state.consumer.metadata
        if name == DONE:
            self.fetcher.on_handled(now_us, out)
        elif name == REST:
            self.fetcher.fetch(now_us, out)
        elif name == BOOT:
            self.boot(now_us, out)
        elif name == PASS:
            self.assigner.begin(now_us, out)
            self.fetcher.fetch(now_us, out)  # should it have given up meanwhile
        else:
            self.consumer.wake(name, now_us, out)
        self.follow(before, now_us, out)

    # -- its life --------------------------------------------------------------------------------------------

    def boot(self, now_us: int, out: Outbox) -> None:
        state = self.state
        state.phase = STARTING
        if state.first_record_us is None:
            state.first_start_us, state.start_us = state.first_start_us or now_us, now_us
        topics = dict.fromkeys(state.topics)
        result = self.consumer.start(topics, state.source_count, state.node_id, now_us, out, MAIN)
        if result is not None:
            self.refused(result.code, now_us, out)

    def refused(self, code: int, now_us: int, out: Outbox) -> None:
        tell_refusal(self.state, code, out)
        if self.state.is_leaving:
            self.ended(out)
        else:
            self.state.phase = REFUSED
            out.deadline(BOOT, now_us + START_RETRY_US)

    def started(self, now_us: int, out: Outbox) -> None:
        state = self.state
        state.phase, state.refused_code = STARTED, 0
        out.cancel(BOOT)
        tell_started(state, out)
        if state.is_leaving:
            self.shut_down(now_us, out)
        else:
            self.assigner.begin(now_us, out)
            self.fetcher.fetch(now_us, out)

    def shut_down(self, now_us: int, out: Outbox) -> None:
        """It calls shutdown() and exits. A client that no master knows has nothing to end."""
        state = self.state
        if (
            state.phase == STARTING
            and state.consumer.phase == objects.STARTING
            and not state.consumer.is_used
        ):
            state.is_leaving = True
            return
        self.quiet(now_us, out)
        if state.consumer.phase == objects.STARTED:
            state.phase = STOPPING
            self.consumer.shutdown(now_us, out, MAIN)
        elif state.consumer.phase != objects.STOPPING:
            self.ended(out)
        else:
            state.phase = STOPPING

    def quiet(self, now_us: int, out: Outbox) -> None:
        """Its threads end; what is on its way here comes too late."""
        state = self.state
        for name in (BOOT, PASS, REST):
            out.cancel(name)
        state.next_pass_us = None
        state.todo.clear()
        self.fetcher.drop_batch(now_us, out)

    def ended(self, out: Outbox) -> None:
        """The process has exited."""
        self.state.phase = STOPPED
        self.state.unconfirmed.clear()
        close_links(self.state.consumer, out)

    # -- what followed ---------------------------------------------------------------------------------------

    def follow(self, before: PartitionMetadata, now_us: int, out: Outbox) -> None:
        """Hand results to the threads that wait for them, and look at what has changed in the client. before: its
        map until now."""
        state, results = self.state, self.consumer.results
        if state.seen != len(state.consumer.held):
            self.look_at_partitions(now_us, out)
        while results:
            thread = next(iter(results))
            call, result = results.pop(thread)
            if thread == READER:
                self.fetcher.ended(call, result, now_us, out)
            elif thread == ASSIGNER:
                self.assigner.ended(call, result, before, now_us, out)
            elif thread == MAIN and state.phase == STARTING and result.code != 200:
                self.refused(result.code, now_us, out)
            elif thread != MAIN:
                self.by_person.ended(call, result, now_us, out)
            if state.seen != len(state.consumer.held):
                self.look_at_partitions(now_us, out)
        if state.consumer.phase == objects.STARTED and state.phase in (STARTING, REFUSED):
            self.started(now_us, out)
        elif (
            state.consumer.phase == objects.STOPPING and state.phase == STARTED
        ):  # a person has called shutdown()
            self.quiet(now_us, out)
            state.phase = STOPPING
        elif state.consumer.phase == objects.NOT_RUNNING and state.phase == STOPPING:
            tell_stopped(state, out)
            self.ended(out)

    def look_at_partitions(self, now_us: int, out: Outbox) -> None:
        """It holds others than when it last looked."""
        state = self.state
        state.seen = len(state.consumer.held)
        if state.phase != STARTED:
            return
        tell_losses(state, "tubemq.broker.one_owner", out)
        self.fetcher.look_at_batches(now_us, out)
        if not state.is_busy:
            tell_partitions(state, out)  # a person has connected one
