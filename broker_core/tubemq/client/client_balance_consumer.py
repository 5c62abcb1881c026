"""ClientBalanceConsumer: the 17 calls with which a program balances for itself, under their own names.

A call that needs no answer gives its result at once; the others give None, and their result once a message or a
deadline has brought it (`call_answers.py`; getMessage and confirmConsume:
`message_calls.py`). Each thread of the program makes one call at a time and waits for it.

    not used ─start─► starting ─200─► started ─shutdown─► stopping ─200 ms─► not running ─start─► starting for ever
                         └── refused: not used, yet its topics and source count stay in the object

Source: TubeMQ (InLong a6c7a6a670) SimpleClientBalanceConsumer, RmtDataCache; docs/tubemq/calls.md.
Vectors: tubemq/client_life.json. Left out: pullConfirmInLocal, filters at the client.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from broker_core.sim.node import Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client import call_results as names
from broker_core.tubemq.client.call_answers import (
    READY_STEP_US,
    RELEASE_STEP_US,
    SHUTDOWN_SLEEP_US,
    CallAnswers,
)
from broker_core.tubemq.client.call_results import Call, CallResult, CodedResult, OffsetInfo
from broker_core.tubemq.client.consumer_object import (
    ASSIGNER,
    STARTED,
    STARTING,
    STOPPING,
    ConsumerConfig,
)
from broker_core.tubemq.client.message_calls import MessageCalls
from broker_core.tubemq.client.start_arguments import RUNNING, start_refusal

VERSION = "1.10.0"
KEY_BLANK = "key_blank"
"""Why connect and disconnect refuse a key."""


class ClientBalanceConsumer(CallAnswers):
    """thread, of a call: who makes it."""

    def get_client_version(self) -> str:
        return VERSION

    def get_consumer_id(self) -> str:
        return self.state.client_id

    def get_consumer_config(self) -> ConsumerConfig:
        return self.state.config

    def is_shutdown(self) -> bool:
        return self.state.phase not in (STARTING, STARTED)

    def is_filter_consume(self, topic: str) -> bool:
        return bool(self.state.topics.get(topic))

    def get_source_count(self) -> int:
        return self.state.source_count

    def get_node_id(self) -> int:
        return self.state.node_id

    def start(
        self,
        topics: Mapping[str, Collection[str] | None] | None,
        source_count: int,
        node_id: int,
        now_us: int,
        out: Outbox,
        thread: str = ASSIGNER,
    ) -> CallResult | None:
        """Register at the master. A refusal leaves topics and source count behind in the object, as there."""
        state = self.state
        call = Call(names.START, thread, argument=f"{source_count}, {node_id}")
        refused = start_refusal(topics, source_count, node_id)
        if not refused and not self.is_shutdown():
            refused = RUNNING
        if refused or topics is None:
            return self.done(call, CodedResult(r.BAD_REQUEST, why=refused), now_us)
        if source_count > 0:
            state.source_count, state.node_id = source_count, node_id
        for topic, filters in topics.items():
            state.topics[topic.strip()] = sorted({item.strip() for item in filters or ()})
        state.phase = STARTING
        self.begin(call)
        self.ask_to_start(call, now_us, out)
        return None

    def get_partition_meta_info(self, now_us: int, out: Outbox, thread: str = ASSIGNER) -> CallResult | None:
        """Ask the master what is configured, at most once a period; what may be subscribed no longer is released."""
        state = self.state
        call = Call(names.QUERY, thread)
        if self.is_shutdown():
            return self.done(call, CodedResult(r.CLIENT_SHUTDOWN), now_us)
        if now_us < state.next_query_us:
            return self.done(call, CodedResult(status=state.metadata.status), now_us)
        state.next_query_us = now_us + state.config.query_period_us
        self.begin(call)
        request = r.GetPartMetaRequestC2M(state.client_id, state.group, state.metadata.meta_id)
        self.ask_master(call, request, now_us, out)
        return None

    def is_partitions_ready(
        self, wait_us: int, now_us: int, out: Outbox, thread: str = ASSIGNER
    ) -> CallResult | None:
        """Whether a partition is registered. The wait is the original's: its condition is inverted, so that one look
        later it gives up however long it may wait; a shorter wait than a step never ends without a partition."""
        call = Call(names.READY, thread, argument=str(wait_us // 1_000), bound=wait_us)
        if self.state.held:
            return self.done(call, CodedResult(), now_us)
        self.begin(call)
        self.look_again(call, now_us + READY_STEP_US, out)
        return None

    def get_cur_registered_part_set(self) -> list[str]:
        return [] if self.is_shutdown() else sorted(self.state.held)

    def connect_2_partition(
        self, key: str, bootstrap_offset: int, now_us: int, out: Outbox, thread: str = ASSIGNER
    ) -> CallResult | None:
        """Own a partition: from `bootstrap_offset` in bytes, or, below 0, from where the broker's group is."""
        state = self.state
        code = r.SUCCESS
        if not key.strip():
            code = r.BAD_REQUEST
        elif self.is_shutdown():
            code = r.CLIENT_SHUTDOWN
        elif key in state.held:
            pass  # the offset is not looked at
        elif key not in state.metadata.status:
            code = r.NOT_FOUND
        elif not state.metadata.status[key]:
            code = r.PARTITION_UNSUBSCRIBABLE
        elif now_us < state.guarded.get(key, 0):
            code = r.CLIENT_HIGH_FREQUENCY_REQUEST
        call = Call(names.CONNECT, thread, key, f"{key}, {bootstrap_offset}", bootstrap_offset)
        if code != r.SUCCESS or key in state.held:
            why = KEY_BLANK if code == r.BAD_REQUEST else ""
            return self.done(call, CodedResult(code, why=why), now_us)
        self.begin(call)
        self.try_to_connect(call, now_us, out)
        return None

    def disconnect_from_partition(
        self, key: str, now_us: int, out: Outbox, thread: str = ASSIGNER
    ) -> CallResult | None:
        """Release a partition; waits for a batch that is out, but not for ever. Always succeeds."""
        state = self.state
        call = Call(names.DISCONNECT, thread, key, key, until_us=now_us + state.config.release_wait_us)
        if not key.strip():
            return self.done(call, CodedResult(r.BAD_REQUEST, why=KEY_BLANK), now_us)
        if self.is_shutdown():
            return self.done(call, CodedResult(r.CLIENT_SHUTDOWN), now_us)
        if key not in state.held:
            return self.done(call, CodedResult(), now_us)
        self.begin(call)
        if state.held[key]:
            self.look_again(call, min(now_us + RELEASE_STEP_US, call.until_us), out)
        else:
            self.unregister(key, now_us, out, call)
        return None

    def get_cur_partition_offset_infos(self) -> dict[str, OffsetInfo]:
        """By key; a shutdown leaves what was last heard, a release does not."""
        return {key: OffsetInfo(*offsets) for key, offsets in sorted(self.state.offsets.items())}

    def get_message(self, now_us: int, out: Outbox, thread: str = ASSIGNER) -> CallResult | None:
        """One batch of the next idle partition, for which it waits up to `ready_wait_us`."""
        return MessageCalls.get_message(self, now_us, out, thread)

    def confirm_consume(
        self, context: str, is_consumed: bool, now_us: int, out: Outbox, thread: str = ASSIGNER
    ) -> CallResult | None:
        """A batch was handled, or is to come again. Raises ValueError for a token that is no number, as there."""
        return MessageCalls.confirm_consume(self, context, is_consumed, now_us, out, thread)

    def shutdown(self, now_us: int, out: Outbox, thread: str = ASSIGNER) -> CallResult | None:
        """Release everything and leave the group; nothing happens unless it is started."""
        call = Call(names.SHUTDOWN, thread)
        if self.state.phase != STARTED:
            return self.done(call, CodedResult(), now_us)
        self.state.phase = STOPPING
        self.begin(call)
        self.look_again(call, now_us + SHUTDOWN_SLEEP_US, out)
        return None
