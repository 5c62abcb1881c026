"""The presenter sets a task: one does it on a phone in a copy of their own, another comes late; the presenter sees who has
done it, and ends it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post, wait_frame
from tests.browser.test_axe import AXE, FINDINGS
from tests.browser.test_room import PHONE, joined, lab_of, presenter
from tests.supervisor.site import SupervisedSite

__all__ = ["presenter"]
pytestmark = pytest.mark.story
Profile = Callable[..., BrowserContext]
OWN_MOVE = {"kind": "leave", "lane": "tubemq", "consumer": "c1"}


def opened(presenter: Page) -> None:
    """The form, on a check of TubeMQ's lane that is easily met."""
    if presenter.locator("#room-dialog[open]").count() == 0:
        presenter.click("#room")
    presenter.click("#room-task-open")
    for name, value in (("lane", "tubemq"), ("figure", "unowned"), ("comparison", "at_least")):
        presenter.select_option(f"#task-form [name={name}]", value)


def sent(presenter: Page, value: str) -> None:
    presenter.fill("#task-form [name=value]", value)
    presenter.click("#task-form .go")


def ordered(page: Page, kind: str, **rest: str) -> None:
    path = f"/api/labs/{lab_of(page)}/commands/"
    post(page, path, {"command_id": f"own-{kind}", "kind": kind, **rest})


def test_a_task_from_setting_it_to_its_end(presenter: Page, profile: Profile, site: SupervisedSite) -> None:
    phone = joined(profile, site, presenter, **PHONE)
    opened(presenter)
    sent(presenter, "many")
    expect(presenter.locator("#task-value .bad")).to_have_text("must be a number")
    sent(presenter, "0")
    expect(presenter.locator("#task-value .bad")).to_contain_text("this is so already")
    presenter.fill("#task-form [name=note]", "One press is enough.")
    sent(presenter, "1")
    expect(presenter.locator("#task-dialog")).to_be_hidden()
    for page in (presenter, phone):
        expect(page.locator("#task-said")).to_have_text("TubeMQ: partitions without an owner ≥ 1")
        expect(page.locator("#task-note")).to_have_text("One press is enough.")
    expect(presenter.locator("#task-state")).to_have_text("0 of 1 have done it, 0 are at it")

    # In a copy of one's own, which begins as the lab was; a reload stays in it.
    lab = lab_of(presenter)
    phone.click("#task-do")
    expect(phone.locator("#task-state")).to_contain_text("Not yet")
    copy = lab_of(phone)
    assert copy != lab
    expect(presenter.locator("#task-state")).to_have_text("0 of 1 have done it, 1 is at it")
    phone.reload()
    expect(phone.locator("#task-state")).to_contain_text("Not yet")
    assert lab_of(phone) == copy
    late = joined(profile, site, presenter, viewport={"width": 1280, "height": 720})
    expect(late.locator("#task-do")).to_have_text("Begin in a copy")

    ordered(phone, **OWN_MOVE)
    ordered(phone, "play")
    expect(phone.locator("#task-state")).to_have_text("Done.", timeout=60_000)
    expect(presenter.locator("#task-names")).to_have_text("Done by: Ana")
    expect(presenter.locator("#task-state")).to_have_text("1 of 2 has done it, 0 are at it")
    expect(late.locator("#task-state")).not_to_have_text("Done.")
    phone.reload()
    expect(phone.locator("#task-state")).to_have_text("Done.")
    phone.click("#room-back")
    expect(phone.locator("#room-word")).to_have_text("Follows the teacher")
    expect(phone.locator("#task-state")).to_have_text("Done.")
    expect(phone.locator("#task-do")).to_have_text("To your copy")

    # Who comes back by the code finds the copy that is there.
    phone.click("#task-do")
    phone.wait_for_url(f"**/lab/{copy}/**")
    late.click("#task-do")
    expect(late.locator("#room-word")).to_contain_text("a copy of your own")
    presenter.click("#task-recall")
    for page in (phone, late):
        expect(page.locator("#room-word")).to_have_text("Follows the teacher")
        assert lab_of(page) == lab
    for page in (presenter, phone, late):
        expect(page.locator("#room-task")).to_be_hidden()


def test_a_lesson_offers_its_own_checks(profile: Profile, site: SupervisedSite) -> None:
    teacher = profile().new_page()
    teacher.goto(f"{site.url}learn/rabbitmq_one_to_one/")
    teacher.locator("form[action$='/learn/play/'] button").first.click()
    wait_frame(teacher)
    teacher.click("#room")
    expect(teacher.locator("#room-code")).to_have_text(re.compile("^[A-Z2-9]{6}$"))
    phone = joined(profile, site, teacher, **PHONE)
    teacher.click("#room-task-open")
    options = teacher.locator("#task-form [name=check] option")
    expect(options).to_have_count(4)
    assert options.nth(1).text_content() == "at least 290 messages came through the default exchange"
    expect(teacher.locator("#task-own")).to_be_hidden()
    teacher.select_option("#task-form [name=check]", "1")
    teacher.click("#task-form .go")
    for page in (teacher, phone):
        expect(page.locator("#task-said")).to_have_text(
            "at least 290 messages came through the default exchange"
        )
    teacher.click("#task-end")
    expect(phone.locator("#room-task")).to_be_hidden()


def test_a_task_has_no_finding(presenter: Page, profile: Profile, site: SupervisedSite) -> None:
    phone = joined(profile, site, presenter, **PHONE)
    found = []

    def look(page: Page, what: str) -> None:
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.evaluate(AXE)
            found.extend(f"{theme} {what} {finding}" for finding in page.evaluate(FINDINGS))

    opened(presenter)
    sent(presenter, "many")
    expect(presenter.locator("#task-value .bad")).to_be_visible()
    look(presenter, "form")
    sent(presenter, "1")
    expect(phone.locator("#task-do")).to_be_visible()
    look(presenter, "presenter")
    look(phone, "phone")
    assert found == []
