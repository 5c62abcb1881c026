"""A topic pattern and a routing key, word by word: what `*` and `#` stood for, or the first word that fails.

Source: RabbitMQ 3.10.8 rabbit_exchange_type_topic, split_topic_key; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from broker_core.rabbitmq.exchanges.base import WordMatch

ONE_WORD, ANY_WORDS = "*", "#"


def words_of(key: str) -> list[str]:
    """A key's words. The empty key has none; else every dot parts two words, either of which may be empty.

    >>> words_of(""), words_of("."), words_of("a..b")
    ([], ['', ''], ['a', '', 'b'])
    """
    return key.split(".") if key else []


def compare_words(pattern: str, key: str) -> tuple[tuple[WordMatch, ...], tuple[str, ...]]:
    """Lay a pattern over a key.

    Returns what each word of the pattern took, up to the first one that fails, and the key's words that are
    left over when all of the pattern was fulfilled. The key fits when nothing fails and nothing is left over;
    of several `#` a later one then takes as few words as it can. If it does not fit, the words are those of the
    try that gets furthest: through as much of the pattern as possible, then through as much of the key.

    >>> [(word.pattern, word.words, word.is_match) for word in compare_words("*.#.b", "a.x.y.b")[0]]
    [('*', ('a',), True), ('#', ('x', 'y'), True), ('b', ('b',), True)]
    >>> compare_words("a", "a.b")
    ((WordMatch(pattern='a', words=('a',), is_match=True),), ('b',))
    """
    wanted, words = words_of(pattern), words_of(key)
    taken = _takings(wanted, words)
    if len(words) in taken[-1]:
        return _walk(wanted, words, taken, len(wanted), len(words)), ()
    depth = max(depth for depth, ends in enumerate(taken) if ends)
    if depth == len(wanted):
        end = max(taken[depth])
        return _walk(wanted, words, taken, depth, end), tuple(words[end:])
    # A word that differs says more than "the key had ended": prefer the last try with a word to compare.
    end = max((end for end in taken[depth] if end < len(words)), default=len(words))
    fails = WordMatch(wanted[depth], tuple(words[end : end + 1]), is_match=False)
    return (*_walk(wanted, words, taken, depth, end), fails), ()


def _takings(wanted: list[str], words: list[str]) -> list[dict[int, int]]:
    """For each number of the pattern's words: where in the key they may end -> where the last of them began,
    as late as it may. Each (word, place) is looked at once, however many `#` there are."""
    taken: list[dict[int, int]] = [{0: 0}]
    for word in wanted:
        ends: dict[int, int] = {}
        if word == ANY_WORDS:
            begin = -1
            for end in range(min(taken[-1], default=len(words) + 1), len(words) + 1):
                if end in taken[-1]:
                    begin = end
                ends[end] = begin
        else:
            for begin in taken[-1]:
                if begin < len(words) and word in (ONE_WORD, words[begin]):
                    ends[begin + 1] = begin
        taken.append(ends)
    return taken


def _walk(
    wanted: list[str], words: list[str], taken: list[dict[int, int]], depth: int, end: int
) -> tuple[WordMatch, ...]:
    """The way back from where the first `depth` words of the pattern end."""
    found = []
    for place in range(depth, 0, -1):
        begin = taken[place][end]
        found.append(WordMatch(wanted[place - 1], tuple(words[begin:end]), is_match=True))
        end = begin
    return tuple(reversed(found))
