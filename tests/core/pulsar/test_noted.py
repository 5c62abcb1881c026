"""Acknowledgements that a broker only notes leave it as those do that it receives one by one: same counts,
same messages at the same moments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import MILLISECOND_US as MS
from broker_core.clock import SECOND_US as SECOND
from broker_core.errors import CommandError
from broker_core.plain import to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import (
    Consumer,
    ConsumerOrder,
    ConsumerState,
    HoldAcks,
    ReleaseAcks,
    Seek,
    Subscribe,
)
from broker_core.pulsar.client.producer import Open, Producer, ProducerState
from broker_core.pulsar.dispatchers.shared import SharedDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.noted import Noted, in_order
from broker_core.pulsar.settings import DRAINING, KEY_SHARED, RECENTLY_JOINED, SHARED, BrokerSettings
from broker_core.sim.keeping import keep, restored
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.world import Design, World

NAMES = ("c1", "c2", "c3")
GROUP_US = 100 * MS + 500


class Handled:
    is_watched = False

    def __init__(self) -> None:
        self.log: list[tuple[int, str, int]] = []

    def received(self, program: str, message: int, now_us: int) -> None:
        """It is in the program's queue."""

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.log.append((now_us, program, message))

    def handled_quietly(self, program: str, messages: Any) -> None:
        self.log += [(at_us, program, message) for at_us, message in messages]

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """It comes again."""


class Received(Broker):
    """is_open: False: it has a step for each acknowledgement."""

    def open_doors(self, is_open: bool) -> Received:
        self.is_open = is_open
        return self

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        super().receive(connection, message, now_us, out)
        if not self.is_open:
            out.shut_door()


