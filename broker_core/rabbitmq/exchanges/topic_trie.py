"""The patterns of a topic exchange as a trie of words, and the search for those that a key fits.

    orders.#         root ── orders ── # (1)
    orders.*.paid                   └─ * ── paid (2)

A search goes through the key word by word and holds all nodes that the words so far lead to. It meets a node at most
once at each place of the key, however many `#` are in the patterns, where the original's search follows each way there
separately. The answer to a key is kept until a binding comes or goes, and counts how often it was given: the places
of the patterns learn that when somebody asks, or when the answer goes.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_topic (trie_match); the answers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.rabbitmq.exchanges.base import Counted, Destination
from broker_core.rabbitmq.exchanges.topic_words import ANY_WORDS, ONE_WORD, words_of

DESTINATIONS_KEPT_MAX = 2_000_000
"""What all kept answers together may hold of destinations and places; beyond it they are dropped, and found again as keys ask for them."""


class _Node:
    """A place in the trie: the destinations of the patterns that end here, and the ways on.

    following: by each word that a pattern names. one_word, any_words: by `*` and by `#`.
    """

    __slots__ = ("any_words", "destinations", "following", "one_word")

    def __init__(self) -> None:
        self.destinations = Counted()
        self.following: dict[str, _Node] = {}
        self.one_word: _Node | None = None
        self.any_words: _Node | None = None

    def way(self, word: str) -> _Node | None:
        """The way on by a word of a pattern."""
        if word == ONE_WORD:
            return self.one_word
        return self.any_words if word == ANY_WORDS else self.following.get(word)

    def set_way(self, word: str, node: _Node | None) -> None:
        if word == ONE_WORD:
            self.one_word = node
        elif word == ANY_WORDS:
            self.any_words = node
        elif node is None:
            del self.following[word]
        else:
            self.following[word] = node

    @property
    def is_needed(self) -> bool:
        return bool(self.destinations or self.following or self.one_word or self.any_words)


class _Answer:
    """To one key. places: of the patterns that it fits. given: how often, since the places learned of it."""

    __slots__ = ("destinations", "given", "places")

    def __init__(self, destinations: tuple[Destination, ...], places: list[Counted]) -> None:
        self.destinations, self.places = destinations, places
        self.given = 0


class TopicTrie:
    """_given: the answers that the places have still to learn of."""

    def __init__(self) -> None:
        self._root = _Node()
        self._given: list[_Answer] = []
        self._forget()

    def add(self, pattern: str, destination: Destination) -> None:
        node = self._root
        for word in words_of(pattern):
            following = node.way(word)
            if following is None:
                following = _Node()
                node.set_way(word, following)
            node = following
        node.destinations.add(destination)
        self._forget()

    def remove(self, pattern: str, destination: Destination) -> None:
        """Take back what `add` was given, with the nodes that no pattern needs any more."""
        way = [self._root]
        words = words_of(pattern)
        for word in words:
            following = way[-1].way(word)
            assert following is not None  # the pattern was added
            way.append(following)
        way[-1].destinations.remove(destination)
        for word in reversed(words):
            if way.pop().is_needed:
                break
            way[-1].set_way(word, None)
        self._forget()

    def match(self, key: str) -> tuple[Destination, ...]:
        """The destinations of all patterns that the key fits, sorted. Counts a message at each of the patterns."""
        answer = self._answers.get(key)
        if answer is None:
            answer = self._search(key)
        if not answer.given:
            self._given.append(answer)
        answer.given += 1
        return answer.destinations

    def match_any(self, keys: Sequence[str]) -> list[Destination]:
        """The same of one message with several keys."""
        answers = [self._answers.get(key) or self._search(key) for key in keys]
        for place in {id(place): place for answer in answers for place in answer.places}.values():
            place.messages += 1
        return sorted({destination for answer in answers for destination in answer.destinations})

    def messages_at(self, pattern: str) -> int:
        """Messages counted so far at a pattern that is there."""
        self._learn()
        node = self._root
        for word in words_of(pattern):
            following = node.way(word)
            assert following is not None  # the pattern was added
            node = following
        return node.destinations.messages

    def _learn(self) -> None:
        for answer in self._given:
            for place in answer.places:
                place.messages += answer.given
            answer.given = 0
        self._given.clear()

    def _search(self, key: str) -> _Answer:
        # Nodes behind a `#` stay to the end, whatever comes; every other node is left with the next word. Each of
        # those has one parent, so that only the staying ones can be met twice.
        nodes = [self._root]
        staying: dict[_Node, None] = {}
        _stay(staying, nodes)
        for word in words_of(key):
            reached = []
            for held in (nodes, staying):
                for node in held:
                    following = node.following.get(word)
                    if following is not None:
                        reached.append(following)
                    if node.one_word is not None:
                        reached.append(node.one_word)
            _stay(staying, reached)
            nodes = reached
        places = [node.destinations for node in (*nodes, *staying) if node.destinations]
        found: set[Destination] = set().union(*places)
        return self._keep(key, _Answer(tuple(sorted(found)), places))

    def _keep(self, key: str, answer: _Answer) -> _Answer:
        self._destinations_kept += 1 + len(answer.destinations) + len(answer.places)
        if self._destinations_kept > DESTINATIONS_KEPT_MAX:
            self._forget()
        self._answers[key] = answer
        return answer

    def _forget(self) -> None:
        self._learn()
        self._destinations_kept = 0
        self._answers: dict[str, _Answer] = {}


def _stay(staying: dict[_Node, None], reached: list[_Node]) -> None:
    """Add the nodes behind the `#` that follow these, which may stand for no word, and behind those that follow
    them."""
    for node in reached:
        following = node.any_words
        while following is not None and following not in staying:
            staying[following] = None
            following = following.any_words
