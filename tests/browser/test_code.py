"""Stories of the Code page: the last run of an algorithm, step by step, now and in the past, in both languages."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post, save, wait_frame
from tests.browser.story_clock import let_pass
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
ANSWERS_MS = 20_000


@pytest.fixture
def lab(profile: Profile, site: SupervisedSite) -> Page:
    """A lab of nine seconds that rests: its group has settled."""
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    made = post(page, "/api/labs/", {"scenario": "demo", "name": "Code"})["id"]
    page.goto(f"{site.url}lab/{made}/")
    wait_frame(page)
    let_pass(page, site.run_dir, 9)
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
    return page


def at(page: Page) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+) of (\d+)", page.text_content("#place") or "")
    assert found is not None
    return int(found[1]), int(found[2])


def test_the_last_run_is_walked_through_line_by_line(lab: Page) -> None:
    lab.click("#to-code")
    lab.click("[data-lane-tab=kafka]")
    expect(lab.locator("#source-title")).to_have_text("assign_range", timeout=ANSWERS_MS)
    expect(lab.locator("#when")).to_have_text(re.compile(r"^Ran last at 0:0\d\.\d"))
    now = lab.locator("#lines [data-now]")
    expect(now).to_have_count(1)
    place, count = at(lab)
    assert place == 1 and count > 10
    first = now.text_content()
    lab.keyboard.press("]")
    lab.keyboard.press("]")
    assert at(lab) == (3, count) and now.text_content() != first
    expect(lab.locator("#values [data-changed]")).not_to_have_count(0)
    lab.keyboard.press("[")
    assert at(lab) == (2, count)
    lab.locator("#at").focus()
    lab.keyboard.press("End")
    assert at(lab) == (count, count)
    expect(lab.locator("#result")).to_contain_text("Gives back {")
    expect(lab.locator("#step-after")).to_be_disabled()
    expect(now).to_contain_text("return assignment")
    save(lab, "code")
    lab.reload()
    expect(lab.locator("#source-title")).to_have_text("assign_range", timeout=ANSWERS_MS)


def test_its_heading_is_the_chosen_algorithm_from_the_start_and_no_button_is_dead(lab: Page) -> None:
    lab.route("**/api/labs/*/code/**", lambda route: None)  # the server has not answered yet
    lab.goto(f"{lab.url}code/?lane=kafka")
    title = lab.locator("#of option:checked").inner_text()
    expect(lab.locator("#when")).to_have_text("Looking it up …")
    expect(lab.locator("#walk")).to_be_hidden()
    expect(lab.locator("#twins")).to_have_count(0)
    heading = lab.locator("#source-title").inner_text()
    lab.unroute("**/api/labs/*/code/**")
    lab.reload()
    expect(lab.locator("#when")).not_to_have_text("Looking it up …", timeout=ANSWERS_MS)
    expect(lab.locator("#of option:checked")).to_have_text(title)
    expect(lab.locator("#source-title")).to_have_text(heading)


def test_who_gets_no_answer_is_told_so_and_may_ask_again(lab: Page) -> None:
    lab.route(
        "**/api/labs/*/code/**",
        lambda route: route.fulfill(status=503, json={"fields": {"lab": ["Too busy."]}}),
    )
    lab.goto(f"{lab.url}code/?lane=kafka")
    expect(lab.locator("#when")).to_contain_text("Too busy.")
    lab.unroute("**/api/labs/*/code/**")
    lab.click("#again")
    expect(lab.locator("#when")).to_have_text(re.compile(r"^Ran last at"), timeout=ANSWERS_MS)


def test_why_is_about_its_lane_and_no_key_is_offered_that_does_nothing(lab: Page) -> None:
    lab.goto(f"{lab.url}code/?lane=kafka")
    expect(lab.locator("#lines li")).not_to_have_count(0, timeout=ANSWERS_MS)
    lab.keyboard.press("y")
    expect(lab.locator("#why-title")).to_have_text("Why? Kafka")
    expect(lab.locator("#why-says")).to_contain_text("The lane’s last change", timeout=ANSWERS_MS)
    lab.keyboard.press("Escape")
    lab.keyboard.press("?")
    expect(lab.locator("#keys-sheet kbd", has_text=re.compile("^Y$"))).to_have_count(1)
    expect(lab.locator("#keys-sheet kbd", has_text=re.compile("^P$"))).to_have_count(0)


def test_another_algorithm_another_moment_another_language(lab: Page) -> None:
    lab.goto(f"{lab.url}code/?lane=rabbitmq&of=rabbitmq.turn")
    expect(lab.locator("#source-title")).to_have_text("Consumers.next", timeout=ANSWERS_MS)
    expect(lab.locator("#when")).to_contain_text("Ran last at")
    then, here = lab.text_content("#when") or "", lab.text_content("#state-hash") or ""
    lab.keyboard.press("<")
    expect(lab.locator("#to-now")).to_be_visible()
    expect(lab.locator("#state-hash")).not_to_have_text(here, timeout=ANSWERS_MS)
    expect(lab.locator("#when")).to_contain_text("Ran last at", timeout=ANSWERS_MS)
    assert (
        lab.text_content("#when") or ""
    ) <= then  # ten steps may lie within the tenth of a second that it names
    lab.select_option("#of", "rabbitmq.dead_letter")
    expect(lab.locator("#when")).to_contain_text("has not run", timeout=ANSWERS_MS)  # yet, or since then
    expect(lab.locator("#walk")).to_be_hidden()
    lab.click("#language")
    expect(lab.locator("#when")).to_contain_text("没有运行")
    expect(lab.locator("#of option:checked")).to_have_text("死信：发布的副本")
    lab.keyboard.press("l")
    expect(lab.locator("body")).not_to_have_attribute("data-past", "")


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (390, 844)])
def test_it_fits(lab: Page, size: tuple[int, int]) -> None:
    lab.set_viewport_size({"width": size[0], "height": size[1]})
    lab.goto(f"{lab.url}code/?lane=pulsar&of=pulsar.ring_join")
    expect(lab.locator("#lines [data-now]")).to_have_count(1, timeout=ANSWERS_MS)
    wide, inner = lab.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner
    if size[0] > 900:
        assert lab.evaluate("() => document.documentElement.scrollHeight <= innerHeight + 1")
    save(lab, f"code-{size[0]}")
