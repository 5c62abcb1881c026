"""Stories of lectures: a deck by keys and with a clicker, the speaker's window, a step opened live, paper, one's own text
with its error at the line and its link."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.lectures.shelf import lecture_of, shelf
from tests.browser.conftest import save, wait_frame
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
OWN = """\
# Mine

## Hello there

::: minutes 2

**Prose** and <b>no markup</b>.

::: lesson kafka_cluster_high_watermark frame=2

::: notes
Wave.
:::

## The end

::: question
One and one?
- [ ] one
- [x] two

By counting.
:::
"""
SCROLLS = "() => { const main = document.getElementById('main'); return main.scrollHeight > main.clientHeight + 1; }"


def deck(page: Page, site: SupervisedSite, place: str = "") -> None:
    page.goto(f"{site.url}lectures/replication/deck/{place}")
    expect(page.locator("#place")).to_contain_text(
        "Slide" if page.get_attribute("html", "lang") == "en" else "页"
    )


def shown(page: Page) -> str:
    return page.locator(".slide[data-now] .slide-title").inner_text()


def test_keys_and_a_clicker_turn_the_slides(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    titles = [slide.title for slide in lecture_of("replication", "en").slides]
    deck(page, site)
    expect(page.locator(".slide:visible")).to_have_count(1)
    assert shown(page) == titles[0]
    for key, number in (
        ("PageDown", 2), ("ArrowRight", 3), ("Space", 4), ("PageUp", 3), ("ArrowLeft", 2), ("End", len(titles)),
        ("PageDown", len(titles)), ("Home", 1), ("PageUp", 1),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(page.locator("#place")).to_have_text(f"Slide {number} of {len(titles)}")
        assert shown(page) == titles[number - 1]
    page.keyboard.press("PageDown")
    page.reload()
    assert shown(page) == titles[1], "the address knows the slide"
    page.click("#next")
    page.click("#back")
    assert shown(page) == titles[1]
    page.keyboard.press("?")
    expect(page.locator("#keys-sheet")).to_contain_text("Speaker notes in a window of their own")
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    page.click("#language")
    expect(page.locator(".slide[data-now] .slide-title")).to_have_text(
        lecture_of("replication", "zh").slides[0].title
    )


def test_the_answer_is_one_key_away(profile: Profile, site: SupervisedSite) -> None:
    page = profile(viewport={"width": 1280, "height": 720}).new_page()
    deck(page, site, "#4")
    truth = page.locator(".slide[data-now] details.truth p").first
    expect(truth).to_be_hidden()
    page.keyboard.press("a")
    expect(truth).to_have_text("Answer: C")
    page.wait_for_function(f"() => !({SCROLLS})()")  # it makes room for itself
    page.keyboard.press("a")
    expect(truth).to_be_hidden()


def test_the_speakers_window_follows_and_turns(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    deck(page, site, "#2")
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes = opened.value
    expect(notes.locator("h1")).to_have_text("A record arrives at the leader")
    expect(notes.locator(".notes")).to_contain_text("3 to 7.")
    expect(notes.locator("body")).to_contain_text("Starts at minute 3, takes 4")
    expect(notes.locator("body")).to_contain_text("Next: The followers fetch")
    expect(notes.locator("#elapsed")).to_contain_text("0:0")
    save(notes, "lecture-notes")
    page.keyboard.press("PageDown")
    expect(notes.locator("h1")).to_have_text("The followers fetch")
    notes.keyboard.press("PageDown")
    expect(page.locator("#place")).to_contain_text("Slide 4")
    expect(notes.locator("h1")).to_have_text("The high watermark moves, one round later")
    # The window stays with the deck, whatever the tab shows meanwhile, and goes with its tab.
    page.goto(f"{site.url}learn/")
    elapsed = notes.text_content("#elapsed")
    expect(notes.locator("#elapsed")).not_to_have_text(str(elapsed))
    deck(page, site, "#5")
    expect(notes.locator("h1")).to_have_text(shown(page))
    notes.keyboard.press("PageUp")
    expect(page.locator("#place")).to_contain_text("Slide 4")
    expect(notes.locator("h1")).to_have_text("The high watermark moves, one round later")
    with notes.expect_event("close"):
        page.close()


def test_without_a_window_the_notes_are_below_the_slide(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    page.add_init_script("window.open = () => null;")
    deck(page, site)
    notes = page.locator(".slide[data-now] .notes")
    expect(notes).to_be_hidden()
    page.keyboard.press("n")
    expect(notes).to_contain_text("0 to 3.")
    page.keyboard.press("n")
    expect(notes).to_be_hidden()


def test_a_step_opens_live_at_its_frame_in_a_tab_of_its_own(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    deck(page, site, "#3")
    with page.context.expect_page() as opened:
        page.locator(".slide[data-now] .live").click()
    live = opened.value
    wait_frame(live)
    assert re.search(r"/lab/[\w-]+/kafka/cluster/$", live.url)
    expect(live.locator("#frame-place")).to_have_text("3/5", timeout=30_000)
    expect(live.locator("#play-icon")).to_have_attribute("href", "#v-play")
    expect(live.locator("#story")).to_contain_text("The leader answers the followers' waiting fetches")
    assert shown(page) == "The followers fetch"


@pytest.mark.parametrize("locale", ["en", "zh-CN"])
def test_each_slide_fits_a_projector_and_a_phone(profile: Profile, site: SupervisedSite, locale: str) -> None:
    page = profile(locale=locale).new_page()
    for name in shelf():
        page.goto(f"{site.url}lectures/{name}/deck/")
        for width, height in ((1440, 900), (1280, 720), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.keyboard.press("Home")
            for number, slide in enumerate(lecture_of(name, locale[:2]).slides, start=1):
                where = f"{name} {number} at {width}"
                assert shown(page) == slide.title, where
                assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), where
                assert width < 800 or not page.evaluate(SCROLLS), where
                if number == 4:
                    save(page, f"lecture-deck-{name}-{locale}-{width}")
                page.keyboard.press("PageDown")


def test_a_lecture_is_read_from_learn_on_and_printed(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}learn/")
    page.locator("#replication").get_by_role("link", name="Lecture, 45 minutes").click()
    expect(page).to_have_url(f"{site.url}lectures/replication/")
    page.goto(f"{site.url}learn/")
    page.get_by_role("link", name="Open the lectures").click()
    page.locator("#replication h2 a").click()
    expect(page).to_have_url(f"{site.url}lectures/replication/")
    slides = lecture_of("replication", "en").slides
    expect(page.locator("section.part h2")).to_have_count(len(slides))
    expect(page.locator(".step .still").first).to_be_visible()
    page.locator(".contents a").nth(3).click()
    page.locator("#slide-4 details summary").click()
    expect(page.locator("#slide-4 details p").first).to_have_text("Answer: C")
    page.get_by_role("link", name="Print with notes").click()
    expect(page.locator(".notes")).to_have_count(len(slides))
    page.evaluate("() => { window.printed = 0; window.print = () => { window.printed += 1 }; }")
    page.get_by_role("button", name="Print").click()
    assert page.evaluate("() => window.printed") == 1
    noted = page.pdf(prefer_css_page_size=True).count(b"/MediaBox")
    page.goto(f"{site.url}lectures/replication/print/")
    expect(page.locator(".notes")).to_have_count(0)
    plain = page.pdf(prefer_css_page_size=True).count(b"/MediaBox")
    assert 4 <= plain <= noted <= 12


def test_a_text_of_ones_own_runs_and_a_wrong_line_is_marked(profile: Profile, site: SupervisedSite) -> None:
    page = profile(permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.goto(f"{site.url}lectures/own/")
    page.fill("#text", OWN.replace("high_watermark", "high_watermarc"))
    page.get_by_role("button", name="Deck").click()
    expect(page.locator("#wrong")).to_have_text(
        'line 9: there is no lesson "kafka_cluster_high_watermarc"; did you mean "kafka_cluster_high_watermark"?'
    )
    expect(page.locator(".editor .lines [data-wrong]")).to_have_text("9\n")
    save(page, "lecture-own-wrong")
    page.fill("#text", OWN)
    page.click("#share")
    expect(page.locator("#shared")).to_contain_text("The link is copied.")
    link = page.evaluate("() => navigator.clipboard.readText()")
    page.get_by_role("button", name="Deck").click()
    assert shown(page) == "Hello there"
    expect(page.locator(".slide[data-now] .prose")).to_have_text("Prose and <b>no markup</b>.")
    page.keyboard.press("PageDown")
    page.keyboard.press("a")
    expect(page.locator(".slide[data-now] .truth")).to_contain_text("By counting.")
    page.get_by_role("button", name="Back to the text").click()
    expect(page.locator("#text")).to_have_value(OWN)
    other = profile().new_page()
    other.goto(link)
    expect(other.locator("#text")).to_have_value(OWN)
    other.get_by_role("button", name="Read").click()
    expect(other.locator(".read h1")).to_have_text("Mine")
