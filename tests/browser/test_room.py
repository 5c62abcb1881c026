"""A room of three browsers: the presenter, one who follows on a phone, and one who looks around."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, wait_frame
from tests.browser.test_axe import AXE, FINDINGS
from tests.supervisor.site import SupervisedSite

pytestmark = pytest.mark.story
Profile = Callable[..., BrowserContext]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def presenter(profile: Profile, site: SupervisedSite) -> Page:
    page = open_stage(profile(), site)
    page.click("#room")
    expect(page.locator("#room-code")).to_have_text(re.compile("^[A-Z2-9]{6}$"))
    return page


def remote_of(presenter: Page, profile: Profile) -> Page:
    """The remote on a phone, by the link that the presenter's panel of the room shows."""
    presenter.click("#room-remote")
    expect(presenter.locator("#room-link-url")).to_contain_text("/remote/#")
    remote = profile(**PHONE).new_page()
    remote.goto(str(presenter.text_content("#room-link-url")))
    return remote


def joined(profile: Profile, site: SupervisedSite, presenter: Page, **options: object) -> Page:
    """Another person's browser, which has come by the code."""
    page = profile(**options).new_page()
    page.goto(f"{site.url}rooms/")
    expect(presenter.locator("#room-word")).to_contain_text("You present room")
    (code,) = re.findall("[A-Z2-9]{6}", str(presenter.text_content("#room-word")))
    page.fill("[name=code]", f" {code.lower()} ")
    page.click("form .go")
    page.fill("[name=name]", "Ana")
    page.click("#join .go")
    # No frame need come: the lab may be paused.
    expect(page.locator("#room-word")).to_have_text("Follows the teacher")
    return page


def lab_of(page: Page) -> str:
    return str(page.get_attribute("#main", "data-lab"))


def test_all_follow_one_looks_around_and_comes_back(
    presenter: Page, profile: Profile, site: SupervisedSite
) -> None:
    expect(presenter.locator("#room-qr path")).to_have_count(1)
    follower = joined(profile, site, presenter, **PHONE)
    looker = joined(profile, site, presenter, viewport={"width": 1280, "height": 720})
    presenter.keyboard.press("Escape")
    lab = lab_of(presenter)
    assert lab_of(follower) == lab_of(looker) == lab

    # To another page, and back.
    presenter.click("#to-tubemq")
    for page in (follower, looker):
        page.wait_for_url(f"**/lab/{lab}/tubemq/**")
        expect(page.locator("#room-word")).to_have_text("Follows the teacher")
    expect(presenter.locator("#room-counts")).to_have_text("2 following, 0 looking around, 0 gone")

    # A follower's press goes nowhere, and offers to look around.
    looker.click("#to-stage")
    expect(looker.locator("#notice-text")).to_contain_text("You follow the teacher")
    assert "/tubemq/" in looker.url
    looker.click("#notice-action")
    expect(looker.locator("#room-word")).to_have_text("You look around in a copy of your own")
    copy = lab_of(looker)
    assert copy != lab and "/tubemq/" in looker.url
    expect(presenter.locator("#room-counts")).to_have_text("1 following, 1 looking around, 0 gone")

    # The presenter goes on; the one who looks around stays, and goes where they like.
    presenter.click("#to-stage")
    follower.wait_for_url(f"**/lab/{lab}/**")
    looker.click("#to-stage")
    wait_frame(looker)
    assert lab_of(looker) == copy

    # Back in one press.
    presenter.click("#to-tubemq")
    follower.wait_for_url(f"**/lab/{lab}/tubemq/**")
    looker.click("#room-back")
    looker.wait_for_url(f"**/lab/{lab}/tubemq/**")
    expect(looker.locator("#room-word")).to_have_text("Follows the teacher")


def test_a_phone_that_follows_leaves_its_height_to_the_picture(
    presenter: Page, profile: Profile, site: SupervisedSite
) -> None:
    follower = joined(profile, site, presenter, **PHONE)
    buttons = ("#play", "#step", ".lab-act", ".lab-name")
    for selector in buttons:
        expect(follower.locator(selector)).to_be_hidden()
    bars = "() => ['.lab-bar', '.trans'].reduce((sum, each) => sum + document.querySelector(each).offsetHeight, 0)"
    assert follower.evaluate(bars) < 100
    expect(follower.locator("#clock")).to_be_visible()
    follower.click("#room-look")
    expect(follower.locator("#room-word")).to_have_text("You look around in a copy of your own")
    for selector in buttons:
        expect(follower.locator(selector)).to_be_visible()


