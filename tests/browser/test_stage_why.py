"""Stories of "Why?": a panel beside a picture that goes on, whose steps light what they speak of. Anything on a picture
can be asked about."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, save, wait_frame, wait_text
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
WORKED_OUT_MS = 40_000  # a copy of the lab runs in a worker that may just have been started
LANES = ("pulsar", "kafka", "tubemq", "rabbitmq")


def overlap(page: Page, lane: str) -> float:
    """How much of the lane's picture the panel covers, in square pixels."""
    picture, panel = page.locator(f"#{lane} .pic").bounding_box(), page.locator("#why").bounding_box()
    assert picture and panel
    sides = [
        max(0.0, min(picture[at] + picture[size], panel[at] + panel[size]) - max(picture[at], panel[at]))
        for at, size in (("x", "width"), ("y", "height"))
    ]
    return sides[0] * sides[1]


def joined(page: Page) -> None:
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    page.wait_for_selector('#tubemq [data-consumer="c4"]')
    page.wait_for_function(
        "() => /^[0-9]/.test(document.querySelector('#pulsar [data-slot=hero]').textContent)"
    )


@pytest.mark.parametrize("width", [1440, 1280])
def test_panel_stands_beside_the_picture_which_goes_on(
    profile: Profile, site: SupervisedSite, width: int
) -> None:
    page = open_stage(profile(viewport={"width": width, "height": 900 if width == 1440 else 720}), site)
    joined(page)
    for lane in LANES:
        page.click(f"[data-why={lane}]")
        expect(page.locator("#why")).to_be_visible()
        expect(page.locator(f"[data-why={lane}]")).to_have_attribute("aria-expanded", "true")
        assert overlap(page, lane) == 0
        box = page.locator("#why").bounding_box()
        assert box and box["width"] >= 240 and box["x"] >= 0 and box["x"] + box["width"] <= width
        seq = page.get_attribute(f"#{lane} [data-picture]", "data-seq")
        page.wait_for_function(
            "([lane, seq]) => document.querySelector(`#${lane} [data-picture]`).dataset.seq !== seq",
            arg=[lane, seq],
        )
        save(page, f"why-{lane}-{width}")
    page.keyboard.press("Escape")
    expect(page.locator("#why")).to_be_hidden()
    expect(page.locator("[data-why=rabbitmq]")).to_be_focused()


def test_a_step_lights_what_it_speaks_of(page: Page) -> None:
    joined(page)
    page.click("[data-why=pulsar]")
    step = page.locator("#why-list li", has_text="c4 connected to the subscription")
    step.hover(timeout=WORKED_OUT_MS)
    picture = page.locator("#pulsar [data-picture]")
    expect(picture).to_have_attribute("data-lit", "")
    assert page.locator("#pulsar [data-picture] .lit").count() >= 2
    save(page, "why-lit-pulsar")
    page.mouse.move(5, 5)
    expect(picture).not_to_have_attribute("data-lit", "")
    page.click("[data-why=rabbitmq]")
    page.locator("#why-list li", has_text="c4 joined the end of the turn order").wait_for(
        timeout=WORKED_OUT_MS
    )
    page.focus("#why-list li")
    expect(page.locator("#rabbitmq [data-picture]")).to_have_attribute("data-lit", "")
    wait_frame(page)
    assert page.evaluate("() => document.activeElement.closest('#why-list li') !== null")
    save(page, "why-lit-rabbitmq")
    page.click("[data-why=tubemq]")
    page.locator("#why-list li", has_text="c4 computed its partitions").hover()
    expect(page.locator("#tubemq [data-picture] .cell.lit")).to_have_count(3)


