"""Stories of looking back: a moment of the line, steps, playing there, back to now, and an order that starts a branch."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import wait_frame

ANSWERS_MS = 30_000


def seconds(page: Page) -> float:
    minutes, rest = (page.text_content("#clock") or "").split(":")
    return int(minutes) * 60 + float(rest)


def look_back(page: Page, share: float) -> None:
    page.wait_for_function(
        "() => parseFloat(document.getElementById('clock').textContent.split(':')[1]) >= 5"
    )
    box = page.locator("#timeline").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 10 + (box["width"] - 24) * share, box["y"] + 20)
    expect(page.locator("#behind")).to_have_text(re.compile("before now"), timeout=ANSWERS_MS)


def test_a_press_on_the_line_shows_that_moment_while_the_lab_goes_on(page: Page) -> None:
    look_back(page, 0.6)
    then, behind = seconds(page), page.text_content("#behind")
    expect(page.locator("#behind")).not_to_have_text(str(behind))
    assert seconds(page) == then and then > 1
    expect(page.locator("body")).to_have_attribute("data-past", "")
    page.keyboard.press("l")
    expect(page.locator("body")).not_to_have_attribute("data-past", "")
    expect(page.locator("#behind")).to_be_empty()
    assert seconds(page) > then
    wait_frame(page)


def test_steps_go_back_and_forward_and_the_same_moment_has_the_same_hash(page: Page) -> None:
    look_back(page, 0.6)
    state, then = page.locator("#state-hash"), seconds(page)
    here = state.text_content() or ""
    assert re.fullmatch("[0-9a-f]{16}", here)
    page.keyboard.press("<")
    expect(state).not_to_have_text(here, timeout=ANSWERS_MS)
    ten_before = state.text_content() or ""
    assert seconds(page) < then
    page.keyboard.press(",")
    expect(state).not_to_have_text(ten_before, timeout=ANSWERS_MS)
    page.keyboard.press(".")
    expect(state).to_have_text(ten_before, timeout=ANSWERS_MS)


PRESSED_AT_ONCE = """key => {
  for (let press = 0; press < 2; press += 1) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  }
}"""


def test_a_second_press_before_the_first_is_answered_is_a_second_step(page: Page) -> None:
    look_back(page, 0.6)
    state = page.locator("#state-hash")
    hashes = [state.text_content() or ""]
    for _record in range(3):  # the press on the line may have been between two records
        page.keyboard.press(",")
        expect(state).not_to_have_text(hashes[-1], timeout=ANSWERS_MS)
        hashes.append(state.text_content() or "")
    _, here, _, two_before = hashes
    page.evaluate(PRESSED_AT_ONCE, ".")
    expect(state).to_have_text(here, timeout=ANSWERS_MS)
    page.evaluate(PRESSED_AT_ONCE, ",")
    expect(state).to_have_text(two_before, timeout=ANSWERS_MS)


def test_space_plays_the_past_and_stops_it(page: Page) -> None:
    look_back(page, 0.2)
    then = seconds(page)
    page.keyboard.press(" ")
    page.wait_for_function(
        "then => document.body.hasAttribute('data-past') && window.highwater.view().at_us > (then + 0.5) * 1e6",
        arg=then,
        timeout=ANSWERS_MS,
    )
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", re.compile("live|behind"))


def test_who_jumps_about_while_the_past_plays_sees_no_refusal_in_the_console(page: Page) -> None:
    look_back(page, 0.6)
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    state = page.locator("#state-hash")
    for key in "<>" * 3:
        before = state.text_content() or ""
        page.keyboard.press(key)
        page.keyboard.press(" ")
        expect(page.locator("#play")).not_to_have_attribute("data-say-label", "play")
        page.keyboard.press(key)
        expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
        expect(state).not_to_have_text(before, timeout=ANSWERS_MS)
    assert refused == []


def test_play_pressed_before_a_step_is_answered_plays_from_where_the_step_leads(page: Page) -> None:
    look_back(page, 0.6)
    first, state = page.text_content("#state-hash") or "", page.locator("#state-hash")
    page.keyboard.press(",")
    expect(state).not_to_have_text(first, timeout=ANSWERS_MS)
    before_us = page.evaluate("() => window.highwater.view().at_us")
    page.evaluate(
        """() => {
          for (const key of ['<', ' ']) {
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
          }
        }"""
    )
    page.wait_for_function("us => window.highwater.view().at_us < us", arg=before_us, timeout=ANSWERS_MS)
    expect(page.locator("#play")).not_to_have_attribute("data-say-label", "play")
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")


def test_an_order_in_the_past_starts_a_branch_and_leaves_the_lab(page: Page) -> None:
    lab = page.evaluate("() => window.highwater.page.lab")
    look_back(page, 0.6)
    then = seconds(page)
    page.keyboard.press("a")
    page.wait_for_url(re.compile(r"/lab/[\w-]+/"), timeout=ANSWERS_MS)
    page.wait_for_selector('#pulsar [data-consumer="c4"]')
    assert page.evaluate("() => window.highwater.page.lab") != lab and seconds(page) >= then
    page.goto(re.sub("/lab/.*", f"/lab/{lab}/", page.url))
    page.wait_for_selector('#pulsar [data-consumer="c3"]')
    assert page.locator('#pulsar [data-consumer="c4"]').count() == 0


def pressed(page: Page, speed: float) -> None:
    expect(page.locator(f"[data-speed='{speed}']")).to_have_attribute(
        "aria-pressed", "true", timeout=ANSWERS_MS
    )


def test_a_change_runs_in_slow_motion_now_and_in_the_past(
    page: Page, let_pass: Callable[[Page, float], None]
) -> None:
    let_pass(page, 10)  # the group has settled
    page.click("[data-speed='4']")
    pressed(page, 4)
    page.keyboard.press("-")
    slow = page.locator("#slow")
    expect(slow).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("() => !window.highwater.view().changing", timeout=ANSWERS_MS)
    page.keyboard.press("a")
    expect(slow).to_have_text("slow now: ×0.1", timeout=ANSWERS_MS)
    pressed(page, 4)
    page.click("[data-speed='20']")  # how fast it is in between
    pressed(page, 20)
    expect(slow).to_have_text("slow now: ×0.1")
    page.click("[data-speed='1']")
    page.click("#slow")  # before the page has heard of the other
    expect(slow).to_have_text("slow at changes", timeout=ANSWERS_MS)
    pressed(page, 1)
    let_pass(page, 50)  # the change is over, and lies far back
    page.locator("#timeline [role=button]").last.click()
    expect(page.locator("body")).to_have_attribute("data-past", "")
    expect(page.locator("#behind")).to_have_text(re.compile("before now"), timeout=ANSWERS_MS)
    page.keyboard.press("-")
    expect(slow).to_have_attribute("aria-pressed", "true")
    pressed(page, 1)
    page.click("#slow")
    expect(slow).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("l")
    expect(slow).to_have_attribute("aria-pressed", "false")
