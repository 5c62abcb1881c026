"""Stories of the TubeMQ page: who has what, a client that crashed and why its partitions wait, the calls, tables,
phones, languages, the keyboard."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save, wait_frame, wait_lesson, wait_text
from tests.browser.reach import faults_of
from tests.browser.test_pulsar_page import MAKE
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
Pass = Callable[[Page, float], None]


def open_page(context: BrowserContext, site: SupervisedSite, consumers: int = 4, **lane: Any) -> Page:
    """The page of a lab of the visitor's own, with one TubeMQ lane, moving."""
    page = context.new_page()
    page.goto(site.url + "labs/")
    workload = {"kind": "uniform", "keys": 60, "rate": 30}
    lanes = [{"model": "tubemq", "topic": "flights", **lane}]
    made = page.evaluate(MAKE, {"lanes": lanes, "consumers": consumers, "workload": workload})
    assert "id" in made, made
    page.goto(f"{site.url}lab/{made['id']}/tubemq/")
    wait_frame(page)
    return page


@pytest.fixture
def page(profile: Profile, site: SupervisedSite, let_pass: Pass) -> Page:
    opened = open_page(profile(), site)
    let_pass(opened, 8)
    return opened


SIZES = pytest.mark.parametrize(("wide", "tall"), [(1440, 900), (1280, 720)])


def bottom(page: Page, part: str) -> float:
    box = page.locator(part).bounding_box()
    assert box is not None, part
    return box["y"] + box["height"]


@SIZES
def test_story_pictures_and_calls_stand_in_the_first_view(page: Page, wide: int, tall: int) -> None:
    page.set_viewport_size({"width": wide, "height": tall})
    wait_frame(page)
    fold = page.locator(".trans").bounding_box()
    assert fold is not None and fold["y"] + fold["height"] == tall
    for part in ("h1", "#story-means", "#difference", "#brokers", "#calls", ".unread"):
        assert bottom(page, part) <= fold["y"], part
    page.click("#calls [data-call=start]")
    for part in ("#calls", "#call", "#call-answer", ".unread"):
        assert bottom(page, part) <= fold["y"], part
    last = page.locator("#calls li").last
    last.scroll_into_view_if_needed()
    assert bottom(page, "#calls li:last-child") <= bottom(page, "#calls") + 1


PLACES = """() => [".story", "#difference-box", "#brokers-box", "#tabs", "#calls", ".unread"].map((part) => {
  const { x, y, width, height } = document.querySelector(part).getBoundingClientRect();
  return [part, x, y, width, height];
})"""


@SIZES
def test_nothing_moves_while_the_group_changes(page: Page, let_pass: Pass, wide: int, tall: int) -> None:
    page.set_viewport_size({"width": wide, "height": tall})
    wait_frame(page)
    before = page.evaluate(PLACES)
    page.select_option("#client", "c2")
    page.click("#verbs [data-order=crash]")
    let_pass(page, 2)
    wait_text(page, "#story-what", "c2 crashed")
    wait_text(page, "#story-means", "3 of 12 partitions are not read.")
    page.evaluate("scrollTo(0, 0)")
    assert page.evaluate(PLACES) == before
    order(page, "offline", broker="3")
    let_pass(page, 45)
    wait_text(page, "h1", "Broker 3 is offline")
    page.evaluate("scrollTo(0, 0)")
    assert page.evaluate(PLACES) == before
    page.click("#rules [data-rule=sticky]")
    let_pass(page, 15)
    page.evaluate("scrollTo(0, 0)")
    assert page.evaluate(PLACES) == before


def test_what_is_secondary_stands_behind_tabs_that_the_arrow_keys_choose(page: Page) -> None:
    expect(page.locator("#panel-orders")).to_be_visible()
    expect(page.locator("#panel-first")).to_be_hidden()
    page.focus("#tab-orders")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-first")).to_be_focused()
    expect(page.locator("#first")).to_be_visible()
    wait_text(page, "#first", "server-side")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#panel-query")).to_be_visible()
    assert page.locator("#tabs [tabindex='0']").count() == 1


