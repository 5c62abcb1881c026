"""By keyboard and screen reader on every page: what scrolls is reached and named, with tables and folds open,
wide and narrow."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.browser.conftest import open_stage, wait_text
from tests.browser.reach import faults_of
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SIZES = ((1440, 900), (390, 844))
TABLES = {"stage", "log", "article"}


@pytest.fixture
def paths(profile: Profile, site: SupervisedSite) -> tuple[Page, dict[str, str]]:
    """A visitor's page, and where the pages are: name -> path."""
    page = open_stage(profile(), site)
    page.click("#add-ten")
    wait_text(page, "h1", "10 consumers joined")
    lab = page.get_attribute("#main", "data-lab")
    return page, {
        "stage": f"lab/{lab}/",
        "labs": "labs/",
        "log": f"lab/{lab}/kafka/log",
        "compacted": f"lab/{lab}/kafka/log?topic=__consumer_offsets",
        "article": "log/article/",
        "analyze": "analyze/",
        "compare": "analyze/compare/",
        "missing": "lab/n0where/",
        "moment": f"lab/{lab}/?at_us=soon",
    }


def test_what_scrolls_is_reached_and_named_on_every_page(
    paths: tuple[Page, dict[str, str]], site: SupervisedSite
) -> None:
    page, pages = paths
    for name, path in pages.items():
        page.goto(site.url + path)
        if name in ("log", "article"):
            page.wait_for_selector("#steps .tier[data-tier=scan][data-lit] .row-box.chosen")
        if name == "compacted":
            page.wait_for_selector("#clean:not([hidden])")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            assert faults_of(page) == [], (name, width)
            if name in TABLES:
                page.keyboard.press("t")
                assert faults_of(page) == [], (name, width, "tables")
                page.keyboard.press("t")


def refuse(socket: WebSocketRoute) -> None:
    socket.close(code=4430)


def test_a_socket_that_finds_no_room_is_said_on_the_log_page(
    paths: tuple[Page, dict[str, str]], site: SupervisedSite
) -> None:
    page, pages = paths
    page.route_web_socket("**/ws/**", refuse)
    page.goto(site.url + pages["log"])
    expect(page.locator("#notice-text")).to_contain_text("Too many live pages are open")
    expect(page.locator("#notice")).to_be_visible()
