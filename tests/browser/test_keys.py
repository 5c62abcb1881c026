"""The keys of each page in words (?), and the palette (Ctrl-K)."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, post, save, wait_frame
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
LAB_PAGES = ["", "pulsar/", "kafka/cluster/", "kafka/groups/", "kafka/log", "tubemq/", "rabbitmq/"]
SITE_PAGES = [
    "labs/",
    "learn/",
    "learn/own/",
    "learn/pulsar_ring_join/",
    "lectures/replication/deck/",
    "analyze/",
    "log/article/",
]


@pytest.fixture
def demo(profile: Profile, site: SupervisedSite) -> Page:
    """The Stage of a lab of one's own."""
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', {'scenario': 'demo'})['id']}/")
    wait_frame(page)
    return page


def caps(page: Page) -> dict[str, str]:
    """The sheet's keys and their words."""
    rows = page.locator("#keys-sheet dl > div")
    return {
        "/".join(row.locator("kbd").all_text_contents()): row.locator("dd").text_content() or ""
        for row in rows.all()
    }


def test_the_sheet_has_every_key_that_a_page_of_a_lab_shows_at_its_buttons(demo: Page) -> None:
    address = demo.url
    for path in LAB_PAGES:
        demo.goto(address + path)
        wait_frame(demo)
        shown = demo.eval_on_selector_all(
            "button[aria-keyshortcuts]:not(:disabled)",
            "all => all.filter((one) => !one.closest('[hidden]')).map((one) => one.getAttribute('aria-keyshortcuts'))",
        )
        demo.keyboard.press("?")
        known = {key for row in caps(demo) for key in row.split("/")}
        named = {"Control+K": "Ctrl K"}
        assert {named.get(key, key) for key in shown} <= known | {""}, path
        assert {"Space", "?", "Ctrl K"} <= known and all(caps(demo).values()), path
        demo.keyboard.press("Escape")
        expect(demo.locator("#keys-sheet")).to_be_hidden()


def test_the_sheet_and_the_palette_open_on_every_page(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    for path in SITE_PAGES:
        page.goto(site.url + path)
        page.locator("#keys-open").click()
        expect(page.locator("#keys-sheet")).to_be_visible()
        page.keyboard.press("?")
        expect(page.locator("#keys-sheet")).to_be_hidden()
        page.keyboard.press("Control+k")
        page.keyboard.type("watermark")
        expect(page.locator("#palette li").first).to_contain_text("Lesson")
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{site.url}learn/kafka_cluster_high_watermark/")


def test_a_key_of_the_sheet_does_what_it_says_and_none_acts_behind_it(demo: Page) -> None:
    demo.keyboard.press("?")
    assert caps(demo)["A"] == "Add consumer"
    save(demo, "keys-sheet")
    demo.keyboard.press("a")
    demo.keyboard.press("Escape")
    expect(demo.locator("#pulsar [data-consumer=c4]")).to_have_count(0)
    demo.keyboard.press("a")
    expect(demo.locator("#pulsar [data-consumer=c4]")).to_have_count(1)


def test_the_palette_does_what_a_button_of_the_page_does_and_goes_to_tabs_and_labs(
    demo: Page, site: SupervisedSite
) -> None:
    address = demo.url
    demo.keyboard.press("Control+k")
    field = demo.get_by_role("combobox", name="A page, a lab, a lesson, an action")
    expect(field).to_be_focused()
    field.fill("kafka crash c2")
    chosen = demo.locator("#palette [aria-selected=true]")
    expect(chosen).to_contain_text("Crash c2")
    expect(field).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    save(demo, "palette")
    demo.keyboard.press("Enter")
    expect(demo.locator("#story-what")).to_contain_text("c2 crashed")
    expect(demo.locator("#palette")).to_be_hidden()

    demo.keyboard.press("Control+k")
    demo.keyboard.type("play")
    row = demo.locator("#palette li").filter(has_text="Pause").filter(has=demo.locator("kbd"))
    expect(row.locator("kbd").first).to_have_text("Space")
    field.fill("zzzz")
    expect(demo.locator("#palette [role=status]")).to_have_text("Nothing matches. Try fewer letters.")
    field.fill("kafka")
    first = demo.locator("#palette [aria-selected=true]").text_content()
    demo.keyboard.press("ArrowDown")
    expect(demo.locator("#palette [aria-selected=true]")).not_to_have_text(first or "")
    demo.keyboard.press("ArrowUp")
    expect(demo.locator("#palette [aria-selected=true]")).to_have_text(first or "")
    field.fill("rabbitmq")
    demo.locator("#palette li").filter(has_text="This lab").click()
    expect(demo).to_have_url(f"{address}rabbitmq/")
    wait_frame(demo)

    lab = address.rstrip("/").rsplit("/", 1)[1]
    demo.keyboard.press("Control+k")
    demo.keyboard.type(lab)
    demo.locator("#palette li").filter(has_text="Lab").filter(has_text=lab).click()
    expect(demo).to_have_url(address)


def test_in_chinese_keys_and_palette_say_the_same(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(color_scheme="dark"), site)
    page.click("#language")
    page.keyboard.press("?")
    assert caps(page)["空格"] == "播放或暂停"
    assert not [words for words in caps(page).values() if re.fullmatch(r"[\x00-\x7f]+", words)]
    save(page, "keys-sheet-zh-dark")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("高水位")
    expect(page.locator("#palette li").first).to_contain_text("课程")
    save(page, "palette-zh-dark")
