"""The assigner thread of the official example: every 10 s it asks which partitions there are, works out which are
its own, and releases and connects the difference, one call after another.

    query ─► assigned: of all *configured* partitions those of the rule
          ─► disconnect what it holds and is not assigned, or not subscribable now ─► connect what is missing

Source: TubeMQ (InLong a6c7a6a670) ClientBalanceConsumerExample. Vectors: tubemq/set_difference.json. The lane's program
differs in two things: partitions may come from a list (`Share`), and a connect continues where the broker's group is unless a
person gives an offset, where the example gives the offset that it read last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from broker_core.clock import SECOND_US
from broker_core.sim.node import Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import Connect, Disconnect, owned_by, planned_calls
from broker_core.tubemq.client.call_results import CONNECT, QUERY, Call, CallResult, CodedResult
from broker_core.tubemq.client.client_balance_consumer import ClientBalanceConsumer
from broker_core.tubemq.client.consumer_object import ASSIGNER
from broker_core.tubemq.client.program_state import PassResult, ProgramState, Share
from broker_core.tubemq.client.reading_program import STARTED
from broker_core.tubemq.client.reports import tell_map, tell_partitions, tell_refusal, tell_releases
from broker_core.tubemq.metadata import PartitionMetadata

PASS_PERIOD_US = 10 * SECOND_US
PASS = "pass"
"""Its deadline."""


class Assigner:
    def __init__(self, state: ProgramState, consumer: ClientBalanceConsumer) -> None:
        self.state = state
        self.consumer = consumer

    def begin(self, now_us: int, out: Outbox) -> None:
        """A pass is due; one that is held up by refused connects goes on before the next begins."""
        state = self.state
        state.next_pass_us = now_us + PASS_PERIOD_US
        out.deadline(PASS, state.next_pass_us)
        if not state.is_busy:
            self.query(now_us, out)

    def share(self, order: Share, now_us: int, out: Outbox) -> None:
        """It has other partitions from now on, and does not wait for its next pass."""
        state = self.state
        state.share, state.bootstrap = order.partitions, {**state.bootstrap, **order.bootstrap}
        if state.phase == STARTED:
            state.todo.clear()
            if ASSIGNER not in state.consumer.calls:
                self.query(now_us, out)

    def query(self, now_us: int, out: Outbox) -> None:
        result = self.consumer.get_partition_meta_info(now_us, out)
        if isinstance(result, CodedResult):
            self.on_map(result, now_us, out)

    def ended(
        self, call: Call, result: CallResult, before: PartitionMetadata, now_us: int, out: Outbox
    ) -> None:
        """A call that had to wait has its result. before: the map until now."""
        if self.state.phase != STARTED or not isinstance(result, CodedResult):
            return
        if call.name == QUERY:
            if result.is_success:
                self.state.map_us = now_us
                if before.topic_meta and before.topic_meta != self.state.consumer.metadata.topic_meta:
                    tell_map(self.state, out)  # another master gives the same map another number
            self.on_map(result, now_us, out)
            return
        if not self.state.todo:  # the pass was given up, and another one is wanted
            self.query(now_us, out)
            return
        if call.name == CONNECT:
            self.note_tries(call, result, now_us)
        self.made(call.name == CONNECT, result.code, out)
        self.run(now_us, out)

    def note_tries(self, call: Call, result: CodedResult, now_us: int) -> None:
        """Until a broker registers its first partition, tries that failed, and the sleeps after them, are refusals."""
        state = self.state
        if state.first_record_us is None and state.asked_us is not None:
            if not result.is_success and not state.consumer.held:
                state.asked_us = now_us
            elif result.is_success and call.tries > 1 and [*state.consumer.held] == [call.key]:
                state.asked_us = call.asked_us

    def on_map(self, result: CodedResult, now_us: int, out: Outbox) -> None:
        if not result.is_success:
            return
        state = self.state
        releases, registers = difference(state)
        state.last_pass = PassResult(now_us, releases, registers)
        state.mapped_us = state.mapped_us or now_us
        if registers and not state.consumer.held and state.first_record_us is None:
            state.given_us, state.asked_us = state.given_us or now_us, now_us
        tell_releases(state, releases, out)
        guarded = state.consumer.guarded
        state.todo = deque(
            [
                *(Disconnect(key) for key in releases),
                *(
                    Connect(key, state.bootstrap.get(key, -1))
                    for key in registers
                    if guarded.get(key, 0) <= now_us
                ),
            ]
        )
        self.run(now_us, out)

    def run(self, now_us: int, out: Outbox) -> None:
        """Make the pass's calls until one has to wait."""
        state = self.state
        while state.todo:
            call = state.todo[0]
            if isinstance(call, Connect):
                result = self.consumer.connect_2_partition(call.key, call.bootstrap_offset, now_us, out)
            else:
                result = self.consumer.disconnect_from_partition(call.key, now_us, out)
            if result is None:
                return
            self.made(isinstance(call, Connect), result.code, out)
        tell_partitions(state, out)
        if not any(until_us > now_us for until_us in state.consumer.guarded.values()):
            state.refused_code = 0

    def made(self, is_connect: bool, code: int, out: Outbox) -> None:
        """The first call of the pass has this result."""
        state = self.state
        key = state.todo.popleft().key
        if code == r.SUCCESS:
            if is_connect:
                state.bootstrap.pop(key, None)
                state.consumer.guarded.pop(key, None)
            return
        if state.last_pass is not None:
            state.last_pass.refused[key] = code
        if (
            code == r.CLIENT_SHUTDOWN
        ):  # it ends the loop that it came in, and releases and connects are a loop each
            state.todo = deque(call for call in state.todo if isinstance(call, Connect) and not is_connect)
        elif code == r.PARTITION_OCCUPIED:
            tell_refusal(state, code, out)
            tell_partitions(state, out)  # what it has by now; the rest will take a while


def difference(state: ProgramState) -> tuple[list[str], list[str]]:
    """What its next pass would release and register, each by key, with the map that it has."""
    consumer = state.consumer
    if state.share is None:
        calls = planned_calls(
            consumer.metadata.status, consumer.held, source_count=consumer.source_count, node_id=consumer.node_id,
            saved_offsets={},
        )  # fmt: skip
        return (
            [call.key for call in calls if isinstance(call, Disconnect)],
            [call.key for call in calls if isinstance(call, Connect)],
        )
    status = consumer.metadata.status
    if not status:
        return [], []
    wanted = [key for key in sorted(state.share) if status.get(key)]
    kept = set(wanted)
    return (
        [key for key in sorted(consumer.held) if key not in kept],
        [key for key in wanted if key not in consumer.held],
    )


def takes(state: ProgramState, configured: Collection[str]) -> list[str]:
    """What the rule gives it of all configured partitions, subscribable or not, with the map that it has; of
    `configured` while it has none, as one that its master refuses."""
    consumer = state.consumer
    keys = consumer.metadata.status or configured
    if state.share is not None:
        return [key for key in sorted(state.share) if key in keys]
    return owned_by(keys, consumer.source_count, consumer.node_id)
