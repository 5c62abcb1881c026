"""A node that plans is the same as one that goes step by step, whatever happens meanwhile, and whoever
looks."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.events import Cause
from broker_core.sim.keeping import keep, restored
from broker_core.sim.node import Closed, Opened, Outbox
from broker_core.sim.world import Design, World

END_US = 90_000
SERVICE_US = 2_300


class Task(msgspec.Struct, frozen=True, tag="task", array_like=True):
    number: int


class Done(msgspec.Struct, frozen=True, tag="done", array_like=True):
    number: int


class Beat(msgspec.Struct, frozen=True, tag="beat", array_like=True):
    """What the worker sends beside its answers."""

    at_us: int


class Say(msgspec.Struct, frozen=True, tag="say", array_like=True):
    """A person lets the boss give a task, or (number -1) the worker say that it is there."""

    number: int


class Begin(msgspec.Struct, frozen=True, tag="begin", array_like=True):
    """A person connects the boss to the worker."""


@dataclass(slots=True)
class State:
    """room: how many tasks the worker plans, 0: it goes step by step. waiting: tasks that have arrived; hand:
    the one it works on. ahead: planned, (arrives, done, number). heard: (when, what, number) of what has
    reached the boss. finished: tasks done."""

    room: int = 0
    connection: int = 0
    waiting: deque[int] = field(default_factory=deque)
    hand: int = -1
    done_us: int = 0
    ahead: list[tuple[int, int, int]] = field(default_factory=list)
    heard: list[tuple[int, str, int]] = field(default_factory=list)
    finished: list[tuple[int, int]] = field(default_factory=list)


class Boss:
    def __init__(self, state: State) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case Begin():
                self.state.connection = out.connect("worker")
            case Say(number) if self.state.connection:
                out.feed(self.state.connection, Task(number))
            case Done(number):
                self.state.heard.append((now_us, "done", number))
            case Beat(at_us):
                self.state.heard.append((now_us, "beat", at_us))
            case Closed():
                self.state.connection = 0

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        raise AssertionError("nobody set a deadline")


class Worker:
    def __init__(self, state: State) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        state = self.state
        if type(message) is Task and state.room and (state.ahead or state.hand < 0):
            self.settle(now_us, out)
            self.expect(message, now_us, None, out)
            out.open_door(connection, max(state.room - len(state.ahead), 0))
            return
        self.recall(now_us, out)
        match message:
            case Opened():
                state.connection = connection
            case Closed():
                state.connection, state.hand = 0, -1
                state.waiting.clear()
                out.cancel("done")
            case Task(number):
                state.waiting.append(number)
            case Say() if state.connection:
                out.send(state.connection, Beat(now_us))
        self.take(now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        state.finished.append((now_us, state.hand))
        out.send(state.connection, Done(state.hand))
        state.hand = -1
        self.take(now_us, out)

    def take(self, now_us: int, out: Outbox) -> None:
        state = self.state
        if state.hand < 0 and state.waiting:
            state.hand = state.waiting.popleft()
            state.done_us = now_us + SERVICE_US
            out.deadline("done", state.done_us)

    def expect(self, message: Task, at_us: int, because: Cause | None, out: Outbox) -> None:
        ahead = self.state.ahead
        done_us = max(at_us, ahead[-1][1] if ahead else 0) + SERVICE_US
        ahead.append((at_us, done_us, message.number))
        out.post(self.state.connection, Done(message.number), done_us, Cause())

    def settle(self, now_us: int, out: Outbox) -> None:
        state, ahead = self.state, self.state.ahead
        if ahead:
            while ahead and ahead[0][1] <= now_us:
                state.finished.append(ahead.pop(0)[1:])
            is_busy = bool(ahead) and ahead[0][0] <= now_us
            state.hand, state.done_us = (ahead[0][2], ahead[0][1]) if is_busy else (-1, state.done_us)

    def recall(self, now_us: int, out: Outbox) -> None:
        state = self.state
        self.settle(now_us, out)
        if state.ahead:
            out.withdraw(state.connection, len(state.ahead))
            state.waiting.extendleft(
                reversed([number for at_us, _, number in state.ahead if at_us <= now_us][1:])
            )
            out.put_back([(at_us, Task(number), None) for at_us, _, number in state.ahead if at_us > now_us])
            if state.hand >= 0:
                out.deadline("done", state.done_us)
            state.ahead.clear()
        out.shut_door()

    def thaw(self, now_us: int, out: Outbox) -> None:
        """Its deadlines come due on their own."""


DESIGN = Design(
    {"boss": (State, Boss), "worker": (State, Worker)},
    Task | Done | Beat | Say | Begin,
    delay_us=3_000,
    jitter_us=300,
)
FAULTS = ("cut tasks", "cut answers", "cut", "fill", "slow", "pause", "beat")
MENDS = ("heal", "empty", "resume")
STEPS = st.builds(
    lambda tasks, faults, end: [*((at_us, "task") for at_us in tasks), *faults, *end],
    st.lists(st.integers(0, 30_000), min_size=3, max_size=20),
    st.lists(st.tuples(st.integers(0, 30_000), st.sampled_from((*FAULTS, *MENDS, *MENDS))), max_size=8),
    st.lists(st.tuples(st.integers(5_000, 35_000), st.sampled_from(("reset", "crash"))), max_size=1),
)  # fmt: skip


def do(world: World, what: str, number: int) -> None:
    connection = world.node("boss").state.connection
    match what:
        case "task":
            world.order("boss", Say(number))
        case "beat":
            world.order("worker", Say(-1))
        case "cut tasks" | "cut answers":
            world.cut(connection, "boss" if what == "cut tasks" else "worker")
        case "cut":
            world.cut(connection)
        case "heal":
            world.heal(connection)
        case "fill" | "empty":
            world.fill(connection, "boss", what == "fill")
        case "slow":
            world.set_delay(connection, 1_000 + number * 700 % 9_000)
        case "pause" | "resume" | "crash":
            getattr(world, what)("worker")
        case "reset":
            world.reset(connection)


def seen(room: int, steps: list[tuple[int, str]], looks: list[int], kept_at: int = -1) -> list[object]:
    """What the worker works on at each look, and what has been done and heard in the end."""
    world = World("toy", DESIGN, 7)
    world.start("worker", "worker", State(room))
    world.start("boss", "boss", State())
    world.order("boss", Begin())
    views: list[object] = []
    numbered = [(at_us, number, what) for number, (at_us, what) in enumerate(sorted(steps))]
    for at_us, number, what in sorted([*numbered, *((at_us, -1, "look") for at_us in looks)]):
        world.advance(at_us)
        if at_us == kept_at:
            world = restored("toy", DESIGN, 7, keep(world))
        if what == "look":
            worker = world.node("worker").state
            views.append((worker.hand, sorted(worker.finished)))
        try:
            do(world, what, number)
        except CommandError:  # it is cut already, or not paused: nothing has changed
            continue
    world.advance(END_US)
    return [*views, world.node("worker").state.finished, world.node("boss").state.heard]


@given(steps=STEPS, room=st.integers(1, 5), looks=st.lists(st.integers(0, END_US), max_size=4))
@example(
    steps=[(0, "task"), (100, "task"), (200, "task"), (4_000, "slow"), (9_000, "beat"), (9_100, "task")],
    room=3,
    looks=[4_000],
)
@settings(max_examples=300, deadline=None)
def test_a_plan_changes_neither_what_is_answered_nor_when(steps, room, looks):
    plain = seen(0, steps, looks)
    assert seen(room, steps, looks) == plain
    assert seen(room, steps, [])[-2:] == plain[-2:], "looking leaves no trace"
    if looks:
        assert seen(room, steps, looks, kept_at=looks[0]) == plain


def planning(steps: list[tuple[int, str]], until_us: int) -> World:
    world = World("toy", DESIGN, 7)
    world.start("worker", "worker", State(room=5))
    world.start("boss", "boss", State())
    world.order("boss", Begin())
    for number, (at_us, what) in enumerate(steps):
        world.advance(at_us)
        do(world, what, number)
    world.advance(until_us)
    return world


def test_a_task_is_answered_before_it_has_arrived():
    world = planning([(0, "task"), (5_000, "task"), (5_100, "task")], 5_100)
    worker = world.node("worker").state
    assert [number for _, _, number in worker.ahead] == [0, 1, 2] and not worker.finished
    back = world.slots["worker"].links[worker.connection]
    assert [message for message, _ in back.queue] == [Done(0), Done(1), Done(2)], "three answers are posted"
    tickets = sorted(ticket[0] for ticket in world.heap if ticket[2] is back)
    assert [
        at_us - done_us >= 3_000 for at_us, (_, done_us, _) in zip(tickets, worker.ahead, strict=True)
    ] == [True] * 3


def test_what_has_not_left_is_withdrawn_and_what_has_not_arrived_is_on_its_way_again():
    world = planning([(0, "task"), (5_000, "task"), (5_100, "task")], 5_200)
    worker = world.node("worker").state
    world.order("worker", Say(-1))
    back = world.slots["worker"].links[worker.connection]
    assert [type(message) for message, _ in back.queue] == [Beat]
    there = world.slots["boss"].links[worker.connection]
    assert (
        [message for message, _ in there.queue] == [Task(1), Task(2)]
        and worker.hand == 0
        and not worker.ahead
    )
    world.advance(END_US)
    assert [(what, number) for _, what, number in world.node("boss").state.heard] == [
        ("beat", 5_200),
        ("done", 0),
        ("done", 1),
        ("done", 2),
    ]
