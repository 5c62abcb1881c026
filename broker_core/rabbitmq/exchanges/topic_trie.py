"""The patterns of a topic exchange as a trie of words, and the search for those that a key fits.

    orders.#         root ── orders ── # (1)
    orders.*.paid                   └─ * ── paid (2)

A search goes through the key word by word and holds a *front*: all nodes that the words so far lead to. It meets
a node at most once at each place of the key, however many `#` are in the patterns, where the original's search
follows each way there separately. Which front comes next on which word is kept, so that keys which begin alike are
searched once, and so is the answer to a key; this memory is dropped when a binding comes or goes.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_topic (trie_match); the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from broker_core.rabbitmq.exchanges.base import Counted, Destination
from broker_core.rabbitmq.exchanges.topic_words import ANY_WORDS, ONE_WORD, words_of

NODES_KEPT_MAX, DESTINATIONS_KEPT_MAX = 500_000, 2_000_000
"""What all fronts and all answers together may hold; beyond it they are dropped, and made again as keys ask for
them."""


class _Node:
    """A place in the trie: the destinations of the patterns that end here, and the ways on.

    following: by each word that a pattern names. one_word, any_words: by `*` and by `#`. is_any_words: this is the
    place behind a `#`, where a search may stay on any word.
    """

    __slots__ = ("any_words", "destinations", "following", "is_any_words", "one_word")

    def __init__(self, is_any_words: bool = False) -> None:
        self.destinations = Counted()
        self.following: dict[str, _Node] = {}
        self.one_word: _Node | None = None
        self.any_words: _Node | None = None
        self.is_any_words = is_any_words

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


class _Front:
    """The nodes that the words so far lead to, and what is known of what comes next.

    following: the front after a word that some node names. otherwise: the one after any other word.
    """

    __slots__ = ("following", "nodes", "otherwise")

    def __init__(self, nodes: Sequence[_Node]) -> None:
        self.nodes = nodes
        self.following: dict[str, _Front] = {}
        self.otherwise: _Front | None = None


class TopicTrie:
    def __init__(self) -> None:
        self._root = _Node()
        self._forget()

    def add(self, pattern: str, destination: Destination) -> None:
        node = self._root
        for word in words_of(pattern):
            following = node.way(word)
            if following is None:
                following = _Node(is_any_words=word == ANY_WORDS)
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
        if self._nodes_kept > NODES_KEPT_MAX:
            self._forget_fronts()
        if self._destinations_kept > DESTINATIONS_KEPT_MAX:
            self._forget_answers()
        front = self._start
        for word in words_of(key):
            front = front.following.get(word) or self._step(front, word)
        found: set[Destination] = set().union(*[node.destinations for node in front.nodes])
        answer = self._answers[key] = tuple(sorted(found))
        self._destinations_kept += 1 + len(answer)
        return answer

    def _forget(self) -> None:
        self._forget_fronts()
        self._forget_answers()

    def _forget_fronts(self) -> None:
        self._nodes_kept = 0
        self._start = self._front((self._root,))

    def _forget_answers(self) -> None:
        self._destinations_kept = 0
        self._answers: dict[str, tuple[Destination, ...]] = {}

    def _step(self, front: _Front, word: str) -> _Front:
        """The front after one more word, where it is not known yet."""
        otherwise = front.otherwise
        if otherwise is None:
            stay = [node for node in front.nodes if node.is_any_words]
            otherwise = front.otherwise = self._front(
                stay + [node.one_word for node in front.nodes if node.one_word]
            )
        named = [node.following[word] for node in front.nodes if word in node.following]
        if not named:
            return otherwise
        following = front.following[word] = self._front(named, otherwise.nodes)
        return following

    def _front(self, nodes: Iterable[_Node], more: Sequence[_Node] = ()) -> _Front:
        """The front of these nodes and of all that `#`, which may stand for no word, adds to them. more: nodes
        that have theirs with them."""
        held = dict.fromkeys(more)
        for node in nodes:
            held[node] = None
            following = node.any_words
            while following is not None and following not in held:
                held[following] = None
                following = following.any_words
        self._nodes_kept += len(held)
        return _Front(tuple(held))
