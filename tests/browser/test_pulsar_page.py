"""Stories of the Pulsar page: a stuck consumer and the newcomer behind it, what if, the lens, types, sticky
ranges, phones, languages."""

import json
import re
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save, wait_frame, wait_lesson, wait_text
from tests.browser.reach import faults_of
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
MAKE = """async (scenario) => {
  const csrf = document.cookie.split("; ").find((pair) => pair.startsWith("csrftoken="))?.slice(10) ?? "";
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrf };
  const answer = await fetch("/api/labs/", { method: "POST", credentials: "same-origin", headers, body: JSON.stringify({ scenario }) });
  return answer.json();
}"""
TYPES = [
    ("Failover", "Active and standbys", "c3"),
    ("Shared", "The round", "c3"),
    ("Exclusive", "The one consumer", "ConsumerBusy"),
]


def open_page(context: BrowserContext, site: SupervisedSite, consumers: int = 3, **lane: Any) -> Page:
    """The page of a lab of the visitor's own, with one Pulsar lane, moving."""
    page = context.new_page()
    page.goto(site.url + "labs/")
    scenario = {
        "lanes": [{"model": "pulsar", **lane}],
        "consumers": consumers,
        "workload": {"kind": "uniform", "keys": 200, "rate": 40},
    }
    made = page.evaluate(MAKE, scenario)
    assert "id" in made, made
    page.goto(f"{site.url}lab/{made['id']}/pulsar/")
    wait_frame(page)
    return page


def cell(page: Page, name: str, column: int) -> str:
    return (
        page.locator(f"#consumers tr[data-name={name}]:not(.why) td")
        .nth(column)
        .inner_text()
        .replace("\u202f", "")
    )


def test_one_stuck_consumer_starves_the_newcomer_and_the_page_says_which_message(
    profile: Profile, site: SupervisedSite, let_pass: Callable[[Page, float], None]
) -> None:
    page = open_page(profile(), site, order="recently_joined")
    expect(page.locator("#sub")).to_contain_text("Pulsar 3.2")
    expect(page.locator("#sub")).to_contain_text("newcomers wait")
    page.click("#consumers tr[data-name=c1] button")
    page.keyboard.press("z")
    wait_text(page, "#consumers tr.why[data-name=c1]", "Paused while holding")
    page.keyboard.press("a")
    wait_text(page, "#consumers tr.why[data-name=c4]", "Newcomer: nothing from entry")
    wait_text(page, "#story", "c4 gets nothing until")
    why = page.locator("#consumers tr.why[data-name=c4]")
    expect(why).to_contain_text("c1 holds the oldest")
    expect(
        page.locator("#strip [id=join-word-c4], #strip text").filter(has_text="c4 joined at")
    ).to_be_visible()
    assert cell(page, "c4", 3) == "0"
    save(page, "pulsar-newcomer")
    page.keyboard.press("z")
    let_pass(page, 15)
    page.wait_for_function(
        "() => !document.querySelector('#strip').textContent.includes('c4 joined at')", timeout=60_000
    )


def test_what_if_is_what_happens(profile: Profile, site: SupervisedSite) -> None:
    page = open_page(profile(), site)
    page.fill("#ask-key", "N725MQ")
    wait_text(page, "#answer", "1\u202f086\u202f355\u202f720")
    before = page.locator("#answer").inner_text()
    after_join = before.split("c4 joins")[1].split("\n")[1].strip()
    page.click("[data-order=join]")
    page.wait_for_selector("#consumers tr[data-name=c4]")
    # Once c4 is connected, the key is where it was said to be.
    page.wait_for_function(
        "said => [...document.querySelectorAll('#answer dt')].some(({ textContent, nextSibling }) => "
        "textContent === 'Now'"
        " && said.endsWith(nextSibling.textContent))",
        arg=after_join,
    )
    wait_text(page, "#answer", "c5 joins")
    page.fill("#ask-name", "not a name!")
    wait_text(page, "#answer", "must be 1 to 32 letters")


