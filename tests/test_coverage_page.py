"""docs/coverage.md says where each concept of the articles is: the files and names that it gives are there,
and its sums are right."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/coverage.md").read_text(encoding="utf-8")
FROM_THE_ROOT = ("docs/", "tests/", "dashboard/", "templates/")
STATES = ("present", "partly", "absent")


def rows() -> list[tuple[str, list[str]]]:
    """(part, the five cells) of each row of the parts' tables."""
    found, part = [], ""
    for line in PAGE.splitlines():
        if line.startswith("## "):
            part = line[3:]
        elif re.match(r"\| [A-Z]\d+ \|", line):
            found.append((part, [cell.strip() for cell in line[1:-1].split("|")]))
    return found


def named_places() -> list[tuple[str, str]]:
    """(path, name in that file or "") of everything in code type that is a path."""
    places = []
    for _, cells in rows():
        for text in re.findall(r"`([^`]+)`", cells[4]):
            path, _, name = text.partition(":")
            if "/" in path and " " not in path:
                places.append((path, name.strip()))
    return places


def files_of(path: str) -> list[Path]:
    return list((ROOT if path.startswith(FROM_THE_ROOT) else ROOT / "broker_core").glob(path))


def test_every_file_that_the_page_names_is_there() -> None:
    places = named_places()
    assert len(places) > 100
    assert [path for path, _ in places if not files_of(path)] == []


def test_every_name_that_the_page_gives_is_in_its_file() -> None:
    named = [(path, name) for path, name in named_places() if name]
    assert len(named) > 10
    assert [
        place
        for place in named
        if not any(re.search(rf"\b{place[1]}\b", file.read_text()) for file in files_of(place[0]))
    ] == []


def test_every_row_has_a_state_and_an_id_of_its_own_and_the_sums_are_theirs() -> None:
    assert {cells[3] for _, cells in rows()} <= set(STATES) and {len(cells) for _, cells in rows()} == {5}
    assert max(Counter(cells[0] for _, cells in rows()).values()) == 1
    counted = {part: Counter(cells[3] for of, cells in rows() if of == part) for part, _ in rows()}
    counted["**all**"] = sum(counted.values(), Counter())
    summed = {
        part: [counts[state] for state in STATES] + [counts.total()] for part, counts in counted.items()
    }
    sums = (re.split(r" *\| *", line.strip("| ")) for line in PAGE[PAGE.index("## Sum") :].splitlines()[4:])
    assert {part: [int(number) for number in numbers] for part, *numbers in sums} == summed


def test_what_is_present_says_where() -> None:
    assert [cells[0] for _, cells in rows() if cells[3] == "present" and not cells[4]] == []
