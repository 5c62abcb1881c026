"""Stories of lessons: from the list to the Stage, captions and checks as their times come, by keyboard, on a phone, in Chinese."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save, wait_frame
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SMALLEST_PX = 13


def play(page: Page, site: SupervisedSite, name: str) -> None:
    """Press Play on the page Learn, as a keyboard does, and wait until the lesson moves."""
    page.goto(f"{site.url}learn/")
    button = page.locator(f"button[value={name}]")
    button.focus()
    button.press("Enter")
    expect(page.locator("#lesson")).to_be_visible()
    wait_frame(page)


def is_over(page: Page) -> None:
    page.wait_for_selector("#lesson[data-over]", timeout=30_000)


def test_a_lesson_plays_from_the_list_to_its_end(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    play(page, site, "kafka_balance_before_stickiness")
    expect(page.locator("h1")).to_have_attribute("aria-live", "polite")
    expect(page.locator("#lesson .watch p").first).to_be_visible()
    expect(page.locator("#lesson .learn")).to_be_hidden()
    assert page.locator("[data-check]").evaluate_all("rows => rows.map(row => row.dataset.state)") == ["not_yet"] * 4
    page.click("[data-speed='4']")
    expect(page.locator("h1")).to_have_text("c2 joins.")
    expect(page.locator("[data-check]").first).to_have_attribute("data-state", "holds")
    expect(page.locator("[data-lesson=told]")).to_contain_text("holds: 4 partitions belong to c1")
    is_over(page)
    expect(page.locator("[data-lesson=sum]")).to_have_text("4 of 4 checks hold")
    expect(page.locator("#lesson .learn p")).to_be_visible()
    expect(page.locator("#play use")).to_have_attribute("href", "#v-play")     # it rests at its end
    save(page, "lesson-over")


def test_language_changes_in_place_and_an_own_order_is_said(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    play(page, site, "pulsar_sticky_newcomer")
    page.click("#language")
    expect(page.locator("#lesson-title")).to_have_text("固定区间：空隙里没有消费者")
    expect(page.locator("h1")).to_have_text("c1 占区间的下半，c2 占上半。")
    expect(page.locator("[data-check] .word").first).to_have_text("未到")
    page.click("#add")
    expect(page.locator("[data-lesson=note]")).to_contain_text("有人下过课程之外的命令")
    expect(page.locator("h1")).to_contain_text("c3")
    page.goto(f"{site.url}learn/")
    page.click("#language")
    expect(page.locator("#group-pulsar ~ ul h3").first).to_have_text("C1 to C4 split the hash range, and merge it again")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
@pytest.mark.parametrize("name", ["kafka_round_robin_against_sticky", "four_models_one_crash"])
def test_panel_fits(profile: Profile, site: SupervisedSite, width: int, height: int, name: str) -> None:
    page = profile(viewport={"width": width, "height": height}).new_page()
    play(page, site, name)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("#lesson").bounding_box()
    bar = page.locator(".trans").bounding_box()
    assert box is not None and bar is not None
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert box["y"] + box["height"] <= bar["y"] or width < 641
    sizes = page.locator("#lesson").evaluate("root => [...root.querySelectorAll('*')].map(each => parseFloat(getComputedStyle(each).fontSize))")
    assert min(sizes) >= SMALLEST_PX
    if width == 390:
        pill = page.locator("#fresh").bounding_box()
        assert pill is not None and pill["x"] + pill["width"] <= width
    save(page, f"{name}-{width}")


def test_a_teachers_own_text_is_refused_with_its_line_and_then_plays(profile: Profile, site: SupervisedSite) -> None:
    text = (
        'title = {en = "Mine", zh = "我的"}\nline = {en = "One.", zh = "一。"}\nwatch_for = {en = "Look.", zh = "看。"}\n'
        'you_will_learn = {en = "This.", zh = "这个。"}\nlasts_s = 2\n[[lane]]\nmodel = "rabbitmq"\n'
        '[[check]]\nnumber = "record_count"\nis = 72\nsays = {en = "records", zh = "条"}\n'
    )
    page = profile().new_page()
    page.goto(f"{site.url}learn/")
    page.fill("#text", text.replace("rabbitmq", "zeromq"))
    page.click("form.own .go")
    expect(page.locator("#wrong")).to_contain_text("line 7: lane 1, model: must be one of pulsar")
    expect(page.locator("#text")).to_be_focused()
    page.fill("#text", text)
    page.click("form.own .go")
    expect(page.locator("#lesson-title")).to_have_text("Mine")
    is_over(page)
    expect(page.locator("[data-check]")).to_have_attribute("data-state", "holds")
