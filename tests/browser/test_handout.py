"""A lesson's hand-out: exactly one A4 sheet, its frames on the front, its questions on the back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from dashboard.stills.recorded import recorded_frames
from tests.browser.conftest import save
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
A4 = (595, 842)  # points
SHORT, LONG = "kafka_cluster_high_watermark", "pulsar_newcomer_read_position"

# What does not fit into the box that it is in, by less than it shows.
CUT = """() => [...document.querySelectorAll(".sheet, .strip, .strip li, .caption, .asked, .answers")]
  .filter((one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.className || one.tagName} ${one.scrollHeight} > ${one.clientHeight}`)"""
SMALLEST = "() => Math.min(...[...document.querySelectorAll('.picture')].map((one) => one.clientHeight))"


@pytest.fixture(params=["en", "zh-CN"])
def page(request: pytest.FixtureRequest, profile: Profile) -> Page:
    return profile(locale=request.param, color_scheme="dark").new_page()


def sheets(pdf: bytes) -> list[tuple[int, int]]:
    """Width and height of each page of a PDF, in points."""
    pages = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    return [(round(float(width)), round(float(height))) for width, height in pages]


def test_every_lesson_fits_its_sheet_and_nothing_is_cut_off(page: Page, site: SupervisedSite) -> None:
    page.emulate_media(media="print")
    for name in shelf():
        page.goto(f"{site.url}learn/{name}/print/")
        assert page.evaluate(CUT) == [], name
        assert page.evaluate(SMALLEST) >= 85, name


@pytest.mark.parametrize("name", [SHORT, LONG])
def test_print_gives_two_pages_of_a4(page: Page, site: SupervisedSite, name: str) -> None:
    page.goto(f"{site.url}learn/{name}/print/")
    assert sheets(page.pdf(prefer_css_page_size=True)) == [A4, A4]
    assert len(sheets(page.pdf(format="A4"))) == 2
    save(page, f"handout-{name}-{page.get_attribute('html', 'lang')}")


def test_the_question_of_a_frame_is_printed_with_four_answers_and_the_true_one_below(
    page: Page, site: SupervisedSite
) -> None:
    page.goto(f"{site.url}learn/kafka_eager_join/print/")
    asked = page.locator(".asked .choice")
    expect(asked).to_have_count(1)
    expect(asked.locator("li")).to_have_count(4)
    ask = next(still["ask"] for still in recorded_frames()["kafka_eager_join"] if "ask" in still)
    letter = "ABCD"[ask["question"]["truth"]]
    answer = page.locator(".answers span").first.inner_text()
    assert answer.startswith(f"1: {letter}, ") and f" {ask['question']['value']} " in answer, answer
    expect(page.locator(".asked > li")).to_have_count(page.locator(".answers span").count())


def test_it_says_what_the_lesson_says_and_asks_what_its_checks_ask(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}learn/{SHORT}/")
    page.get_by_role("link", name="Hand-out, one A4 sheet").click()
    lesson = scenario_from_text(read_file(shelf()[SHORT])).lesson
    assert lesson is not None
    captions = [step.caption["en"] for step in lesson.frames() if step.caption]
    expect(page.locator(".strip .caption p:last-child")).to_have_text(captions)
    expect(page.locator(".strip .still")).to_have_count(len(captions))
    expect(page.locator(".asked li")).to_have_count(len(lesson.checks))
    expect(page.locator(".asked")).to_contain_text("is the leader's LEO: it has the record")
    expect(page.locator(".answers")).to_contain_text("1: 9")
    assert (
        page.evaluate("() => { window.printed = 0; window.print = () => { window.printed += 1 }; }") is None
    )
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("() => window.printed") == 1
    page.get_by_role("link", name="Back to the lesson").click()
    expect(page).to_have_url(f"{site.url}learn/{SHORT}/")
