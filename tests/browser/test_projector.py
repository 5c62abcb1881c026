"""The projector (P): one picture for a room, on every page of a lab."""

import itertools
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post, save, wait_frame
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
# A page, the picture that it shows first, and how large the letters of it are at least: on a full HD projector, and at
# 1280x720, where the caption leaves 960x480 to the picture.
PAGES = {
    "": ("Pulsar", 30, 30),
    "pulsar/": ("Hash ring", 20, 19),
    "kafka/cluster/": ("flights-0", 20, 15),
    "kafka/groups/": ("Protocol", 20, 19),
    "kafka/log": ("The folder, bytes to scale", 20, 19),
    "tubemq/": ("Each client for itself", 20, 19),
    "rabbitmq/": ("Exchange graph", 20, 15),
}


@pytest.fixture
def lab(profile: Profile, site: SupervisedSite) -> Page:
    page = profile(viewport={"width": 1920, "height": 1080}).new_page()
    page.goto(f"{site.url}labs/")
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', {'scenario': 'demo'})['id']}/")
    wait_frame(page)
    return page


def letters(page: Page) -> list[float]:
    """The sizes on the screen of the picture's texts, from the smallest."""
    found: list[float] = page.evaluate(
        """() => {
          const svg = document.querySelector(".projector .shown").shadowRoot.querySelector("svg");
          const sizes = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) =>
            parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
          return sizes.sort((one, other) => one - other);
        }"""
    )
    return found


def captions(page: Page) -> list[float]:
    """The letters' sizes of the story's two sentences and of the picture's name, in pixels."""
    found: list[float] = page.evaluate(
        """() => ["#story-what", "#story-means", ".projector h2"].map((one) =>
          parseFloat(getComputedStyle(document.querySelector(one)).fontSize))"""
    )
    return found


def wait_letters(page: Page, least: float) -> None:
    """The page below is drawn narrower, and then copied again."""
    for _ in range(50):
        if letters(page)[0] >= least:
            break
        page.wait_for_timeout(200)
    assert letters(page)[0] >= least, letters(page)


def test_it_shows_one_picture_and_its_caption_large_on_every_page_of_a_lab(lab: Page) -> None:
    address, shown = lab.url, lab.locator(".projector")
    for path, (name, least, least_low) in PAGES.items():
        lab.set_viewport_size({"width": 1920, "height": 1080})
        lab.goto(address + path)
        lab.wait_for_selector("#play")
        expect(lab.locator("#main svg text").first).to_be_attached()
        lab.keyboard.press("p")
        expect(shown.locator("h2")).to_have_text(name)
        expect(lab.locator("#main > :not(#story):not([inert])")).to_have_count(0)
        assert captions(lab) == [32, 32, 32], path
        lab.wait_for_function(
            "() => document.querySelector('.projector .shown').shadowRoot.querySelector('svg text')"
        )
        wait_letters(lab, least)
        press_play(lab, "play")
        save(lab, f"projector-{path.strip('/').replace('/', '-') or 'stage'}")
        lab.set_viewport_size({"width": 1280, "height": 720})
        wait_letters(lab, least_low)
        assert captions(lab) == [32, 32, 32], path
        lab.keyboard.press("p")
        expect(shown).to_be_hidden()
        expect(lab.locator("[inert]")).to_have_count(0)
        press_play(lab, "pause")


def press_play(lab: Page, then: str) -> None:
    """Space pauses, or plays; then: what the button offers after it."""
    lab.keyboard.press(" ")
    expect(lab.locator("#play")).to_have_attribute("data-say-label", then)


@pytest.mark.parametrize("letters", [140, 320])
def test_a_long_sentence_is_as_large_and_whole(lab: Page, letters: int) -> None:
    press_play(lab, "play")
    lab.keyboard.press("p")
    expect(lab.locator(".projector")).to_be_visible()
    for width, height in [(1920, 1080), (1280, 720), (390, 844)]:
        lab.set_viewport_size({"width": width, "height": height})
        lab.evaluate(
            """(letters) => {
              const means = document.getElementById("story-means"), share = "Each works out its own share of one map. ";
              means.textContent = share.repeat(10).slice(0, letters);
              means.setAttribute("data-long", "");
            }""",
            letters,
        )
        lab.wait_for_function(
            """() => document.getElementById("story").getBoundingClientRect().bottom
              <= document.querySelector(".projector").getBoundingClientRect().top + 1"""
        )
        held = lab.evaluate(
            """() => {
              const means = document.getElementById("story-means"), story = document.getElementById("story");
              const box = means.getBoundingClientRect(), shown = document.querySelector(".projector .shown svg, .shown");
              return [parseFloat(getComputedStyle(means).fontSize), means.scrollHeight <= means.clientHeight + 1,
                box.bottom <= story.getBoundingClientRect().bottom, box.top >= 0, shown.clientHeight > 100];
            }"""
        )
        assert held == [18 if width < 1000 else 32, True, True, True, True]
        save(lab, f"projector-long-{letters}-{width}")


def test_it_follows_the_lab_and_goes_through_the_pages_pictures(lab: Page) -> None:
    lab.focus("#rabbitmq [data-why]")
    lab.keyboard.press("p")
    expect(lab.locator(".projector h2")).to_have_text("RabbitMQ")
    expect(lab.locator(".projector .choice")).to_contain_text("4 / 4")
    # Nothing has changed yet: there is no other figure.
    expect(lab.locator(".projector .side p")).to_contain_text("not done yet")
    expect(lab.locator(".projector strong")).to_have_text(re.compile(r"^\d+$"))
    lab.get_by_role("button", name="Next picture").click()
    expect(lab.locator(".projector h2")).to_have_text("Pulsar")
    lab.keyboard.press("a")
    expect(lab.locator("#story-what")).to_contain_text("c4 joined")
    lab.wait_for_function(
        "() => document.querySelector('.projector .shown').shadowRoot.textContent.includes('4')"
    )
    lab.keyboard.press("Escape")
    expect(lab.locator(".projector")).to_be_hidden()
    expect(lab.locator("#rabbitmq [data-why]")).to_be_focused()


def test_it_is_dark_and_chinese_and_fits_a_phone(profile: Profile, site: SupervisedSite, lab: Page) -> None:
    lab.click("#language")
    lab.emulate_media(color_scheme="dark")
    lab.keyboard.press("p")
    expect(lab.get_by_role("button", name="退出（Esc）")).to_be_visible()
    save(lab, "projector-zh-dark")
    lab.set_viewport_size({"width": 390, "height": 844})
    assert lab.evaluate("() => document.documentElement.scrollWidth") <= 390
    boxes = [lab.locator(each).bounding_box() for each in (".story", ".projector", ".trans")]
    assert all(boxes)
    for above, below in itertools.pairwise(boxes):
        assert above and below and above["y"] + above["height"] <= below["y"] + 1
    save(lab, "projector-390")
