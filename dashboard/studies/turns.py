"""Whose study is next. Fair by owner: ten studies of one person do not make another wait for all ten.

Among the owners who ran fewest lately, the one whose first waiting study has waited longest; then the same
again, with that run counted. Owners are easily invented, so the runs of a network address count, too:
RUNS_OF_ADDRESS of them as one, as a classroom is not one person.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping

RUNS_OF_ADDRESS = 4


def turns(
    waiting: Iterable[tuple[str, str]],
    recent: Mapping[str, int],
    address_of: Mapping[str, str] | None = None,
    recent_of_address: Mapping[str, int] | None = None,
) -> list[str]:
    """The order in which studies will run, if nothing else comes.

    waiting: (study, owner), the longest waiting first. recent: owner -> how many of theirs ran lately, the
    running one included.
    address_of: study -> network address, where it is known; recent_of_address: address -> how many ran
    lately.

    >>> turns([("a1", "ann"), ("a2", "ann"), ("b1", "bob")], {})
    ['a1', 'b1', 'a2']
    >>> turns([("a1", "ann"), ("b1", "bob")], {"ann": 2})
    ['b1', 'a1']
    >>> turns([("x1", "one"), ("x2", "two"), ("b1", "bob")], {}, {"x1": "here", "x2": "here", "b1": "there"}, {"here": 4})
    ['b1', 'x1', 'x2']
    """
    runs, runs_of_address = Counter(recent), Counter(recent_of_address)
    addresses = address_of or {}
    queues: dict[str, deque[tuple[int, str]]] = {}
    for place, (study, owner) in enumerate(waiting):
        queues.setdefault(owner, deque()).append((place, study))
    order = []

    def rank(owner: str) -> tuple[int, int]:
        place, study = queues[owner][0]
        return max(runs[owner], runs_of_address[addresses.get(study, "")] // RUNS_OF_ADDRESS), place

    while queues:
        owner = min(queues, key=rank)
        study = queues[owner].popleft()[1]
        order.append(study)
        runs[owner] += 1
        if address := addresses.get(study):
            runs_of_address[address] += 1
        if not queues[owner]:
            del queues[owner]
    return order
