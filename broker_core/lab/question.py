"""A question about a change, with four answers (three of two partitions): the true one is what the engine's own run came to.

Partitions are counted: beside the truth stand none, all and parts of all. What is measured (a share of keys, a time,
messages that came twice) is asked in ranges, four neighbours of one scale. So the form of an answer gives nothing
away: they rise, and the true one stands anywhere among them.
"""

from broker_core.clock import SECOND_US
from broker_core.events import Json

ANSWERS = 4
PERCENT = ((0, 0), (1, 20), (21, 40), (41, 60), (61, 80), (81, 99), (100, 100))
PAUSE_US = tuple(
    (low * SECOND_US, None if high is None else high * SECOND_US)
    for low, high in ((0, 1), (1, 3), (3, 10), (10, 30), (30, 60), (60, 120), (120, 300), (300, None))
)
"""The end of a range belongs to the next one."""
TIMES = ((0, 0), (1, 3), (4, 10), (11, 30), (31, 100), (101, 300), (301, 1_000), (1_001, None))
FIGURES = ("partitions_moved", "keys_moved", "redelivered", "pause_us")
"""What can be asked about."""
Range = tuple[int, int | None]


def questions_of(bill: Json, keys_have_owners: bool, is_standing: bool) -> list[Json]:
    """What can be asked of a change: {figure, total, answers [{from, to} four, rising], truth: the place of the true
    one, value: the figure itself}.

    bill: `Bill.to_view`, of a lane at rest. figure: partitions_moved (of total), keys_moved (in percent of the keys
    that were there), redelivered, pause_us; to: null where a range has no end, like from where it is one number.
    is_standing: a pause that has no end has no figure either.
    """
    asked: list[Json] = []
    if bill["partitions_moved"] is not None:
        asked.append(_counted(bill["partitions_moved"], bill["partitions_total"]))
    elif keys_have_owners and bill["keys_total"]:
        asked.append(_ranged("keys_moved", percent_of(bill["keys_moved"], bill["keys_total"]), PERCENT))
    else:
        asked.append(_ranged("redelivered", bill["redelivered"], TIMES))
    if bill["pause_us"] and not is_standing:
        asked.append(_ranged("pause_us", bill["pause_us"], PAUSE_US))
    return asked


def percent_of(part: int, whole: int) -> int:
    """Rounded, but 0 and 100 are none and all.

    >>> percent_of(1, 1000), percent_of(999, 1000), percent_of(1000, 1000)
    (1, 99, 100)
    """
    if part in (0, whole):
        return 100 * (part == whole)
    return min(99, max(1, (200 * part + whole) // (2 * whole)))


def _counted(truth: int, total: int) -> Json:
    answers = [truth]
    for thought in (0, total, total // 2, total // 4, total // 3, *range(total)):
        if thought not in answers and len(answers) < ANSWERS:
            answers.append(thought)
    answers.sort()
    return {
        "figure": "partitions_moved",
        "total": total,
        "answers": [{"from": each, "to": each} for each in answers],
        "truth": answers.index(truth),
        "value": truth,
    }


def _ranged(figure: str, value: int, scale: tuple[Range, ...]) -> Json:
    place = max(at for at, (low, _high) in enumerate(scale) if low <= value)
    first = min(max(0, place - value % ANSWERS), len(scale) - ANSWERS)
    return {
        "figure": figure,
        "total": None,
        "answers": [{"from": low, "to": high} for low, high in scale[first : first + ANSWERS]],
        "truth": place - first,
        "value": value,
    }
