"""A lecture, read from its Markdown.

# Title
What it is about.

## First slide
::: minutes 4
Prose.
::: lesson kafka_eager_join frame=3
::: question kafka_eager_join frame=3
::: notes
What the speaker says.
:::
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from django.utils.safestring import SafeString
from markdown_it.token import Token

from broker_core.errors import Names
from broker_core.lab.lesson.bounds import BYTES_MAX
from broker_core.lab.lesson.file_error import FileError
from dashboard import lessons
from dashboard.lectures.markdown import (
    BLOCKS,
    DIRECTIVE,
    OPEN,
    SIGN,
    html_of,
    inline_html,
    text_of,
    tokens_of,
)
from dashboard.stills.recorded import recorded_frames

MINUTES, LESSON, NOTES, QUESTION = DIRECTIVES = ("minutes", "lesson", "notes", "question")
TITLE_MAX, SLIDES_MAX, MINUTES_MAX, ANSWERS_MAX, NAME_SHOWN = 120, 80, 120, 6, 64
_WORD = re.compile(r"[a-z0-9_]{1,64}")
_FRAME = re.compile(r"frame=([0-9]{1,3})")
_ANSWER = re.compile(r"[-*] \[([ xX])\] +(\S.*)")


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs, lists, tables, code."""

    html: SafeString


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A frame of a lesson, from 1."""

    lesson: str
    frame: int


@dataclass(frozen=True, slots=True)
class LessonQuestion:
    """The question that a lesson asks at a frame; its answers come from the engine."""

    lesson: str
    frame: int


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """right: index of the answer that is true. why: "" where the author gives no reason."""

    html: SafeString
    answers: tuple[SafeString, ...]
    right: int
    why: SafeString


Part = Prose | LessonStep | LessonQuestion | OwnQuestion


@dataclass(slots=True)
class Slide:
    """line: of its heading, from 1. minutes: 0 where the author plans none. notes: for the speaker."""

    title: str
    line: int
    minutes: int = 0
    parts: list[Part] = field(default_factory=list)
    notes: SafeString = field(default_factory=SafeString)


@dataclass(frozen=True, slots=True)
class Lecture:
    """about: what stands before the first slide."""

    title: str
    about: SafeString
    slides: tuple[Slide, ...]

    @property
    def minutes(self) -> int:
        return sum(slide.minutes for slide in self.slides)


def lecture_from_text(text: str) -> Lecture:
    """The lecture that a text describes. Raises FileError, and nothing else, at the first line that is wrong."""
    if len(text) > BYTES_MAX or len(text.encode(errors="replace")) > BYTES_MAX:
        raise FileError(0, "", "is longer than {high} bytes", high=BYTES_MAX)
    title, about, slides = "", SafeString(), list[Slide]()
    for line, tokens in _blocks(tokens_of(text)):
        first = tokens[0]
        if first.type == "heading_open" and first.tag == "h1":
            if title:
                raise FileError(line, "", "a lecture has one title; a slide begins with ##")
            title = _title(tokens[1], line)
        elif not title:
            raise FileError(line, "", "a lecture begins with its title: # and the title")
        elif first.type == "heading_open" and first.tag == "h2":
            if len(slides) == SLIDES_MAX:
                raise FileError(line, "", "has more than {high} slides", high=SLIDES_MAX)
            slides.append(Slide(_title(tokens[1], line), line))
        elif first.type == DIRECTIVE:
            if not slides:
                raise FileError(line, "", "belongs to a slide: begin one before it with ## and its title")
            _carry_out(first, line, slides[-1])
        elif slides:
            slides[-1].parts.append(Prose(html_of(tokens)))
        else:
            about += html_of(tokens)
    if not title:
        raise FileError(1, "", "a lecture begins with its title: # and the title")
    if not slides:
        raise FileError(0, "", "has no slide: begin one with ## and its title")
    return Lecture(title, about, tuple(slides))


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[int, list[Token]]]:
    """(line, from 1; its tokens) of each block at the top level: a heading, a directive, a paragraph, a list."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield (block[0].map or [0])[0] + 1, block
            block = []


def _title(inline: Token, line: int) -> str:
    title = text_of(inline)
    if not title or len(title) > TITLE_MAX:
        raise FileError(line, "", "a title has 1 to {high} characters", high=TITLE_MAX)
    return title


