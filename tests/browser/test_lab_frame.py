"""What stands around every page of a lab, and is the same on all of them."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post, wait_frame
from tests.browser.story_clock import let_pass
from tests.browser.test_axe import AXE, FINDINGS
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
PAGES = [
    "",
    "pulsar/",
    "kafka/cluster/",
    "kafka/groups/",
    "kafka/log",
    "tubemq/",
    "rabbitmq/",
    "code/",
    "compare/",
]
TABS = ["stage", "pulsar", "cluster", "groups", "log", "tubemq", "rabbitmq", "code", "compare"]
IS_WHOLE = """tab => {
  const [inner, outer] = [tab, tab.parentElement].map((one) => one.getBoundingClientRect());
  return inner.left >= outer.left && Math.floor(inner.right) <= outer.right;
}"""
SIZES = {"large": (1440, 900), "projector": (1280, 720), "phone": (390, 844)}


@pytest.fixture
def lab(profile: Profile, site: SupervisedSite) -> Page:
    """The Labs page of a visitor, who has a demo of its own: `page.lab`."""
    page = profile(permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.goto(f"{site.url}labs/")
    return page


def demo(page: Page, site: SupervisedSite) -> str:
    """A new lab of whoever has this page open; its address."""
    return f"{site.url}lab/{post(page, '/api/labs/', {'scenario': 'demo'})['id']}/"


def box(page: Page, selector: str) -> dict[str, Any]:
    found = page.locator(selector).bounding_box()
    assert found is not None, selector
    return {name: round(value) for name, value in found.items()}


def post_order(page: Page, order: dict[str, Any]) -> None:
    lab = page.get_attribute("#main", "data-lab")
    post(page, f"/api/labs/{lab}/commands/", {"command_id": uuid4().hex, "lane": "all", **order})


def test_the_bar_of_time_has_one_place_and_one_height_and_drives_the_lab_on_every_page(
    lab: Page, site: SupervisedSite
) -> None:
    address, bars = demo(lab, site), {}
    for path in PAGES:
        lab.goto(address + path)
        expect(lab.locator("#timeline [role=button]").first).to_be_attached()
        lab.keyboard.press(" ")
        expect(lab.locator("#play")).to_have_attribute("data-say-label", "play")
        clock = lab.text_content("#clock")
        for _record in range(5):  # 36 come a second, and the clock shows tenths
            lab.keyboard.press(".")
        expect(lab.locator("#clock")).not_to_have_text(clock or "")
        lab.click("[data-speed='4']")
        expect(lab.locator("[data-speed='4']")).to_have_attribute("aria-pressed", "true")
        lab.click("[data-speed='1']")
        lab.click("#play")
        expect(lab.locator("#play")).to_have_attribute("data-say-label", "pause")
        if path != "code/":  # which is a table itself
            lab.click("#twins")
            expect(lab.locator(".twin-box").first).to_have_attribute("tabindex", "0")
            lab.click("#twins")
        lab.click("#share")
        expect(lab.locator("#notice")).to_be_visible()
        link = lab.evaluate("() => navigator.clipboard.readText()")
        assert link.startswith(address + path) and "#at_us=" in link, path
        for size, (width, height) in SIZES.items():
            lab.set_viewport_size({"width": width, "height": height})
            bar = box(lab, ".trans")
            assert bar["y"] + bar["height"] == height and bar["width"] == width, (path, size)
            assert bars.setdefault(size, bar) == bar, (path, size)
        lab.set_viewport_size({"width": 1440, "height": 900})


def test_a_log_that_was_opened_has_no_bar_of_time_but_its_tables(lab: Page, site: SupervisedSite) -> None:
    lab.goto(f"{site.url}log/article/")
    expect(lab.locator("#folder")).to_be_visible()
    assert lab.locator(".trans").count() == 0
    lab.keyboard.press("t")
    expect(lab.locator("#folder")).to_be_hidden()
    lab.keyboard.press("t")
    expect(lab.locator("#folder")).to_be_visible()


def test_tabs_lead_to_all_pages_of_the_lab_and_stand_in_one_place_on_each(
    lab: Page, site: SupervisedSite
) -> None:
    lab.goto(demo(lab, site))
    places: dict[str, Any] = {}
    for name in TABS:
        lab.click(f"#to-{name}")
        expect(lab.locator(".lab-tabs [aria-current]")).to_have_attribute("id", f"to-{name}")
        expect(lab.locator("#lab-name")).to_be_visible()
        for part in [f"#to-{tab}" for tab in TABS] + [".lab-bar", ".story", ".top"]:
            assert places.setdefault(part, box(lab, part)) == box(lab, part), (name, part)
    lab.click(".lab-name a")
    expect(lab).to_have_url(f"{site.url}labs/")


@pytest.mark.parametrize("width", [1280, 390])
def test_tabs_without_room_are_counted_and_listed(lab: Page, site: SupervisedSite, width: int) -> None:
    lab.set_viewport_size({"width": width, "height": 720})
    lab.goto(demo(lab, site))
    expect(lab.locator("#more-tabs")).to_have_text(re.compile(r"^[1-9] more$"))
    lab.click("#more-tabs")
    listed = lab.locator("#tab-menu a")
    expect(listed.first).to_be_focused()
    expect(lab.locator("#more-tabs")).to_have_text(f"{listed.count()} more")
    lab.evaluate(AXE)
    assert lab.evaluate(FINDINGS) == []
    listed.get_by_text("Break it").click()
    expect(lab).to_have_url(re.compile("/break/"))
    current = lab.locator(".lab-tabs [aria-current]")
    expect(current).to_have_text("Break it")
    assert current.evaluate(IS_WHOLE)


def test_the_owner_changes_the_name_in_place_and_a_refusal_stands_at_the_field(
    lab: Page, site: SupervisedSite, profile: Profile
) -> None:
    address = demo(lab, site)
    lab.goto(address)
    old = lab.text_content("#lab-name")
    lab.click("#lab-name")
    lab.fill("#lab-rename input", "n" * 65)
    lab.keyboard.press("Enter")
    expect(lab.locator("#lab-rename .bad")).to_have_text("must be 1 to 64 printable characters")
    lab.keyboard.press("Escape")
    expect(lab.locator("#lab-name")).to_have_text(old or "")
    expect(lab.locator("#lab-name")).to_be_focused()
    lab.keyboard.press("Enter")
    lab.fill("#lab-rename input", "Flights of a Tuesday")
    lab.keyboard.press("Enter")
    expect(lab.locator("#lab-name")).to_have_text("Flights of a Tuesday")
    lab.goto(address + "kafka/cluster/")
    expect(lab.locator("#lab-name")).to_have_text("Flights of a Tuesday")
    other = profile().new_page()
    other.goto(address)
    expect(other.locator("#lab-name")).to_have_text("Flights of a Tuesday")
    expect(other.locator("#lab-name")).to_be_disabled()


def test_a_lab_without_a_model_has_no_tab_for_it(lab: Page, site: SupervisedSite) -> None:
    made = post(lab, "/api/labs/", {"lanes": [{"model": "rabbitmq"}], "workload": {"kind": "uniform"}})
    lab.goto(f"{site.url}lab/{made['id']}/")
    expect(lab.locator(".lab-tabs a")).to_have_text(["Stage", "RabbitMQ", "Code", "Break it", "Settings"])


def test_the_first_press_gives_the_lab_an_address_of_its_own_and_moves_nothing(page: Page) -> None:
    parts = [".lab-bar", ".story", "#kafka", "#kafka .pic", "#kafka .rows", "#kafka .foot", ".trans"]
    before = [box(page, part) for part in parts]
    page.click("#add")
    expect(page.locator("#story-what")).to_contain_text("c4 joined")
    assert page.url.endswith(f"/lab/{page.get_attribute('#main', 'data-lab')}/")
    assert [box(page, part) for part in parts] == before


@pytest.mark.parametrize("size", list(SIZES))
def test_the_story_is_as_high_whatever_it_says_and_its_nouns_and_their_things_light_each_other(
    page: Page, size: str
) -> None:
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    before = box(page, ".story")
    post_order(page, {"kind": "crash", "consumer": "c2"})
    noun = page.locator("#story [data-noun='consumer:c2']").first
    expect(noun).to_be_visible()
    expect(page.locator("#story-means")).to_contain_text("Not noticed yet")
    assert box(page, ".story") == before
    if size == "phone":  # nothing hovers there
        return
    row = page.locator("#pulsar [data-consumer=c2]")
    noun.hover()
    expect(row).to_have_attribute("data-named", "")
    page.locator("#lab-name").hover()
    expect(row).not_to_have_attribute("data-named", "")
    row.scroll_into_view_if_needed()
    row.hover()
    expect(noun).to_have_attribute("data-lit", "")
    noun.focus()
    expect(row).to_have_attribute("data-named", "")


def test_the_pages_of_a_crash_tell_it_before_anything_else(lab: Page, site: SupervisedSite) -> None:
    address = demo(lab, site)
    lab.goto(address)
    wait_frame(lab)
    let_pass(lab, site.run_dir, 9)  # all groups are stable
    post_order(lab, {"kind": "crash", "consumer": "c2"})
    expect(lab.locator("#story-what")).to_contain_text("c2 crashed")
    post_order(lab, {"kind": "pause_lab"})  # before a system notices: then what waits comes first there
    for path in PAGES:
        lab.goto(address + path)
        expect(lab.locator("#story-what [data-noun='consumer:c2']")).to_be_visible()
    lab.goto(address)
    post_order(lab, {"kind": "join", "args": {"count": 1}})
    expect(lab.locator("#story-what")).to_have_text("c2 crashed and has not been noticed everywhere.")


def test_more_records_than_the_consumers_handle_is_said_where_it_is_so(page: Page) -> None:
    expect(page.locator("#story-means")).to_have_text("6 records/s more come in than 3 consumers handle.")
    page.click("#add")
    # Pulsar's newcomer handles nothing before what was sent earlier is done: 22 s
    expect(page.locator("#story-means")).not_to_contain_text("more come in than", timeout=90_000)
