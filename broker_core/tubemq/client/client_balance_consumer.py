"""ClientBalanceConsumer: the 17 calls with which a program balances for itself, under their own names.

A call that needs no answer gives its result at once; the others give None, and their result once a message or a
deadline has brought it (`result`). One call is under way at a time, as with the one assigner thread of the example.

    not used ─start─► starting ─200─► started ─shutdown─► stopping ─200 ms─► not running ─start─► starting for ever
                         └── refused: not used, yet its topics and source count stay in the object

Source: TubeMQ (InLong a6c7a6a670) SimpleClientBalanceConsumer, RmtDataCache; docs/tubemq/calls.md.
Vectors: tubemq/client_life.json. Left out: several threads, heartbeats, the next master, pullConfirmInLocal, filters at the client.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.sim.node import Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.client import confirm_context
from broker_core.tubemq.client.call_results import (
    Call,
    CallResult,
    CodedResult,
    OffsetInfo,
    RejectedExecutionError,
)
from broker_core.tubemq.client.consumer_object import (
    NOT_RUNNING,
    REST_AFTER_US,
    STARTED,
    STARTING,
    STOPPING,
    ConsumerConfig,
    ConsumerObject,
    HeldPartition,
)
from broker_core.tubemq.client.start_arguments import start_refusal
from broker_core.tubemq.partition_key import broker_of

VERSION = "1.10.0"
READY_STEP_US = 250 * MILLISECOND_US
SHUTDOWN_SLEEP_US = 200 * MILLISECOND_US
CONNECT_TRIES, CONNECT_RETRY_US = 2, SECOND_US
CONNECT_GUARD_US = 5 * SECOND_US
DROPPED_BY = (r.HB_NO_NODE, r.DUPLICATE_PARTITION, r.CERTIFICATE_FAILURE)


class ClientBalanceConsumer:
    """state: whole. result: of the last call, None while it is under way."""

    def __init__(self, state: ConsumerObject) -> None:
        self.state = state
        self.result: CallResult | None = None

    # -- the 17 calls ----------------------------------------------------------------------------------------

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
    ) -> CallResult | None:
        """Register at the master. A refusal leaves topics and source count behind in the object, as there."""
        state = self.state
        refused = start_refusal(topics, source_count, node_id)
        if refused or not self.is_shutdown() or topics is None:
            return self.end(CodedResult(r.BAD_REQUEST))
        if source_count > 0:
            state.source_count, state.node_id = source_count, node_id
        for topic, filters in topics.items():
            state.topics[topic.strip()] = sorted({item.strip() for item in filters or ()})
        state.phase = STARTING
        conditions = [f"{topic}#{','.join(items)}" for topic, items in state.topics.items() if items]
        return self.ask(
            Call("start"),
            state.master,
            r.RegisterRequestC2MV2(
                state.client_id, state.group, state.source_count, state.node_id, [*state.topics], conditions
            ),
            out,
        )

    def get_partition_meta_info(self, now_us: int, out: Outbox) -> CallResult | None:
        """Ask the master what is configured, at most once a period; what may be subscribed no longer is released."""
        state = self.state
        if self.is_shutdown():
            return self.end(CodedResult(r.CLIENT_SHUTDOWN))
        if now_us < state.next_query_us:
            return self.end(CodedResult(status=state.metadata.status))
        state.next_query_us = now_us + state.config.query_period_us
        request = r.GetPartMetaRequestC2M(state.client_id, state.group, state.metadata.meta_id)
        return self.ask(Call("meta"), state.master, request, out)

    def is_partitions_ready(self, wait_us: int, now_us: int, out: Outbox) -> CallResult | None:
        """Whether a partition is registered. The wait is the original's: its condition is inverted, so that one look
        later it gives up however long it may wait; a shorter wait than a step never ends without a partition."""
        if self.state.held:
            return self.end(CodedResult())
        self.begin(Call("ready", bound=wait_us))
        out.deadline("call", now_us + READY_STEP_US)
        return None

    def get_cur_registered_part_set(self) -> list[str]:
        return [] if self.is_shutdown() else sorted(self.state.held)

    def connect_2_partition(
        self, key: str, bootstrap_offset: int, now_us: int, out: Outbox
    ) -> CallResult | None:
        """Own a partition: from `bootstrap_offset` in bytes, or, below 0, from where the broker's group is."""
        state = self.state
        code = r.SUCCESS
        if not key.strip():
            code = r.BAD_REQUEST
        elif self.is_shutdown():
            code = r.CLIENT_SHUTDOWN
        elif key in state.held:
            return self.end(CodedResult())  # the offset is not looked at
        elif key not in state.metadata.status:
            code = r.NOT_FOUND
        elif not state.metadata.status[key]:
            code = r.PARTITION_UNSUBSCRIBABLE
        elif now_us < state.guarded.get(key, 0):
            code = r.CLIENT_HIGH_FREQUENCY_REQUEST
        if code != r.SUCCESS:
            return self.end(CodedResult(code))
        call = Call("connect", key, bootstrap_offset)
        self.begin(call)
        self.try_to_connect(call, out)
        return None

    def disconnect_from_partition(self, key: str, now_us: int, out: Outbox) -> CallResult | None:
        """Release a partition; waits for a batch that is out, but not for ever. Always succeeds."""
        state = self.state
        if not key.strip():
            return self.end(CodedResult(r.BAD_REQUEST))
        if self.is_shutdown():
            return self.end(CodedResult(r.CLIENT_SHUTDOWN))
        if key not in state.held:
            return self.end(CodedResult())
        self.begin(Call("disconnect", key))
        if state.held[key].token:
            out.deadline("call", now_us + state.config.release_wait_us)
        else:
            self.unregister(key, out)
        return None

    def get_cur_partition_offset_infos(self) -> dict[str, OffsetInfo]:
        """By key; a shutdown leaves what was last heard, a release does not."""
        return {key: OffsetInfo(*offsets) for key, offsets in sorted(self.state.offsets.items())}

    def get_message(self, now_us: int, out: Outbox) -> CallResult | None:
        """One batch of the next idle partition."""
        state = self.state
        if self.is_shutdown():
            return self.end(CodedResult(r.CLIENT_SHUTDOWN))
        for key in [key for key, held in state.held.items() if 0 < held.rests_until_us <= now_us]:
            state.held[key].rests_until_us = 0
            state.idle.append(key)
        if not state.idle:
            busy = any(held.token for held in state.held.values())
            code = r.ALL_IN_USE if busy else r.ALL_WAITING
            return self.end(CodedResult(code if state.held else r.NONE_REGISTERED))
        key = state.idle.popleft()
        state.tokens += 1
        state.held[key].token = state.tokens
        request = r.GetMessageRequestC2B(state.client_id, state.group, key)
        return self.ask(Call("get", key), state.brokers[broker_of(key)], request, out)

    def confirm_consume(self, context: str, is_consumed: bool, now_us: int, out: Outbox) -> CallResult | None:
        """A batch was handled, or is to come again. Raises ValueError for a token that is no number, as there."""
        state = self.state
        parsed = confirm_context.parse(context)
        if parsed is None:
            return self.end(CodedResult(r.BAD_REQUEST))
        if self.is_shutdown():
            return self.end(CodedResult(r.CLIENT_SHUTDOWN))
        key, token = parsed
        if key not in state.held or state.held[key].token != token:
            return self.end(CodedResult(r.BAD_REQUEST))
        request = r.CommitOffsetRequestC2B(state.client_id, state.group, key, is_consumed)
        return self.ask(Call("confirm", key), state.brokers[broker_of(key)], request, out)

    def shutdown(self, now_us: int, out: Outbox) -> CallResult | None:
        """Release everything and leave the group; nothing happens unless it is started."""
        if self.state.phase != STARTED:
            return self.end(CodedResult())
        self.state.phase = STOPPING
        self.begin(Call("shutdown"))
        out.deadline("call", now_us + SHUTDOWN_SLEEP_US)
        return None

    # -- a call's way ----------------------------------------------------------------------------------------

    def begin(self, call: Call) -> None:
        self.state.call, self.result = call, None

    def end(self, result: CallResult) -> CallResult:
        self.state.call, self.result = None, result
        return result

    def ask(self, call: Call, connection: int, request: r.Request, out: Outbox) -> CallResult | None:
        self.begin(call)
        out.send(connection, request)
        return self.result

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        """An answer, or the word that the connection broke and there will be none."""
        call = self.state.call
        if call is None:
            return
        match call.name:
            case "start":
                self.on_started(message)
            case "meta":
                self.on_metadata(message, out)
            case "connect":
                self.on_connected(call, message, now_us, out)
            case "get":
                self.on_message(call, message, now_us)
            case "confirm":
                self.on_confirmed(call, message)
            case "disconnect":
                self.end(CodedResult())  # whatever the broker says, or if it says nothing

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        call = self.state.call
        if call is None:
            return
        match call.name:
            case "connect":
                if call.tries < CONNECT_TRIES:
                    self.try_to_connect(call, out)
                else:
                    self.end(CodedResult(call.code))
            case "disconnect":
                self.unregister(call.key, out)
            case "shutdown":
                self.stop(out)
            case "ready" if call.bound < READY_STEP_US and not self.state.held:
                out.deadline("call", now_us + READY_STEP_US)
            case "ready":
                self.end(CodedResult(r.SUCCESS if self.state.held else r.NONE_REGISTERED))

    def on_started(self, answer: Any) -> None:
        state = self.state
        code = answer.code if isinstance(answer, r.RegisterResponseM2C) else r.UNSPECIFIED
        if code != r.SUCCESS:
            state.phase = NOT_RUNNING
            self.end(CodedResult(code))
        elif state.is_used:  # its threads cannot be started twice: it stays in this phase for ever
            self.end(RejectedExecutionError())
        else:
            state.phase, state.is_used = STARTED, True
            self.end(CodedResult())

    def on_metadata(self, answer: Any, out: Outbox) -> None:
        state = self.state
        if not isinstance(answer, r.GetPartMetaResponseM2C):
            self.end(CodedResult(r.INTERNAL_ERROR))
            return
        if answer.code != r.SUCCESS:
            self.end(CodedResult(answer.code))
            return
        state.metadata = state.metadata.updated(answer.topic_meta_id, answer.topic_meta, answer.broker_ids)
        self.end(CodedResult(status=state.metadata.status))
        for key in sorted(key for key in state.held if not state.metadata.status.get(key)):
            self.unregister(key, out)

    def try_to_connect(self, call: Call, out: Outbox) -> None:
        state = self.state
        call.tries += 1
        # Only the first request of a partition says where to begin, even when it fails on the way.
        read_status = r.FROM_FIRST if call.key in state.asked else state.config.position + 1
        state.asked = sorted({*state.asked, call.key})
        out.send(
            state.brokers[broker_of(call.key)],
            r.RegisterRequestC2B(
                r.REGISTER, state.client_id, state.group, call.key, max(call.bound, -1), False, read_status
            ),
        )

    def on_connected(self, call: Call, answer: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        is_answer = isinstance(answer, r.RegisterResponseB2C)
        call.code = answer.code if is_answer else r.UNSPECIFIED
        if call.code == r.SUCCESS:
            state.held[call.key] = HeldPartition()
            state.offsets[call.key] = (answer.curr_offset, answer.max_offset)
            state.idle.append(call.key)
            self.end(CodedResult())
            return
        if call.code in (r.PARTITION_OCCUPIED, r.CERTIFICATE_FAILURE):
            state.guarded[call.key] = now_us + CONNECT_GUARD_US
        out.deadline("call", now_us + CONNECT_RETRY_US)

    def on_message(self, call: Call, answer: Any, now_us: int) -> None:
        state, held = self.state, self.state.held[call.key]
        code = answer.code if isinstance(answer, r.GetMessageResponseB2C) else r.BAD_REQUEST
        if code == r.SUCCESS:
            state.offsets[call.key] = (answer.curr_offset, answer.max_offset)
            context = confirm_context.make(call.key, held.token)
            self.end(
                CodedResult(code, call.key, answer.curr_offset, answer.max_offset, answer.messages, context)
            )
            return
        held.token = 0
        if code in DROPPED_BY:
            del state.held[call.key], state.offsets[call.key]
        elif code in REST_AFTER_US:
            held.rests_until_us = now_us + REST_AFTER_US[code]
        else:
            state.idle.append(call.key)
        self.end(CodedResult(code))

    def on_confirmed(self, call: Call, answer: Any) -> None:
        """In every case the partition is idle again."""
        state, held = self.state, self.state.held[call.key]
        held.token = 0
        state.idle.append(call.key)
        code = answer.code if isinstance(answer, r.CommitOffsetResponseB2C) else r.BAD_REQUEST
        if code != r.SUCCESS:
            self.end(CodedResult(code))
            return
        state.offsets[call.key] = (answer.curr_offset, answer.max_offset)
        self.end(CodedResult(code, call.key, answer.curr_offset, answer.max_offset))

    def unregister(self, key: str, out: Outbox) -> None:
        """A batch that is out is read again by the next owner."""
        state = self.state
        del state.held[key]
        state.offsets.pop(key, None)
        state.idle = type(state.idle)(other for other in state.idle if other != key)
        out.send(
            state.brokers[broker_of(key)],
            r.RegisterRequestC2B(r.UNREGISTER, state.client_id, state.group, key),
        )

    def stop(self, out: Outbox) -> None:
        state = self.state
        offsets = dict(state.offsets)
        for key in sorted(state.held):
            self.unregister(key, out)
        state.offsets = offsets
        out.send(state.master, r.CloseRequestC2M(state.client_id, state.group))
        state.phase = NOT_RUNNING
        self.end(CodedResult())
