"""Stories of branches: tabs below the line of time that lead to the same page at the same moment, names, keys; and links
that open exactly what was shown."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, save
from tests.browser.test_past import ANSWERS_MS, look_back, seconds
from tests.supervisor.site import SupervisedSite

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def lab_of(page: Page) -> str:
    return str(page.get_attribute("#main", "data-lab"))


@pytest.fixture
def page(page: Page, let_pass: Callable[[Page, float], None]) -> Page:
    """A Stage with a past."""
    let_pass(page, 8)
    return page


def branch(page: Page) -> str:
    """Looks back and adds a consumer there. -> the lab of the branch, on whose page this one is now."""
    lab = lab_of(page)
    look_back(page, 0.6)
    expect(page.locator("#starts")).to_have_text("an action here starts A")
    page.keyboard.press("a")
    page.wait_for_url(lambda url: "/lab/" in url and lab not in url, timeout=ANSWERS_MS)
    expect(page.locator("#branches [data-branch]")).to_have_text(
        ["first course", "A: c4 joined"], timeout=ANSWERS_MS
    )
    return lab_of(page)


def test_a_branch_is_a_tab_on_each_page_that_leads_there_at_the_same_moment(
    page: Page, site: SupervisedSite
) -> None:
    lab, other = lab_of(page), branch(page)
    current = page.locator("#branches [aria-current]")
    expect(current).to_have_text("A: c4 joined")
    expect(current.locator("svg")).to_have_count(1)
    assert page.locator(f"#timeline #branch-{lab}, #timeline .branch").count() == 1
    save(page, "branches")
    page.goto(f"{site.url}lab/{other}/pulsar/")
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
    then = seconds(page)
    page.locator("#branches [data-branch]").first.click()
    page.wait_for_url(f"**/lab/{lab}/pulsar/**")
    expect(page.locator("#branches [aria-current]")).to_have_text("first course")
    if seconds(page) > then:  # it has come further: the page looks back at that moment
        expect(page.locator("#behind")).to_contain_text("before now", timeout=ANSWERS_MS)
        assert seconds(page) == then
    page.keyboard.press("}")
    page.wait_for_url(f"**/lab/{other}/pulsar/**")


def test_its_owner_names_a_branch_at_its_tab_and_arrows_go_from_tab_to_tab(page: Page) -> None:
    branch(page)
    page.locator("#branches a").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#branches button")).to_be_focused()
    page.keyboard.press("Enter")
    page.fill("#lab-rename input", " ")
    page.keyboard.press("Enter")
    expect(page.locator("#lab-rename .bad")).to_be_visible()
    page.fill("#lab-rename input", "one more helps")
    page.keyboard.press("Enter")
    expect(page.locator("#branches [aria-current]")).to_have_text("A: one more helps")
    page.click("#language")
    expect(page.locator("#branches [data-branch]")).to_have_text(["最初的走向", "A：one more helps"])


def test_another_visitor_sees_no_branch_of_mine_and_a_phone_has_them_in_the_sheet(
    page: Page, profile: Callable[..., BrowserContext], site: SupervisedSite
) -> None:
    lab = lab_of(page)
    branch(page)
    guest = open_stage(profile(), site, f"lab/{lab}/")
    expect(guest.locator("#timeline [role=button]").first).to_be_attached()
    expect(guest.locator("#branches")).to_be_hidden()
    page.set_viewport_size(PHONE["viewport"])
    page.click("#rare")
    expect(page.locator("#branches [aria-current]")).to_be_in_viewport(ratio=1)
    save(page, "branches-390")


def test_a_link_opens_the_page_the_moment_and_what_was_chosen(
    profile: Callable[..., BrowserContext], site: SupervisedSite, let_pass: Callable[[Page, float], None]
) -> None:
    page = open_stage(profile(permissions=["clipboard-read", "clipboard-write"]), site)
    let_pass(page, 8)
    page.goto(f"{site.url}lab/{lab_of(page)}/pulsar/")
    look_back(page, 0.5)
    page.keyboard.press("]")
    page.keyboard.press("]")
    page.keyboard.press("t")
    page.click("#share")
    expect(page.locator("#notice-text")).to_have_text("Link to what this page shows copied.")
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert re.search(r"/pulsar/#at_us=\d+&position=\d+&chosen=c2", link), link
    guest = profile().new_page()
    guest.goto(link)
    expect(guest.locator("#behind")).to_contain_text("before now", timeout=ANSWERS_MS)
    for same in ("#clock", "#state-hash", "#position", "#verbs-about"):
        assert guest.text_content(same) == page.text_content(same), same
    expect(guest.locator("body")).to_have_attribute("data-twins", "")
    guest.keyboard.press("l")
    expect(guest.locator("#behind")).not_to_be_visible()
    guest.goto(link)  # in the page that is open: only what follows # is another
    expect(guest.locator("#clock")).to_have_text(page.text_content("#clock") or "", timeout=ANSWERS_MS)


def test_a_paused_lab_names_its_state_and_the_same_moment_has_it_again(page: Page) -> None:
    page.keyboard.press(" ")
    expect(page.locator("#state-hash")).to_have_text(re.compile("^[0-9a-f]{16}$"), timeout=ANSWERS_MS)
    here = page.text_content("#state-hash")
    page.keyboard.press(",")
    expect(page.locator("#state-hash")).not_to_have_text(here or "", timeout=ANSWERS_MS)
    page.keyboard.press("l")
    expect(page.locator("#state-hash")).to_have_text(here or "")
    page.keyboard.press(" ")
    expect(page.locator("#state-hash")).to_be_empty()