def test_on_a_phone_the_panel_is_below_the_picture_and_rules_wrap(
    profile: Profile, site: SupervisedSite
) -> None:
    page = open_stage(profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), site)
    page.tap("#add")
    wait_text(page, "h1", "c4 joined")
    page.tap("[data-tab=rabbitmq]")
    page.tap("[data-why=rabbitmq]")
    expect(page.locator("#why")).to_be_visible()
    assert overlap(page, "rabbitmq") == 0
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.eval_on_selector("#why", "e => e.scrollWidth <= e.clientWidth")
    picture, panel = page.locator("#rabbitmq .pic").bounding_box(), page.locator("#why").bounding_box()
    assert picture and panel and panel["y"] >= picture["y"] + picture["height"]
    tabs = page.locator(".tabs").bounding_box()
    assert tabs and picture["y"] >= tabs["y"] + tabs["height"] and panel["y"] < 844 - 64
    save(page, "why-390")


def ask(page: Page, selector: str, says: str) -> None:
    """Press, and wait for the answer."""
    page.locator(selector).click()
    expect(page.locator("#why-says")).to_contain_text(says, timeout=WORKED_OUT_MS)


def test_anything_on_a_picture_can_be_asked_about(page: Page) -> None:
    joined(page)
    wait_text(page, "#kafka .say", "changed hands")
    ask(page, "#kafka [data-picture] .about >> nth=3", "Partition 3 is read by c2.")
    sums = page.locator("#why-sums")
    expect(sums).to_contain_text("lag")
    lag = page.locator("#why-sums li", has_text="log end offset").inner_text().replace("\u202f", "")
    left, end, position = (int(number) for number in re.findall(r"\d+", lag))
    assert left == end - position
    steps = page.locator("#why-list li")
    expect(steps.first).to_contain_text("because of your command: c4 joined")
    expect(page.locator("#why-list")).to_contain_text("kafka.assignor.range")
    save(page, "why-partition")
    ask(page, "#kafka .since dd >> nth=0", "What changed its owner")
    expect(sums).to_contain_text("of 12 partitions have another owner than before the change")
    expect(sums).to_contain_text("3: c1 → c2")
    ask(page, "#rabbitmq [data-picture] .edge >> nth=2", "Record")
    page.keyboard.press("Escape")  # it stands over that lane
    ask(page, '#tubemq .row[data-consumer="c4"] [data-field=name]', "c4 is live.")
    expect(page.locator("#why-list")).to_contain_text("c4 computed its partitions and registered them")
    page.locator("#pulsar [data-picture]").click(position={"x": 215, "y": 80})
    expect(page.locator("#why-says")).to_contain_text(
        re.compile(r"Slot .* range from"), timeout=WORKED_OUT_MS
    )
    save(page, "why-slot")


def test_without_a_mouse_y_asks_and_the_list_names_everything(page: Page) -> None:
    joined(page)
    page.focus('#kafka .row[data-consumer="c1"] .vb button')
    page.keyboard.press("y")
    expect(page.locator("#why-says")).to_contain_text("c1 is live.", timeout=WORKED_OUT_MS)
    expect(page.locator("#why-title")).to_be_focused()
    page.select_option("#why-about", "partition:11")
    expect(page.locator("#why-says")).to_contain_text("Partition 11 is read by c4.", timeout=WORKED_OUT_MS)
    page.keyboard.press("Escape")
    expect(page.locator("#why")).to_be_hidden()
    page.locator("h1").click()
    page.keyboard.press("y")
    expect(page.locator("#why-title")).to_contain_text("Pulsar", timeout=WORKED_OUT_MS)


def test_of_the_past_the_answer_is_the_past_s(page: Page) -> None:
    joined(page)
    wait_text(page, "#kafka .say", "changed hands")
    page.keyboard.press("PageUp")
    page.wait_for_function("() => document.body.hasAttribute('data-past')")
    ask(page, "#kafka [data-picture] .about >> nth=11", "Partition 11 is")
    page.wait_for_function(
        "() => document.querySelector('#why-says').textContent.includes(document.querySelector('#clock').textContent)",
        timeout=WORKED_OUT_MS,
    )
