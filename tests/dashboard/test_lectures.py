"""Lectures: what a text may say, at which line it is wrong, what a page makes of it, and those that come along."""

import ast
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.lesson.bounds import BYTES_MAX
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.texts import LANGUAGES
from dashboard import lessons
from dashboard.course import CHAPTERS
from dashboard.lectures import lecture as reading
from dashboard.lectures.lecture import (
    DIRECTIVES,
    LessonQuestion,
    LessonStep,
    OwnQuestion,
    Prose,
    lecture_from_text,
)
from dashboard.lectures.shelf import lecture_of, shelf
from dashboard.models import Lab
from mqsite.messages import read_po
from tests.dashboard.test_names import OTHERS

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
LESSON, ASKING = "kafka_cluster_high_watermark", "kafka_eager_join"
WHOLE = f"""\
# A title
About it.

## One

::: minutes 4

Some *prose*.

::: lesson {LESSON} frame=2
::: question {ASKING} frame=3

::: notes
Say **this**.
:::

## Two

::: question
Which `one`?
- [ ] the *first*
- [x] the second

Because.
:::
"""


def wrong(text: str) -> FileError:
    with pytest.raises(FileError) as caught:
        lecture_from_text(text)
    return caught.value


# -- what a text says ----------------------------------------------------------------------------------------


def test_a_text_is_slides_with_prose_steps_questions_and_notes() -> None:
    lecture = lecture_from_text(WHOLE)
    one, two = lecture.slides
    assert (lecture.title, lecture.about, lecture.minutes) == ("A title", "<p>About it.</p>\n", 4)
    assert (one.title, one.line, one.minutes, one.notes) == (
        "One", 4, 4, "<p>Say <strong>this</strong>.</p>\n",
    )  # fmt: skip
    assert one.parts == [
        Prose("<p>Some <em>prose</em>.</p>\n"), LessonStep(LESSON, 2), LessonQuestion(ASKING, 3),
    ]  # fmt: skip
    assert two.parts == [
        OwnQuestion(
            "<p>Which <code>one</code>?</p>\n", ("the <em>first</em>", "the second"), 1, "<p>Because.</p>\n"
        )
    ]


def test_a_directive_ends_a_paragraph_and_is_text_inside_code_and_lists() -> None:
    lecture = lecture_from_text(
        "# T\n## S\nprose\n::: minutes 2\n```\n::: nix\n# no\n```\n- a\n\n  ::: nix\n> ::: nix\n"
    )
    (slide,) = lecture.slides
    assert slide.minutes == 2 and len(slide.parts) == 4
    assert "::: nix\n# no" in slide.parts[1].html  # type: ignore[union-attr]


