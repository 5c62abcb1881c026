"""A lecture as its pages show it: stills of the frames that it names, questions with their answers."""

from typing import Any

from django.urls import reverse

from dashboard import lessons
from dashboard.formats import clock
from dashboard.lectures.lecture import Lecture, LessonQuestion, LessonStep, OwnQuestion, Part, Prose, Slide
from dashboard.lesson_words import asked_words
from dashboard.stills.drawing import draw
from dashboard.stills.recorded import recorded_frames

Json = dict[str, Any]
Words = dict[str, str]
LETTERS = "ABCDEF"


def shown(lecture: Lecture, language: str, words: Words) -> list[Json]:
    """Its slides in turn. language: of the two that lessons have. words: of the page's language."""
    slides, from_minute = [], 0
    for number, slide in enumerate(lecture.slides, start=1):
        parts = [_part(part, language, words) for part in slide.parts]
        slides.append(_slide(slide, number, from_minute, parts))
        from_minute += slide.minutes
    return slides


def _slide(slide: Slide, number: int, from_minute: int, parts: list[Json]) -> Json:
    return {
        "number": number,
        "title": slide.title,
        "minutes": slide.minutes,
        "from_minute": from_minute,
        "parts": parts,
        "said": [part for part in parts if part["kind"] != "step"],
        "steps": [part for part in parts if part["kind"] == "step"],
        "notes": slide.notes,
    }


def _part(part: Part, language: str, words: Words) -> Json:
    match part:
        case Prose(html):
            return {"kind": "prose", "html": html}
        case LessonStep(lesson, frame):
            return {"kind": "step", **_step(lesson, frame, language)}
        case LessonQuestion(lesson, frame):
            return {"kind": "question", **_asked(lesson, frame, words)}
        case OwnQuestion(html, answers, right, why):
            return {
                "kind": "question",
                "html": html,
                "answers": list(zip(LETTERS, answers, strict=False)),
                "right": LETTERS[right],
                "truth": "",
                "why": why,
            }


def _step(name: str, frame: int, language: str) -> Json:
    lesson = lessons.shelved()[name].lesson
    step = lesson.frames()[frame - 1]
    assert step.caption is not None, "a frame is a step with a caption"
    return {
        "name": name,
        "frame": frame,
        "of": len(lesson.frames()),
        "title": lesson.title[language],
        "time": clock(step.stop_us).removesuffix(".0"),
        "caption": step.caption[language],
        "still": draw(recorded_frames()[name][frame - 1], lesson.lanes, language),
        "url": reverse("learn-lesson", args=[name]),
    }


def answers_of(question: LessonQuestion | OwnQuestion) -> tuple[int, int]:
    """(how many answers it has, the place of the true one)."""
    if isinstance(question, OwnQuestion):
        return len(question.answers), question.right
    asked = recorded_frames()[question.lesson][question.frame - 1]["ask"]["question"]
    return len(asked["answers"]), asked["truth"]


def _asked(name: str, frame: int, words: Words) -> Json:
    ask = recorded_frames()[name][frame - 1]["ask"]
    asked = asked_words(lessons.shelved()[name].lesson.lanes, ask, words)
    return {
        "text": asked["text"],
        "answers": list(zip(LETTERS, asked["answers"], strict=False)),
        "right": LETTERS[ask["question"]["truth"]],
        "truth": asked["truth"],
        "why": "",
    }
