"""A lesson's hand-out: one A4 sheet to print, its frames on the front; on the back the question of its frames with four
answers, and the questions of its checks."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.lab.lesson.lesson import Check, Lesson
from dashboard import lessons
from dashboard.formats import clock
from dashboard.lesson_words import asked_words, asks_words
from dashboard.page import base_context
from dashboard.stills.drawing import MODEL_NAMES, draw
from dashboard.stills.recorded import recorded_frames

Json = dict[str, Any]
Words = dict[str, str]


@require_safe
@never_cache
def handout(request: HttpRequest, name: str) -> HttpResponse:
    """In the language of whoever asks."""
    if name not in lessons.shelved():
        raise Http404
    context = base_context(request, "learn")
    language = context["page"]["language"]
    short, words = ("en" if language == "en" else "zh"), context["catalogue"][language]
    shelved = lessons.shelved()[name]
    told = shelved.lesson
    asked = [_asked(told.lanes, still["ask"], words) for still in recorded_frames()[name] if "ask" in still]
    context |= {
        "name": name,
        "title": told.title[short],
        "line": told.line[short],
        "you_will_learn": told.you_will_learn[short],
        "watch_for": told.watch_for[short],
        "frames": _frames(name, told, short),
        "asked": asked,
        "questions": [
            _question(check, told, short, words) | {"number": number}
            for number, check in enumerate(told.checks, start=len(asked) + 1)
        ],
        "seed": shelved.scenario.seed,
        "address": request.build_absolute_uri(reverse("learn-lesson", args=[name])),
    }
    return render(request, "dashboard/learn_print.html", context)


def _frames(name: str, told: Lesson, short: str) -> list[Json]:
    stills = recorded_frames()[name]
    return [
        {
            "time": _time(step.stop_us),
            "caption": step.caption[short],
            "still": draw(still, told.lanes, short),
        }
        for step, still in zip(told.frames(), stills, strict=True)
        if step.caption is not None
    ]


def _asked(lanes: Json, ask: Json, words: Words) -> Json:
    """{text, answers [[letter, text]], answer}."""
    asked = asked_words(lanes, ask, words)
    letters = list(zip("ABCD", asked["answers"], strict=False))
    letter, _text = letters[ask["question"]["truth"]]
    return {"text": asked["text"], "answers": letters, "answer": f"{letter}, {asked['truth']}"}


def _question(check: Check, told: Lesson, short: str, words: Words) -> Json:
    """A blank stands for the figure that the check asks for. Its lane is named where checks ask several."""
    several = len({each.lane for each in told.checks}) > 1
    named = told.lanes[check.lane][short] if check.lane in told.lanes else MODEL_NAMES.get(check.lane, "")
    asks = {
        how: words.get(f"check.state.{value}", value) if isinstance(value, str) else value
        for how, value in check.asks.items()
    }
    return {
        "time": _time(check.at_us),
        "lane": named if several else "",
        "says": check.says[short],
        "answer": asks_words(asks, words),
    }


def _time(at_us: int) -> str:
    return clock(at_us).removesuffix(".0")
