"""Which sentence says what happened: the only place where its code is chosen. Each row is what happened and
what was true then; of the codes under it the first one whose facts all hold is said, the last one needs none.

    happened  ghost: the program has come back in a new life, or has left     last: nobody alive is left     gap: nobody takes its hash ranges
              first: nobody else consumes     back: it was here before        many: several came at once     made_room: one gave it of its own
              stopped: partitions were paused     moved: some changed hands   pause, slow: what was ordered
              paused, normal, fast: what it is now drops: the broker keeps nothing twice     nothing: it had
              no unacknowledged record
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from broker_core.events import Json

Choice = tuple[str, frozenset[str]]


def _choices(*rows: tuple[str, ...]) -> Sequence[Choice]:
    return tuple((code, frozenset(facts)) for code, *facts in rows)


_PACED = (
    ("paced_later", "paused"),
    ("full_speed", "normal"),
    ("fast", "fast"),
    ("slow", "slow"),
    ("resumed_slow",),
)
"""A pause is one of the four models' own sentences, because what waits for the consumer differs. Slow while
paused takes effect later."""

CODES: Mapping[str, Sequence[Choice]] = MappingProxyType(
    {
        "kafka.given_up": _choices(
            ("kafka.ghost_noticed", "ghost"), ("kafka.crash_noticed_last", "last"), ("kafka.crash_noticed",)
        ),
        "kafka.settled": _choices(
            ("kafka.cooperative", "stopped", "cooperative"),
            ("kafka.rebalanced", "stopped"),
            ("kafka.formed", "moved"),
            ("kafka.unmoved",),
        ),
        "pulsar.given_up": _choices(
            ("pulsar.ghost_noticed", "ghost"),
            ("pulsar.crash_noticed_last", "last"),
            ("pulsar.crash_noticed_gap", "gap"),
            ("pulsar.crash_noticed_nothing", "nothing"),
            ("pulsar.crash_noticed",),
        ),
        "pulsar.exclusive.given_up": _choices(
            ("pulsar.exclusive.crash_noticed",),
        ),
        "pulsar.exclusive.left": _choices(("pulsar.standby_left", "standby"), ("pulsar.exclusive.leave",)),
        "pulsar.exclusive.joined": _choices(
            ("pulsar.exclusive.join",),
        ),
        "pulsar.failover.given_up": _choices(
            ("pulsar.failover.crash_noticed_last", "last"), ("pulsar.failover.crash_noticed",)
        ),
        "pulsar.failover.left": _choices(
            ("pulsar.standby_left", "standby"),
            ("pulsar.failover.leave_last", "last"),
            ("pulsar.failover.leave",),
        ),
        "pulsar.failover.joined": _choices(
            ("pulsar.failover.join_many", "many"),
            ("pulsar.failover.join_standby", "standby"),
            ("pulsar.failover.join",),
        ),
        "pulsar.shared.given_up": _choices(
            ("pulsar.crash_noticed_last", "last"), ("pulsar.shared.crash_noticed",)
        ),
        "pulsar.shared.left": _choices(
            ("pulsar.shared.leave_last", "last"),
            ("pulsar.shared.leave_nothing", "nothing"),
            ("pulsar.shared.leave",),
        ),
        "pulsar.shared.joined": _choices(("pulsar.shared.join_many", "many"), ("pulsar.shared.join",)),
        "pulsar.left": _choices(
            ("pulsar.leave_last", "last"),
            ("pulsar.gap", "gap"),
            ("pulsar.leave_nothing", "nothing"),
            ("pulsar.leave",),
        ),
        "pulsar.joined": _choices(
            ("pulsar.join_first_many", "first", "many"),
            ("pulsar.join_first", "first"),
            ("pulsar.rejoin", "back"),
            ("pulsar.sticky_join", "made_room"),
            ("pulsar.join_many", "many"),
            ("pulsar.join",),
        ),
        "pulsar.sent_again": _choices(("pulsar.sent_again_dropped", "drops"), ("pulsar.sent_again",)),
        "rabbitmq.given_up": _choices(
            ("rabbitmq.ghost_noticed", "ghost"),
            ("rabbitmq.crash_noticed_last", "last"),
            ("rabbitmq.crash_noticed",),
        ),
        "rabbitmq.timed_out": _choices(("rabbitmq.timed_out_former", "ghost"), ("rabbitmq.timed_out",)),
        "rabbitmq.left": _choices(("rabbitmq.leave_last", "last"), ("rabbitmq.leave",)),
        "rabbitmq.joined": _choices(
            ("rabbitmq.join_first_many", "first", "many"),
            ("rabbitmq.join_first", "first"),
            ("rabbitmq.join_many", "many"),
            ("rabbitmq.join",),
        ),
        "tubemq.given_up": _choices(("tubemq.ghost_noticed", "ghost"), ("tubemq.crash_noticed",)),
        "tubemq.restart": _choices(
            ("tubemq.empty", "last"),
            ("tubemq.starting", "first"),
            ("tubemq.restarting_same", "same"),
            ("tubemq.restarting",),
        ),
        "tubemq.restarted": _choices(
            ("tubemq.rejoined", "back"),
            ("tubemq.first", "first"),
            ("tubemq.restarted_same", "same"),
            ("tubemq.restarted",),
        ),
        "kafka.paced": _choices(("kafka.paused", "pause", "paused"), *_PACED),
        "pulsar.paced": _choices(("pulsar.paused", "pause", "paused"), *_PACED),
        "rabbitmq.paced": _choices(("rabbitmq.paused", "pause", "paused"), *_PACED),
        "tubemq.paced": _choices(("tubemq.paused", "pause", "paused"), *_PACED),
    }
)


NOW: Mapping[str, Sequence[Choice]] = MappingProxyType(
    {
        "kafka.crash_pending": _choices(
            ("kafka.crash_joining", "undated"), ("kafka.crash_pending_idle", "idle"), ("kafka.crash_pending",)
        ),
        "kafka.frozen": _choices(("kafka.frozen_undated", "undated"), ("kafka.frozen",)),
        "kafka.crash_noticed": _choices(("kafka.crash_noticed_idle", "idle"), ("kafka.crash_noticed",)),
        "kafka.paused": _choices(("kafka.paused_idle", "idle"), ("kafka.paused",)),
        "pulsar.exclusive.paused": _choices(("pulsar.paused_standby", "idle"), ("pulsar.exclusive.paused",)),
        "pulsar.failover.paused": _choices(("pulsar.paused_standby", "idle"), ("pulsar.failover.paused",)),
        "tubemq.crash_pending": _choices(("tubemq.crash_pending_idle", "idle"), ("tubemq.crash_pending",)),
        "tubemq.crash_noticed": _choices(("tubemq.crash_noticed_idle", "idle"), ("tubemq.crash_noticed",)),
        "tubemq.crash_unknown": _choices(("tubemq.crash_unknown_idle", "idle"), ("tubemq.crash_unknown",)),
        "tubemq.paused": _choices(("tubemq.paused_idle", "idle"), ("tubemq.paused",)),
    }
)
"""Sentences whose numbers go on changing, so that they are chosen again for each view. idle: it has no
partition, or nothing to read again;
undated: it is not known yet when it will be found out."""


def code_now(code: str, params: Json) -> str:
    """The code for what a sentence's numbers are at this moment.

    >>> code_now("kafka.paused", {"partitions": 0}), code_now("kafka.paused", {"partitions": 3})
    ('kafka.paused_idle', 'kafka.paused')
    """
    if code not in NOW:
        return code
    true = {"idle"} if params.get("partitions") == 0 or params.get("read_again") == 0 else set()
    if params.get("deadline_us", 0) is None:
        true.add("undated")
    return _first(NOW[code], true)


def code_of(happened: str, **facts: bool) -> str:
    """The code of the sentence.

    >>> code_of("pulsar.joined", first=False, back=True, many=False), code_of("pulsar.joined", many=True, first=True)
    ('pulsar.rejoin', 'pulsar.join_first_many')
    """
    return _first(CODES[happened], {name for name, is_true in facts.items() if is_true})


def _first(choices: Sequence[Choice], true: set[str]) -> str:
    return next(code for code, needed in choices if needed <= true)
