"""Stories of lessons: from a lesson's page to the Stage, captions and checks as their times come, by keyboard, on a
phone, in Chinese."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save, wait_frame
from tests.browser.reach import faults_of
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
    """Start a lesson on its own page, as a keyboard does, and wait until it moves."""
    page.goto(f"{site.url}learn/{name}/")
    button = page.locator(f"button[value={name}]")
    button.focus()
    button.press("Enter")
    expect(page.locator("#lesson")).to_be_visible()
    wait_frame(page)


def play_text(page: Page, site: SupervisedSite, text: str) -> None:
    page.goto(f"{site.url}learn/own/")
    page.fill("#text", text)
    page.click("#own .go")


def run_freely(page: Page) -> None:
    """From its first frame on, without a stop, as fast as it goes."""
    expect(page.locator("#play-icon")).to_have_attribute("href", "#v-play", timeout=20_000)
    page.click("[data-speed='20']")
    page.click("#play")


def is_over(page: Page) -> None:
    page.wait_for_selector("#lesson[data-over]", timeout=30_000)


def test_a_lesson_plays_from_the_list_to_its_end(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    play(page, site, "kafka_balance_before_stickiness")
    run_freely(page)
    is_over(page)
    assert page.url.endswith("/kafka/groups/")  # where this one is watched
    expect(page.locator("#story")).to_contain_text("Two partitions each: c1 keeps 0 and 1, c2 gets 2 and 3.")
    expect(page.locator("[data-lesson=sum]")).to_have_text("4/4")
    expect(page.locator("#next")).to_have_text("Next lesson")
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
    expect(page.locator("#lab-name")).to_have_text("Data loss: cut to the high watermark")
    page.click("#language")
    expect(page.locator("#lab-name")).to_have_text("数据丢失：按高水位截断")
    expect(tabs).to_have_text(["高水位", "纪元请求", "拉取响应"])


def test_captions_and_checks_come_at_their_times_in_the_readers_language(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    play_text(page, site, PAUSING)
    expect(page.locator("#play-icon")).to_have_attribute("href", "#v-play")  # the lesson waits for the reader
    expect(page.locator("h1")).to_have_attribute("aria-live", "polite")
    expect(page.locator("h1")).to_have_text("It begins.")
    expect(page.locator("#lesson ol")).to_be_hidden()
    page.click("#lesson summary")
    expect(page.locator("#lesson ol")).to_be_visible()
    assert page.locator("[data-check]").evaluate_all("rows => rows.map(row => row.dataset.state)") == [
        "holds",
        "not_yet",
    ]
    expect(page.locator("[data-lesson=told]")).to_have_text("holds: 4 records")
    page.click("#language")
    expect(page.locator("#lab-name")).to_have_text("我的")
    expect(page.locator("h1")).to_have_text("开始。")
    expect(page.locator("[data-check] .word").last).to_have_text("未到时间")
    page.keyboard.press("Escape")
    expect(page.locator("#lesson ol")).to_be_hidden()
    page.click("#add")
    page.click("#lesson summary")
    expect(page.locator("[data-lesson=note]")).to_contain_text("有人下过课程之外的命令")
    expect(page.locator("h1")).to_contain_text("c4")
    page.click("#play")
    is_over(page)
    expect(page.locator("[data-check]").last).to_have_attribute("data-state", "fails")
    page.goto(f"{site.url}learn/")
    page.click("#language")
    expect(page.locator("li a[href='/learn/pulsar_four_split_and_merge/'] .title")).to_have_text(
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
def test_the_checks_and_the_frames_fit(profile: Profile, site: SupervisedSite, name: str) -> None:
    page = profile().new_page()
    play(page, site, name)
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page.click("#lesson summary")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator(".lesson-in").bounding_box()
        bar = page.locator(".trans").bounding_box()
        assert box is not None and bar is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= bar["y"]
        for part in ("#next", "#back-frame", "#frame-place"):
            step = page.locator(part).bounding_box()
            assert step is not None and step["x"] >= 0 and step["x"] + step["width"] <= width
        sizes = page.locator("#lesson, #story").evaluate_all(
            "roots => roots.flatMap(root => [...root.querySelectorAll('*')]"
            ".map(each => parseFloat(getComputedStyle(each).fontSize)))"
        )
        assert min(sizes) >= SMALLEST_PX
        save(page, f"{name}-{width}")
        page.keyboard.press("Escape")
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
    page.click("#own .go")
    expect(page.locator("#lab-name")).to_have_text("Mine")


# -- the course ----------------------------------------------------------------------------------------------


def visible_lessons(page: Page) -> list[str]:
    return page.locator(".chapter li:visible").evaluate_all("rows => rows.map(row => row.dataset.lesson)")


def test_search_and_level_act_on_all_lessons_in_place(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}learn/")
    before = visible_lessons(page)
    assert len(before) == 18
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("watermark")
    expect(page.locator("#found")).to_contain_text("lessons found")
    assert "Data loss: cut to the high watermark" in visible_lessons(page)  # behind "All 11" a moment ago
    expect(page.locator("#start")).to_be_hidden()
    page.fill("#search", "step watermark")  # in any order
    page.click(".seg [data-level=first]")
    assert visible_lessons(page) == ["The high watermark, step by step"]
    assert faults_of(page) == []
    expect(page.locator("#found")).to_have_text("1 lesson found")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy-link")
    expect(page.locator("#notice-text")).to_have_text("Link copied.")
    other = profile().new_page()
    other.goto(page.evaluate("() => navigator.clipboard.readText()"))
    assert visible_lessons(other) == ["The high watermark, step by step"]
    page.click("#language")
    expect(page.locator("#found")).to_have_text("找到 1 节课")
    page.click("#language")
    page.click(".seg [data-level='']")
    page.fill("#search", "assignors rebalances")  # a chapter's own words find all of it
    assert len(visible_lessons(page)) == 22
    page.fill("#search", "no such lesson")
    expect(page.locator("#found")).to_contain_text("No lesson matches")
    assert visible_lessons(page) == []
    page.focus("#search")
    page.keyboard.press("Escape")
    page.click(".seg [data-level='']")
    assert visible_lessons(page) == before
    expect(page.locator("#start")).to_be_visible()


def test_a_chapter_opens_in_place_and_leads_to_each_lesson(profile: Profile, site: SupervisedSite) -> None:
    for options in ({}, {"java_script_enabled": False}):
        page = profile(**options).new_page()
        page.goto(f"{site.url}learn/")
        chapter = page.locator("#replication")
        chapter.locator("summary").click()
        expect(chapter.locator("li:visible")).to_have_count(11)
        chapter.get_by_text("A zombie producer is fenced").click()
        assert page.url.endswith("/learn/kafka_cluster_zombie/")
        expect(page.locator("h1")).to_contain_text("A zombie producer is fenced")
        page.locator("button.go").click()
        page.wait_for_url(re.compile(r"/lab/[\w-]+/kafka/cluster/$"))


def test_a_lesson_keeps_its_place_and_then_its_tick(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}learn/")
    expect(page.locator("#go")).to_have_text("Start lesson 1")
    play(page, site, "kafka_cluster_high_watermark")
    expect(page.locator("#story")).to_contain_text("One record a second.")
    expect(page.locator("#frame-place")).to_have_text("1/5")
    lab = page.url
    page.goto(f"{site.url}learn/")
    card = page.locator("#start li").nth(3)
    expect(card).to_have_attribute("data-begun", "")
    expect(card.locator("[data-kept]")).to_contain_text("/5")
    expect(page.locator("#go")).to_contain_text(re.compile(r"Go on at frame \d of 5"))
    page.click("#go")
    page.wait_for_url(lab)
    # it may rest at its first frame by now, and send no other
    expect(page.locator("#fresh")).to_have_attribute("data-state", re.compile("live|behind|paused"))
    run_freely(page)
    is_over(page)
    page.goto(f"{site.url}learn/")
    expect(card).not_to_have_attribute("data-begun", "")
    expect(card.locator("[data-kept]")).to_have_text("done")
    expect(page.locator("#start-done")).to_have_text("; 1 done")
    expect(page.locator("#replication [data-done]")).to_have_text("1 / 11")
    expect(page.locator("#go")).to_have_text("Start lesson 1")
    other = profile().new_page()
    other.goto(f"{site.url}learn/")
    expect(other.locator("#start-done")).to_have_text("")  # kept in one browser alone


@pytest.mark.parametrize(
    "path", ["learn/", "learn/kafka_cluster_data_loss/", "learn/own/?from=kafka_eager_join"]
)
def test_pages_of_the_course_fit_in_every_size_theme_and_language(
    profile: Profile, site: SupervisedSite, path: str
) -> None:
    for scheme, locale in (("light", "en"), ("dark", "zh-CN")):
        page = profile(color_scheme=scheme, locale=locale).new_page()
        page.goto(site.url + path)
        for width, height in ((1440, 900), (1280, 720), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            cut = page.locator(".title").evaluate_all(
                "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)"
            )
            assert cut == []
            assert faults_of(page) == []
            if "own" not in path and width > 1000:
                page_go = page.locator(".go:visible")
                expect(page_go).to_have_count(1)  # one filled button
            save(page, f"{path.split('/')[1] or 'list'}-{locale}-{width}")


def test_an_own_text_travels_in_its_link_and_a_wrong_line_is_marked(
    profile: Profile, site: SupervisedSite
) -> None:
    context = profile()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{site.url}learn/own/")
    page.click("#share")
    expect(page.locator("#shared")).to_have_text("There is no text to share.")
    page.fill("#text", PAUSING)
    page.click("#share")
    expect(page.locator("#shared")).to_contain_text("The link is copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    other = profile().new_page()
    other.goto(link)
    expect(other.locator("#text")).to_have_value(PAUSING)
    other.fill("#text", "\n" * 60 + PAUSING.replace("rabbitmq", "zeromq"))
    other.click("#own .go")
    expect(other.locator("#wrong")).to_contain_text("line 67: lane 1, model: must be one of pulsar")
    expect(other.locator(".lines [data-wrong]")).to_have_text("67")
    mark, wrong = other.locator(".mark").bounding_box(), other.locator("#wrong").bounding_box()
    assert mark is not None and wrong is not None and abs(wrong["y"] - (mark["y"] + mark["height"])) < 2
    save(other, "own-wrong")
    other.fill("#text", PAUSING)
    expect(other.locator(".mark")).to_be_hidden()
    other.click("#own .go")
    expect(other.locator("#lab-name")).to_have_text("Mine")
    other.goto(f"{site.url}learn/own/#text=AAAA")
    expect(other.locator("#shared")).to_have_text("This link holds no text of a lesson.")
