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


def test_what_the_system_did_has_a_mark_of_its_own(page: Page) -> None:
    """c2 crashes; Kafka's coordinator finds out 45 s later, long after the order."""
    page.locator('#kafka .row[data-consumer="c2"]').hover()
    page.locator('#kafka .row[data-consumer="c2"] [data-verb=crash]').click()
    wait_text(page, "h1", "c2 crashed")
    page.click("[data-speed='20']")
    squares = page.locator("#timeline [data-part^='at:']")
    expect(squares.first).to_be_attached(timeout=60_000)
    page.wait_for_function(
        "() => [...document.querySelectorAll('#timeline [data-part^=\"at:\"]')]"
        ".some((mark) => mark.dataset.tip.includes('missed its session timeout'))",
        timeout=60_000,
    )
    page.click("#play")
    save(page, "stage-timeline-system")
    mark = page.locator("#timeline [data-tip*='missed its session timeout']").first
    at_us = int((mark.get_attribute("data-part") or "at:-1").removeprefix("at:"))
    page.reload()
    again = page.locator(f"#timeline [data-part='at:{at_us}']")
    expect(again).to_be_attached(timeout=30_000)  # asked for once, as the feed has gone on
    assert "missed its session timeout" in (again.get_attribute("data-tip") or "")
    again.click()
    expect(page.locator("body")).to_have_attribute("data-past", "")
    minutes, seconds = divmod(at_us // 100_000, 600)
    expect(page.locator("#clock")).to_have_text(
        f"{minutes}:{seconds // 10:02d}.{seconds % 10}", timeout=30_000
    )
    expect(page.locator("#kafka .say")).to_contain_text("c2")