def test_a_moment_of_the_past_what_is_pointed_at_and_the_remote(
    presenter: Page, profile: Profile, site: SupervisedSite
) -> None:
    follower = joined(profile, site, presenter, **PHONE)
    remote = remote_of(presenter, profile)
    presenter.keyboard.press("Escape")

    remote.click("[data-press=pause]")
    expect(presenter.locator("#play")).to_have_attribute("data-say-label", "play")
    remote.click("[data-press=back]")
    expect(presenter.locator("body")).to_have_attribute("data-past", "")
    expect(follower.locator("body")).to_have_attribute("data-past", "")
    expect(follower.locator("#clock")).to_have_text(str(presenter.text_content("#clock")))
    presenter.click("#to-now")
    expect(follower.locator("body")).not_to_have_attribute("data-past", "")

    presenter.click("#room")
    presenter.click("#room-point")
    presenter.locator("[data-lane=kafka] [data-consumer=c2]").first.click()
    for page in (follower, presenter):
        expect(page.locator(".pointer .edge")).to_have_count(1)


def test_another_page_shows_the_same_moment_and_what_is_large_is_in_everybodys_sight(
    presenter: Page, profile: Profile, site: SupervisedSite
) -> None:
    follower = joined(profile, site, presenter, **PHONE)
    presenter.keyboard.press("Escape")
    presenter.click("#step-back")
    expect(presenter.locator("body")).to_have_attribute("data-past", "")
    expect(follower.locator("body")).to_have_attribute("data-past", "")
    clock = str(presenter.text_content("#clock"))
    presenter.click("#to-tubemq")
    for page in (presenter, follower):
        page.wait_for_url("**/tubemq/**")
        expect(page.locator("body")).to_have_attribute("data-past", "")
        expect(page.locator("#clock")).to_have_text(clock)
    presenter.click("#to-stage")
    follower.wait_for_url("**/lab/*/")
    expect(follower.locator("#clock")).to_have_text(clock)

    presenter.keyboard.press("p")
    for _lane in range(3):
        if "RabbitMQ" in str(presenter.text_content("#projector-title")):
            break
        presenter.locator(".projector .choice .sq").last.click()
    expect(presenter.locator("#projector-title")).to_contain_text("RabbitMQ")
    expect(follower.locator("[data-tab=rabbitmq]")).to_have_attribute("aria-current", "true")
    expect(follower.locator("section#rabbitmq, [data-lane=rabbitmq] .pic").first).to_be_visible()
    expect(follower.locator(".projector")).to_be_hidden()


def test_who_comes_late_or_comes_back_is_where_the_room_is(
    presenter: Page, profile: Profile, site: SupervisedSite
) -> None:
    presenter.keyboard.press("Escape")
    follower = joined(profile, site, presenter)
    presenter.click("#to-rabbitmq")
    follower.wait_for_url("**/rabbitmq/**")
    follower.context.set_offline(True)
    follower.goto("about:blank")
    presenter.click("#to-pulsar")
    presenter.wait_for_selector("#room-strip:not([hidden])")
    follower.context.set_offline(False)
    follower.go_back()
    follower.wait_for_url("**/pulsar/**", timeout=5_000)
    late = joined(profile, site, presenter)
    assert "/pulsar/" in late.url


def test_lock_recall_hand_over_and_end(presenter: Page, profile: Profile, site: SupervisedSite) -> None:
    looker, next_one = joined(profile, site, presenter), joined(profile, site, presenter)
    looker.click("#room-look")
    expect(looker.locator("#room-back")).to_be_visible()
    presenter.click("#room-lock")
    expect(looker.locator("#room-word")).to_have_text("Follows the teacher")
    expect(looker.locator("#room-look")).to_be_disabled()
    presenter.click("#room-lock")
    expect(looker.locator("#room-look")).to_be_enabled()

    presenter.click("#room-hand-over")
    expect(presenter.locator("#room-link-url")).to_contain_text("/take/#")
    next_one.goto(str(presenter.text_content("#room-link-url")))
    next_one.click("#take")
    expect(next_one.locator("#room-word")).to_contain_text("You present room")
    theirs = lab_of(next_one)
    looker.wait_for_url(f"**/lab/{theirs}/**")

    next_one.click("#room")
    next_one.click("#room-end")
    expect(looker.locator("#room-word")).to_contain_text("The room is over")
    looker.click("#room-leave")
    expect(looker.locator("#room-strip")).to_be_hidden()


def test_the_pages_of_a_room_have_no_finding(presenter: Page, profile: Profile, site: SupervisedSite) -> None:
    follower = joined(profile, site, presenter, **PHONE)
    fresh = profile(**PHONE).new_page()
    presenter.click("#room-remote")
    expect(presenter.locator("#room-link-url")).to_contain_text("/remote/#")
    code, remote = presenter.text_content("#room-code"), str(presenter.text_content("#room-link-url"))
    found = []
    for page, addresses in (
        (presenter, [None]),
        (follower, [None]),
        (fresh, [f"{site.url}rooms/", f"{site.url}rooms/{code}/", remote]),
    ):
        for address in addresses:
            if address:
                page.goto(address)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                page.evaluate(AXE)
                found += [f"{theme} {address} {finding}" for finding in page.evaluate(FINDINGS)]
    assert found == []
