"""The list of a lab's events: search, and a press that shows its moment, on the Stage and on a page of one lane."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, post, save, wait_frame
from tests.browser.test_axe import AXE, FINDINGS
from tests.browser.test_past import ANSWERS_MS
from tests.supervisor.site import SupervisedSite

ROWS = "#events-list button"


@pytest.fixture
def page(page: Page, let_pass: Callable[[Page, float], None]) -> Page:
    """A Stage on which a consumer has joined some time ago."""
    let_pass(page, 5)
    page.keyboard.press("a")
    expect(page.locator("#timeline")).to_contain_text("c4")
    let_pass(page, 10)
    page.keyboard.press("i")
    expect(page.locator(ROWS).first).to_be_visible()
    return page


def test_words_find_the_first_event_and_enter_shows_its_moment(page: Page) -> None:
    page.fill("#events-form [name=text]", "first c4")
    expect(page.locator("#events-told")).to_have_text("One event")
    row = page.locator(ROWS)
    at = row.locator(".n").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#behind")).to_contain_text("before now", timeout=ANSWERS_MS)
    expect(page.locator("#clock")).to_have_text(at)
    expect(row).to_have_attribute("aria-current", "true")
    save(page, "events")
    page.keyboard.press("Escape")
    expect(page.locator("#events")).to_be_hidden()
    expect(page.locator("#events-open")).to_be_focused()
    page.keyboard.press("l")
    expect(page.locator("#behind")).to_have_text("")


def test_lane_consumer_and_kind_narrow_the_list_and_the_last_is_found_too(page: Page) -> None:
    form = page.locator("#events-form")
    form.locator("[name=lane]").select_option("rabbitmq")
    form.locator("[name=consumer]").select_option("c4")
    expect(page.locator(f"{ROWS} .where").first).to_contain_text("RabbitMQ: rabbitmq.")
    kinds = page.locator(f"{ROWS} .where").all_inner_texts()
    assert all(kind.startswith("RabbitMQ: rabbitmq.") for kind in kinds)
    form.locator("[name=lane]").select_option("")
    form.locator("[name=consumer]").select_option("")
    form.locator("[name=kind]").select_option("kafka.group.rebalance_started")
    expect(page.locator(f"{ROWS} .where").first).to_have_text("Kafka: kafka.group.rebalance_started")
    form.locator("[name=kind]").select_option("")
    form.locator("[name=newest]").select_option("1")
    page.wait_for_function(
        "() => { const seqs = [...document.querySelectorAll('#events-list button')].map((row) => Number(row.dataset.event));"
        " return seqs.length > 1 && seqs.every((seq, at) => !at || seq < seqs[at - 1]); }"
    )
    page.fill("#events-form [name=text]", "zebra")
    expect(page.locator("#events-told")).to_contain_text("No event matches")


def test_it_speaks_chinese_and_axe_finds_nothing_on_a_projector_and_a_phone(page: Page) -> None:
    page.click("#language")
    page.fill("#events-form [name=text]", "首次再均衡")
    expect(page.locator("#events-told")).to_have_text("1 个事件")
    expect(page.locator(ROWS)).to_have_count(1)
    page.evaluate(AXE)
    for width, height in ((1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(FINDINGS) == []
        save(page, f"events-zh-{width}")


def test_an_empty_list_says_so_and_what_is_new_can_be_searched(
    profile: Callable[..., BrowserContext], site: SupervisedSite
) -> None:
    page = open_stage(profile(), site)
    lab = post(page, "/api/labs/", {"lanes": [{"model": "rabbitmq"}], "consumers": 0})["id"]
    page.goto(f"{site.url}lab/{lab}/rabbitmq/")
    wait_frame(page)
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
    page.click("#events-open")
    expect(page.locator("#events-told")).to_have_text("Nothing has happened in this lab yet.")
    page.locator("#events-title").click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("a")
    page.locator("#events-newer").click()
    expect(page.locator(ROWS).first).to_be_visible()
    expect(page.locator("#events-newer")).to_be_hidden()
