"""Stories of lessons: from the list to the Stage, captions and checks as their times come, by keyboard, on a
phone, in Chinese."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save, wait_frame
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SMALLEST_PX = 13
PAUSING = """\
title = {en = "Mine", zh = "我的"}
line = {en = "One.", zh = "一。"}
watch_for = {en = "Look.", zh = "看。"}
you_will_learn = {en = "This.", zh = "这个。"}
lasts_s = 2
[[lane]]
model = "rabbitmq"
[workload]
kind = "uniform"
keys = 5
rate = 10
[[step]]
at_s = 0.5
caption = {en = "It begins.", zh = "开始。"}
do = "pause_lab"
[[check]]
at_s = 0.4
number = "record_count"
is = 4
says = {en = "records", zh = "条"}
[[check]]
number = "record_count"
is = 3
says = {en = "records", zh = "条"}
"""


def play(page: Page, site: SupervisedSite, name: str) -> None:
    """Press Play on the page Learn, as a keyboard does, and wait until the lesson moves."""
    page.goto(f"{site.url}learn/")
    button = page.locator(f"button[value={name}]")
    button.focus()
    button.press("Enter")
    expect(page.locator("#lesson")).to_be_visible()
    wait_frame(page)


def play_text(page: Page, site: SupervisedSite, text: str) -> None:
    page.goto(f"{site.url}learn/")
    page.fill("#text", text)
    page.click("form.own .go")


def is_over(page: Page) -> None:
    page.wait_for_selector("#lesson[data-over]", timeout=30_000)


def test_a_lesson_plays_from_the_list_to_its_end(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    play(page, site, "kafka_balance_before_stickiness")
    page.click("[data-speed='20']")
    is_over(page)
    assert page.url.endswith("/kafka/groups/")  # where this one is watched
    expect(page.locator("[data-lesson-caption]")).to_have_text(
        "Two partitions each: c1 keeps 0 and 1, c2 gets 2 and 3."
    )
    expect(page.locator("[data-lesson=sum]")).to_have_text("4 of 4 checks hold")
    expect(page.locator("#lesson .learn p")).to_be_visible()
    expect(page.locator("#play-icon")).to_have_attribute("href", "#v-play")  # it rests at its end
    save(page, "lesson-over")


def test_a_lesson_of_several_lanes_goes_on_from_one_to_the_next(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    play(page, site, "kafka_cluster_data_loss")
    tabs = page.locator(".lane-tabs a")
    expect(tabs).to_have_text(["High watermark", "Epoch request", "Fetch response"])
    expect(page.locator("#sub")).to_contain_text("truncate to their own high watermark")
    tabs.nth(2).click()
    expect(page.locator("#sub")).to_contain_text("learn from the fetch response where the logs diverge")
    expect(tabs.nth(2)).to_have_attribute("aria-current", "page")
    expect(page.locator("#to-groups")).to_have_attribute("href", re.compile(r"/kafka/groups/\?lane=fetch$"))
    expect(page.locator("#lesson-title")).to_have_text("Data loss: cut to the high watermark")
    page.click("#language")
    expect(page.locator("#lesson-title")).to_have_text("数据丢失：按高水位截断")
    expect(tabs).to_have_text(["高水位", "纪元请求", "拉取响应"])


def test_captions_and_checks_come_at_their_times_in_the_readers_language(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    play_text(page, site, PAUSING)
    expect(page.locator("#play-icon")).to_have_attribute("href", "#v-play")  # the lesson waits for the reader
    expect(page.locator("h1")).to_have_attribute("aria-live", "polite")
    expect(page.locator("h1")).to_have_text("It begins.")
    expect(page.locator("#lesson .watch p").first).to_be_visible()
    expect(page.locator("#lesson .learn")).to_be_hidden()
    assert page.locator("[data-check]").evaluate_all("rows => rows.map(row => row.dataset.state)") == [
        "holds",
        "not_yet",
    ]
    expect(page.locator("[data-lesson=told]")).to_have_text("holds: 4 records")
    page.click("#language")
    expect(page.locator("#lesson-title")).to_have_text("我的")
    expect(page.locator("h1")).to_have_text("开始。")
    expect(page.locator("[data-check] .word").last).to_have_text("未到时间")
    page.click("#add")
    expect(page.locator("[data-lesson=note]")).to_contain_text("有人下过课程之外的命令")
    expect(page.locator("h1")).to_contain_text("c4")
    page.click("#play")
    is_over(page)
    expect(page.locator("[data-check]").last).to_have_attribute("data-state", "fails")
    page.goto(f"{site.url}learn/")
    page.click("#language")
    expect(page.locator("li:has([value=pulsar_four_split_and_merge]) h3")).to_have_text(
        "C1 to C4 split the hash range, and merge it again"
    )


@pytest.mark.parametrize(
    "name",
    [
        "kafka_round_robin_against_sticky",
        "four_models_one_crash",
        "kafka_cluster_data_loss",
        "pulsar_newcomer_waits",
    ],
)
def test_panel_fits(profile: Profile, site: SupervisedSite, name: str) -> None:
    page = profile().new_page()
    play(page, site, name)
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        wait_frame(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("#lesson").bounding_box()
        bar = page.locator(".trans").bounding_box()
        assert box is not None and bar is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= bar["y"] or width < 641
        sizes = page.locator("#lesson").evaluate(
            "root => [...root.querySelectorAll('*')].map(each => parseFloat(getComputedStyle(each).fontSize))"
        )
        assert min(sizes) >= SMALLEST_PX
        save(page, f"{name}-{width}")
    pill = page.locator("#fresh").bounding_box()
    assert pill is not None and pill["x"] + pill["width"] <= 390


def test_a_teachers_own_text_is_refused_with_its_line_and_then_plays(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    play_text(page, site, PAUSING.replace("rabbitmq", "zeromq"))
    expect(page.locator("#wrong")).to_contain_text("line 7: lane 1, model: must be one of pulsar")
    expect(page.locator("#text")).to_be_focused()
    page.fill("#text", PAUSING)
    page.click("form.own .go")
    expect(page.locator("#lesson-title")).to_have_text("Mine")