BEGIN = "# T\n\n## S\n\n"
QUESTION = "::: question\nWhy?\n- [x] a\n- [ ] b\n:::\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "begins with its title"),
        ("text\n", 1, "begins with its title"),
        ("# T\n\ntext\n", 0, "has no slide"),
        ("# T\n\n::: minutes 3\n", 3, "belongs to a slide"),
        (f"{BEGIN}# Another\n", 5, "one title"),
        ("# T\n##\n", 2, "a title has 1 to 120 characters"),
        (f"# {'t' * 121}\n", 1, "a title has 1 to 120 characters"),
        (f"{BEGIN}::: lesson kafka_eager_joyn\n", 5, 'there is no lesson "kafka_eager_joyn"; did you mean "kafka_eager_join"?'),
        (f"{BEGIN}::: lesson zzz\n", 5, 'there is no lesson "zzz"; the page Learn'),
        (f"{BEGIN}::: lesson\n", 5, "must name a lesson"),
        (f"{BEGIN}::: lesson {LESSON} frame=6\n", 5, f"frame=6: the lesson {LESSON} has 5 frames"),
        (f"{BEGIN}::: lesson {LESSON} frame=0\n", 5, "has 5 frames"),
        (f"{BEGIN}::: lesson {LESSON} 3\n", 5, "write frame= and a number"),
        (f"{BEGIN}::: lesson {LESSON} frame=1 frame=2\n", 5, "write frame= and a number"),
        (f"{BEGIN}::: question {LESSON} frame=2\n", 5, "asks nothing at its frames"),
        (f"{BEGIN}::: question {ASKING} frame=1\n", 5, f"the lesson {ASKING} asks at frame 3"),
        (f"{BEGIN}::: minutes 0\n", 5, "a whole number from 1 to 120"),
        (f"{BEGIN}::: minutes {'9' * 5000}\n", 5, "a whole number from 1 to 120"),
        (f"{BEGIN}::: minutes 3\n::: minutes 3\n", 6, "has its minutes already"),
        (f"{BEGIN}::: slides\n", 5, "::: slides: is unknown; known: minutes, lesson, notes, question"),
        (f"{BEGIN}:::\n", 5, "closes nothing"),
        (f"{BEGIN}::: notes\nand no end\n", 5, "::: notes: is never closed"),
        (f"{BEGIN}::: notes\n\n:::\n", 5, "holds no text"),
        (f"{BEGIN}::: notes for me\n", 5, "has nothing behind it"),
        (f"{BEGIN}::: notes\na\n\n::: minutes 3\n:::\n", 8, "holds no other directive"),
        (f"{BEGIN}::: question\nWhy?\n- [x] a\n:::\n", 5, "needs 2 to 6 answers"),
        (f"{BEGIN}::: question\nWhy?\n- [x] a\n- [x] b\n:::\n", 5, "needs one true answer"),
        (f"{BEGIN}::: question\n- [x] a\n- [ ] b\n:::\n", 5, "asks nothing: write the question"),
        (f"{BEGIN}::: question\nWhy?\n- [x] a\n  more\n- [ ] b\n:::\n", 8, "an answer is one line"),
        (f"{BEGIN}{QUESTION}\n::: lesson zzz\n", 11, "there is no lesson"),
        ("x" * (BYTES_MAX + 1), 0, f"is longer than {BYTES_MAX} bytes"),
        ("# T\n" + "## S\n" * 81, 82, "has more than 80 slides"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_line(text: str, line: int, said: str) -> None:
    error = wrong(text)
    assert error.line == line and said in str(error)


def test_every_refusal_has_a_translation() -> None:
    known = read_po(ROOT / "locale/zh_Hans/LC_MESSAGES/django.po")
    found = [
        node.args[2].value
        for node in ast.walk(ast.parse(Path(reading.__file__).read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "FileError"
        if isinstance(node.args[2], ast.Constant)
    ]
    assert len(found) > 20 and [text for text in found if not known.get(text)] == []


PIECES = st.sampled_from([
    "# T\n", "## S\n", "### h\n", ":::", "::: ", "notes", "question", "lesson ", LESSON, ASKING, " frame=", "2",
    "\n", "\n\n", "- [ ] a\n", "- [x] b\n", "```\n", "> ", "  ", "\t", "|", "[a](", "javascript:", "<b>", "\0", "&#0;", "9" * 5000,
])  # fmt: skip


@given(st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=40).map("".join)))
def test_any_text_is_a_lecture_or_a_refusal_with_a_line_of_it(text: str) -> None:
    try:
        lecture = lecture_from_text(text)
    except FileError as error:
        assert 0 <= error.line <= text.count("\n") + text.count("\r") + 1
    else:
        assert lecture.title and lecture.slides


NASTY = """\
# <script>alert(1)</script>

<img src=x onerror=alert(1)> and <b>bold</b>

## <svg onload=alert(1)>

[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](//elsewhere.example) [e](/learn/)
<javascript:alert(1)> ![pixel](https://elsewhere.example/p.png) [f](vbscript:x "t\" onmouseover=alert(1)")

<iframe src="https://elsewhere.example"></iframe>

```<script>
</code><script>alert(2)</script>
```

::: question
<script>alert(3)</script>
- [x] <img src=x onerror=alert(4)>
- [ ] b

<style>*{}</style>
:::

::: notes
<script>alert(5)</script>
:::
"""
ALLOWED = {
    "p", "em", "strong", "code", "pre", "a", "ul", "ol", "li", "h3", "blockquote", "br", "hr", "table", "thead", "tbody",
    "tr", "th", "td",
}  # fmt: skip


def html_parts(text: str) -> str:
    lecture = lecture_from_text(text)
    parts = [lecture.about, *(slide.notes for slide in lecture.slides)]
    for slide in lecture.slides:
        for part in slide.parts:
            if isinstance(part, Prose):
                parts.append(part.html)
            elif isinstance(part, OwnQuestion):
                parts += [part.html, *part.answers, part.why]
    return "".join(parts)


def faults(html: str) -> list[str]:
    """Tags and attributes that Markdown alone cannot make."""
    found = []
    for tag, attributes in re.findall(r"<\s*/?\s*([\w-]+)((?:[^>\"]|\"[^\"]*\")*)>", html):
        names = {name for name, _value in re.findall(r"([\w-]+)=\"([^\"]*)\"", attributes)}
        links = re.findall(r"href=\"([^\"]*)\"", attributes)
        styles = re.findall(r"style=\"([^\"]*)\"", attributes)
        if (
            tag.lower() not in ALLOWED
            or names - {"href", "rel", "title", "start", "class", "style"}
            or [link for link in links if not re.match(r"https?://|/(?!/)|#", link, re.IGNORECASE)]
            or [style for style in styles if not re.fullmatch(r"text-align:(left|right|center)", style)]
        ):
            found.append(f"{tag} {attributes}")
    return found


def test_no_text_becomes_markup_of_its_own() -> None:
    html = html_parts(NASTY)
    assert faults(html) == [] and 'href="/learn/" rel="noopener noreferrer"' in html
    page = Client().post("/lectures/own/", {"text": NASTY, "way": "read"}).content.decode()
    for alive in (
        "<script>alert",
        "<img",
        "<iframe",
        "<svg onload",
        "<style>",
        'href="javascript',
        "<b>bold",
    ):
        assert alive not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


SIGNS = st.sampled_from([
    "<", ">", '"', "'", "javascript:", "[a](", ")", "![", "](", "`", "*", "_", "&lt;", "onload=", "script",
    "https://a.example", "\n", "\\", "|", "-", "<!--", "<a ",
])  # fmt: skip


@given(st.lists(st.one_of(SIGNS, st.text(max_size=3)), max_size=30).map("".join))
def test_no_text_at_all_becomes_markup_of_its_own(text: str) -> None:
    try:
        html = html_parts(f"# T\n\n## S\n\n{text}\n\n::: notes\n{text}\n:::\n")
    except FileError:
        return
    assert faults(html) == []


# -- pages ---------------------------------------------------------------------------------------------------


def sent(way: str, text: str = WHOLE, **more: Any) -> Any:
    return Client(headers={"accept-language": more.pop("language", "en")}).post(
        "/lectures/own/", {"text": text, "way": way, **more}
    )


def test_a_text_is_shown_as_it_was_asked_for_and_kept_nowhere() -> None:
    for way, has in (("read", 'class="learn read"'), ("deck", 'class="deck"'), ("paper", "paper.css")):
        answer = sent(way)
        text = answer.content.decode()
        assert answer.status_code == 200 and has in text
        assert (f'name="scenario" value="{LESSON}"' in text) is (way != "paper")
        assert "The high watermark, step by step" in text and "frame 2 of 5, at 0:0" in text
        assert "Say <strong>this</strong>" in text if way == "deck" else "Say <strong>" not in text
    notes = sent("notes").content.decode()
    assert (
        "Say <strong>this</strong>" in notes
        and "Answer: B" in notes
        and "Answer: B" not in sent("paper").content.decode()
    )
    assert Lab.objects.count() == 0
    assert '<textarea id="text"' in sent("").content.decode(), "back to the text"


def test_the_question_of_a_lesson_has_its_four_answers_from_the_engine() -> None:
    text = sent("read").content.decode()
    question = re.search(r'<div class="question">.*?</div>', text, re.DOTALL)
    assert question and question.group().count("<li>") == 4 and "Answer: " in question.group()


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "line 5: there is no lesson &quot;nix&quot;; the page Learn lists them"),
        ("zh-hans", "第 5 行: 没有课程“nix”；“学习”页列出了全部课程"),
    ],
)
def test_a_wrong_text_comes_back_in_the_editor_with_its_line(language: str, said: str) -> None:
    answer = sent("deck", f"{BEGIN}::: lesson nix\n", language=language)
    text = answer.content.decode()
    assert answer.status_code == 400 and said in text and 'data-line="5"' in text and "::: lesson nix" in text


