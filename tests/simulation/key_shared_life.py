"""Key_Shared over a long life: many messages, consumers that come, go and acknowledge a part of what they
have.

A consumer that leaves and one that crashes are the same to a dispatcher: it is gone, with what it had not
acknowledged.
"""

from random import Random

from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.entry import Entry

KEYS = 500


class KeySharedLife:
    """permits: that a consumer grants at first; with fewer than come at a time the replay set is seldom
    empty. held: consumer -> positions, as sent. at: hash -> consumer that has it, and how many. newest: hash
    -> the highest position that is at a consumer. misplaced: messages of a key sent to one consumer while
    another had some; disordered: those sent to a consumer after a later one that it still had."""

    def __init__(
        self, dispatcher: KeySharedDispatcher | DrainingDispatcher, seed: int, messages: int, permits: int
    ) -> None:
        self.dispatcher, self.random, self.messages, self.permits = (
            dispatcher,
            Random(seed),
            messages,
            permits,
        )
        self.hashes = [self.random.getrandbits(32) for _ in range(KEYS)]
        self.held: dict[str, list[int]] = {}
        self.at: dict[int, tuple[str, int]] = {}
        self.newest: dict[int, int] = {}
        self.acked = bytearray(messages)
        self.misplaced = self.disordered = self.names = 0

    def take(self, sent: list[tuple[str, int]]) -> None:
        for consumer, position in sent:
            assert not self.acked[position], "nothing acknowledged is sent again"
            hash32 = self.dispatcher.entries[position].hash32
            owner, count = self.at.get(hash32, (consumer, 0))
            self.misplaced += owner != consumer and count > 0
            self.at[hash32] = consumer, (count if owner == consumer else 0) + 1
            self.disordered += owner == consumer and count > 0 and position < self.newest[hash32]
            self.newest[hash32] = max(
                position, self.newest[hash32] if owner == consumer and count else position
            )
            self.held[consumer].append(position)

    def release(self, positions: list[int]) -> None:
        for position in positions:
            hash32 = self.dispatcher.entries[position].hash32
            owner, count = self.at[hash32]
            self.at[hash32] = owner, max(count - 1, 0)

    def join(self) -> None:
        self.names += 1
        name = f"c{self.names}"
        self.held[name] = []
        self.take(self.dispatcher.connect(name, name, 0))
        self.take(self.dispatcher.flow(name, self.permits))

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
        for position in done:
            del self.dispatcher.entries[position]
        if isinstance(self.dispatcher, DrainingDispatcher) and self.dispatcher.unblocked:
            self.take(self.dispatcher.unblock())

    def live(self, *, joins_during_replay: bool) -> None:
        dispatcher = self.dispatcher
        for _ in range(8):
            self.join()
        while dispatcher.cursor.end < self.messages:
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