def _carry_out(token: Token, line: int, slide: Slide) -> None:
    name, _, rest = token.info.partition(" ")
    rest = rest.strip()
    if token.meta[OPEN]:
        raise FileError(line, f"{SIGN} {name}", "is never closed: write ::: on a line of its own below it")
    if name in BLOCKS and not rest and not token.content.strip():
        raise FileError(line, f"{SIGN} {name}", "holds no text")
    match name:
        case "minutes":
            slide.minutes = _minutes(rest, line, slide)
        case "lesson":
            slide.parts.append(LessonStep(*_frame(rest, line)))
        case "notes" if not rest:
            slide.notes += _notes(token.content, line)
        case "question" if rest:
            slide.parts.append(_asked(*_frame(rest, line), line))
        case "question":
            slide.parts.append(_question(token.content, line))
        case "notes":
            raise FileError(line, f"{SIGN} notes", "has nothing behind it: the notes are the lines below")
        case "":
            raise FileError(line, SIGN, "closes nothing: no question and no notes are open here")
        case _:
            raise FileError(
                line, f"{SIGN} {name[:NAME_SHOWN]}", "is unknown; known: {names}", names=Names(DIRECTIVES)
            )


def _minutes(text: str, line: int, slide: Slide) -> int:
    if slide.minutes:
        raise FileError(line, f"{SIGN} minutes", "this slide has its minutes already")
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MINUTES_MAX:
        raise FileError(line, f"{SIGN} minutes", "must be a whole number from {low} to {high}", low=1, high=MINUTES_MAX)  # fmt: skip
    return int(text)


def _frame(text: str, line: int) -> tuple[str, int]:
    """("kafka_eager_join frame=3") -> its name and 3; without a frame the first."""
    name, *more = text.split() or [""]
    known = lessons.shelved()
    if name not in known:
        raise _no_lesson(name, line)
    found = _FRAME.fullmatch(more[0]) if more else None
    if len(more) > 1 or (more and found is None):
        raise FileError(line, more[-1][:NAME_SHOWN], "is unknown here; write frame= and a number")
    frame, count = int(found[1]) if found else 1, len(known[name].lesson.frames())
    if not 1 <= frame <= count:
        raise FileError(line, f"frame={frame}", "the lesson {name} has {count} frames", name=name, count=count)  # fmt: skip
    return name, frame


def _no_lesson(name: str, line: int) -> FileError:
    if not _WORD.fullmatch(name):
        return FileError(line, "", "must name a lesson, as kafka_eager_join; the page Learn lists them")
    if near := get_close_matches(name, list(lessons.shelved()), n=1):
        return FileError(line, "", 'there is no lesson "{name}"; did you mean "{near}"?', name=name, near=near[0])  # fmt: skip
    return FileError(line, "", 'there is no lesson "{name}"; the page Learn lists them', name=name)


def _asked(name: str, frame: int, line: int) -> LessonQuestion:
    asking = [str(number) for number, still in enumerate(recorded_frames()[name], start=1) if "ask" in still]
    if not asking:
        raise FileError(line, "", "the lesson {name} asks nothing at its frames", name=name)
    if str(frame) not in asking:
        raise FileError(
            line, f"frame={frame}", "the lesson {name} asks at frame {frames}", name=name, frames=Names(asking)
        )  # fmt: skip
    return LessonQuestion(name, frame)


def _notes(text: str, line: int) -> SafeString:
    return _plain(text, line, SIGN + " notes")


def _plain(text: str, line: int, where: str) -> SafeString:
    """The HTML of lines inside a directive, which hold no other one. line: of the directive."""
    tokens = tokens_of(text)
    if inner := next((token for token in tokens if token.type == DIRECTIVE), None):
        raise FileError(
            line + 1 + (inner.map or [0])[0], where, "holds no other directive: close it first with :::"
        )
    return html_of(tokens)


def _question(text: str, line: int) -> OwnQuestion:
    where = f"{SIGN} question"
    lines = text.split("\n")
    found = {place: match for place, each in enumerate(lines) if (match := _ANSWER.fullmatch(each.strip()))}
    if not 2 <= len(found) <= ANSWERS_MAX:
        raise FileError(
            line, where, "needs {low} to {high} answers, each a line: - [ ] text, or - [x] text where it is true",
            low=2, high=ANSWERS_MAX,
        )  # fmt: skip
    first, last = min(found), max(found)
    if stray := next(
        (each for each in range(first, last) if each not in found and lines[each].strip()), None
    ):
        raise FileError(
            line + 1 + stray, where, "an answer is one line; the reason comes after the last answer"
        )
    true = [place for place, match in enumerate(found.values()) if match[1] != " "]
    if len(true) != 1:
        raise FileError(line, where, "needs one true answer, written as - [x] text")
    asked = "\n".join(lines[:first])
    if not asked.strip():
        raise FileError(line, where, "asks nothing: write the question before its answers")
    return OwnQuestion(
        _plain(asked, line, where),
        tuple(inline_html(match[2].strip()) for match in found.values()),
        true[0],
        _plain("\n".join(lines[last + 1 :]), line + 1 + last, where),
    )
