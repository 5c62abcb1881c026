"""The lectures that come along: one for each chapter of the course, in both languages."""

from functools import cache
from pathlib import Path

from broker_core.lab.lesson.file import read_file
from broker_core.lab.lesson.texts import LANGUAGES
from dashboard.course import CHAPTERS
from dashboard.lectures.lecture import Lecture, lecture_from_text

TEXTS = Path(__file__).parent / "texts"


@cache
def shelf() -> dict[str, dict[str, Path]]:
    """Name, which is its chapter's -> language -> its file; in the order of the chapters."""
    return {name: {each: TEXTS / f"{name}.{each}.md" for each in LANGUAGES} for name in CHAPTERS}


@cache
def lecture_of(name: str, language: str) -> Lecture:
    """Raises KeyError for one that is not there."""
    return lecture_from_text(read_file(shelf()[name][language]))
