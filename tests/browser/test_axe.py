"""Every page without a finding of axe, on a projector and on a phone, light and dark."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
AXE = (Path(__file__).parent / "vendor/axe/axe.min.js").read_text(encoding="utf-8")
SIZES = [(1280, 720), (390, 844)]
LAB_PAGES = ["", "pulsar/", "kafka/cluster/", "kafka/groups/", "kafka/log", "tubemq/", "rabbitmq/", "code/"]
SITE_PAGES = [
    "labs/",
    "learn/",
    "learn/own/",
    "learn/kafka_cluster_high_watermark/",
    "learn/kafka_cluster_high_watermark/print/",
    "lectures/",
    "lectures/own/",
    "lectures/replication/",
    "lectures/replication/deck/#4",
    "lectures/replication/print/?notes",
    "analyze/",
    "compare/",
    "break/",
    "fidelity/",
    "log/article/",
    "nothing/",
]
# What axe finds: its rule and the element; and names that two elements have, which axe no longer looks for.
FINDINGS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const ids = Array.from(document.querySelectorAll("[id]"), ({ id }) => id);
  const twice = ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => `two of the id ${id}`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")} ${html.slice(0, 120)}`)).concat(twice);
}"""


def check(page: Page, address: str) -> list[str]:
    """Findings on this page at every size and in both themes."""
    page.goto(address)
    page.wait_for_load_state("networkidle") if "/lab/" not in address else page.wait_for_selector("#play")
    page.evaluate(AXE)
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            found += [f"{address} {width} {theme} {finding}" for finding in page.evaluate(FINDINGS)]
    return found


@pytest.fixture
def visitor(profile: Profile, site: SupervisedSite) -> Page:
    page = profile(reduced_motion="reduce").new_page()
    page.goto(f"{site.url}labs/")
    return page


def test_pages_of_the_site_have_no_finding(visitor: Page, site: SupervisedSite) -> None:
    assert [finding for path in SITE_PAGES for finding in check(visitor, site.url + path)] == []


def test_pages_of_a_lab_have_no_finding(visitor: Page, site: SupervisedSite) -> None:
    lab = f"{site.url}lab/{post(visitor, '/api/labs/', {'scenario': 'demo'})['id']}/"
    assert [finding for path in LAB_PAGES for finding in check(visitor, lab + path)] == []


def test_what_opens_over_a_page_has_no_finding(visitor: Page, site: SupervisedSite) -> None:
    lab = post(visitor, "/api/labs/", {"scenario": "demo"})["id"]
    visitor.goto(f"{site.url}lab/{lab}/tubemq/")
    visitor.wait_for_selector("#play")
    visitor.evaluate(AXE)
    visitor.keyboard.press("?")
    expect(visitor.locator("#keys-sheet")).to_be_visible()
    assert visitor.evaluate(FINDINGS) == []
    visitor.keyboard.press("Escape")
    expect(visitor.locator("#keys-sheet")).to_be_hidden()
    visitor.keyboard.press("Control+k")
    expect(visitor.locator("#palette")).to_be_visible()
    expect(visitor.locator("#palette li").first).to_be_visible()
    assert visitor.evaluate(FINDINGS) == []
    visitor.keyboard.press("Escape")
    visitor.locator(".take:visible").first.click()
    expect(visitor.get_by_role("menu")).to_be_visible()
    assert visitor.evaluate(FINDINGS) == []
    visitor.keyboard.press("Escape")
    visitor.keyboard.press("y")
    expect(visitor.locator("#why-told")).to_be_visible(timeout=40_000)
    for theme in ("light", "dark"):
        visitor.emulate_media(color_scheme=theme)
        assert visitor.evaluate(FINDINGS) == []
    visitor.keyboard.press("Escape")
    visitor.keyboard.press("p")
    expect(visitor.locator(".projector")).to_be_visible()
    assert visitor.evaluate(FINDINGS) == []
