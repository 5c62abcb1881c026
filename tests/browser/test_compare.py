"""Stories of Compare: from an example to its bills, what is wrong at its field, two labs beside each other, a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, post, save
from tests.browser.test_past import ANSWERS_MS, look_back, seconds
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
RUN_MS = 90_000
SHORT = "5 join\n9 crash c2"
FIGURES = ["moved", "paused", "redelivered", "out_of_order", "lost", "lag", "skew"]


def values(page: Page, figure: str) -> list[str]:
    return page.locator(f'[data-figure="{figure}"] td').all_text_contents()


@pytest.fixture
def compared(profile: Profile, site: SupervisedSite) -> Page:
    """The end of a short course of two light ways, from the form on."""
    page = profile(permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.goto(f"{site.url}compare/")
    expect(page.locator("[data-example]")).to_have_count(3)
    for way in ("pulsar.shared", "rabbitmq.prefetch_1"):
        page.check(f'[name=ways][value="{way}"]')
    page.fill("#history", "9 crash c9")
    page.fill("[name=seconds]", "5")
    page.click("#compare .go")
    expect(page.locator("#history-wrong")).to_have_text(re.compile("nobody is called c9 at 9 s"))
    expect(page.locator("#seconds-wrong")).to_have_text("must be a whole number from 10 to 600")
    expect(page.locator("[name=ways]:checked")).to_have_count(2)
    page.fill("#history", SHORT)
    page.fill("[name=seconds]", "12")
    page.click("#compare .go")
    page.wait_for_url(re.compile(r"/lab/[\w-]+/compare/"))
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused", timeout=RUN_MS)
    expect(page.locator("#clock")).to_have_text("0:12.0")
    return page


def test_two_ways_run_one_course_and_their_bills_are_sorted_by_any_figure(
    compared: Page, profile: Profile
) -> None:
    page = compared
    expect(page.locator(".column h2")).to_have_text(["Shared", "Prefetch 1"])
    assert [
        row.get_attribute("data-figure")
        for row in page.locator(".column").first.locator(".costs tbody tr").all()
    ] == FIGURES
    expect(page.locator(".column svg[role=img] > *").first).to_be_attached()
    page.locator(".column").first.locator('[data-figure="lag"] button').click()
    waiting = [int(re.sub(r"\D", "", text)) for text in values(page, "lag")]
    assert waiting == sorted(waiting)
    expect(page.locator("#sort")).to_have_value("lag")
    save(page, "compare")
    # One line of time for all of them: what each had cost before the crash.
    box = page.locator("#timeline").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 10 + (box["width"] - 24) * 0.6, box["y"] + 20)
    expect(page.locator("#behind")).to_contain_text("before now", timeout=ANSWERS_MS)
    assert 6 < seconds(page) < 8
    page.click("#share")
    link = page.evaluate("() => navigator.clipboard.readText()")
    guest = profile().new_page()
    guest.goto(link)
    expect(guest.locator("#behind")).to_contain_text("before now", timeout=ANSWERS_MS)
    expect(guest.locator("#sort")).to_have_value("lag")
    assert guest.text_content("#state-hash") == page.text_content("#state-hash")
    for figure in FIGURES:
        assert values(guest, figure) == values(page, figure), figure
    # What the pictures show is in tables, too.
    guest.keyboard.press("t")
    expect(guest.locator(".column svg[role=img]").first).to_be_hidden()
    expect(guest.locator(".column").nth(1).locator(".twin tbody tr").first).to_be_visible()
    # Anybody can change it, and has the same form.
    guest.click(".lab-act a")
    expect(guest.locator("#history")).to_have_value(SHORT)
    expect(guest.locator("[name=ways]:checked")).to_have_count(2)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_pictures_and_bills_fit_a_projector_and_a_phone(compared: Page, width: int, height: int) -> None:
    compared.set_viewport_size({"width": width, "height": height})
    compared.click("#language")
    expect(compared.locator(".column h2").first).to_have_text("共享")
    assert compared.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    if width > 640:
        expect(compared.locator(".costs").first).to_be_in_viewport(ratio=1)
    save(compared, f"compare-{width}")
    compared.goto(compared.url.split("/lab/")[0] + "/compare/")
    assert compared.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_branch_stands_beside_what_it_left_at_one_moment_with_the_difference(
    page: Page, let_pass: Callable[[Page, float], None]
) -> None:
    let_pass(page, 20)
    lab = page.get_attribute("#main", "data-lab")
    look_back(page, 0.5)
    page.keyboard.press("a")
    page.wait_for_url(lambda url: "/lab/" in url and str(lab) not in url, timeout=ANSWERS_MS)
    page.wait_for_selector('#pulsar [data-consumer="c4"]')
    let_pass(page, 6)
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
    page.click("#branches .beside")
    page.wait_for_url(re.compile(rf"/lab/[\w-]+/beside/{lab}/"))
    expect(page.locator("#both")).to_have_text(
        re.compile("A: c4 joined beside first course"), timeout=ANSWERS_MS
    )
    kafka = page.locator(".column").nth(1)
    moved = kafka.locator('[data-figure="moved"] td')
    expect(moved.nth(2)).to_have_text(re.compile(r"\+\d+"), timeout=ANSWERS_MS)
    texts = [re.sub(r"\D", "", text) for text in moved.all_text_contents()]
    assert int(texts[0]) - int(texts[1]) == int(texts[2]) > 0
    expect(kafka.locator("svg[role=img]")).to_have_count(2)
    # Before they parted nothing differs.
    box = page.locator("#timeline").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 10 + (box["width"] - 24) * 0.1, box["y"] + 20)
    expect(moved.nth(2)).to_have_text("0", timeout=ANSWERS_MS)
    save(page, "beside")


def test_why_is_asked_about_a_column_its_picture_and_its_figures_of_the_whole_course(compared: Page) -> None:
    page = compared
    shared, prefetch = page.locator(".column").all()
    shared.locator(".head p").click()
    expect(shared).to_have_attribute("data-chosen", "")
    page.keyboard.press("y")
    expect(page.locator("#why-title")).to_have_text("Why? Pulsar Shared")
    expect(page.locator("#why-says")).to_contain_text("The lane’s last change", timeout=ANSWERS_MS)
    page.keyboard.press("Escape")
    # The sum's first number is the figure that was pressed.
    for column in (shared, prefetch):
        value = column.locator('[data-figure="redelivered"] td').inner_text()
        column.locator('[data-figure="redelivered"] td').click()
        expect(page.locator("#why-sums li").first).to_have_text(
            re.compile(rf"^{value} since the lab began = \d+ before the last change \+ \d+ from it on$"),
            timeout=ANSWERS_MS,
        )
        expect(page.locator("#why-about option:checked")).to_have_text("redelivered, since the lab began")
        page.keyboard.press("Escape")
    paused = prefetch.locator('[data-figure="paused"] td')
    paused.click()
    expect(page.locator("#why-sums li").first).to_contain_text(
        f"{paused.inner_text()} = ", timeout=ANSWERS_MS
    )
    page.keyboard.press("Escape")
    # What waits now: the figure is in its sentence, and in the sum of whom it waits for.
    for column in (shared, prefetch):
        value = column.locator('[data-figure="lag"] td').inner_text()
        column.locator('[data-figure="lag"] td').click()
        expect(page.locator("#why-about option:checked")).to_have_text("waiting now")
        expect(page.locator("#why-says")).to_have_text(
            re.compile(rf"^{value} records? waits?"), timeout=ANSWERS_MS
        )
        expect(page.locator("#why-sums")).to_contain_text(f"{value} = ")
        save(page, f"compare-why-{column.get_attribute('data-lane')}")
        page.keyboard.press("Escape")
    prefetch.locator("svg[role=img] .o").first.click()
    expect(page.locator("#why-title")).to_have_text("Why? RabbitMQ Prefetch 1")
    expect(page.locator("#why-says")).to_contain_text(
        re.compile(r"^(Record|Queue|c\d|The lane)"), timeout=ANSWERS_MS
    )
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(page.locator(".projector h2")).to_have_text("Prefetch 1")
    expect(page.locator(".projector .choice")).to_contain_text("2 / 2")
    page.wait_for_function(
        "() => document.querySelector('.projector .shown').shadowRoot.querySelector('svg text')"
    )
    save(page, "compare-projector")
    page.keyboard.press("p")
    expect(page.locator(".projector")).to_be_hidden()


def test_a_group_is_compared_on_its_own_history(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(), site)
    lab = page.get_attribute("#main", "data-lab")
    post(
        page,
        f"/api/labs/{lab}/commands/",
        {"command_id": "one", "kind": "join", "lane": "all", "args": {"count": 1}},
    )
    page.wait_for_selector('#kafka [data-consumer="c4"]')
    page.goto(f"{site.url}lab/{lab}/kafka/groups/")
    page.click("#compare-beside")
    expect(page.locator("#history")).to_have_value(re.compile(r"^[\d.]+ join$"))
    expect(page.locator("[name=ways]:checked")).to_have_count(3)
    expect(page.locator('[name=ways][value="kafka.range"]')).to_be_checked()
