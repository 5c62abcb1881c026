"""The patterns of a topic exchange as a trie of words, and the search for those that a key fits.

    orders.#         root ── orders ── # (1)
    orders.*.paid                   └─ * ── paid (2)

A search goes through the key word by word and holds all nodes that the words so far lead to. It meets a node at most
once at each place of the key, however many `#` are in the patterns, where the original's search follows each way there
separately. The answer to a key is kept until a binding comes or goes.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_topic (trie_match); the answers are the same.
"""

from __future__ import annotations

from broker_core.rabbitmq.exchanges.base import Counted, Destination
from broker_core.rabbitmq.exchanges.topic_words import ANY_WORDS, ONE_WORD, words_of

DESTINATIONS_KEPT_MAX = 2_000_000
"""What all kept answers together may hold; beyond it they are dropped, and found again as keys ask for them."""


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


class TopicTrie:
    def __init__(self) -> None:
        self._root = _Node()
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
        """The destinations of all patterns that the key fits, sorted."""
        answer = self._answers.get(key)
        return self._search(key) if answer is None else answer

    def _search(self, key: str) -> tuple[Destination, ...]:
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
        found: set[Destination] = set()
        for node in (*nodes, *staying):
            if node.destinations:
                found.update(node.destinations)
        return self._keep(key, tuple(sorted(found)))

    def _keep(self, key: str, answer: tuple[Destination, ...]) -> tuple[Destination, ...]:
        self._destinations_kept += 1 + len(answer)
        if self._destinations_kept > DESTINATIONS_KEPT_MAX:
            self._forget()
        self._answers[key] = answer
        return answer

    def _forget(self) -> None:
        self._destinations_kept = 0
        self._answers: dict[str, tuple[Destination, ...]] = {}


def _stay(staying: dict[_Node, None], reached: list[_Node]) -> None:
    """Add the nodes behind the `#` that follow these, which may stand for no word, and behind those that follow
    them."""
    for node in reached:
        following = node.any_words
        while following is not None and following not in staying:
            staying[following] = None
            following = following.any_words
