"""A client that sends any request, with any fields, to the master or a broker, in any order: each is answered as
TubeMQ does, the laws hold, and a good client beside it is served."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.plain import from_plain, to_plain
from broker_core.sim.design import Design
from broker_core.sim.node import Closed
from broker_core.sim.world import World
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client.producer import NO_KEY
from broker_core.tubemq.group import CLIENT_REBALANCE
from broker_core.tubemq.master import MasterState
from tests.core.playbook import Played, play
from tests.core.tubemq import test_faults as beside

KEY = "1:t:0"
NUMBERS = (0, 1, 2, 3, -1, -2, 31, 32, 100, 2**40, -(2**70), 2**70)
NAMES = ("", " ", "c0-1", "h", "h", "i", "g2", "g2", "a:b", "n" * 1_025)
PARTITIONS = (KEY, KEY, "1:t:1", "2:t:0", "9:t:0", "", "1:t", ":")
KINDS: tuple[type[Any], ...] = r.Request.__args__
TO_MASTER = (r.RegisterRequestC2M, r.RegisterRequestC2MV2, r.HeartRequestC2M, r.HeartRequestC2MV2)
TO_BROKER = (r.RegisterRequestC2B, r.GetMessageRequestC2B, r.CommitOffsetRequestC2B, r.HeartBeatRequestC2B)


def any_value(name: str, of: str, random: Random) -> Any:
    if name == "partition":
        return random.choice(PARTITIONS)
    if name == "topics":
        return random.choice(([], ["t"], ["t"], ["t", " t "], ["nope"], [" "]))
    if name == "conditions":
        return random.choice(([], [], ["t#a"], ["t#a,b"], ["nope#a"], ["#"], [""]))
    if name == "required_partition":
        return random.choice(("", "1:t:0=1", "1:t:0=1,2:t:0=x", "=", ",", "1:t:0", "1:nope:0=1"))
    match of:
        case "int":
            return random.choice(NUMBERS)
        case "str":
            return random.choice(NAMES)
        case "bool":
            return random.random() < 0.5
        case "list[str] | None" if random.random() < 0.3:
            return None
        case "list[tuple[int, str]]":
            return [(random.choice(NUMBERS), random.choice(PARTITIONS)) for _ in range(random.randrange(3))]
        case "list[int]":
            return [random.choice(NUMBERS) for _ in range(random.randrange(3))]
    return [random.choice(PARTITIONS) for _ in range(random.randrange(4))]


def any_request(random: Random) -> Any:
    """A struct of the vocabulary, answers among them, its fields anything."""
    kind = random.choice(KINDS)
    return kind(**{name: any_value(name, str(of), random) for name, of in kind.__annotations__.items()})


def likely_request(random: Random) -> Any:
    """What the client of another group may well send: else it would never own anything."""
    kind, client = random.choice(TO_BROKER), random.choice(("h", "i"))
    partition = random.choice((KEY, "1:t:1"))
    if kind is r.RegisterRequestC2B:
        return kind(
            random.choice((31, 31, 32)),
            client,
            "g2",
            partition,
            random.choice(NUMBERS),
            random.random() < 0.5,
        )
    if kind is r.CommitOffsetRequestC2B:
        return kind(client, "g2", partition, random.random() < 0.8)
    return kind(client, "g2", [partition] if kind is r.HeartBeatRequestC2B else partition)


def likely_of_member(random: Random) -> Any:
    """What a member of a group of another kind may well send the master: else nothing would be given out."""
    kind, client = random.choice(TO_MASTER), random.choice(("h", "i"))
    if kind is r.RegisterRequestC2MV2:
        return kind(client, "g3", random.choice((-1, 2)), random.choice((0, 1)), ["t"])
    if kind is r.HeartRequestC2MV2:
        return kind(client, "g3", random.choice((None, [KEY])))
    if kind is r.HeartRequestC2M:
        return kind(
            client, random.choice(("g4", "g5")), random.choice((None, [], [KEY])), random.choice(NUMBERS)
        )
    bound = {
        "session_key": "s",
        "total_count": 2,
        "required_partition": random.choice(("", "1:t:0=28", "1:t:1=-1")),
    }
    return (
        kind(client, "g4", ["t"]) if random.random() < 0.5 else kind(client, "g5", ["t"], [], True, **bound)
    )


class Hostile:
    """A client that sends what it was given. state: its open connections. heard: the answers."""

    def __init__(self, state: list[int]) -> None:
        self.state = state
        self.heard: list[Any] = []

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        if type(message) is not Closed:
            self.heard.append(message)

    def wake(self, name: str, now_us: int, out: Any) -> None:
        """It sets no deadlines."""


class HostileClient(RuleBasedStateMachine):
    """A master, two brokers and two consumers that do as they should, and a client that does not."""

    def __init__(self) -> None:
        super().__init__()
        self.world, self.traffic = beside.begun(until_us=0)
        design = self.world.design
        self.world.design = Design({**design.kinds, "hostile": (list, Hostile)}, design.messages)
        self.pass_time(5 * SECOND_US)
        self.world.start("hostile", "hostile", [])
        self.slot: Any = self.world.slots["hostile"]
        self.connections = [self.slot.connect(name) for name in ("master", "b1", "b2")]
        self.sent = 0

    def pass_time(self, wait_us: int) -> None:
        world: World = self.world
        world.advance(world.now_us + wait_us)
        world.told.clear()

    @rule(to=st.integers(0, 2), seed=st.integers(0, 2**32), count=st.integers(1, 12))
    def send(self, to: int, seed: int, count: int) -> None:
        random = Random(seed)
        likely = likely_request if to else likely_of_member
        requests = [any_request(random) if random.random() < 0.4 else likely(random) for _ in range(count)]
        heard = len(self.slot.node.heard)
        for request in requests:
            self.slot.send(self.connections[to], request)
        self.pass_time(10 * MILLISECOND_US)
        silent = (r.CloseRequestC2M,) if to == 0 else ()
        written = r.SendMessageRequestP2B if to else ()
        unanswered = sum(isinstance(request, silent) for request in requests)
        maybe = sum(isinstance(request, written) for request in requests)
        answers = len(self.slot.node.heard) - heard
        assert count - unanswered - maybe <= answers <= count - unanswered, "each request is answered once"

    @rule(wait_us=st.sampled_from([SECOND_US, 14 * SECOND_US, 31 * SECOND_US, 65 * SECOND_US]))
    def wait(self, wait_us: int) -> None:
        self.pass_time(wait_us)

    @rule(count=st.integers(1, 6))
    def send_to_the_good_clients(self, count: int) -> None:
        numbers = range(10**6 + self.sent, 10**6 + self.sent + count)
        for number in numbers:
            producer: Any = self.world.slots["producer"]
            producer.send(*producer.node.send(number, NO_KEY, 100))
        self.sent += count
        self.pass_time(120 * SECOND_US)
        assert set(numbers) <= set(beside.handled(self.traffic)), "they are served"

    @invariant()
    def places_lie_in_their_logs(self) -> None:
        for partition in beside.partitions(self.world).values():
            log = partition.log
            assert len(log.messages) == len(log.sizes) and log.start + len(log.messages) == partition.end
            for place in partition.groups.values():
                assert log.start <= place.offset <= place.offset + place.pending <= partition.end
                assert place.furthest <= partition.end and (place.owner or not place.pending)

    @invariant()
    def members_of_a_group_agree(self) -> None:
        groups = beside.state(self.world, "master").groups
        for group in groups.values():
            assert group.members, "a group goes with its last member"
            count = group.terms.source_count
            if group.terms.kind == CLIENT_REBALANCE and count > 0:
                ids = [member.node_id for member in group.members.values()]
                assert len(set(ids)) == len(ids) and all(0 <= number < count for number in ids)

    @invariant()
    def events_are_of_partitions_that_are_there_and_a_loss_comes_before_a_gain(self) -> None:
        for group in beside.state(self.world, "master").groups.values():
            for member in group.members.values():
                kinds = [event.kind for event in member.events]
                assert kinds in ([], [r.DISCONNECT], [r.DISCONNECT, r.CONNECT], [r.CONNECT],
                                 [r.ONLY_DISCONNECT], [r.ONLY_CONNECT])  # fmt: skip
                gained = [event for event in member.events if event.kind in (r.CONNECT, r.ONLY_CONNECT)]
                assert all(key in beside.KEYS for event in gained for key in event.partitions)
            assert set(group.chosen.values()) <= set(group.members)

    @invariant()
    def the_state_can_be_kept(self) -> None:
        for name, kind in (("master", MasterState), ("b1", BrokerState), ("b2", BrokerState)):
            kept = to_plain(beside.state(self.world, name))
            assert to_plain(from_plain(kept, kind)) == kept


HostileClient.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestHostileClient = HostileClient.TestCase


# -- each answer ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (r.SendMessageRequestP2B("9:t:0", 1, 10), r.SendMessageResponseB2P(403, "9:t:0")),
        (r.SendMessageRequestP2B(KEY, 1, 0), r.SendMessageResponseB2P(400, KEY)),
        (r.SendMessageRequestP2B(KEY, 1, r.MESSAGE_BYTES_MAX + 1), r.SendMessageResponseB2P(400, KEY)),
        (r.RegisterRequestC2B(7, "a", "g", KEY), r.RegisterResponseB2C(400, 7, KEY, 0, 0)),
        (r.RegisterRequestC2B(31, "", "g", KEY), r.RegisterResponseB2C(400, 31, KEY, 0, 0)),
        (r.RegisterRequestC2B(31, "a", "g", "9:t:0"), r.RegisterResponseB2C(403, 31, "9:t:0", 0, 0)),
        (r.RegisterRequestC2B(32, "a", "g", KEY), r.RegisterResponseB2C(411, 32, KEY, 0, 0)),
        (r.GetMessageRequestC2B("a", "g", KEY), r.GetMessageResponseB2C(411, KEY, [], 0, 0)),
        (r.GetMessageRequestC2B("", "g", KEY), r.GetMessageResponseB2C(400, KEY, [], 0, 0)),
        (r.CommitOffsetRequestC2B("a", "g", KEY, True), r.CommitOffsetResponseB2C(401, KEY, 0, 0)),
        (r.CommitOffsetRequestC2B("", "g", KEY, True), r.CommitOffsetResponseB2C(400, KEY, 0, 0)),
        (r.CommitOffsetRequestC2B("a", "g", "9:t:0", True), r.CommitOffsetResponseB2C(403, "9:t:0", 0, 0)),
        (r.HeartBeatRequestC2B("a", "g", []), r.HeartBeatResponseB2C([])),
        (r.HeartBeatRequestC2B("a", "g", [KEY, "x"]), r.HeartBeatResponseB2C([(411, KEY), (411, "x")])),
    ],
    ids=repr,
)
def test_impossible_request_gets_its_code_and_leaves_the_broker_unchanged(request_: Any, answer: Any) -> None:
    node, out = Broker(BrokerState(1, {KEY: Partition()})), Played("broker")
    before = to_plain(node.state)
    assert play(node, out, 5, request_) == [(5, answer)]
    assert to_plain(node.state) == before and not out.deadlines


def test_names_with_colons_are_timed_out_like_any_other() -> None:
    node, out = Broker(BrokerState(1, {KEY: Partition()})), Played("broker")
    play(node, out, 5, r.RegisterRequestC2B(r.REGISTER, "a:b", "g:h:i", KEY))
    (name,) = out.deadlines
    node.wake(name, r.TIMEOUT_US, out)
    assert node.state.partitions[KEY].groups["g:h:i"].owner == ""