class Run:
    """One topic and its subscription, a producer, and up to three programs whose work takes different
    times."""

    def __init__(
        self,
        *,
        notes: bool,
        kind: str,
        order: str = RECENTLY_JOINED,
        queue_size: int = 20,
        unacked_max: int = 0,
        unacked_all_max: int = 0,
        has_audit: bool = False,
    ) -> None:
        """has_audit: c2 has a subscription of its own on the topic."""
        self.has_audit = has_audit
        self.handled, self.sent, self.kind, self.queue_size = Handled(), 0, kind, queue_size
        rules = BrokerSettings(
            "auto_split", order=order, unacked_max=unacked_max, unacked_all_max=unacked_all_max
        )
        self.design = Design(
            {
                "broker": (
                    BrokerState,
                    lambda state: Received(state, lambda code: code * 7_919, rules).open_doors(notes),
                ),
                "producer": (ProducerState, Producer),
                "consumer": (ConsumerState, lambda state: Consumer(state, self.handled)),
            },
            c.Command | ConsumerOrder | Open | Order,
            MS,
        )
        self.world = World("noted", self.design, 7)
        self.world.start("b", "broker", BrokerState())
        self.world.start("p", "producer", ProducerState())
        self.world.order("p", Open("b"))
        self.world.advance(5 * MS)
        for name in NAMES[:2]:
            self.do(name, "join")
            self.world.advance(self.world.now_us + 3 * MS)

    def do(self, name: str, what: str) -> None:
        world, place = self.world, NAMES.index(name) if name in NAMES else 0
        known = world.slots.get(name)
        if what in ("send", "flood"):
            slot = world.slots["p"]
            for _ in range(4 if what == "send" else 150):
                slot.send(*slot.node.send(self.sent, self.sent % 11))
                self.sent += 1
        elif what == "join" and known is None:
            work_us = (13 + 10 * place) * MS + 1 + place
            config = ConsumerConfig(
                self.kind,
                queue_size=self.queue_size,
                ack_group_us=GROUP_US + 7 * place,
                subscription=self.subscription_of(name),
            )
            world.start(name, "consumer", ConsumerState(name, Program(work_us), config))
            world.order(name, Subscribe("b", []))
        elif known is None or not known.node.state.connection:
            return
        elif what == "leave":
            world.order(name, Leave())
            world.exit(name)
        elif what in ("hold", "release", "seek"):
            world.order(
                name, {"hold": HoldAcks(), "release": ReleaseAcks(), "seek": Seek(entry=self.sent // 2)}[what]
            )
        elif what == "crash":
            world.crash(name)
        elif what == "gone":
            world.reset(known.node.state.connection)
            world.forget(name)
        elif what == "cut":
            world.cut(known.node.state.connection)
        elif what == "heal":
            world.heal(known.node.state.connection)
        elif what == "slow":
            world.set_delay(known.node.state.connection, 40 * MS)
        elif what == "stop broker":
            world.pause("b")
        elif what == "go on":
            world.resume("b")

    def subscription_of(self, name: str) -> str:
        return "audit" if self.has_audit and name == "c2" else c.SUBSCRIPTION

    def look(self) -> Any:
        state = to_plain(self.world.node("b").state)
        clients = {
            name: (client.program.finished, sorted(client.parts))
            for name in NAMES
            if (client := self.state_of(name)) is not None
        }
        return state, clients, sorted(self.handled.log)

    def state_of(self, name: str) -> ConsumerState | None:
        slot = self.world.slots.get(name)
        return None if slot is None else slot.node.state

    def noted(self) -> int:
        """Acknowledgements at the broker's door."""
        return sum(len(link.times) for link in self.world.slots["b"].doors.values())


ACTS = (
    ["send"] * 6
    + ["flood"] * 4
    + [
        "join",
        "leave",
        "hold",
        "release",
        "seek",
        "crash",
        "gone",
        "cut",
        "heal",
        "slow",
        "stop broker",
        "go on",
    ]
)
STEPS = st.lists(
    st.tuples(st.integers(20, 1_500), st.sampled_from(NAMES), st.sampled_from(ACTS)), max_size=40
)


def looks(steps: list[tuple[int, str, str]], at_ms: list[int], kept: int = -1, **options: Any) -> list[Any]:
    """What somebody sees who looks at these moments, and at the end. kept: after so many looks the world goes
    on as a restored copy."""
    run, seen = Run(**options), list[Any]()
    for at_us, name, what in sorted(
        [(at * MS, name, what) for at, name, what in steps] + [(at * MS + 333, "", "look") for at in at_ms]
    ):
        run.world.advance(at_us)
        if what != "look":
            try:
                run.do(name, what)
            except CommandError:  # it is cut already, or has crashed: nothing has changed
                continue
            continue
        seen.append(run.look())
        run.world.told.clear()
        if len(seen) == kept:
            run.world = restored("noted", run.design, 7, keep(run.world))
    run.world.advance(6 * SECOND)
    return [*seen, run.look()]


@given(
    steps=STEPS,
    at_ms=st.lists(st.integers(20, 2_000), max_size=4),
    queue_size=st.sampled_from((10, 60, 1_000)),
    rule=st.sampled_from([(SHARED, RECENTLY_JOINED), (KEY_SHARED, RECENTLY_JOINED), (KEY_SHARED, DRAINING)]),
    limits=st.sampled_from([(0, 0), (40, 0), (0, 70), (90, 120), (9, 12)]),
    has_audit=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_a_broker_that_notes_acknowledgements_is_as_one_that_receives_each(
    steps, at_ms, queue_size, rule, limits, has_audit
):
    options = {
        "kind": rule[0],
        "order": rule[1],
        "queue_size": queue_size,
        "unacked_max": limits[0],
        "unacked_all_max": limits[1],
        "has_audit": has_audit,
    }
    received = looks(steps, at_ms, notes=False, **options)
    assert looks(steps, at_ms, notes=True, **options) == received
    assert looks(steps, at_ms, kept=1, notes=True, **options) == received
    assert looks(steps, [], notes=True, **options) == received[-1:], "looking leaves no trace"


def busy(**options: Any) -> Run:
    """Both programs have a backlog, and have acknowledged groups of it; those of before the broker's first
    note have arrived."""
    run = Run(notes=True, kind=options.pop("kind", KEY_SHARED), **options)
    for _ in range(5):
        run.do("", "flood")
    run.world.advance(4 * SECOND)
    return run


def test_groups_that_programs_post_wait_at_the_broker_s_door():
    run = busy(queue_size=1_000)
    assert run.noted() > 4 and not any(
        ticket[2] in run.world.slots["b"].doors.values() for ticket in run.world.heap
    )


def test_whoever_looks_finds_what_has_arrived_written_down():
    run = busy(queue_size=1_000)
    cursor = run.world.node("b").find().cursor
    before = cursor.mark_delete + len(cursor.ahead)
    run.world.advance(run.world.now_us + 300 * MS)
    run.do("", "send")  # no step of the broker is due before the look
    assert cursor.mark_delete + len(cursor.ahead) > before


@pytest.mark.parametrize("options", [{"order": DRAINING}, {"unacked_max": 3}, {"unacked_all_max": 5}])
def test_where_somebody_waits_for_an_acknowledgement_each_is_a_step(options):
    assert busy(queue_size=1_000, **options).noted() == 0


def test_a_newcomer_that_waits_for_what_came_before_it_shuts_the_door():
    run = busy(queue_size=1_000)
    run.do("c3", "join")
    run.world.advance(run.world.now_us + 10 * MS)
    dispatcher = run.world.node("b").find().dispatcher
    assert dispatcher.recently_joined and run.noted() == 0
    run.world.advance(30 * SECOND)
    assert not dispatcher.recently_joined, "they were received, and let it go"


@pytest.mark.parametrize(
    "limits", [{"unacked_max": 60}, {"unacked_max": 100}, {"unacked_all_max": 90}, {"unacked_all_max": 150}]
)
def test_a_limit_is_reached_by_what_is_unacked_then_and_not_by_what_is_not_noted_yet(limits):
    ends = []
    for notes in (True, False):
        run = Run(notes=notes, kind=SHARED, queue_size=1_000, **limits)
        for step in range(300):
            for _ in range(8 if step == 0 else 1):
                run.do("", "send")
            run.world.advance(run.world.now_us + 36 * MS)
            run.world.told.clear()
        ends.append(run.look())
    assert ends[0] == ends[1]


def test_each_subscription_has_the_time_of_its_own_last_acknowledgement():
    ends = []
    for notes in (True, False):
        run = Run(notes=notes, kind=SHARED, queue_size=1_000, has_audit=True)
        for _ in range(3):
            run.do("", "flood")
        run.world.advance(4 * SECOND)
        run.world.told.clear()
        ends.append(
            {
                name: known.attached.now_us
                for name, known in run.world.node("b").topic(c.TOPIC, -1).subscriptions.items()
            }
        )
    assert ends[0] == ends[1] and len(set(ends[0].values())) == 2


# -- parts


def noted(connection: int, *groups: tuple[int, int, list[int]]) -> Noted:
    """groups: (when, consumer's id, entries)."""
    return Noted(
        connection,
        [at_us for at_us, _, _ in groups],
        [c.CommandAck(number, entries) for _, number, entries in groups],
    )


def test_what_arrived_is_of_one_consumer_or_of_several():
    one = noted(3, (10, 1, [5]), (20, 1, [7, 6]))
    assert one.entries == [5, 7, 6] and one.of_consumers() == {1: one}
    several = noted(3, (10, 1, [5]), (20, 2, [6]), (30, 1, [8]))
    assert several.of_consumers() == {1: noted(3, (10, 1, [5]), (30, 1, [8])), 2: noted(3, (20, 2, [6]))}


def test_in_order_is_as_they_arrived_and_of_one_moment_by_connection():
    parts = [
        ("b", noted(4, (10, 1, [1]), (20, 1, [2]), (20, 1, [3]))),
        ("a", noted(3, (5, 1, [4]), (20, 1, [5]))),
    ]
    assert in_order(parts) == [("a", [4]), ("b", [1]), ("a", [5]), ("b", [2]), ("b", [3])]


@pytest.mark.parametrize(
    ("acked", "is_noted"),
    [
        ([("c1", [0]), ("c2", [1])], True),
        ([("c1", [0, 0])], False),
        ([("c1", [1])], False),
        ([("c1", [0]), ("c3", [1])], False),
        ([("c1", [0, 9])], False),
        ([("c2", [1, 3])], False),
        ([("c1", [2])], True),
    ],
)
def test_only_what_is_pending_at_who_acknowledges_it_as_a_single_message_is_noted_together(acked, is_noted):
    dispatcher = SharedDispatcher()
    for name in ("c1", "c2"):
        dispatcher.connect(name, name, 10)
    for position, batch in enumerate([(), (), (), ()]):
        dispatcher.entries[position] = Entry(position, position, batch=batch)
        dispatcher.arrived(position, dispatcher.entries[position])
    pending = dispatcher.pending()
    assert pending == {"c1": [0, 2], "c2": [1, 3]}
    before = dispatcher.to_json(), dispatcher.cursor.to_json()
    dispatcher.consumers["c2"].unacked += [3] in [
        entries[1:] for _, entries in acked
    ]  # as if one of its entries were a batch
    dispatcher.unacked = sum(known.unacked for known in dispatcher.consumers.values())
    assert dispatcher.note_acks(acked) is is_noted
    if is_noted:
        assert dispatcher.unacked == 4 - sum(len(entries) for _, entries in acked)
        assert all(
            dispatcher.cursor.is_acked(entry) and entry not in dispatcher.pending()[name]
            for name, entries in acked
            for entry in entries
        )
    else:
        dispatcher.consumers["c2"].unacked, dispatcher.unacked = 2, 4
        assert (dispatcher.to_json(), dispatcher.cursor.to_json()) == before
