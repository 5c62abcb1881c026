"""The timeline's marks are pressed for their caption, by mouse, touch and keyboard."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, save, wait_text
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
JOINED = "0:00.0 3 joined"


def test_a_mark_says_what_was_done_and_when(page: Page) -> None:
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    tip, first = page.locator("#tip"), page.locator("#timeline [role=button][data-part='0']")
    first.click()
    expect(tip).to_have_text(JOINED)
    page.click("h1")
    expect(tip).to_be_hidden()
    expect(page.locator("body")).to_have_attribute("data-past", "")  # the press showed that moment, too
    page.keyboard.press("l")
    expect(page.locator("body")).not_to_have_attribute("data-past", "")
    page.focus("#step-back")
    page.keyboard.press("Tab")
    expect(tip).to_contain_text("joined")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Enter")  # it shows that moment
    expect(page.locator("body")).to_have_attribute("data-past", "")
    expect(page.locator("#clock")).to_have_text("0:00.0", timeout=30_000)
    page.keyboard.press("l")
    expect(page.locator("body")).not_to_have_attribute("data-past", "")
    assert page.eval_on_selector_all("#timeline [tabindex='0']", "all => all.length") == 1
    save(page, "stage-timeline")


def test_a_mark_is_tapped_on_a_phone(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site)
    page.tap("#timeline [role=button]")
    expect(page.locator("#tip")).to_have_text(JOINED)
