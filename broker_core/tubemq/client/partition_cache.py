"""A consumer's partitions between two reads, whoever gave them to it: which of them is read next, and which rest.

    registered ─► idle, first in first out ─getMessage─► out: token ─confirmConsume─► idle, or rests if read too fast
                    ▲                                     │ 404 rests 400 ms, 403 2 s, 301 200 ms, others 300 ms, 452 as told
                    └─────────────────────────────────────┘ 411, 412, 415: dropped        no answer: idle at once

The broker's flow rules answer 452 and how long to rest; those that the master hands out the client keeps itself, at the
end of a batch or of a read that found nothing (`flow_control.py`).
Source: TubeMQ (InLong a6c7a6a670) RmtDataCache, PartitionExt. What differs by class: a pulling consumer's batch that was not
confirmed for 60 s may be read again, and confirming it then is refused (`resume_overdue`); a ClientBalanceConsumer's
blocks its partition until it is confirmed or released.
"""

from __future__ import annotations

from collections import deque

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.consumer_object import BaseConsumer
from broker_core.tubemq.flow_control import NO_LIMIT, FlowRules, Pace, parse_rules
from broker_core.tubemq.partition_key import broker_of

REST_AFTER_US = {
    r.NOT_FOUND: 400 * MILLISECOND_US,
    r.FORBIDDEN: 2 * SECOND_US,
    r.MOVED: 200 * MILLISECOND_US,
}
OTHER_REST_US = 300 * MILLISECOND_US
"""How long a partition rests after a read that brought this code."""
DROPPED_BY = (r.HB_NO_NODE, r.DUPLICATE_PARTITION, r.CERTIFICATE_FAILURE)
REST_LEAST_US = 10 * MILLISECOND_US
"""A shorter rest after a batch is none."""
PROTECT_US = 60 * SECOND_US
"""pullProtectConfirmTimeoutMs."""


def add(state: BaseConsumer, answer: r.RegisterResponseB2C, now_us: int) -> None:
    """A partition is registered."""
    key = answer.partition
    if key not in state.held:
        state.held[key] = 0
        state.idle.append(key)
    state.offsets[key] = (answer.curr_offset, answer.max_offset, now_us)


def drop(state: BaseConsumer, key: str) -> None:
    """Forget a partition here; of a batch that is out, what is not confirmed is read again by the next owner."""
    if state.held.pop(key, None) is None:
        return
    for known in (state.offsets, state.resting, state.used_us, state.paces):
        known.pop(key, None)
    if key in state.idle:
        state.idle = deque(other for other in state.idle if other != key)


def drop_all(state: BaseConsumer, broker_id: int) -> None:
    for key in [key for key in state.held if broker_of(key) == broker_id]:
        drop(state, key)


def wake_rested(state: BaseConsumer, now_us: int) -> None:
    """Those whose rest is over are in turn again."""
    if state.resting:
        for key in [key for key, until_us in state.resting.items() if until_us <= now_us]:
            del state.resting[key]
            state.idle.append(key)


def why_none_idle(state: BaseConsumer) -> int:
    if not state.held:
        return r.NONE_REGISTERED
    return r.ALL_IN_USE if any(state.held.values()) else r.ALL_WAITING


def take(state: BaseConsumer, key: str, now_us: int) -> None:
    """A batch of it is asked for."""
    state.tokens += 1
    state.held[key], state.used_us[key] = state.tokens, now_us


def rest(state: BaseConsumer, key: str, rest_us: int, now_us: int) -> None:
    """No batch of it is out any more: it is idle, or rests."""
    state.held[key] = 0
    state.used_us.pop(key, None)
    if rest_us > 0:
        state.resting[key] = now_us + rest_us
    else:
        state.idle.append(key)


def failed(state: BaseConsumer, answer: r.GetMessageResponseB2C, now_us: int) -> None:
    """A read brought no batch."""
    key = answer.partition
    if answer.code in DROPPED_BY:
        drop(state, key)
    elif answer.code == r.SERVER_CONSUME_SPEED_LIMIT:
        rest(state, key, answer.min_limit_us, now_us)
    elif answer.code == r.NOT_FOUND:
        rest(state, key, rest_after_empty_us(state, key), now_us)
    else:
        rest(state, key, REST_AFTER_US.get(answer.code, OTHER_REST_US), now_us)


def resume_overdue(state: BaseConsumer, now_us: int) -> None:
    """Batches that are out for too long: their partitions may be read again."""
    for key, since_us in [*state.used_us.items()]:
        if now_us - since_us >= PROTECT_US:
            rest(state, key, 0, now_us)


# -- flow rules ----------------------------------------------------------------------------------------------


def take_rules(state: BaseConsumer, answer: r.RegisterResponseM2C | r.HeartResponseM2C) -> None:
    """The master hands out rules that are new."""
    if answer.flow_rules:
        state.flow_id, state.flow_rules = answer.flow_id, answer.flow_rules[:]
        state.paces.clear()


def rules_of(state: BaseConsumer) -> tuple[FlowRules, FlowRules]:
    """The default ones, and the group's."""
    default, own = state.flow_rules
    return parse_rules(default), parse_rules(own)


def escapes_brokers_rules(state: BaseConsumer, now_us: int) -> bool:
    """Whether the group has rules of its own that hold now."""
    return bool(state.flow_rules[1]) and rules_of(state)[1].data_limit(NO_LIMIT, now_us) is not None


def rest_after_empty_us(state: BaseConsumer, key: str) -> int:
    """How long a partition rests that had nothing: the group's rules go before the default ones."""
    rest_us = REST_AFTER_US[r.NOT_FOUND]
    if not any(state.flow_rules):
        return rest_us
    pace = state.paces.setdefault(key, Pace())
    pace.empty_reads += 1
    default, own = rules_of(state)
    return (own if own.empty_reads else default).rest_after_empty(pace.empty_reads, rest_us)


def note_batch(state: BaseConsumer, answer: r.GetMessageResponseB2C, now_us: int) -> None:
    """A read brought a batch: under rules it counts, and its time counts from here."""
    if not any(state.flow_rules):
        return
    state.used_us[answer.partition] = now_us
    pace = state.paces.setdefault(answer.partition, Pace())
    pace.empty_reads = 0
    pace.read(answer.size)
    default, own = rules_of(state)
    pace.look(own.data_limit(answer.lag, now_us) or default.data_limit(answer.lag, now_us), now_us)


def end_batch(state: BaseConsumer, key: str, now_us: int) -> None:
    """A batch is over: its partition goes to the end of the turn, or rests when it was read too fast."""
    pace, rest_us = state.paces.get(key), 0
    if pace is not None and pace.is_over:
        rest_us = pace.rest_us - (now_us - state.used_us.get(key, now_us))
    rest(state, key, rest_us if rest_us > REST_LEAST_US else 0, now_us)
