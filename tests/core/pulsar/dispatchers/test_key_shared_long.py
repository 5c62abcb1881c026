"""Key_Shared over a long life: many messages, consumers that come, leave and acknowledge a part of what they have."""

from random import Random

import pytest

from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors import make_selector

MESSAGES, KEYS, PERMITS = 30_000, 500, 500


class Life:
    """held: consumer -> positions, as sent. at: hash -> consumer that has it, and how many. misplaced: messages of a key sent to one consumer
    while another had some."""

    def __init__(self, dispatcher: KeySharedDispatcher | DrainingDispatcher, seed: int) -> None:
        self.dispatcher, self.random = dispatcher, Random(seed)
        self.hashes = [self.random.getrandbits(32) for _ in range(KEYS)]
        self.held: dict[str, list[int]] = {}
        self.at: dict[int, tuple[str, int]] = {}
        self.acked = bytearray(MESSAGES)
        self.misplaced = self.names = 0

    def take(self, sent: list[tuple[str, int]]) -> None:
        for consumer, position in sent:
            assert not self.acked[position], "nothing acknowledged is sent again"
            hash32 = self.dispatcher.entries[position].hash32
            owner, count = self.at.get(hash32, (consumer, 0))
            self.misplaced += owner != consumer and count > 0
            self.at[hash32] = consumer, (count if owner == consumer else 0) + 1
            self.held[consumer].append(position)

    def release(self, positions: list[int]) -> None:
        for position in positions:
            hash32 = self.dispatcher.entries[position].hash32
            owner, count = self.at[hash32]
            self.at[hash32] = owner, count - 1

    def join(self) -> None:
        self.names += 1
        name = f"c{self.names}"
        self.held[name] = []
        self.take(self.dispatcher.connect(name, name, 0))
        self.take(self.dispatcher.flow(name, PERMITS))

    def leave(self) -> None:
        name = self.random.choice(list(self.held))
        self.release(self.held.pop(name))
        self.take(self.dispatcher.disconnect(name))

    def acknowledge(self, name: str, part: float) -> None:
        have = self.held[name]
        done, self.held[name] = have[: int(len(have) * part)], have[int(len(have) * part) :]
        self.release(done)
        for position in done:
            self.acked[position] = 1
        mark_delete = self.dispatcher.cursor.mark_delete
        sent = self.dispatcher.ack(done, name)
        assert self.dispatcher.cursor.mark_delete >= mark_delete
        self.take(sent)
        self.take(self.dispatcher.flow(name, len(done)))
        if isinstance(self.dispatcher, DrainingDispatcher) and self.dispatcher.unblocked:
            self.take(self.dispatcher.unblock())

    def live(self, *, joins_during_replay: bool) -> None:
        dispatcher = self.dispatcher
        for _ in range(8):
            self.join()
        while dispatcher.cursor.end < MESSAGES:
            for _ in range(200):
                position = dispatcher.cursor.end
                entry = dispatcher.entries[position] = Entry(self.random.choice(self.hashes), position)
                self.take(dispatcher.arrived(position, entry))
            for name in list(self.held):
                self.acknowledge(name, self.random.choice((0, 0.5, 1, 1)))
            chance = self.random.random()
            if chance < 0.2 and len(self.held) < 16 and (joins_during_replay or not len(dispatcher.replay)):
                self.join()
            elif 0.2 < chance < 0.4 and len(self.held) > 4:
                self.leave()
        while dispatcher.cursor.backlog:
            for name in list(self.held):
                self.acknowledge(name, 1)
        assert all(self.acked), "nothing that was not acknowledged is lost"


@pytest.mark.parametrize("algorithm", ["consistent_hash", "auto_split"])
def test_a_key_is_at_one_consumer_with_draining_hashes(algorithm: str) -> None:
    life = Life(DrainingDispatcher(make_selector(algorithm)), 7)
    life.live(joins_during_replay=True)
    assert life.misplaced == 0 and life.names > 20


@pytest.mark.parametrize("algorithm", ["consistent_hash", "auto_split"])
def test_a_key_is_at_one_consumer_by_the_rule_of_3_2_while_nobody_joins_in_a_replay(algorithm: str) -> None:
    life = Life(KeySharedDispatcher(make_selector(algorithm)), 7)
    life.live(joins_during_replay=False)
    assert life.misplaced == 0


def test_with_out_of_order_delivery_it_is_not() -> None:
    life = Life(KeySharedDispatcher(make_selector("consistent_hash"), allows_out_of_order=True), 7)
    life.live(joins_during_replay=True)
    assert life.misplaced > 0
