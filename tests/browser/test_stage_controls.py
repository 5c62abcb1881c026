"""Stories of the Stage's controls: the space bar, one lane or all of them, a link to a moment, light or dark."""

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, save, wait_frame, wait_text
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
OTHERS = ("pulsar", "tubemq", "rabbitmq")


def state(page: Page, lane: str, consumer: str) -> str:
    return page.get_attribute(f'#{lane} [data-consumer="{consumer}"]', "data-state") or ""


def test_space_plays_and_pauses_whatever_has_the_focus(page: Page) -> None:
    page.click('#pulsar [data-consumer="c2"] [data-verb=pause]')
    page.wait_for_selector('#rabbitmq [data-consumer="c2"][data-state=paused]')
    assert page.evaluate("() => document.activeElement.dataset.verb") == "resume"
    page.keyboard.press(" ")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    assert state(page, "pulsar", "c2") == "paused"
    page.focus("#add")
    page.keyboard.press(" ")
    expect(page.locator("#fresh")).to_have_attribute("data-state", re.compile("live|behind"))
    page.keyboard.press("Enter")
    wait_text(page, "h1", "c4 joined")
    assert state(page, "pulsar", "c2") == "paused"


def test_space_stays_with_a_field_in_which_one_writes_or_chooses(page: Page) -> None:
    page.evaluate("""() => {
      const box = document.body.appendChild(document.createElement("div"));
      box.id = "pad";
      box.contentEditable = "true";
      box.append(document.createElement("span"));
    }""")
    page.focus("#pad")
    page.keyboard.type("a s")
    assert page.text_content("#pad") == "a s"
    expect(page.locator("#fresh")).to_have_attribute("data-state", re.compile("live|behind"))
    page.click("#kafka [data-rest] summary")
    page.focus("#kafka [data-scope]")
    page.keyboard.press(" ")
    page.keyboard.press("Escape")
    wait_frame(page)
    expect(page.locator("#fresh")).to_have_attribute("data-state", re.compile("live|behind"))


def test_verbs_say_where_they_act_and_one_lane_can_be_chosen(page: Page) -> None:
    crash = page.locator('#kafka [data-consumer="c1"] [data-verb=crash]')
    expect(crash).to_have_attribute("aria-label", "Crash c1 in all lanes: silent until the system notices")
    expect(page.locator("#add-where")).to_have_text("in all lanes")
    page.click("#kafka [data-rest] summary")
    page.focus("#kafka [data-scope]")
    page.keyboard.press("ArrowDown")
    expect(crash).to_have_attribute("aria-label", "Crash c1 in Kafka only: silent until the system notices")
    assert page.eval_on_selector_all("[data-scope]", "all => all.map((e) => e.value)") == ["lane"] * 4
    crash.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('#kafka [data-consumer="c1"][data-state=crashed]')
    wait_text(page, "h1", "c1 crashed, in Kafka only.")
    assert [state(page, lane, "c1") for lane in OTHERS] == ["live"] * 3
    wait_text(page, "#story-means", "Not noticed yet: Kafka still counts on it.")
    page.click("#tubemq [data-rest] summary")
    page.click("[data-add=tubemq]")
    page.wait_for_selector('#tubemq [data-consumer="c4"]')
    wait_text(page, "#story-what", "c1")  # that Kafka has not noticed comes before what was done since
    assert page.locator('[data-consumer="c4"]').count() == 1
    save(page, "stage-one-lane")
    page.click("#pulsar [data-rest] summary")
    page.select_option("#pulsar [data-scope]", "all")
    expect(page.locator("[data-add=tubemq]")).to_be_hidden()
    page.click("#language")
    wait_text(page, "#add-where", "在所有泳道")
    expect(page.locator('#kafka [data-consumer="c2"] [data-verb=pause]')).to_have_attribute(
        "aria-label", "让 c2 在所有泳道暂停"
    )


def test_one_lane_is_chosen_on_a_phone(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site)
    page.tap("#pulsar [data-rest] summary")
    page.select_option("#pulsar [data-scope]", "lane")
    page.tap("h1")
    expect(page.locator("#pulsar [data-scope]")).to_be_hidden()
    page.tap('#pulsar [data-consumer="c2"] .nm')
    page.tap('#pulsar [data-consumer="c2"] [data-verb=slow]')
    page.wait_for_selector('#pulsar [data-consumer="c2"][data-state=slow]')
    assert [state(page, lane, "c2") for lane in ("kafka", "tubemq", "rabbitmq")] == ["live"] * 3
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    save(page, "stage-one-lane-390")


def test_copied_link_opens_the_same_lab_at_that_moment(
    page: Page, profile: Profile, site: SupervisedSite
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab = page.get_attribute("#main", "data-lab")
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    page.click("[data-speed='4']")
    page.wait_for_selector("[data-speed='4'][aria-pressed=true]")
    page.click("#play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    page.click("#share")
    wait_text(page, "#notice-text", "Link to what this page shows copied.")
    link, clock = page.evaluate("() => navigator.clipboard.readText()"), page.text_content(".clock")
    page.click("#play")
    page.click("#add")
    wait_text(page, "h1", "c5 joined")
    guest = profile().new_page()
    guest.goto(link)
    expect(guest.locator("#behind")).to_contain_text("before now")
    assert guest.get_attribute("#main", "data-lab") == lab and "#" not in guest.url
    assert re.search("#at_us=[0-9]+&position=[0-9]+", link)  # of the pause as well: it is the same state
    expect(guest.locator(".clock")).to_have_text(clock or "")
    assert (
        guest.locator('#kafka [data-consumer="c4"]').count() == 1
        and guest.locator('[data-consumer="c5"]').count() == 0
    )
    save(guest, "stage-moment")
    guest.click("#add")
    guest.wait_for_url(lambda url: "/lab/" in url and str(lab) not in url)
    guest.wait_for_selector('#kafka [data-consumer="c5"]')
    assert page.get_attribute("#main", "data-lab") == lab
    save(page, "stage-original")


def test_link_to_no_moment_says_so(profile: Profile, site: SupervisedSite, page: Page) -> None:
    lab = page.get_attribute("#main", "data-lab")
    guest = profile().new_page()
    guest.goto(f"{site.url}lab/{lab}/?at_us=99999999999")
    wait_text(guest, "h1", "This link does not name a moment of the lab")
    wait_text(guest, "#reason", "has not come that far")
    save(guest, "moment-wrong")
    guest.click("main a")
    wait_frame(guest, -1)


def test_dark_is_remembered(page: Page) -> None:
    page.click("#theme")
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"
    page.reload()
    assert page.get_attribute("html", "data-theme") == "dark"
    assert (
        page.evaluate("() => getComputedStyle(document.body.parentElement).backgroundColor")
        == "rgb(20, 24, 29)"
    )
    save(page, "stage-dark")
