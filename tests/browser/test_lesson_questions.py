"""Stories of a lesson's questions: asked at their frame, answered by a press or a key, kept, skipped."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save
from tests.browser.test_lesson_frames import play, stands_at
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
LESSON = "pulsar_ring_join"
WORKED_OUT_MS = 30_000


@pytest.fixture
def asked(profile: Profile, site: SupervisedSite) -> Page:
    """The frame before c4 joins, which asks how many keys will move."""
    page = profile().new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    play(page, site, LESSON)
    stands_at(page, "1/3", "0:13.0")
    expect(page.locator("#lesson-ask")).to_be_visible(timeout=WORKED_OUT_MS)
    return page


def test_a_press_answers_and_the_truth_stands_until_one_goes_on(asked: Page) -> None:
    expect(asked.locator("#ask-question")).to_contain_text("keys")
    expect(asked.locator("#ask-answers button")).to_have_count(4)
    expect(asked.locator("#next")).to_have_text("Skip")
    expect(asked.locator("#ask-answers [data-true]")).to_have_count(0)
    save(asked, "lesson-question")
    asked.locator("#ask-answers button").nth(0).click()
    expect(asked.locator("#ask-answers [data-true]")).to_have_count(1)
    expect(asked.locator("#ask-truth")).to_have_text(re.compile(r"24\s?%"))
    expect(asked.locator("#next")).to_have_text("Next")
    save(asked, "lesson-question-answered")
    asked.click("#next")
    stands_at(asked, "2/3", "0:20.0")
    expect(asked.locator("#lesson-ask")).to_be_hidden()
    asked.click("#back-frame")
    stands_at(asked, "1/3", "0:13.0")
    expect(asked.locator("#ask-answers [aria-pressed=true]")).to_have_count(1)  # it is kept


def test_keys_answer_and_a_question_can_be_skipped(asked: Page) -> None:
    asked.keyboard.press("2")
    expect(asked.locator("#ask-answers [data-answer='1']")).to_have_attribute("aria-pressed", "true")
    asked.reload()
    expect(asked.locator("#next")).to_have_text("Skip", timeout=WORKED_OUT_MS)
    asked.click("#language")
    expect(asked.locator("#next")).to_have_text("跳过")
    expect(asked.locator("#ask-truth")).to_contain_text("你怎么看")
    asked.keyboard.press("PageDown")
    stands_at(asked, "2/3", "0:20.0")
    expect(asked.locator("#lesson-ask")).to_be_hidden()


def test_its_stop_is_a_square_and_it_fits_a_phone(asked: Page) -> None:
    stop = asked.locator("#timeline [data-frame='1']")
    expect(stop).to_have_attribute("aria-label", re.compile("with a question$"))
    assert "?" in asked.locator("#timeline text").all_text_contents()
    asked.set_viewport_size({"width": 390, "height": 844})
    wide, inner = asked.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner
    boxes = [asked.locator("#ask-answers button").nth(at).bounding_box() for at in range(4)]
    assert all(boxes) and boxes[0]["y"] == boxes[1]["y"] < boxes[2]["y"]  # type: ignore[index]
    save(asked, "lesson-question-390")
