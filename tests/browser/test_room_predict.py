"""The presenter asks the room about the next change: one answers on a phone, another comes late, one comes back; then the
change is made, and the truth is on all screens."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import wait_frame
from tests.browser.test_predict import WORKED_OUT_MS
from tests.browser.test_room import PHONE, joined, presenter
from tests.supervisor.site import SupervisedSite

__all__ = ["presenter"]
pytestmark = pytest.mark.story
Profile = Callable[..., BrowserContext]


def asked(presenter: Page, lane: str, change: str) -> None:
    presenter.keyboard.press("q")
    presenter.select_option("#predict-form [name=lane]", lane)
    presenter.select_option("#predict-form [name=change]", change)
    presenter.click("#predict-form .go")
    presenter.click("#predict-room", timeout=WORKED_OUT_MS)
    expect(presenter.locator("#room-ask")).to_be_visible(timeout=WORKED_OUT_MS)


def pressed(page: Page, place: int) -> None:
    answer = page.locator("#room-answers button").nth(place)
    answer.click()
    expect(answer).to_have_attribute("aria-pressed", "true")


def counts(page: Page) -> list[int]:
    return [int(text) for text in page.locator("#room-answers b").all_text_contents()]


def test_a_question_to_the_room_from_the_asking_to_the_truth(
    presenter: Page, profile: Profile, site: SupervisedSite
) -> None:
    phone = joined(profile, site, presenter, **PHONE)
    presenter.keyboard.press("Escape")
    asked(presenter, "kafka", "join")
    for page in (presenter, phone):
        expect(page.locator("#room-question")).to_contain_text(
            "A consumer joins. How many of the 12 partitions"
        )
        expect(page.locator("#room-answers button")).to_have_count(4)
    expect(presenter.locator("#play")).to_have_attribute("data-say-label", "play")
    expect(presenter.locator("#room-answers button:enabled")).to_have_count(0)
    pressed(phone, 1)
    expect(presenter.locator("#room-answered")).to_have_text("1 of 1 have answered")

    # Who comes late has the same question; who comes back their own answer. Nobody sees the bars before they are shown.
    late = joined(profile, site, presenter, viewport={"width": 1280, "height": 720})
    expect(late.locator("#room-ask")).to_be_visible(timeout=3_000)
    expect(late.locator("#room-answered")).to_have_text("1 of 2 have answered")
    phone.reload()
    expect(phone.locator("#room-answers [aria-pressed=true]")).to_have_count(1)
    pressed(late, 0)
    pressed(phone, 2)
    expect(presenter.locator("#room-answered")).to_have_text("2 of 2 have answered")
    for page in (presenter, phone, late):
        expect(page.locator("#room-answers b")).to_have_count(0)
    presenter.click("#room-bars")
    for page in (presenter, phone, late):
        expect(page.locator("#room-answers b")).to_have_count(4)
        assert counts(page) == [1, 0, 1, 0]
    presenter.click("#room-bars")
    expect(phone.locator("#room-answers b")).to_have_count(0)

    # Closed: no more answers. Then the change is made, and the truth stands beside what the room thought.
    presenter.click("#room-close")
    for page in (phone, late):
        expect(page.locator("#room-told")).to_contain_text("The question is closed")
        expect(page.locator("#room-answers button:enabled")).to_have_count(0)
        expect(page.locator("#room-answers [data-true]")).to_have_count(0)
    presenter.click("#room-tell")
    for page in (presenter, phone, late):
        expect(page.locator("#room-answers [data-true]")).to_have_count(1)
        expect(page.locator("#room-answers b")).to_have_count(4)
        assert counts(page) == [1, 0, 1, 0]
    expect(presenter.locator("#room-told .verdict")).to_contain_text("The answer:")
    expect(phone.locator("#room-told .verdict")).to_have_text(re.compile("^(Right|No): .* of 12 partitions"))
    presenter.wait_for_selector('#kafka [data-consumer="c4"]')
    assert presenter.locator('#pulsar [data-consumer="c4"]').count() == 0
    truth = int(re.findall(r"(\d+) of 12", str(phone.text_content("#room-told .verdict")))[0])
    expect(late.locator("#kafka")).to_contain_text(f"{truth} ")
    presenter.click("#room-away")
    for page in (presenter, phone, late):
        expect(page.locator("#room-ask")).to_be_hidden()


def test_a_lessons_question_to_the_room_stands_once_on_the_presenters_page(
    profile: Profile, site: SupervisedSite
) -> None:
    teacher = profile().new_page()
    teacher.goto(f"{site.url}learn/kafka_round_robin_against_sticky/")
    teacher.locator("form[action$='/learn/play/'] button").first.click()
    wait_frame(teacher)
    expect(teacher.locator("#lesson-ask")).to_be_visible(timeout=WORKED_OUT_MS)
    teacher.click("#room")
    expect(teacher.locator("#room-code")).to_have_text(re.compile("^[A-Z2-9]{6}$"))
    phone = joined(profile, site, teacher, **PHONE)
    teacher.keyboard.press("Escape")
    teacher.click("#ask-room")
    for page in (teacher, phone):
        expect(page.locator("#room-ask")).to_be_visible(timeout=WORKED_OUT_MS)
        expect(page.locator("#lesson-ask")).to_be_hidden()
    expect(teacher.locator("#next")).to_have_text("Next")
    teacher.click("#room-close")
    teacher.click("#room-tell")
    expect(phone.locator("#room-told .verdict")).to_contain_text("The answer: 5 of 8 partitions")
    expect(teacher.locator("#frame-place")).to_have_text("2/3")


def marked(page: Page, names: str) -> None:
    page.click("#room-mark")
    expect(page.locator("#marking-ask")).to_contain_text("Which of the 12 partitions")
    expect(page.locator("#room-ask")).to_be_hidden()
    page.fill("#marking-names", names)
    page.click("#marking-show")
    expect(page.locator("#marking-form")).to_be_hidden()
    expect(page.locator("#room-told")).to_contain_text("Your answer is in")


def test_marks_on_the_picture_are_a_heat_map_of_the_room(
    presenter: Page, profile: Profile, site: SupervisedSite
) -> None:
    phone = joined(profile, site, presenter, **PHONE)
    wide = joined(profile, site, presenter, viewport={"width": 1280, "height": 720})
    presenter.keyboard.press("Escape")
    asked(presenter, "kafka", "leave c2")
    marked(phone, "3 4")
    marked(wide, "4 5")
    expect(presenter.locator("#room-answered")).to_have_text("2 of 2 have answered")
    for page in (presenter, phone, wide):
        expect(page.locator(".marks rect.heat")).to_have_count(0)
    presenter.click("#room-bars")
    for page in (presenter, phone, wide):
        expect(page.locator("#room-answered")).to_have_text("2 of 2 have answered, 2 have marked the picture")
        expect(page.locator(".marks rect.heat")).to_have_count(3)
        assert page.locator(".marks text").all_text_contents() == ["1", "2", "1"]
        expect(page.locator(".marks rect.right")).to_have_count(0)
    presenter.click("#room-close")
    presenter.click("#room-tell")
    for page in (presenter, phone, wide):
        expect(page.locator(".marks rect.right").first).to_be_attached()
    expect(phone.locator("#room-told")).to_contain_text(re.compile("right, .* missed, .* wrong"))
    presenter.click("#room-away")
    for page in (presenter, phone, wide):
        expect(page.locator(".marks rect")).to_have_count(0)
