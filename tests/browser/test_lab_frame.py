"""What stands around every page of a lab, and is the same on all of them."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
PAGES = ["", "pulsar/", "kafka/cluster/", "kafka/groups/", "kafka/log", "tubemq/", "rabbitmq/"]
SIZES = {"large": (1440, 900), "projector": (1280, 720), "phone": (390, 844)}


@pytest.fixture
def lab(profile: Profile, site: SupervisedSite) -> Page:
    """The Labs page of a visitor, who has a demo of its own: `page.lab`."""
    page = profile(permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.goto(f"{site.url}labs/")
    return page


def demo(page: Page, site: SupervisedSite) -> str:
    """A new lab of whoever has this page open; its address."""
    return f"{site.url}lab/{post(page, '/api/labs/', {'scenario': 'demo'})['id']}/"


def box(page: Page, selector: str) -> dict[str, Any]:
    found = page.locator(selector).bounding_box()
    assert found is not None, selector
    return {name: round(value) for name, value in found.items()}


def test_the_bar_of_time_has_one_place_and_one_height_and_drives_the_lab_on_every_page(
    lab: Page, site: SupervisedSite
) -> None:
    address, bars = demo(lab, site), {}
    for path in PAGES:
        lab.goto(address + path)
        expect(lab.locator("#timeline [role=button]").first).to_be_attached()
        lab.keyboard.press(" ")
        expect(lab.locator("#play")).to_have_attribute("data-say-label", "play")
        clock = lab.text_content("#clock")
        for _record in range(5):  # 36 come a second, and the clock shows tenths
            lab.keyboard.press(".")
        expect(lab.locator("#clock")).not_to_have_text(clock or "")
        lab.click("[data-speed='4']")
        expect(lab.locator("[data-speed='4']")).to_have_attribute("aria-pressed", "true")
        lab.click("[data-speed='1']")
        lab.click("#play")
        expect(lab.locator("#play")).to_have_attribute("data-say-label", "pause")
        lab.click("#twins")
        expect(lab.locator(".twin-box").first).to_have_attribute("tabindex", "0")
        lab.click("#twins")
        lab.click("#share")
        expect(lab.locator("#notice")).to_be_visible()
        assert "position=" in lab.evaluate("() => navigator.clipboard.readText()"), path
        for size, (width, height) in SIZES.items():
            lab.set_viewport_size({"width": width, "height": height})
            bar = box(lab, ".trans")
            assert bar["y"] + bar["height"] == height and bar["width"] == width, (path, size)
            assert bars.setdefault(size, bar) == bar, (path, size)
        lab.set_viewport_size({"width": 1440, "height": 900})


def test_a_log_that_was_opened_has_no_bar_of_time_but_its_tables(lab: Page, site: SupervisedSite) -> None:
    lab.goto(f"{site.url}log/article/")
    expect(lab.locator("#folder")).to_be_visible()
    assert lab.locator(".trans").count() == 0
    lab.keyboard.press("t")
    expect(lab.locator("#folder")).to_be_hidden()
    lab.keyboard.press("t")
    expect(lab.locator("#folder")).to_be_visible()
