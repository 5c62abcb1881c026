"""The definition of a term: on hover, focus and touch, whole on every screen, gone with Escape."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, save
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SKEW = "The largest consumer's share divided by the mean share."


def is_whole(page: Page) -> bool:
    return page.evaluate("""() => {
      const box = document.getElementById('tip').getBoundingClientRect();
      return box.width > 0 && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
    }""")


def test_a_term_is_explained_on_hover_and_focus_and_escape_closes_it(page: Page) -> None:
    tip = page.locator("#tip")
    page.click("#rabbitmq [data-rest] summary")
    page.hover("#rabbitmq [data-term=skew]")
    expect(tip).to_contain_text(SKEW)
    assert is_whole(page)
    save(page, "stage-term")
    page.hover("#tip")
    expect(tip).to_be_visible()
    page.hover("h1")
    expect(tip).to_be_hidden()
    page.click("#pulsar [data-rest] summary")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.dataset.term === 'skew'"):
            break
    expect(tip).to_contain_text(SKEW)
    described = page.evaluate(
        "() => document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
    )
    assert described.startswith(SKEW)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_dash_says_why_it_is_one_and_a_picture_explains_its_words(page: Page) -> None:
    page.hover("#rabbitmq .since > div:nth-child(2) dd")
    expect(page.locator("#tip")).to_contain_text("RabbitMQ pauses nothing")
    page.hover("#tubemq .pic text[data-term=source_count]")
    expect(page.locator("#tip")).to_contain_text("modulo")


def test_a_tap_explains_a_term_on_a_phone(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site)
    page.tap("#pulsar [data-rest] summary")
    for term in ("space", "skew"):
        page.tap(f"#pulsar .bill [data-term={term}]")
        expect(page.locator("#tip")).to_be_visible()
        assert is_whole(page)
        near, tip = (
            page.locator(f"#pulsar .bill [data-term={term}]").bounding_box(),
            page.locator("#tip").bounding_box(),
        )
        assert near and tip and 0 <= tip["y"] - near["y"] - near["height"] < 12
    page.tap("h1")
    expect(page.locator("#tip")).to_be_hidden()
