"""A story of Break it for me: from a promise on the shelf to the lab that is paused when it broke; what is wrong at its
field; a search that is cancelled."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save
from tests.browser.test_axe import AXE, FINDINGS
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SEARCH_MS = 120_000


@pytest.fixture
def broken(profile: Profile, site: SupervisedSite) -> Page:
    """The page of a lab that was opened from the shelf."""
    page = profile(reduced_motion="reduce").new_page()
    page.goto(f"{site.url}labs/")
    page.click("#to-break")
    page.click("[data-case=rabbitmq_prefetch_unlimited] button")
    page.wait_for_url(re.compile(r"/lab/[\w-]+/break/\?case=rabbitmq_prefetch_unlimited"))
    expect(page.locator("#to-break[aria-current=page]")).to_be_visible()
    return page


def test_a_promise_is_broken_and_opens_at_the_moment_when_it_broke(broken: Page) -> None:
    page = broken
    expect(page.locator("[name=kind]")).to_have_value("queue_at_most")
    expect(page.locator("[data-fault=slow] [name=most]")).to_have_value("1")
    expect(page.locator("[data-fault=cluster_crash]")).to_be_hidden()
    page.fill("[data-fault=crash] [name=most]", "9")
    page.fill("[name=seconds]", "9999")
    page.click("#go")
    expect(page.locator("[data-fault=crash] .bad")).to_have_text("must be a whole number from 0 to 5")
    expect(page.locator("label:has([name=seconds]) .bad")).to_have_text("must be a whole number from 5 to 80")
    page.fill("[data-fault=crash] [name=most]", "0")
    page.fill("[name=seconds]", "40")
    page.click("#go")
    expect(page.locator("#state")).to_contain_text("and the promise broke", timeout=SEARCH_MS)
    expect(page.locator("#promised")).to_have_text("never more than 60 waiting records")
    expect(page.locator("#schedule li")).to_have_count(2)
    expect(page.locator("#schedule li").first).to_contain_text("slows to 1 record a second")
    moment = float((page.text_content("#schedule [data-broken]") or "").split()[0].rstrip("s"))
    page.evaluate(AXE)
    assert page.evaluate(FINDINGS) == []
    save(page, "break")
    page.click("header >> text=中文")
    expect(page.locator("#schedule [data-broken]")).to_contain_text("承诺在此刻被打破")
    page.click("header >> text=English")
    page.click("#open")
    page.wait_for_url(re.compile(r"/lab/[\w-]+/\?why="))
    page.wait_for_function(
        "us => !window.highwater.view().playing && window.highwater.view().at_us === us",
        arg=round(moment * 1_000_000),
        timeout=60_000,
    )
    assert page.evaluate("() => window.highwater.view().lanes.rabbitmq.lag") > 60
    expect(page.locator("#lab-name")).to_have_text("never more than 60 waiting records")
    expect(page.locator("#why-says")).to_contain_text("The lane’s last change", timeout=SEARCH_MS)
    expect(page.locator("#why-says")).to_contain_text("as of 0:")
    save(page, "break-why")


def test_a_search_is_cancelled(broken: Page) -> None:
    page = broken
    page.fill("[name=at_most]", "100000")
    page.fill("[name=seconds]", "80")
    page.click("#go")
    expect(page.locator("#state")).to_have_text(re.compile(r"\d+ tr(y|ies) so far"), timeout=SEARCH_MS)
    expect(page.locator("#go")).to_be_disabled()
    page.click("#cancel")
    expect(page.locator("#state")).to_have_text(re.compile(r"^Cancelled after \d+ tr"))
    expect(page.locator("#go")).to_be_enabled()