def test_a_file_is_taken_as_the_text_is() -> None:
    chosen = SimpleUploadedFile("mine.md", WHOLE.encode())
    assert "A title" in sent("read", "", file=chosen).content.decode()
    assert sent("read", "", file=SimpleUploadedFile("x.md", b"\xff" * 9)).status_code == 400
    assert sent("read", "", file=SimpleUploadedFile("x.md", b"x" * 50_000)).status_code == 400


def test_a_step_opens_live_at_its_frame() -> None:
    client = Client()
    answer = client.post("/learn/play/", {"scenario": LESSON, "frame": "3"})
    lab = Lab.objects.get()
    assert answer["Location"] == f"/lab/{lab.pk}/kafka/cluster/"
    order = lab.commands.get(position=1).body
    frame = lessons.shelved()[LESSON].lesson.frames()[2]
    assert order["kind"] == "play_until" and order["args"]["until_us"] == frame.stop_us


@pytest.mark.parametrize("frame", ["0", "6", "x", "99999", "-1"])
def test_a_frame_that_is_not_there_opens_nothing(frame: str) -> None:
    answer = Client().post("/learn/play/", {"scenario": LESSON, "frame": frame})
    assert answer.status_code == 404 and "no frame of this number" in answer.content.decode()
    assert Lab.objects.count() == 0


