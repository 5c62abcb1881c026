"""Whose study is next. Fair by owner: ten studies of one person do not make another wait for all ten.

Among the owners who ran fewest lately, the one whose first waiting study has waited longest; then the same again, with that run counted.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping


def turns(waiting: Iterable[tuple[str, str]], recent: Mapping[str, int]) -> list[str]:
    """The order in which studies will run, if nothing else comes.

    waiting: (study, owner), the longest waiting first. recent: owner -> how many of theirs ran lately, the running one included.

    >>> turns([("a1", "ann"), ("a2", "ann"), ("b1", "bob")], {})
    ['a1', 'b1', 'a2']
    >>> turns([("a1", "ann"), ("b1", "bob")], {"ann": 2})
    ['b1', 'a1']
    """
    runs = Counter(recent)
    queues: dict[str, deque[tuple[int, str]]] = {}
    for place, (study, owner) in enumerate(waiting):
        queues.setdefault(owner, deque()).append((place, study))
    order = []
    while queues:
        owner = min(queues, key=lambda name: (runs[name], queues[name][0][0]))
        order.append(queues[owner].popleft()[1])
        runs[owner] += 1
        if not queues[owner]:
            del queues[owner]
    return order
