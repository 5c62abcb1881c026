"""A master that gives partitions out: its cycles, its events, and that no partition ever has two owners."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.tubemq import requests as r
from broker_core.tubemq.balancing import ARTICLE, EVENT_CYCLES_MAX
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import BALANCE, BALANCE_PERIOD_US, Master, MasterState
from broker_core.tubemq.server_balance import ResourceCheck, by_hash, in_runs, next_cycle, partition_order
from tests.core.playbook import Played, play

KEYS = [f"{broker}:t:{number}" for broker in (1, 2) for number in range(3)]


class Group:
    """A master, and consumers that report what they hold and do what they are asked."""

    def __init__(self, *clients: str, draws: tuple[int, ...] = ()) -> None:
        self.node = Master(MasterState(configured(["t#1:1:3:1,2:1:3:1"])))
        self.out = Played("master", draws)
        self.held: dict[str, list[str]] = {}
        self.done: dict[str, int] = {}
        self.cycles = 0
        for client in clients:
            self.join(client)

    def join(self, client: str) -> None:
        play(self.node, self.out, 1, r.RegisterRequestC2M(client, "g", ["t"]))
        self.held[client] = []

    def cycle(self) -> None:
        self.cycles += 1
        self.node.wake(BALANCE, self.cycles * BALANCE_PERIOD_US, self.out)

    def beat(self, client: str) -> r.ConsumerEvent | None:
        ((_, answer),) = play(
            self.node,
            self.out,
            1,
            r.HeartRequestC2M(client, "g", self.held[client][:], self.done.pop(client, 0)),
        )
        event: r.ConsumerEvent | None = answer.event
        return event

    def obey(self, client: str) -> r.ConsumerEvent | None:
        """One heartbeat, and what its answer asks for; the next heartbeat says that it is done."""
        event = self.beat(client)
        if event is not None:
            self.done[client] = event.event_id
            if event.kind in (r.CONNECT, r.ONLY_CONNECT):
                self.held[client] += event.partitions
            else:
                self.held[client] = [key for key in self.held[client] if key not in event.partitions]
        return event

    def settle(self) -> None:
        while [client for client in self.held if self.done.get(client) or self.obey(client)]:
            for client in [*self.done]:
                self.obey(client)


def test_first_cycle_gives_runs_and_a_newcomer_waits_for_a_later_one() -> None:
    group = Group("b", "a")
    assert group.beat("a") is None, "before the first cycle there is nothing"
    group.cycle()
    group.settle()
    assert group.held == {"a": KEYS[:3], "b": KEYS[3:]}
    group.join("c")
    assert group.beat("c") is None
    group.cycle()
    group.settle()
    assert sorted(map(len, group.held.values())) == [2, 2, 2]


def test_nobody_connects_while_another_has_still_to_disconnect() -> None:
    group = Group("a")
    group.cycle()
    group.settle()
    group.join("b")
    group.cycle()
    assert group.beat("b") is None
    event = group.obey("a")
    assert event is not None and (event.kind, len(event.partitions)) == (r.ONLY_DISCONNECT, 3)
    assert group.beat("b") is None, "not before it is done"
    group.beat("a")
    event = group.obey("b")
    assert event is not None and event.kind == r.ONLY_CONNECT
    assert not set(group.held["a"]) & set(group.held["b"])


def test_events_that_are_never_done_are_thrown_away_after_ten_cycles() -> None:
    group = Group("a", "b")
    group.cycle()
    assert group.beat("a") is not None
    for _ in range(EVENT_CYCLES_MAX):
        group.cycle()
        assert group.beat("a") is None, "an event is given once, and a group with open events is left out"
    group.out._draws.extend([1] * len(KEYS))
    group.cycle()
    assert group.beat("a") is None
    event = group.beat("b")
    assert event is not None and event.partitions == KEYS, "drawn for b, each of them"


def test_partitions_of_a_broker_that_is_offline_are_taken_away() -> None:
    group = Group("a", "b")
    group.cycle()
    group.settle()
    group.node.state.brokers[2].is_online = False
    group.cycle()
    group.settle()
    assert sorted(key for keys in group.held.values() for key in keys) == KEYS[:3]


def test_article_names_another_rule_which_can_be_asked_for() -> None:
    group = Group("a", "b")
    group.node.state.balance_rule = ARTICLE
    group.cycle()
    group.settle()
    assert {client: sorted(keys, key=partition_order) for client, keys in group.held.items()} == by_hash(
        KEYS, ["a", "b"]
    )


def test_too_few_clients_get_nothing_until_there_were_enough_once() -> None:
    check = ResourceCheck()
    assert not check.is_passed(["1:t:0", "2:t:0", "3:t:0"], 1, 1)
    assert (check.broker_count, check.rate, check.clients_min) == (3, 3, 3)
    assert check.is_passed(["1:t:0", "2:t:0", "3:t:0"], 2, 1) and check.clients_min == -2
    assert check.is_passed(["1:t:0", "2:t:0", "3:t:0"], 1, 1), "it is never made again"


def test_client_balanced_group_is_never_balanced() -> None:
    group = Group()
    play(group.node, group.out, 1, r.RegisterRequestC2MV2("a", "g", 1, 0, ["t"]))
    group.cycle()
    ((_, answer),) = play(group.node, group.out, 1, r.HeartRequestC2MV2("a", "g", KEYS))
    assert answer == r.HeartResponseM2C(200)
    assert group.node.state.groups["g"].members["a"].held == KEYS, "what it holds is known all the same"


@pytest.mark.parametrize("rule", [in_runs, by_hash])
@given(keys=st.sets(st.builds("{}:t{}:{}".format, *[st.integers(0, 5)] * 3)), count=st.integers(1, 7))
def test_each_partition_goes_to_one_client(rule, keys, count) -> None:  # type: ignore[no-untyped-def]
    assigned = rule(keys, [f"c{number}" for number in range(count)])
    assert len(assigned) == count
    assert sorted(key for own in assigned.values() for key in own) == sorted(keys)


@given(
    data=st.lists(st.lists(st.sampled_from([*KEYS, "9:t:0", "9:t:1"]), max_size=8), min_size=1, max_size=5),
    draws=st.lists(st.integers(0, 99), min_size=8, max_size=8),
)
def test_later_cycle_keeps_what_is_held_while_anything_is_free(
    data: list[list[str]], draws: list[int]
) -> None:
    held = {f"c{number}": keys for number, keys in enumerate(data)}
    numbers = iter(draws)
    plan = next_cycle(held, KEYS, lambda count: next(numbers) % count)
    after = {
        client: [key for key in dict.fromkeys(keys) if key not in plan.disconnect.get(client, ())]
        for client, keys in held.items()
    }
    kept = [key for keys in after.values() for key in keys]
    free = set(KEYS) - {key for keys in data for key in keys}
    for client, keys in plan.connect.items():
        after[client] += keys
    owned = [key for keys in after.values() for key in keys]
    assert set(kept) <= set(KEYS) and set(owned) <= set(KEYS)
    assert len(owned) == len(set(owned)), "one owner"
    if free:
        assert set(owned) == set(KEYS), "what is free is given out, all of it"
