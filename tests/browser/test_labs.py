"""Stories of the Labs page: a new lab, another name, deletion and undo, by mouse, by keyboard, on a phone, in
Chinese."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post, save, wait_frame
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]


def open_labs(page: Page, site: SupervisedSite) -> Page:
    page.goto(f"{site.url}labs/")
    return page


def make(page: Page, site: SupervisedSite, name: str) -> str:
    """Make a lab on the Labs page; its id."""
    open_labs(page, site)
    page.fill("#name", name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/lab/*/")
    wait_frame(page)
    return page.get_attribute("#main", "data-lab") or ""


@pytest.fixture
def labs(profile: Profile, site: SupervisedSite) -> Page:
    """The Labs page of somebody with two labs, "first" and the newer "second"."""
    page = open_labs(profile().new_page(), site)
    for name in ("first", "second"):
        post(page, "/api/labs/", {"name": name})
    return open_labs(page, site)


def names(page: Page) -> list[str]:
    return page.locator("tr[data-lab]:has([data-delete]) [data-name]").all_text_contents()


def row(page: Page, name: str) -> str:
    return f'tr:has([data-name]:text-is("{name}"))'


def test_a_new_lab_has_its_name_and_one_without_is_called_after_its_workload_and_time(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    make(page, site, " Rush hour ")
    make(page, site, "")
    open_labs(page, site)
    unnamed, named = names(page)
    assert named == "Rush hour"
    created = page.locator("tr[data-lab] td:nth-child(7)").first.text_content()
    assert unnamed.endswith(f", {created}") and unnamed != f", {created}"
    page.click("#language")
    assert names(page)[0].endswith(f"，{created}")


def test_a_name_that_is_too_long_is_refused_at_its_field_and_kept(labs: Page) -> None:
    labs.fill("#name", "n" * 65)
    labs.click("#begin")
    expect(labs.locator("#new .bad")).to_have_text("must be 1 to 64 printable characters")
    assert labs.input_value("#name") == "n" * 65 and labs.url.endswith("/labs/")


def test_pressing_new_again_while_the_lab_opens_makes_no_second_one(labs: Page) -> None:
    labs.route(
        "**/lab/*/", lambda route: route.fulfill(status=204)
    )  # the browser stays where it is, as while the next page takes long
    with labs.expect_response("**/lab/*/"):
        labs.click("#begin")
    expect(labs.locator("#begin")).to_be_disabled()


def test_a_new_lab_has_kafka_on_three_brokers(labs: Page) -> None:
    labs.get_by_role("button", name="New lab").click()
    labs.get_by_role("link", name="Kafka cluster", exact=True).click()
    expect(labs.get_by_role("heading", name="All copies are in the ISR.")).to_be_visible()


def test_a_lab_is_renamed_in_place_by_keyboard(labs: Page) -> None:
    labs.focus(f"{row(labs, 'first')} [data-rename]")
    labs.keyboard.press("Enter")
    expect(labs.locator(".rename input")).to_be_focused()
    labs.keyboard.press("Escape")
    assert names(labs) == ["second", "first"]
    expect(labs.locator(f"{row(labs, 'first')} [data-rename]")).to_be_focused()
    labs.keyboard.press("Enter")
    labs.keyboard.type("   ")
    labs.keyboard.press("Enter")
    expect(labs.locator(".rename .bad")).to_have_text("must be 1 to 64 printable characters")
    expect(labs.locator(".rename input")).to_be_focused()
    labs.keyboard.type("Rush hour")
    labs.keyboard.press("Enter")
    expect(labs.locator(f"{row(labs, 'Rush hour')} [data-rename]")).to_be_focused()
    assert labs.get_attribute(f"{row(labs, 'Rush hour')} [data-delete]", "aria-label") == "Delete “Rush hour”"
    labs.reload()
    assert names(labs) == ["second", "Rush hour"]


def test_a_deleted_lab_comes_back_by_undo(labs: Page, site: SupervisedSite) -> None:
    labs.focus(f"{row(labs, 'second')} [data-delete]")
    labs.keyboard.press("Enter")
    expect(labs.locator("[data-undo]")).to_be_focused()
    expect(labs.locator(".undo")).to_contain_text("“second” is deleted.")
    lab = labs.evaluate("() => document.querySelector('.undo').dataset.of")
    assert labs.request.get(f"{site.url}lab/{lab}/").status == 404
    save(labs, "labs-undo")
    labs.keyboard.press("Enter")
    expect(labs.locator(f"{row(labs, 'second')} [data-delete]")).to_be_focused()
    assert names(labs) == ["second", "first"]
    assert labs.request.get(f"{site.url}lab/{lab}/").status == 200


def test_who_leaves_the_page_leaves_the_lab_deleted(labs: Page) -> None:
    labs.click(f"{row(labs, 'second')} [data-delete]")
    labs.wait_for_selector(".undo")
    labs.goto(labs.url)
    assert names(labs) == ["first"] and labs.locator(".undo").count() == 0


def test_when_the_undo_is_over_the_focus_goes_to_a_neighbour(labs: Page) -> None:
    labs.clock.install()
    labs.reload()
    labs.click(f"{row(labs, 'second')} [data-delete]")
    labs.wait_for_selector(".undo")
    labs.clock.fast_forward(40_000)
    labs.wait_for_selector(".undo", state="detached")
    expect(labs.locator("#told")).to_have_text("“second” is gone.")
    expect(labs.locator(f"{row(labs, 'first')} [data-delete]")).to_be_focused()


def test_labs_of_others_have_no_such_buttons(profile: Profile, site: SupervisedSite) -> None:
    page = open_labs(profile().new_page(), site)
    assert page.locator("tr[data-lab]").count() == 1, "the demo"
    assert page.locator("[data-rename], [data-delete]").count() == 0


def test_nothing_is_cut_off(labs: Page) -> None:
    cut = """() => [...document.querySelectorAll('.scroll, .scroll td, .menu')].filter((e) => e.scrollWidth > e.clientWidth)
      .map((e) => e.outerHTML)"""

    def look(name: str) -> None:
        for width in (1440, 390):
            labs.set_viewport_size({"width": width, "height": 844})
            assert labs.evaluate(cut) == [], (name, width)
            assert labs.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), (name, width)
            save(labs, f"labs-{width}-{name}")

    look("en")
    labs.click("#language")
    look("zh")
    labs.click(f"{row(labs, 'first')} [data-rename]")
    look("renaming")


def test_a_stage_in_another_tab_says_that_its_lab_was_deleted_and_goes_on_when_it_is_back(
    labs: Page, site: SupervisedSite
) -> None:
    stage = labs.context.new_page()
    stage.goto(site.url.rstrip("/") + str(labs.get_attribute(f"{row(labs, 'first')} [data-name]", "href")))
    wait_frame(stage)
    labs.click(f"{row(labs, 'first')} [data-delete]")
    expect(stage.locator("#notice-text")).to_contain_text("This lab was deleted")
    expect(stage.locator("#notice-action")).to_have_text("Open Labs")
    labs.click("[data-undo]")
    expect(labs.locator(row(labs, "first"))).to_be_visible()
    wait_frame(stage)
    labs.click(f"{row(labs, 'first')} [data-delete]")
    stage.click("#notice-action")
    stage.wait_for_url("**/labs/")


def test_who_has_a_deleted_lab_open_is_told_and_again_when_they_press(
    profile: Profile, site: SupervisedSite
) -> None:
    context = profile()
    labs, pages = (
        context.new_page(),
        {
            place: context.new_page()
            for place in ("", "pulsar/", "kafka/cluster/", "kafka/groups/", "kafka/log")
        },
    )
    lab = make(labs, site, "open elsewhere")
    for place, page in pages.items():
        page.goto(f"{site.url}lab/{lab}/{place}")
        page.wait_for_selector("#fresh[data-state=live]")
    open_labs(labs, site)
    labs.click(f"{row(labs, 'open elsewhere')} [data-delete]")
    for place, page in pages.items():
        page.bring_to_front()  # what is behind is drawn once a second
        expect(page.locator("#notice-text")).to_contain_text("This lab was deleted.", timeout=15_000)
        if place != "kafka/log":  # where nothing is ordered
            page.click("#notice-close")
            page.click("#play")
            expect(page.locator("#notice-text")).to_contain_text("This lab was deleted.")
            page.click("#notice-action")
            page.wait_for_url("**/labs/")