def test_the_lens_follows_the_pointer_and_the_keys(profile: Profile, site: SupervisedSite) -> None:
    page = open_page(profile(), site)
    box = page.locator("#space").bounding_box()
    assert box
    before = page.locator("#lens-words").inner_text()
    page.mouse.click(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    page.wait_for_function(
        "before => document.getElementById('lens-words').textContent !== before", arg=before
    )
    wide = page.locator("#lens-words").inner_text()
    page.keyboard.press("+")
    page.wait_for_function("before => document.getElementById('lens-words').textContent !== before", arg=wide)
    low, high = (
        int(part.replace("\u202f", "").replace(" ", ""))
        for part in page.locator("#lens-words").inner_text().split("..")
    )
    assert low < 2**31 // 4 < high  # a quarter of the way around


def test_who_took_what_from_whom_after_a_join(profile: Profile, site: SupervisedSite) -> None:
    page = open_page(profile(), site)
    page.keyboard.press("a")
    page.wait_for_selector("#space[data-handing]")  # the first change that the page sees is shown in motion
    wait_text(page, "#handed", "c4 took")
    assert page.locator("#handed li").count() == 4  # in all, and from each of three
    expect(page.locator("#handed li").first).to_contain_text("of the hash space changed hands")
    expect(page.locator("#space circle.taken")).to_have_count(1)
    save(page, "pulsar-ring")


def test_order_and_type_are_switched_in_place(profile: Profile, site: SupervisedSite) -> None:
    page = open_page(profile(), site)
    page.select_option("#order", "draining")
    wait_text(page, "#sub", "in order, current: slots drain")
    expect(page.locator("#draining-panel")).to_be_visible()
    for button, title, row in TYPES:
        pressed = page.locator("#types").get_by_role("button", name=button, exact=True)
        pressed.click()
        wait_text(page, "#space-title", title)
        wait_text(page, "#consumers", row)
        expect(pressed).to_have_attribute("aria-pressed", "true")
        save(page, f"pulsar-{button.lower()}")


def test_a_consumer_that_holds_its_acks_is_stuck_and_seeks_and_levels_are_ordered_with_a_number(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_page(profile(), site, algorithm="failover", partitions=2)
    page.keyboard.press("]")
    page.keyboard.press("h")
    wait_text(page, "#consumers tr[data-name=c1]", "holds acks")
    page.keyboard.press("h")
    page.wait_for_function(
        "() => !document.querySelector('#consumers tr[data-name=c1]').textContent.includes('holds acks')"
    )
    page.fill("#level-value", "1")
    page.click("#level button")
    wait_text(page, "#consumers tr.why[data-name=c1]", "priority level 1 comes after level 0")
    expect(page.locator("#standbys text").filter(has_text="level 1")).to_be_visible()


@pytest.mark.parametrize("algorithm", ["consistent_hash", "auto_split", "failover", "shared"])
def test_nothing_scrolls_sideways_and_the_keyboard_reaches_everything(
    profile: Profile, site: SupervisedSite, algorithm: str
) -> None:
    page = open_page(profile(), site, algorithm=algorithm, consumers=16)
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        wait_frame(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.keyboard.press("t")
        expect(page.locator("#twins")).to_have_attribute("aria-pressed", "true")
        assert faults_of(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#space-twin tbody tr").count() >= (12 if algorithm == "failover" else 16)
        save(page, f"pulsar-{algorithm}-{width}")
        page.keyboard.press("t")
        expect(page.locator("#twins")).to_have_attribute("aria-pressed", "false")


def test_it_changes_language_in_place_and_has_a_way_from_the_stage_and_back(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_page(
        profile(), site, consumers=5
    )  # enough for the load, so the headline has nothing else to say
    page.click("#language")
    wait_text(page, "#consumers-title", "消费者")
    wait_text(page, "#story", "消费者已连接")
    page.click("#to-stage")
    page.click("#to-pulsar")
    wait_frame(page)
    expect(page.locator("#main")).to_be_visible()


def test_a_lab_of_somebody_else_can_be_watched_and_offers_a_copy(
    profile: Profile, site: SupervisedSite
) -> None:
    body = json.dumps({"scenario": {"lanes": [{"model": "pulsar"}]}}).encode()
    request = urllib.request.Request(
        site.url + "api/labs/", data=body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        lab = json.load(answer)["id"]
    page = profile().new_page()
    page.goto(f"{site.url}lab/{lab}/pulsar/")
    wait_frame(page)
    page.click("[data-order=join]")
    expect(page.locator("#notice-action")).to_have_text("Make my own copy")
    page.click("#notice-action")
    page.wait_for_url(re.compile(rf"/lab/(?!{lab})[^/]+/pulsar/$"))
    wait_frame(page)
    expect(page.locator("#main")).to_be_visible()


def test_it_says_when_the_connection_is_lost_and_goes_on_when_it_is_back(
    profile: Profile, site: SupervisedSite
) -> None:
    context = profile()
    page = open_page(context, site)
    context.set_offline(True)
    page.evaluate("() => window.dispatchEvent(new Event('offline'))")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "behind", timeout=20_000)
    context.set_offline(False)
    expect(page.locator("#fresh")).to_have_attribute("data-state", "live", timeout=40_000)


def test_default_batches_show_their_stray_keys(profile: Profile, site: SupervisedSite) -> None:
    page = open_page(profile(), site, batching="default", batching_delay_us=500_000, algorithm="auto_split")
    wait_text(page, "#story", "Batches mix keys")
    expect(page.locator("#batches .stray").first).to_be_visible()
    cells, strays = page.evaluate(  # of the same frame
        "() => ['.key-text', '.stray'].map((kind) => document.querySelectorAll(`#batches ${kind}`).length)"
    )
    assert cells > strays
    expect(page.locator("#batches-words")).to_contain_text("more than one key")
    save(page, "pulsar-batches")


def test_dead_letters_are_counted_at_the_foot_of_their_ladder(
    profile: Profile, site: SupervisedSite, let_pass: Callable[[Page, float], None]
) -> None:
    page = open_page(
        profile(), site, algorithm="shared", fails_every=10, max_redeliver=2, nack_delay_us=1_000_000
    )
    wait_text(page, "#ladder-words", "dead-letter topic")
    let_pass(page, 6)
    page.wait_for_function(
        "() => /[1-9]\\d* messages/.test(document.querySelector('#ladder').textContent)", timeout=30_000
    )
    save(page, "pulsar-ladder")


def test_a_subscription_is_sought_by_the_moment_of_publishing(
    profile: Profile, site: SupervisedSite, let_pass: Callable[[Page, float], None]
) -> None:
    page = open_page(profile(), site, algorithm="failover_document", retention=10_000)
    let_pass(page, 4)
    page.keyboard.press("]")
    wait_text(page, "#seek-kept", "Kept from ")
    page.select_option("#seek-by", "time")
    page.fill("#seek-to", "1")
    page.click("#seek button")
    page.wait_for_function(
        "() => Number(document.querySelector('#cursor-words').textContent.match(/\\d+/)) > 60"
    )
    page.keyboard.press("t")
    page.wait_for_function(
        "() => Number(document.querySelector('#cursor-twin tbody td:nth-child(2)').textContent) < 80"
    )


def test_the_lanes_of_a_lab_are_a_press_apart_and_a_lesson_s_caption_stands_on_each(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    page.goto(site.url + "learn/pulsar_batches_and_keys/")
    page.click(".begin [name=scenario]")
    page.wait_for_url("**/lab/**")
    wait_lesson(page)
    expect(page.locator("#story")).to_contain_text("20 keys")
    lanes = page.locator(".lane-tabs a")
    assert lanes.all_inner_texts() == ["Default batches", "KEY_BASED"]
    expect(lanes.first).to_have_attribute("aria-current", "page")
    lanes.nth(1).click()
    wait_lesson(page)
    expect(lanes.nth(1)).to_have_attribute("aria-current", "page")
    expect(page.locator("#batches-kind")).to_contain_text("KEY_BASED")


def test_a_chart_below_the_fold_is_drawn_when_it_comes_into_sight_of_a_paused_lab(
    profile: Profile, site: SupervisedSite, let_pass: Callable[[Page, float], None]
) -> None:
    page = open_page(profile(viewport={"width": 1280, "height": 500}), site, consumers=8)
    let_pass(page, 4)
    page.click("#play")
    page.wait_for_function("() => document.querySelector('#fresh').dataset.state === 'paused'")
    page.locator("#series-title").scroll_into_view_if_needed()
    page.wait_for_selector("#series .scatterlayer")


def test_who_opens_a_paused_lab_sees_the_curves_of_the_seconds_before(
    profile: Profile, site: SupervisedSite, let_pass: Callable[[Page, float], None]
) -> None:
    page = open_page(profile(viewport={"width": 1280, "height": 500}), site, consumers=3)
    let_pass(page, 6)
    page.click("#play")
    page.wait_for_function("() => document.querySelector('#fresh').dataset.state === 'paused'")
    late = page.context.new_page()
    late.goto(page.url)
    late.locator("#series-title").scroll_into_view_if_needed()
    late.wait_for_selector("#series .scatterlayer")
    lines = late.evaluate(
        "() => document.getElementById('series').data.map(({ name, x, y }) => [name, x.length, "
        "y.some((value) => value > 0)])"
    )
    assert [line[0] for line in lines][:3] == ["c1", "c2", "c3"] and len(lines) == 4
    assert all(count >= 6 and has_values for _, count, has_values in lines)
    save(late, "pulsar-late")


def test_sole_consumer_unsubscribes_and_the_next_one_begins_anew_and_receipts_get_lost(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_page(
        profile(),
        site,
        consumers=2,
        algorithm="shared",
        receipts=True,
        deduplication=True,
        subscriptions={"audit": {}},
    )
    wait_text(page, "#others", "audit-1")
    page.keyboard.press("]")
    page.keyboard.press("u")
    page.click("[data-order=pulsar_lose_receipts]")
    page.keyboard.press("l")
    page.wait_for_selector("#consumers tr[data-name=c1]", state="detached")
    page.keyboard.press("]")
    page.keyboard.press("u")
    wait_text(page, "#consumers tr.why[data-name=c2]", "Unsubscribed")
    save(page, "pulsar-unsubscribed")
    page.keyboard.press("a")
    page.wait_for_selector("#consumers tr[data-name=c3]")
    page.wait_for_function(
        "() => /connected/.test(document.querySelector('#consumers tr[data-name=c3]').textContent)"
    )


def test_a_newcomer_joins_with_a_name_a_level_and_ranges_of_its_own(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_page(profile(), site, algorithm="shared", consumers=2)
    page.keyboard.press("n")
    page.keyboard.type("late")
    page.fill("#join-level", "2")
    page.keyboard.press("Enter")
    wait_text(
        page,
        "#consumers tr.why[data-name=late]",
        "level 2 gets nothing while a consumer of level 0 has permits",
    )
    expect(page.locator("#round text").filter(has_text="level 2")).to_be_visible()
    page = open_page(profile(), site, algorithm="sticky", consumers=1)
    wait_text(page, "#consumers tr[data-name=c1]", "connected")
    page.fill("#editor-ranges", "0-39999")
    page.click("#editor-verbs button")
    wait_text(page, "#story", "has no owner")
    page.keyboard.press("Escape")
    page.locator("#newcomer summary").click()
    page.click("#join-ranges")
    page.keyboard.type("30000-65535")
    wait_text(page, "#findings", "30\u202f000..39\u202f999 belongs to c1")
    page.fill("#editor-ranges", "nonsense")
    wait_text(page, "#findings", "must be ranges such as")
    expect(page.locator("#editor-verbs button")).to_have_count(0)
    page.fill("#editor-ranges", "40000-65535")
    wait_text(page, "#findings", "The broker would accept these ranges")
    page.click("#editor-verbs button")
    page.wait_for_selector("#consumers tr[data-name=c2]")
    expect(page.locator("#editor-who")).to_have_value("c2")