def test_crashed_clients_partitions_wait_for_it_and_the_page_says_why(page: Page, let_pass: Pass) -> None:
    wait_text(page, "h1", "4 clients read all 12 partitions.")
    expect(page.locator('#difference [data-part^="has/"]')).to_have_count(12)
    page.select_option("#client", "c2")
    page.keyboard.press("Escape")
    page.click("#verbs [data-order=crash]")
    let_pass(page, 2)
    wait_text(page, "#story-what", "c2 crashed")
    wait_text(page, "#story-means", "3 of 12 partitions are not read.")
    wait_text(page, "#story-means", "c2 has crashed, and the rule keeps")
    own = page.locator('#difference [data-part^="takes/c2/"]').first
    key = (own.get_attribute("data-part") or "").split("/")[-1]
    page.locator(f'#brokers [data-part="broker/{key}"]').click()
    expect(page.locator("#unread-partition")).to_have_value(key)
    wait_text(page, "#unread", "nobody replaces it")
    wait_text(page, "#unread", "Master and brokers let go of it in")
    save(page, "tubemq-crashed")
    page.keyboard.press("Escape")
    expect(page.locator("#brokers [aria-pressed=true]")).to_have_count(0)


def test_calls_show_their_last_answers_and_the_chosen_one_its_arguments(page: Page) -> None:
    expect(page.locator("#calls li")).to_have_count(17)
    wait_text(page, "#calls [data-call=start]", "200")
    wait_text(page, "#calls [data-call=getSourceCount]", "4")
    expect(page.locator("#call")).to_be_hidden()
    page.click("#calls [data-call=start]")
    expect(page.locator("#call")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#calls [data-call=getPartitionMetaInfo]")).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#calls [data-call=getPartitionMetaInfo]")).to_be_focused()
    page.select_option("#client", "c3")
    wait_text(page, "#calls [data-call=getNodeId]", "2")
    page.focus("#call .go")
    page.keyboard.press("Escape")
    expect(page.locator("#call")).to_be_hidden()
    expect(page.locator("#calls [data-call=getPartitionMetaInfo]")).to_be_focused()


def test_an_operators_query_shows_what_the_clients_reported(page: Page, let_pass: Pass) -> None:
    let_pass(page, 10)
    page.click("#tab-query")
    expect(page.locator("#query tbody tr")).to_have_count(4)
    own = page.locator('#difference [data-part^="has/c1/"]').first.get_attribute("data-part") or ""
    broker, _, number = own.split("/")[-1].split(":")
    wait_text(page, "#query tbody tr", f"{broker}:{number}")


def order(page: Page, verb: str, **values: str) -> None:
    """Fill the form of an order and send it."""
    if page.get_attribute(f"[data-verb={verb}]", "aria-expanded") == "false":
        page.click(f"[data-verb={verb}]")
    for name, value in values.items():
        field = page.locator(f"#order [data-field='args.{name}']")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.click("#order .strong")


def test_broker_that_is_offline_keeps_its_partitions_for_their_owners(page: Page, let_pass: Pass) -> None:
    order(page, "offline", broker="3")
    let_pass(page, 45)
    wait_text(page, "h1", "Broker 3 is offline: its 4 partitions are not read.")
    wait_text(page, "#unread", "stays with its client")
    expect(page.locator("#brokers .node.off")).to_have_count(1)
    expect(page.locator('#difference [data-part^="takes/"].void')).to_have_count(4)
    save(page, "tubemq-offline")
    order(page, "online", broker="3")
    let_pass(page, 60)
    wait_text(page, "#story", "4 clients read all 12 partitions.")


def test_client_with_another_source_count_is_refused_and_what_is_typed_wrong_is_said_at_its_field(
    page: Page, let_pass: Pass
) -> None:
    page.select_option("#client", "c3")
    order(page, "restart", source_count="five")
    wait_text(page, "#order", "must be a whole number")
    order(page, "restart", source_count="5", node_id="4")
    let_pass(page, 4)
    wait_text(page, "h1", "c3 is refused with 429.")
    wait_text(page, "#story", "the group has another source count")
    save(page, "tubemq-refused")


def test_a_call_by_hand_has_the_originals_refusal_and_the_fight_is_shown(page: Page, let_pass: Pass) -> None:
    other = page.locator('#difference [data-part^="has/c2/"]').first
    key = (other.get_attribute("data-part") or "").split("/")[-1]
    page.select_option("#client", "c1")
    page.click("#calls [data-call=connect2Partition]")
    page.fill("#call [data-field='args.partition']", key)
    page.click("#call .go")
    let_pass(page, 3)
    wait_text(page, "#call-answer", "410 another client has registered it")
    wait_text(page, "h1", "both want")
    wait_text(page, "#brokers", "gets 410")
    save(page, "tubemq-fight")


def test_a_rule_of_ones_own_and_the_masters_are_chosen_here(page: Page, let_pass: Pass) -> None:
    page.click("#tab-own")
    page.fill("#own-source", "def assign(")
    page.click("#own-run")
    page.wait_for_selector("#own-words.bad")
    page.evaluate("document.getElementById('own-source').value = ''")
    page.fill("#own-source", "def assign(members, partitions):\n"
              "    return {sorted(members)[0]: [(t, n) for t in partitions for n in range(partitions[t])]}\n")  # fmt: skip
    page.click("#own-run")
    let_pass(page, 15)
    wait_text(page, "#own-words", "The group follows your rule.")
    expect(page.locator('#difference [data-part^="has/c1/"]')).to_have_count(3)
    wait_text(page, "#difference", "+9")
    wait_text(page, "#story", "One client reads all 12 partitions.")
    page.click("#own-back")
    let_pass(page, 15)
    page.click("#rules [data-rule=server]")
    let_pass(page, 60)
    wait_text(page, "#difference-title", "What the master gives each client")
    expect(page.locator("#call")).to_be_hidden()
    expect(page.locator("#served")).to_be_visible()
    save(page, "tubemq-server")


def test_every_width_theme_and_table_can_be_read_and_reached(page: Page, let_pass: Pass) -> None:
    page.evaluate("document.activeElement.blur()")
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        wait_frame(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        save(page, f"tubemq-{width}")
        page.keyboard.press("t")
        expect(page.locator("#twins")).to_have_attribute("aria-pressed", "true")
        assert faults_of(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#difference-twin tbody tr").count() == 4
        assert page.locator("#brokers-twin tbody tr").count() == 12
        page.keyboard.press("t")


def test_it_changes_language_in_place_and_has_a_way_from_the_stage_and_back(page: Page) -> None:
    page.click("#language")
    wait_text(page, "h1", "4 个客户端读取全部 12 个分区。")
    wait_text(page, "#difference-title", "每个客户端各自分配")
    page.click("#to-stage")
    page.click("#to-tubemq")
    wait_frame(page)
    wait_text(page, "h1", "分区")


def test_a_lane_without_clients_says_so_and_a_key_adds_one(
    profile: Profile, site: SupervisedSite, let_pass: Pass
) -> None:
    page = open_page(profile(), site, consumers=0)
    wait_text(page, "h1", "No client runs: all 12 partitions wait.")
    expect(page.locator("#call")).to_be_hidden()
    page.keyboard.press("a")
    let_pass(page, 8)
    wait_text(page, "#story", "One client reads all 12 partitions.")


def test_a_lesson_opens_here_with_its_caption_checks_and_pictures_in_the_first_view(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    page.goto(site.url + "learn/tubemq_source_count_off/")
    page.click(".begin [name=scenario]")
    page.wait_for_url("**/tubemq/**")
    wait_lesson(page)
    page.locator("#timeline [data-frame='3']").click()
    expect(page.locator("#frame-place")).to_have_text("3/3", timeout=20_000)
    wait_text(page, "#story", "with 1:orders:0 as well, by mistake")
    wait_text(page, "#story-means", "c1 and c2 both want 1:0.")
    wait_text(page, "[data-check]", "holds")
    for wide, tall in ((1440, 900), (1280, 720)):
        page.set_viewport_size({"width": wide, "height": tall})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        fold = page.locator(".trans").bounding_box()
        assert fold is not None
        for part in ("#story", "#difference", "#brokers", "#calls", ".unread"):
            assert bottom(page, part) <= fold["y"], (part, wide)
    save(page, "tubemq-lesson")
