"""Stories of a lesson in frames: Next and Back, by mouse, keys and finger, through the past and on; the stops on the
line; the free run."""

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import save
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
LESSON = "kafka_cluster_high_watermark"


def play(page: Page, site: SupervisedSite, name: str = LESSON) -> None:
    page.goto(f"{site.url}learn/{name}/")
    page.click(f"button[value={name}]")


def stands_at(page: Page, place: str, clock: str) -> None:
    """It is paused at this frame."""
    expect(page.locator("#frame-place")).to_have_text(place, timeout=15_000)
    expect(page.locator("#clock")).to_have_text(clock, timeout=15_000)
    expect(page.locator("#play-icon")).to_have_attribute("href", "#v-play", timeout=15_000)


def kinds(page: Page) -> list[str]:
    """What people and the lesson ordered, from the lab's journal."""
    lab = re.findall(r"/lab/([\w-]+)/", page.url)[0]
    ordered: list[str] = page.evaluate(
        "async (lab) => (await (await fetch(`/api/labs/${lab}/journal/`)).json()).commands.map(({ kind }) => kind)",
        lab,
    )
    return ordered


def test_next_runs_to_the_next_frame_and_back_looks_at_the_one_before(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    play(page, site)
    stands_at(page, "1/5", "0:05.5")
    expect(page.locator("#back-frame")).to_be_disabled()
    page.click("#next")
    expect(page.locator("#story-means")).to_contain_text("On the way to frame 2: leader appends.")
    expect(page.locator(".pointer rect")).to_have_count(0)
    stands_at(page, "2/5", "0:09.1")
    expect(page.locator("#story-means")).to_contain_text("its HW stays at 8")
    expect(page.locator(".pointer text")).to_have_text("LEO 9")
    page.click("#next")
    stands_at(page, "3/5", "0:09.3")
    page.click("#back-frame")
    stands_at(page, "2/5", "0:09.1")
    expect(page.locator("body")).to_have_attribute("data-past", "")
    expect(page.locator(".pointer text")).to_have_text("LEO 9")
    page.click("#back-frame")
    stands_at(page, "1/5", "0:05.5")
    before = kinds(page)
    page.click("#next")
    stands_at(page, "2/5", "0:09.1")
    page.click("#next")
    stands_at(page, "3/5", "0:09.3")
    expect(page.locator("body")).not_to_have_attribute("data-past", "")
    assert kinds(page) == before, "through the past without an order"
    page.click("#next")
    stands_at(page, "4/5", "0:09.5")
    assert kinds(page) == [*before, "play_until"]


def test_keys_go_on_and_back_and_space_runs_freely(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    play(page, site)
    stands_at(page, "1/5", "0:05.5")
    page.keyboard.press("PageDown")
    stands_at(page, "2/5", "0:09.1")
    page.keyboard.press("ArrowRight")
    stands_at(page, "3/5", "0:09.3")
    page.keyboard.press("PageUp")
    stands_at(page, "2/5", "0:09.1")
    page.keyboard.press("ArrowLeft")
    stands_at(page, "1/5", "0:05.5")
    page.keyboard.press("l")
    stands_at(page, "3/5", "0:09.3")
    page.keyboard.press(" ")
    expect(page.locator("#play-icon")).to_have_attribute("href", "#v-pause")
    stands_at(page, "5/5", "0:12.0")
    expect(page.locator("#next")).to_have_text("Next lesson")
    page.click("#next")
    page.wait_for_url("**/learn/kafka_cluster_acks/")  # of those that one begins with


def test_the_lanes_side_by_side_have_the_lessons_frames_too(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    play(page, site, "four_models_one_crash")
    stands_at(page, "1/5", "0:12.0")
    page.click("#to-compare")
    page.wait_for_url("**/compare/")
    stands_at(page, "1/5", "0:12.0")
    page.click("#next")
    stands_at(page, "2/5", "0:17.0")
    assert page.url.endswith("/compare/")
    page.click("#back-frame")
    stands_at(page, "1/5", "0:12.0")


def test_a_stop_on_the_line_leads_to_its_frame_both_ways(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    play(page, site)
    stands_at(page, "1/5", "0:05.5")
    page.locator("#timeline [data-frame='3']").click()
    stands_at(page, "3/5", "0:09.3")
    stop = page.locator("#timeline [data-frame='2']")
    expect(stop).to_have_attribute("aria-label", re.compile(r"^Frame 2: leader appends, 0:09\.1$"))
    stop.focus()
    stop.press("Enter")
    stands_at(page, "2/5", "0:09.1")
    expect(stop).to_have_attribute("aria-current", "step")
    page.click("#language")
    expect(page.locator("#next")).to_have_text("下一步")
    expect(page.locator("#timeline")).to_contain_text("Leader 写入")
    expect(page.locator(".pointer text")).to_have_text("LEO 到 9")


def test_a_finger_across_the_page_goes_on_and_back_on_a_phone(profile: Profile, site: SupervisedSite) -> None:
    page = profile(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
    play(page, site)
    stands_at(page, "1/5", "0:05.5")
    swipe(page, -160)
    stands_at(page, "2/5", "0:09.1")
    box, story = page.locator(".pointer .edge").bounding_box(), page.locator("#story").bounding_box()
    bar = page.locator(".trans").bounding_box()
    assert box is not None and story is not None and bar is not None
    assert box["y"] >= story["y"] + story["height"] and box["y"] + box["height"] <= bar["y"], (
        "it has scrolled there"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#next")).to_be_in_viewport()
    save(page, "lesson-phone")
    swipe(page, 160)
    stands_at(page, "1/5", "0:05.5")


def swipe(page: Page, by: int) -> None:
    page.locator("#story").evaluate(
        """(story, by) => {
          const at = (x) => new Touch({ identifier: 1, target: story, clientX: x, clientY: 80 });
          const fire = (type, x, touches) => story.dispatchEvent(
            new TouchEvent(type, { bubbles: true, touches, changedTouches: [at(x)] }));
          fire('touchstart', 200, [at(200)]);
          fire('touchend', 200 + by, []);
        }""",
        by,
    )
