"""A quiet program does what one that wakes for each message does: the same messages at the same moments, and
the broker hears the same of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import MILLISECOND_US as MS
from broker_core.clock import SECOND_US as SECOND
from broker_core.errors import CommandError
from broker_core.events import Cause
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
    Resubscribe,
    Subscribe,
)
from broker_core.pulsar.client.producer import Open, Producer, ProducerState
from broker_core.pulsar.client.quiet import FLOW
from broker_core.pulsar.settings import SHARED, BrokerSettings
from broker_core.sim.keeping import keep, restored
from broker_core.sim.program import DONE, Leave, Order, Pace, Pause, Program, Resume
from broker_core.sim.world import Design, World

GROUP_US = 100 * MS + 500
"""No moment of the programs falls together with another: messages arrive at full milliseconds, the nth in a
row is handled n microseconds after one, orders come at 250 and acknowledgements go out between 500 and
750."""


class Handled:
    """(when, message) of all that was handled, in order."""

    def __init__(self, is_watched: bool) -> None:
        self.is_watched = is_watched
        self.log: list[tuple[int, int]] = []

    def received(self, program: str, message: int, now_us: int) -> None:
        """Each message is told, so the program wakes for it."""

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.log.append((now_us, message))

    def handled_quietly(self, program: str, messages: Any) -> None:
        self.log += messages

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """It comes again."""


class Hearing(Broker):
    heard: list[tuple[int, str]]

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        if type(message) is not c.CommandSend:
            self.heard.append((now_us, repr(message)))
        super().receive(connection, message, now_us, out)

    def note(self, arrived: Any) -> None:
        self.heard += [
            (at_us, repr(message))
            for noted in arrived
            for at_us, message in zip(noted.times, noted.commands, strict=True)
        ]
        super().note(arrived)


class Run:
    def __init__(self, *, is_watched: bool, queue_size: int, service_us: int, **config: Any) -> None:
        self.handled, self.heard, self.sent = Handled(is_watched), list[tuple[int, str]](), 0

        def broker(state: BrokerState) -> Broker:
            node = Hearing(state, lambda code: code, BrokerSettings("auto_split"))
            node.heard = self.heard
            return node

        self.design = Design(
            {
                "broker": (BrokerState, broker), "producer": (ProducerState, Producer),
                "consumer": (ConsumerState, lambda state: Consumer(state, self.handled)),
            },
            c.Command | ConsumerOrder | Open | Order, MS,
        )  # fmt: skip
        self.world = World("quiet", self.design, 7)
        self.world.start("b", "broker", BrokerState())
        self.world.start("p", "producer", ProducerState())
        self.world.order("p", Open("b"))
        self.world.start(
            "c",
            "consumer",
            ConsumerState(
                "c",
                Program(service_us),
                ConsumerConfig(SHARED, queue_size=queue_size, ack_group_us=GROUP_US, **config),
            ),
        )
        self.world.order("c", Subscribe("b", []))
        self.world.advance(10 * MS)

    @property
    def client(self) -> ConsumerState:
        state: ConsumerState = self.world.node("c").state
        return state

    def send(self) -> None:
        slot = self.world.slots["p"]
        slot.send(*slot.node.send(self.sent, -1))
        self.sent += 1

    def do(self, what: str) -> None:
        world, connection = self.world, self.client.connection
        match what:
            case "send":
                self.send()
            case "pause" | "resume" | "hold" | "release" | "leave" | "again" | "slow" | "fast":
                order = {
                    "pause": Pause(),
                    "resume": Resume(),
                    "hold": HoldAcks(),
                    "release": ReleaseAcks(),
                    "leave": Leave(),
                    "again": Resubscribe([]),
                    "slow": Pace(40 * MS + 1),
                    "fast": Pace(2 * MS + 1),
                }[what]
                if connection:
                    world.order("c", order)
            case "cut":
                world.cut(connection)
            case "heal":
                world.heal(connection)
            case "slow link":
                world.set_delay(connection, 5 * MS)
            case "crash":
                world.crash("c")
            case "stop":
                world.pause("c")
            case "go on":
                world.resume("c")

    def look(self) -> tuple[Any, ...]:
        client = self.client
        parts = [(part.taken, part.acks[:], part.is_subscribed) for part in client.parts.values()]
        queue = [message.message for message in client.queue]
        broker = to_plain(self.world.node("b").state)
        return (
            queue,
            client.program.hand,
            client.program.finished,
            parts,
            sorted(self.handled.log),
            sorted(self.heard),
            broker,
        )


STEPS = st.lists(
    st.tuples(
        st.integers(11, 900),
        st.sampled_from(
            ["send"] * 12
            + [
                "pause",
                "resume",
                "resume",
                "hold",
                "release",
                "leave",
                "again",
                "slow",
                "fast",
                "cut",
                "heal",
                "heal",
                "slow link",
                "crash",
            ]
            + ["stop", "go on", "go on"]
        ),
    ),
    max_size=40,
)


def looks(
    steps: list[tuple[int, str]], at_ms: list[int], kept: int = -1, **options: Any
) -> list[tuple[Any, ...]]:
    """What somebody sees who looks at these moments, and at the end."""
    run = Run(**options)
    seen = []
    moments = [(at * MS - (MS if what == "send" else 750), what) for at, what in steps] + [
        (at * MS + 300, "look") for at in at_ms
    ]
    for at_us, what in sorted(moments):
        run.world.advance(at_us)
        if what == "look":
            seen.append(run.look())
            run.world.told.clear()
            if len(seen) == kept:
                run.world = restored("quiet", run.design, 7, keep(run.world))
            continue
        try:
            run.do(what)
        except CommandError:  # it is cut already, or has crashed: nothing has changed
            continue
    run.world.advance(3 * SECOND)
    return [*seen, run.look()]


@given(
    steps=STEPS,
    at_ms=st.lists(st.integers(11, 1500), max_size=4),
    queue_size=st.sampled_from((1, 2, 5, 20, 1000)),
    service_ms=st.sampled_from((1, 7, 30, 101, 160)),
)
@settings(max_examples=200, deadline=None)
def test_a_quiet_program_is_the_same_as_one_that_wakes_for_each_message(steps, at_ms, queue_size, service_ms):
    options = {"queue_size": queue_size, "service_us": service_ms * MS + 1}
    plain = looks(steps, at_ms, is_watched=True, **options)
    assert looks(steps, at_ms, is_watched=False, **options) == plain
    assert looks(steps, at_ms, kept=1, is_watched=False, **options) == plain
    assert looks(steps, [], is_watched=False, **options) == plain[-1:], "looking leaves no trace"


def test_what_comes_due_while_a_process_is_stopped_keeps_its_order():
    """The group leaves with what was done before it, though the message in hand is done, too, before the
    process goes on."""
    steps, options = (
        [(11, "send"), (13, "slow"), (73, "send"), (75, "stop"), (115, "go on")],
        {"queue_size": 1, "service_us": MS + 1},
    )
    assert looks(steps, [], is_watched=False, **options) == looks(steps, [], is_watched=True, **options)


def deadlines(run: Run) -> set[str]:
    return set(run.world.slots["c"].deadlines)


def test_a_quiet_program_wakes_for_its_group_of_acknowledgements_and_for_permits():
    run = Run(is_watched=False, queue_size=10, service_us=7 * MS)
    run.send()
    run.world.advance(13 * MS)
    assert run.client.program.is_quiet and deadlines(run) == {"acks"} and run.world.slots["c"].door.room == 3
    for _ in range(5):
        run.send()
    run.world.advance(14 * MS)
    assert run.world.slots["c"].door.room == 0, "with the fifth message half of the queue is taken"
    run.world.advance(20 * MS)
    assert deadlines(run) == {"acks", FLOW}
    assert DONE not in deadlines(run)


def posted(run: Run) -> list[tuple[list[int], int]]:
    """(entries, when it reaches the broker) of the groups that are posted and have not left."""
    slot = run.world.slots["c"]
    link, count = slot.links[run.client.connection], len(run.client.leaving)
    tickets = [
        *link.times,
        *sorted(ticket[0] for ticket in run.world.heap if ticket[2] is link),
    ]  # at the broker's door, or on their way
    messages = [message.entries for message, _ in link.queue]
    return list(zip(messages, tickets, strict=True))[len(messages) - count :]


def with_a_backlog(count: int = 30) -> Run:
    """Its group goes out at 152.5 ms with three messages, and the queue says what the next ones will be."""
    run = Run(is_watched=False, queue_size=1_000, service_us=40 * MS)
    for _ in range(count):
        run.send()
    run.world.advance(154 * MS)
    return run


def test_groups_that_the_queue_tells_are_posted():
    run = with_a_backlog()
    # Handled at 52, 92, 132 | 172, 212, 252 | 292, ...: a group leaves 100.5 ms after the first of its
    # messages.
    assert [(at_us, what[:39]) for at_us, what in run.heard if "CommandAck(" in what] == [
        (153_500, "CommandAck(consumer_id=1, entries=[0, 1")
    ]
    assert posted(run) == [([n, n + 1, n + 2], (52 + n * 40) * MS + GROUP_US + MS) for n in range(3, 27, 3)]
    assert deadlines(run) == {"acks"} and not run.client.parts[1].acks


def test_a_group_that_has_left_is_on_its_way_for_whoever_looks():
    run = with_a_backlog()
    run.world.advance(271 * MS)
    assert run.client.parts[1].acks == [3, 4, 5] and run.client.unreported == 3
    run.world.advance(172 * MS + GROUP_US)
    assert run.client.parts[1].acks == [] and len(posted(run)) == 7, "it is on its way"


def test_what_a_person_says_withdraws_what_has_not_left():
    run = with_a_backlog()
    run.world.advance(215 * MS)
    run.do("pause")
    assert posted(run) == [] and not run.client.leaving and run.client.parts[1].acks == [3, 4]
    assert deadlines(run) == {DONE, "acks"}
    run.world.advance(SECOND)
    acks = [
        what.partition("entries=")[2].partition(",  is")[0] for _, what in run.heard if "CommandAck(" in what
    ]
    assert [text[: text.index("]") + 1] for text in acks] == ["[0, 1, 2]", "[3, 4, 5]"], (
        "the one in hand is handled, and no more"
    )


def test_permits_go_out_before_groups_that_leave_later():
    run = Run(is_watched=False, queue_size=20, service_us=40 * MS)
    for _ in range(20):
        run.send()
    run.world.advance(2 * SECOND)
    order = [
        what.partition("(")[0] for _, what in run.heard if "CommandAck(" in what or "CommandFlow(" in what
    ]
    flows = [at_us for at_us, what in run.heard if "CommandFlow(" in what]
    assert flows[1:] == [(12 + 9 * 40 + 1) * MS, (12 + 19 * 40 + 1) * MS], (
        "as the tenth and the twentieth message is begun"
    )
    assert order[:6] == ["CommandFlow", "CommandAck", "CommandAck", "CommandFlow", "CommandAck", "CommandAck"]


def test_a_program_that_may_give_a_message_back_wakes_for_each():
    for config in ({"cannot": 7}, {"ack_timeout_us": SECOND}, {"acks_cumulatively": True}):
        run = Run(is_watched=False, queue_size=10, service_us=7 * MS, **config)
        run.send()
        run.world.advance(13 * MS)
        assert not run.client.program.is_quiet and DONE in deadlines(run)


def test_what_a_person_says_ends_the_quiet_until_the_next_message_begins():
    run = Run(is_watched=False, queue_size=10, service_us=7 * MS)
    run.send()
    run.send()
    run.world.advance(13 * MS)
    assert run.client.program.is_quiet
    run.do("slow")
    assert not run.client.program.is_quiet and deadlines(run) == {DONE} and run.world.slots["c"].door is None
    run.world.advance(20 * MS)
    assert run.client.program.is_quiet and run.client.program.done_us == 59 * MS + 1, (
        "the second one takes forty milliseconds"
    )


def test_a_stopped_process_goes_on_with_the_message_it_had():
    run = Run(is_watched=False, queue_size=10, service_us=7 * MS)
    for _ in range(3):
        run.send()
    run.world.advance(15 * MS)
    run.world.pause("c")
    run.world.advance(300 * MS)
    assert run.client.program.finished == 0
    run.world.resume("c")
    run.world.advance(SECOND)
    assert run.handled.log == [(300 * MS, 0), (307 * MS, 1), (314 * MS, 2)]
    assert [at_us for at_us, what in run.heard if "CommandAck(" in what] == [300 * MS + GROUP_US + MS]


def test_what_a_person_says_is_not_why_the_program_goes_on_with_its_message():
    run = Run(is_watched=False, queue_size=10, service_us=7 * MS)
    run.send()
    run.world.advance(13 * MS)
    run.world.order("c", Pause(), Cause(command=5))
    assert run.world.slots["c"].deadlines[DONE][1] != Cause(command=5)