# -- those that come along -----------------------------------------------------------------------------------


def test_the_chapters_have_their_lectures_in_both_languages() -> None:
    files = {path.name for path in (ROOT / "dashboard/lectures/texts").iterdir()}
    assert files == {f"{name}.{language}.md" for name in shelf() for language in LANGUAGES}
    assert list(shelf()) == list(CHAPTERS) and "own" not in shelf()


@pytest.mark.parametrize("name", shelf())
def test_a_lecture_of_ours_fills_45_minutes_in_both_languages_alike(name: str) -> None:
    english, chinese = (lecture_of(name, language) for language in LANGUAGES)
    assert 40 <= english.minutes <= 50 and 10 <= len(english.slides) <= 16
    for one, other in zip_longest(english.slides, chinese.slides):
        assert one.minutes and one.notes and other.notes
        assert (one.minutes, shape(one.parts)) == (other.minutes, shape(other.parts)), one.title
    used = {part.lesson for slide in english.slides for part in slide.parts if isinstance(part, LessonStep)}
    own = {each for each, shelved in lessons.shelved().items() if shelved.place.chapter == name}
    assert len(used & own) >= min(4, len(own)), "it is made of its chapter's lessons"
    assert (
        sum(
            isinstance(part, LessonQuestion | OwnQuestion) for slide in english.slides for part in slide.parts
        )
        >= 2
    )


def shape(parts: list[Any]) -> list[Any]:
    """What is the same in every language: steps, and which answer is true."""
    return [
        (len(part.answers), part.right) if isinstance(part, OwnQuestion) else part
        for part in parts
        if not isinstance(part, Prose)
    ]


@pytest.mark.parametrize("name", shelf())
def test_the_timings_in_the_notes_are_those_of_the_slides(name: str) -> None:
    for language, pattern in (
        ("en", r"<strong>(\d+) to (\d+)\.</strong>"),
        ("zh", r"<strong>(\d+) 到 (\d+) 分钟。</strong>"),
    ):
        begins = 0
        for slide in lecture_of(name, language).slides:
            found = re.search(pattern, slide.notes)
            assert found and (int(found[1]), int(found[2])) == (begins, begins + slide.minutes), slide.title
            begins += slide.minutes


@pytest.mark.parametrize("name", shelf())
def test_the_chinese_lectures_call_things_as_the_pages_do(name: str) -> None:
    text = shelf()[name]["zh"].read_text(encoding="utf-8")
    # What stands in code, in a directive or in quotes is another's word.
    prose = re.sub(r"`[^`]*`|^:::.*$|“[^”]*”|《[^》]*》", "", text, flags=re.MULTILINE)
    assert [
        f"{right}: {found[0]}" for right, others in OTHERS.items() for found in re.finditer(others, prose)
    ] == []


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_page_of_every_lecture_is_there(language: str) -> None:
    client = Client(headers={"accept-language": language})
    listed = client.get("/lectures/").content.decode()
    for name in shelf():
        title = lecture_of(name, language[:2]).title
        assert title in listed
        for path in ("", "deck/", "print/", "print/?notes"):
            answer = client.get(f"/lectures/{name}/{path}")
            assert answer.status_code == 200 and title in answer.content.decode()
        assert client.get(f"/lectures/{name}.md").content.decode() == shelf()[name][language[:2]].read_text()
        assert f"# {title}" in client.get(f"/lectures/own/?from={name}").content.decode()
    assert 'href="/lectures/"' in client.get("/learn/").content.decode()
    for path in ("nix/", "nix/deck/", "nix/print/", "nix.md"):
        assert client.get(f"/lectures/{path}").status_code == 404


# -- from a terminal -----------------------------------------------------------------------------------------


def test_a_file_is_checked_from_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.md"
    file.write_text(WHOLE)
    call_command("check_lecture", str(file))
    said = capsys.readouterr().out
    assert "A title" in said and "One" in said and "4 min" in said and "2 questions" in said
    file.write_text(f"{BEGIN}::: lesson nix\n")
    with pytest.raises(CommandError, match=r'mine\.md, line 5: there is no lesson "nix"') as caught:
        call_command("check_lecture", str(file))
    assert caught.value.returncode == 2
    with pytest.raises(CommandError):
        call_command("check_lecture", str(tmp_path / "none.md"))


def test_the_editor_names_every_directive() -> None:
    text = Client().get("/lectures/own/").content.decode()
    assert all(f"<code>::: {name}" in text for name in DIRECTIVES)
