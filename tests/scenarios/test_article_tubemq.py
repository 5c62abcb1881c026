"""The TubeMQ article, "client-side partition assignment" (1.10.0), as stories: what each client does, pass by
pass.

The article has no figures; its claims are shown here on partitions whose hashes are known, and the worked
numbers of the recorded runs are at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import dedent

import pytest

from broker_core.hashing.java_hash import string_hash, string_hash_unsigned
from broker_core.tubemq.assignment import SUCCESS, Call, Connect, Disconnect, assigner_pass, node_of, owned_by
from broker_core.tubemq.metadata import PartitionMetadata
from broker_core.tubemq.partition_key import parse_partition_key

OCCUPIED = 410


@dataclass
class Client:
    """One process that runs the article's example. It knows its two numbers and what the master told it, and
    asks nobody."""

    source_count: int
    node_id: int
    metadata: PartitionMetadata = field(default_factory=PartitionMetadata)
    registered: set[str] = field(default_factory=set)
    saved_offsets: dict[str, int] = field(default_factory=dict)


@dataclass
class Story:
    """Clients, a master that answers each of them, and brokers that let one client have a partition at a
    time."""

    brokers: list[int]
    clients: dict[str, Client]
    owner: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    answers: int = 0

    def tick(self, *topic_meta: str) -> None:
        """The master's answer reaches every client, and each makes its pass, in turn."""
        self.answers += 1
        for name, client in self.clients.items():
            client.metadata = client.metadata.updated(self.answers, topic_meta, self.brokers)
            steps = assigner_pass(
                client.metadata.status,
                client.registered,
                source_count=client.source_count,
                node_id=client.node_id,
                saved_offsets=client.saved_offsets,
                call=lambda call, name=name: self.broker_answer(name, call),
            )
            parts = [self.carry_out(name, client, call, code) for call, code in steps]
            self.told.append(f"{name}: {', '.join(parts) or 'nothing to do'}")

    def broker_answer(self, name: str, call: Call) -> int:
        return OCCUPIED if isinstance(call, Connect) and self.owner.get(call.key, name) != name else SUCCESS

    def carry_out(self, name: str, client: Client, call: Call, code: int) -> str:
        match call:
            case Disconnect(key):
                client.registered.discard(key)
                del self.owner[key]
                return f"releases {key}"
            case Connect(key, offset) if code == SUCCESS:
                client.registered.add(key)
                self.owner[key] = name
                return f"takes {key}" if offset < 0 else f"takes {key} at {offset}"
            case Connect(key, _):
                return f"is refused {key} ({code})"

    def say(self, line: str) -> None:
        self.told.append(f"-- {line}")

    def text(self) -> str:
        return "\n".join(self.told)


def group(source_count: int) -> dict[str, Client]:
    return {f"c{node}": Client(source_count, node) for node in range(source_count)}


def test_clients_share_the_configured_set_and_an_offline_broker_moves_nothing_to_others() -> None:
    story = Story([1, 2], group(2))
    story.say("two brokers, two partitions each")
    story.tick("test#1:1:2:1,2:1:2:1")
    story.say("broker 2 goes offline: its partitions are released, nobody else takes them")
    story.tick("test#1:1:2:1,2:1:2:0")
    story.say("it is back: each goes to the client it had")
    story.tick("test#1:1:2:1,2:1:2:1")
    story.say("the topic grows by a store on broker 1: two new partitions, no old one moves")
    story.tick("test#1:2:2:1,2:1:2:1")
    assert story.text() == dedent("""\
        -- two brokers, two partitions each
        c0: takes 1:test:1, takes 2:test:0
        c1: takes 1:test:0, takes 2:test:1
        -- broker 2 goes offline: its partitions are released, nobody else takes them
        c0: releases 2:test:0
        c1: releases 2:test:1
        -- it is back: each goes to the client it had
        c0: takes 2:test:0
        c1: takes 2:test:1
        -- the topic grows by a store on broker 1: two new partitions, no old one moves
        c0: takes 1:test:10000
        c1: takes 1:test:10001""")


def test_another_source_count_moves_most_partitions_so_the_whole_group_starts_anew() -> None:
    topic = "flights#1:1:4:1,2:1:4:1,3:1:4:1"
    before, after = Story([1, 2, 3], group(3)), Story([1, 2, 3], group(4))
    before.tick(topic)
    after.tick(topic)
    kept = [key for key in before.owner if before.owner[key] == after.owner[key]]
    assert len(before.owner) == len(after.owner) == 12
    assert kept == ["2:flights:0", "2:flights:1"], "10 of 12 move"


def test_clients_with_different_counts_would_fight_over_partitions() -> None:
    story = Story([1, 2], {"old": Client(2, 0), "new": Client(3, 2)})
    story.tick("test#1:1:2:1,2:1:1:1")
    assert story.text() == dedent("""\
        old: takes 1:test:1, takes 2:test:0
        new: takes 1:test:0, is refused 2:test:0 (410)""")


def test_with_the_count_off_the_example_leaves_everything_to_the_application() -> None:
    story = Story([1], {"c0": Client(-2, -2), "c1": Client(-2, -2)})
    story.tick("test#1:1:4:1")
    assert story.text() == "c0: nothing to do\nc1: nothing to do"


def test_a_client_goes_on_where_it_was_and_a_partition_has_one_owner() -> None:
    story = Story([1], {"c0": Client(1, 0, saved_offsets={"1:test:1": 560}), "twin": Client(1, 0)})
    story.tick("test#1:1:2:1")
    assert story.text() == dedent("""\
        c0: takes 1:test:0, takes 1:test:1 at 560
        twin: is refused 1:test:0 (410), is refused 1:test:1 (410)""")


@pytest.mark.parametrize(
    ("key", "signed", "unsigned", "nodes_of_2_3_4"),
    [
        ("1:test:0", -1443204431, 2851762865, (1, 2, 1)),
        ("1:test:1", -1443204430, 2851762866, (0, 0, 2)),
        ("2:test:0", 299605904, 299605904, (0, 2, 0)),
        ("136:demo_topic:0", 391248303, 391248303, (1, 0, 3)),
        ("1:orders:10000", 1076237189, 1076237189, (1, 2, 1)),
    ],
)
def test_worked_numbers(key: str, signed: int, unsigned: int, nodes_of_2_3_4: tuple[int, int, int]) -> None:
    assert (string_hash(key), string_hash_unsigned(key)) == (signed, unsigned)
    assert tuple(node_of(key, count) for count in (2, 3, 4)) == nodes_of_2_3_4
    assert str(parse_partition_key(key)) == key


def test_the_mask_is_what_makes_the_rule_total() -> None:
    """Java's signed remainder of a negative hash is negative, and no node has that id."""
    assert -(abs(string_hash("1:test:0")) % 2) == -1
    assert owned_by(["1:test:0"], 2, -1) == []
    assert owned_by(["1:test:0"], 2, 1) == ["1:test:0"]


@pytest.mark.parametrize(("source_count", "idle"), [(10, 0), (16, 6), (31, 21)])
def test_neighbouring_partitions_have_neighbouring_hashes_so_surplus_nodes_idle(
    source_count: int, idle: int
) -> None:
    keys = [f"1:test:{number}" for number in range(10)]
    assert sum(not owned_by(keys, source_count, node) for node in range(source_count)) == idle
