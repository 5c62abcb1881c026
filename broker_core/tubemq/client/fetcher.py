"""The fetching thread of the official examples, of either kind of consumer: read one batch, handle it, confirm it, and
read the next.

    getMessage ─200─► handle each message ─► confirmConsume ─► getMessage ...
         └─ 404, 406 to 408, 411 ...: the next one at once    └─ a person holds the batch back: its partition stays in use
         └─ anything else: after 400 ms

Source: TubeMQ (InLong a6c7a6a670) ClientBalanceConsumerExample, MessagePullConsumerExample.
"""

from __future__ import annotations

from broker_core.clock import MILLISECOND_US
from broker_core.sim.node import Outbox
from broker_core.sim.program import Traffic
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.call_results import GET, Call, CallResult, CodedResult
from broker_core.tubemq.client.consumer_object import READER
from broker_core.tubemq.client.message_calls import MessageCalls
from broker_core.tubemq.client.reading_program import STARTED, ReadingProgram

FAILED_REST_US = 400 * MILLISECOND_US
REST = "rest"
"""Its deadline."""
AT_ONCE = (
    r.NOT_FOUND, r.NONE_REGISTERED, r.ALL_WAITING, r.ALL_IN_USE, r.HB_NO_NODE, r.DUPLICATE_PARTITION,
    r.CERTIFICATE_FAILURE, r.SERVER_CONSUME_SPEED_LIMIT,
)  # fmt: skip
"""After these the next read may succeed; it waits for a partition if there is none."""


class Fetcher:
    def __init__(self, state: ReadingProgram, consumer: MessageCalls, traffic: Traffic) -> None:
        self.state = state
        self.consumer = consumer
        self.traffic = traffic

    def fetch(self, now_us: int, out: Outbox) -> None:
        """getMessage, if the program is free and waits for no call."""
        state = self.state
        if (
            READER not in state.consumer.calls
            and not state.reading
            and not state.program.is_paused
            and state.phase == STARTED
        ):
            result = self.consumer.get_message(now_us, out, READER)
            if result is not None:
                self.rest(now_us, out)

    def rest(self, now_us: int, out: Outbox) -> None:
        out.deadline(REST, now_us + FAILED_REST_US)

    def ended(self, call: Call, result: CallResult, now_us: int, out: Outbox) -> None:
        """Its call has a result."""
        state = self.state
        if state.phase != STARTED or not isinstance(result, CodedResult):
            return
        if call.name != GET or result.code in AT_ONCE:
            self.fetch(now_us, out)
        elif result.code != r.SUCCESS:
            self.rest(now_us, out)
        else:
            state.reading, state.context = result.partition, result.context
            self.received(result.messages, now_us, out)
            state.batch.extend(result.messages)
            self.go_on(now_us, out)

    def received(self, messages: list[int], now_us: int, out: Outbox) -> None:
        if self.state.first_record_us is None and messages:
            self.state.first_record_us = now_us
        for number in messages:
            self.traffic.received(out.name, number, now_us)

    def go_on(self, now_us: int, out: Outbox) -> None:
        """The program takes the next message of its batch; with none, the next read."""
        state = self.state
        if not state.batch:
            self.fetch(now_us, out)
        elif state.program.is_free:
            state.program.take(state.batch.popleft(), now_us, out)

    def on_handled(self, now_us: int, out: Outbox) -> None:
        """The batch is confirmed with its last message, unless a person holds it back."""
        state = self.state
        state.program.done(now_us, out, self.traffic)
        if state.batch:
            self.go_on(now_us, out)
            return
        key, context = state.reading, state.context
        state.reading = state.context = ""
        if state.holds in ("", key):
            state.holds, state.unconfirmed[key] = None, context
            self.fetch(now_us, out)
        elif self.consumer.confirm_consume(context, True, now_us, out, READER) is not None:
            self.fetch(now_us, out)

    def pause(self, out: Outbox) -> None:
        """It makes no call any more; one that only waits for a partition is given up."""
        self.consumer.interrupt(READER, out)

    def look_at_batches(self, now_us: int, out: Outbox) -> None:
        """A partition may be gone while its batch is out: somebody else reads that again."""
        state, held = self.state, self.state.consumer.held
        if state.reading and state.reading not in held:
            self.drop_batch(now_us, out)
            self.fetch(now_us, out)
        for key in [key for key in state.unconfirmed if not held.get(key)]:
            del state.unconfirmed[key]

    def drop_batch(self, now_us: int, out: Outbox) -> None:
        """Let go of all that was read and is not handled."""
        state = self.state
        state.reading = state.context = ""
        state.program.drop(now_us, out, self.traffic)
        for number in state.batch:
            self.traffic.dropped(out.name, number, now_us)
        state.batch.clear()
