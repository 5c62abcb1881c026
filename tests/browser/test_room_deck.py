"""A lecture in a room: a phone follows the slides, a second device turns them, a step is shown live, and all come back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.test_axe import AXE, FINDINGS
from tests.browser.test_room import PHONE, lab_of, remote_of
from tests.supervisor.site import SupervisedSite

pytestmark = pytest.mark.story
Profile = Callable[..., BrowserContext]


@pytest.fixture
def lecturer(profile: Profile, site: SupervisedSite) -> Page:
    page = profile().new_page()
    page.goto(f"{site.url}lectures/assignors/deck/")
    page.wait_for_selector("#next:not([hidden])")
    page.click("#room")
    expect(page.locator("#room-code")).to_have_text(re.compile("^[A-Z2-9]{6}$"))
    return page


def joined(
    profile: Profile, site: SupervisedSite, lecturer: Page, deck: str = "assignors", **options: object
) -> Page:
    page = profile(**options).new_page()
    page.goto(f"{site.url}rooms/{lecturer.text_content('#room-code')}/")
    page.click("#join .go")
    page.wait_for_url(f"**/lectures/{deck}/deck/**")
    expect(page.locator("#room-word")).to_have_attribute("data-say", "room.follows")
    return page


def on_slide(number: int, *pages: Page) -> None:
    for page in pages:
        expect(page.locator("#place")).to_have_text(f"Slide {number} of 10")
        expect(page.locator(".slide[data-now]")).to_have_attribute("data-number", str(number))


def test_a_phone_follows_the_slides_the_remote_turns_them_and_a_step_is_live(
    lecturer: Page, profile: Profile, site: SupervisedSite
) -> None:
    phone = joined(profile, site, lecturer, **PHONE)
    remote = remote_of(lecturer, profile)
    lecturer.keyboard.press("Escape")

    lecturer.keyboard.press("PageDown")
    on_slide(2, lecturer, phone)
    remote.click("[data-press=next]")
    on_slide(3, lecturer, phone)
    remote.click("[data-press=back]")
    on_slide(2, lecturer, phone)
    truth = ".slide[data-now] details.truth"
    expect(phone.locator(truth)).not_to_have_attribute("open", "")
    lecturer.keyboard.press("a")
    expect(phone.locator(truth)).to_have_attribute("open", "")

    # A follower's press offers to turn the slides alone; back is one press.
    phone.click("#next")
    expect(phone.locator("#notice-text")).to_contain_text("To turn the slides yourself, look around")
    on_slide(2, phone)
    phone.click("#notice-action")
    expect(phone.locator("#room-word")).to_have_text("You turn the slides on your own")
    phone.click("#next")
    on_slide(3, phone)
    on_slide(2, lecturer)
    phone.click("#room-back")
    expect(phone.locator("#room-word")).to_have_text("Follows the teacher")
    on_slide(2, phone)

    # Who comes late has the slide; a step that is opened live takes all along, and back.
    late = joined(profile, site, lecturer, viewport={"width": 1280, "height": 720})
    on_slide(2, late)
    lecturer.locator(".slide[data-now] .live").first.click()
    lecturer.wait_for_url("**/lab/**")
    lab = lab_of(lecturer)
    began = lecturer.evaluate("JSON.parse(sessionStorage.getItem('highwater.deck')).at")
    for page in (phone, late):
        page.wait_for_url(f"**/lab/{lab}/**")
        expect(page.locator("#room-word")).to_have_text("Follows the teacher")
        expect(page.locator("#room-slides")).to_be_hidden()
    # At the lesson's end Next leads back, too; the next lesson would be another room's.
    expect(lecturer.locator("#room-slides")).to_be_visible()
    while lecturer.inner_text("#next") != "Back to the slides":
        lecturer.click("#next")
        expect(lecturer.locator("#story")).to_have_attribute("data-way", "false", timeout=30_000)
    remote.click("[data-press=next]")
    for page in (lecturer, phone, late):
        page.wait_for_url("**/lectures/assignors/deck/**")
    on_slide(2, lecturer, phone, late)
    again = lecturer.evaluate("JSON.parse(sessionStorage.getItem('highwater.deck')).at")
    assert again == began, "the speaker's time goes on"


def test_a_slides_question_is_answered_on_the_phones_and_told_to_all(
    lecturer: Page, profile: Profile, site: SupervisedSite
) -> None:
    ana = joined(profile, site, lecturer, **PHONE)
    ben = joined(profile, site, lecturer, **{**PHONE, "locale": "zh-CN"})
    now = ".slide[data-now] "
    expect(ana.locator("[data-part=ask]").first).to_be_hidden()
    lecturer.keyboard.press("Escape")
    lecturer.keyboard.press("PageDown")
    lecturer.locator(f"{now}[data-part=ask]").click()
    expect(ana.locator(f"{now}.answer")).to_have_text(["A 15", "B 20", "C 30"])
    expect(ana.locator(f"{now}.answer").last).to_be_in_viewport()
    expect(ana.locator(f"{now}details.truth")).to_be_hidden()
    expect(lecturer.locator(f"{now}.answer").first).to_be_disabled()
    ana.locator(f"{now}.answer").nth(0).click()
    expect(ana.locator(f"{now}[data-part=told]")).to_contain_text("Your answer is in.")
    ana.locator(f"{now}.answer").nth(1).click()
    ben.locator(f"{now}.answer").nth(0).click()
    expect(lecturer.locator(f"{now}[data-part=count]")).to_have_text("2 of 2 have answered")
    expect(lecturer.locator(f"{now}.answer b")).to_have_count(0)
    lecturer.locator(f"{now}[data-part=bars]").click()
    for page in (lecturer, ana):
        expect(page.locator(f"{now}.answer b")).to_have_text(["1", "1", "0"])
    lecturer.locator(f"{now}[data-part=close]").click()
    expect(ana.locator(f"{now}.answer").first).to_be_disabled()
    late = joined(profile, site, lecturer, viewport={"width": 1280, "height": 720})
    expect(late.locator(f"{now}[data-part=told]")).to_contain_text("The question is closed.")
    lecturer.keyboard.press("a")
    for page in (lecturer, ana, late):
        expect(page.locator(f"{now}.answer[data-true]")).to_contain_text("B 20")
        expect(page.locator(f"{now}details.truth")).to_contain_text("Two of each topic.")
    expect(ana.locator(f"{now}[data-part=told]")).to_have_text("Right: B.")
    expect(ben.locator(f"{now}[data-part=told]")).to_have_text("不对：B。")
    for page in (lecturer, ana):
        page.evaluate(AXE)
        assert page.evaluate(FINDINGS) == []
    lecturer.keyboard.press("PageDown")
    on_slide(3, lecturer, ana)  # the room hears ten times a second where its presenter is
    lecturer.keyboard.press("PageUp")
    on_slide(2, lecturer, ana)
    expect(ana.locator(f"{now}[data-part=asked]")).to_be_hidden()


def test_a_steps_picture_is_live_on_the_slide_and_the_phones_see_the_same_moment(
    lecturer: Page, profile: Profile, site: SupervisedSite
) -> None:
    phone = joined(profile, site, lecturer, **PHONE)
    now = ".slide[data-now] "
    lecturer.keyboard.press("Escape")
    for _slide in range(3):
        lecturer.keyboard.press("PageDown")
    on_slide(4, lecturer, phone)
    lecturer.locator(f"{now}[data-part=live]").click()
    shown, followed = (page.frame_locator(f"{now}iframe") for page in (lecturer, phone))
    for frame in (shown, followed):
        expect(frame.locator("#frame-place")).to_have_text("3/5")
        expect(frame.locator(".projector .shown")).to_have_attribute("aria-label", "Protocol")
    shown.locator("#next").click()
    for frame in (shown, followed):
        expect(frame.locator("#frame-place")).to_have_text("4/5")
    expect(followed.locator("#next")).to_be_hidden()
    expect(lecturer.locator(f"{now}.said")).to_be_hidden()
    shown.locator("#next").click()
    for frame in (shown, followed):
        expect(frame.locator("#frame-place")).to_have_text("5/5")
        expect(frame.locator("#clock")).to_have_text("1:05.0")
    late = joined(profile, site, lecturer, viewport={"width": 1280, "height": 720})
    expect(late.frame_locator(f"{now}iframe").locator("#clock")).to_have_text("1:05.0")
    shown.locator("#back-frame").click()
    for page in (phone, late):
        expect(page.frame_locator(f"{now}iframe").locator("#clock")).to_have_text("1:00.4")

    # who turns the slides alone has the picture in hand
    phone.click("#room-look")
    followed.locator("#next").click()
    expect(followed.locator("#frame-place")).to_have_text("5/5")
    expect(shown.locator("#frame-place")).to_have_text("4/5")
    phone.click("#room-back")
    expect(followed.locator("#frame-place")).to_have_text("4/5")
    lecturer.evaluate(AXE)
    assert lecturer.evaluate(FINDINGS) == []
    inner = next(frame for frame in lecturer.frames if "/embed/" in frame.url)
    inner.evaluate(AXE)
    assert inner.evaluate(FINDINGS) == []

    lecturer.locator(f"{now}[data-part=live]").click()
    for page in (lecturer, phone, late):
        expect(page.locator(f"{now}iframe")).to_have_count(0)
        expect(page.locator(f"{now}.said")).to_be_visible()


def test_the_lane_and_the_picture_of_a_slide_are_those_of_the_teacher_and_the_remote_steps_it(
    lecturer: Page, profile: Profile, site: SupervisedSite
) -> None:
    phone = joined(profile, site, lecturer, **PHONE)
    remote = remote_of(lecturer, profile)
    now = ".slide[data-now] "
    lecturer.keyboard.press("Escape")
    lecturer.keyboard.press("PageDown")
    on_slide(2, lecturer, phone)
    lecturer.keyboard.press("p")
    shown, followed = (page.frame_locator(f"{now}iframe") for page in (lecturer, phone))
    for frame in (shown, followed):
        expect(frame.locator(".lane-tabs [aria-current]")).to_have_attribute("data-lane-tab", "range")
        expect(frame.locator("#frame-place")).to_have_text("2/2")
    expect(followed.locator(".lane-tabs a:visible")).to_have_count(1)
    clock = str(shown.locator("#clock").text_content())
    shown.locator("[data-lane-tab=round_robin]").click()
    for frame in (shown, followed):
        expect(frame.locator(".lane-tabs [aria-current]")).to_have_attribute("data-lane-tab", "round_robin")
        expect(frame.locator("#clock")).to_have_text(clock)
        expect(frame.locator("#frame-place")).to_have_text("2/2")
    first = str(shown.locator(".projector .shown").get_attribute("aria-label"))
    shown.locator(".choice .sq").last.click()
    expect(shown.locator(".projector .shown")).not_to_have_attribute("aria-label", first)
    second = str(shown.locator(".projector .shown").get_attribute("aria-label"))
    expect(followed.locator(".projector .shown")).to_have_attribute("aria-label", second)

    remote.click("[data-press=back]")
    for frame in (shown, followed):
        expect(frame.locator("#frame-place")).to_have_text("1/2")
    remote.click("[data-press=next]")
    for frame in (shown, followed):
        expect(frame.locator("#frame-place")).to_have_text("2/2")
    remote.click("[data-press=next]")  # to the lesson's end
    expect(shown.locator("#next")).to_be_disabled()
    remote.click("[data-press=next]")
    on_slide(3, lecturer, phone)
    expect(phone.locator("iframe")).to_have_count(0)


def test_a_picture_that_has_come_to_a_frame_is_of_that_frame(
    lecturer: Page, profile: Profile, site: SupervisedSite
) -> None:
    """The last of a way comes a moment after the one before it, and in a paused picture nothing comes after it."""
    lecturer.goto(f"{site.url}lectures/replication/deck/#10")
    lecturer.click("#room")
    expect(lecturer.locator("#room-code")).to_have_text(re.compile("^[A-Z2-9]{6}$"))
    phone = joined(profile, site, lecturer, **PHONE, deck="replication")
    lecturer.keyboard.press("Escape")
    lecturer.locator(".slide[data-now] [data-part=live]").click()
    shown, followed = (page.frame_locator(".slide[data-now] iframe") for page in (lecturer, phone))
    expect(followed.locator(".projector strong")).to_have_text("0")
    shown.locator("#back-frame").click()
    expect(followed.locator(".projector strong")).to_have_text("16")
    shown.locator("#next").click()
    for frame in (shown, followed):
        expect(frame.locator("#frame-place")).to_have_text("6/8")
        expect(frame.locator(".projector strong")).to_have_text("0")


def test_the_teachers_network_is_gone_for_a_while(
    lecturer: Page, profile: Profile, site: SupervisedSite
) -> None:
    phone = joined(profile, site, lecturer, **PHONE)
    lecturer.keyboard.press("Escape")
    lecturer.keyboard.press("PageDown")
    on_slide(2, lecturer, phone)
    lecturer.context.set_offline(True)
    for _slide in range(2):
        lecturer.keyboard.press("PageDown")
    on_slide(4, lecturer)
    expect(lecturer.locator("#room-word")).to_have_attribute("data-say", "room.lost")
    late = joined(profile, site, lecturer, viewport={"width": 1280, "height": 720})
    on_slide(2, phone, late)
    lecturer.context.set_offline(False)
    for page in (phone, late):
        expect(page.locator(".slide[data-now]")).to_have_attribute("data-number", "4", timeout=3_000)
        expect(page.locator("#room-word")).to_have_attribute("data-say", "room.follows")
    expect(lecturer.locator("#room-word")).to_have_attribute("data-say", "room.presenting")


def test_a_deck_in_a_room_has_no_finding(lecturer: Page, profile: Profile, site: SupervisedSite) -> None:
    phone = joined(profile, site, lecturer, **PHONE)
    found = []
    for page, what in ((lecturer, "panel"), (phone, "phone")):
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.evaluate(AXE)
            found += [f"{theme} {what} {finding}" for finding in page.evaluate(FINDINGS)]
    assert found == []
