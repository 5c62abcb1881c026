"""Stories of the canvas itself: everything of one partition in one window without scrolling, the acks switch, and
the card that says what a broker's death would cost."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import THREE, open_cluster, save, wait_text
from tests.browser.story_clock import let_pass
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
INSIDE = """() => {
  const bar = document.querySelector(".trans").getBoundingClientRect().top, wide = innerWidth;
  const parts = [...document.querySelectorAll(".canvas svg [data-broker], .canvas svg text, .canvas svg [data-client]")];
  return parts.filter((part) => { const { left, right, bottom } = part.getBoundingClientRect();
    return left < 0 || right > wide || bottom > bar + 1; }).map(({ id, textContent }) => textContent || id);
}"""


def slowed(page: Page, leader: str) -> None:
    """Its followers fall behind: each link to the leader is chosen and slowed."""
    for other in {"1", "2", "3"} - {leader}:
        link = "broker-{}>broker-{}".format(*sorted((leader, other)))
        page.locator(f'[data-link="{link}"]').focus()
        page.keyboard.press("Enter")
        page.locator("#verbs").get_by_role("button", name="Slow").click()
        expect(page.locator("#verbs").get_by_role("button", name="Fast again")).to_be_visible()
    page.keyboard.press("Escape")


def leader_of(page: Page) -> str:
    found = re.search(r"leader (\d)", page.inner_text("#large-short"))
    assert found
    return found[1]


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1440, 900), (1920, 1080)])
def test_clients_brokers_logs_and_cards_are_in_one_window_without_scrolling(
    profile: Profile, site: SupervisedSite, width: int, height: int
) -> None:
    page = open_cluster(profile(viewport={"width": width, "height": height}), site)
    assert page.evaluate(INSIDE) == []
    for part in ("#picture", "#died", "#map", "#verbs-panel"):
        low = page.eval_on_selector(part, "element => element.getBoundingClientRect().bottom")
        assert low <= page.eval_on_selector(".trans", "bar => bar.getBoundingClientRect().top"), part
    boxes = page.eval_on_selector_all(
        "#picture [data-broker]", "all => all.map((box) => { const { top, width, height } = "
        "box.getBoundingClientRect(); return [top, width, height].map(Math.round).join(); })",
    )  # fmt: skip
    assert len(boxes) == 3 and len(set(boxes)) == 1
    for mark in ("hw", "leo"):
        assert page.locator(f'#picture [data-mark="{mark}"][data-replica="2"]').count() >= 1
    page.click('[data-broker="2"]')
    expect(page.locator("#verbs button").last).to_be_in_viewport(ratio=1)
    save(page, f"cluster-canvas-{width}")


def test_acks_is_a_switch_at_the_producer(cluster: Page) -> None:
    page = cluster
    expect(page.locator('[data-acks="-1"]')).to_have_attribute("aria-pressed", "true")
    page.click('[data-acks="1"]')
    expect(page.locator('[data-acks="1"]')).to_have_attribute("aria-pressed", "true")
    wait_text(page, "#story", "acks=1")
    wait_text(page, "#producer-words", "acks=1")
    page.locator('[data-acks="0"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator('[data-acks="0"]')).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#picture [data-said=answer]')].some(({ textContent }) => "
        "textContent.startsWith('no answers'))"
    )


def test_the_card_says_what_a_brokers_death_would_cost_and_the_crash_costs_that(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_cluster(profile(), site, {**THREE, "partitions": 1, "acks": 1})
    leader = leader_of(page)
    expect(page.locator("#died-title")).to_have_text(f"If broker {leader} died now")
    slowed(page, leader)
    page.wait_for_function(
        "() => Number(document.querySelector('#died dd').textContent) > 0 && /only there/.test(document.getElementById('died').textContent)"
    )
    expect(page.locator("#died dd").nth(1)).to_have_text("0")
    page.keyboard.press(" ")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    count = int(page.locator("#died dd").first.inner_text())
    page.click(f'[data-broker="{leader}"]')
    save(page, "cluster-died")
    page.keyboard.press("x")
    wait_text(page, "#died", "It is down already")
    page.keyboard.press(" ")
    let_pass(page, site.run_dir, 12)
    words = "One acknowledged record is lost" if count == 1 else f"{count} acknowledged records are lost"
    wait_text(page, "#cards", words)


def test_links_of_the_controller_are_drawn_when_one_is_cut(cluster: Page) -> None:
    page = cluster
    assert page.locator('[data-link="broker-1>controller"]').count() == 0
    page.click('[data-broker="1"]')
    page.locator("#verbs").get_by_role("button", name="Cut from").click()
    page.locator("#verbs").get_by_role("button", name="Link to Controller").click()
    page.locator("#verbs").get_by_role("button", name=re.compile("^Cut ?C?$")).click()
    expect(page.locator('[data-link="broker-1>controller"]')).to_have_attribute(
        "aria-label", re.compile("cut both ways")
    )
    wait_text(page, "#controller-words", "controller hears 2, 3")
    page.keyboard.press("Escape")
    expect(page.locator('[data-link="broker-1>controller"]')).to_have_count(1)
    page.click("#controller-choice")
    expect(page.locator('[data-link$=">controller"]')).to_have_count(3)


def test_lanes_of_one_lesson_stand_side_by_side_and_another_ones_is_pressed(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile(viewport={"width": 1280, "height": 720}).new_page()
    page.goto(f"{site.url}learn/kafka_cluster_acks/")
    page.click("button[value=kafka_cluster_acks]")
    page.wait_for_url(re.compile("/lab/"))
    lab = re.sub(r"(/lab/[^/]+).*", r"\1", page.url)
    page.goto(f"{lab}/kafka/cluster/?lane=acks_1")
    page.wait_for_selector('[data-canvas="acks_all"] [data-acks]')
    expect(page.locator(".canvas:visible")).to_have_count(3)
    assert page.evaluate(INSIDE) == []
    tops = page.eval_on_selector_all(
        ".canvas svg [data-broker]", "all => all.map((box) => Math.round(box.getBoundingClientRect().top))"
    )
    assert len(tops) == 9 and len(set(tops)) == 1
    for lane, acks in (("acks_0", 0), ("acks_1", 1), ("acks_all", -1)):
        pressed = page.locator(f'[data-canvas="{lane}"] [data-acks="{acks}"]')
        expect(pressed).to_have_attribute("aria-pressed", "true")
        wait_text(page, f'[data-canvas="{lane}"] [data-died]', "died now")
    save(page, "cluster-lanes")
    page.locator('[data-canvas="acks_all"] [data-broker="3"]').click()
    page.wait_for_url(re.compile("lane=acks_all"))
    wait_text(page, "#verbs-about", "Broker 3")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280


def test_on_a_phone_three_boxes_stand_beside_one_another_and_the_clients_are_left_out(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_cluster(
        profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site, THREE
    )
    boxes = page.eval_on_selector_all(
        "#picture [data-broker]", "all => all.map((box) => box.width.baseVal.value)"
    )
    assert len(boxes) == 3 and min(boxes) >= 112
    assert page.locator("#picture [data-client]").count() == 0
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.locator("#picture").scroll_into_view_if_needed()
    save(page, "cluster-phone")
