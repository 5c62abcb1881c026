"""What fits where: the Stage on a projector, a large screen and a phone. Sizes are read from the drawn
page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import open_stage, save, wait_frame, wait_text
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

# Every element with text of its own that is on screen, with the size in which its letters are drawn: a
# picture scales its own.
SMALL_TEXTS = """() => [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility({ visibilityProperty: true })
  && !e.closest('.twin-box, .defs, script') && [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())).map((e) => {
    const matrix = e.ownerSVGElement?.getScreenCTM(), scale = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
    return [parseFloat(getComputedStyle(e).fontSize) * scale, e.textContent.trim().slice(0, 40)];
  }).filter(([size]) => size > 0 && size < 12.95)"""


def sized(profile: Profile, site: SupervisedSite, width: int, height: int) -> Page:
    return open_stage(profile(viewport={"width": width, "height": height}), site)


def resize(page: Page, width: int, height: int) -> None:
    """Make the window so large, and wait until the page has drawn in it: one page costs less than four."""
    page.set_viewport_size({"width": width, "height": height})
    wait_frame(page, wait_frame(page))


def test_a_projector_shows_four_lanes_with_their_consumers_without_scrolling(
    profile: Profile, site: SupervisedSite
) -> None:
    page = sized(profile, site, 1280, 720)
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    bar = page.locator(".trans").bounding_box()
    assert bar is not None
    for lane in ("pulsar", "kafka", "tubemq", "rabbitmq"):
        last = page.locator(f'#{lane} [data-consumer="c4"]')
        expect(last).to_be_visible()
        box = last.bounding_box()
        assert box and box["y"] + box["height"] <= bar["y"] and box["x"] + box["width"] <= 1280
    save(page, "stage-1280")


# What has more in it than it shows, beside a name that is too long for its place.
SCROLLS = """() => [...document.querySelectorAll('#main *, html')].filter((e) => e.checkVisibility()
  && !e.closest('.twin-box, .unseen, svg, dialog, .chart') && e.clientHeight > 1 && getComputedStyle(e).display !== 'inline'
  && (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)
  && (e.tagName !== 'HTML' ? getComputedStyle(e).overflowY !== 'visible' : e.scrollWidth > e.clientWidth)).map((e) => e.outerHTML)"""


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_nothing_scrolls_in_four_lanes_with_four_consumers_one_of_them_silent(
    profile: Profile, site: SupervisedSite, language: str
) -> None:
    context = profile(viewport={"width": 1280, "height": 720})
    context.add_cookies([{"name": "django_language", "value": language, "url": site.url}])
    page = open_stage(context, site)
    page.click("#add")
    page.wait_for_selector('#tubemq [data-consumer="c4"]')
    page.locator('#kafka [data-consumer="c2"]').hover()
    page.click('#kafka [data-consumer="c2"] [data-verb="crash"]')
    page.wait_for_selector('#rabbitmq [data-consumer="c2"][data-state=crashed]')
    for width, height in ((1280, 720), (1440, 900)):
        resize(page, width, height)
        assert page.evaluate(SCROLLS) == [], width
        bottoms = page.eval_on_selector_all(
            ".lane", "all => all.map((e) => e.getBoundingClientRect().bottom)"
        )
        bar = page.locator(".trans").bounding_box()
        assert bar and len(set(bottoms)) == 1 and bottoms[0] <= bar["y"]


def test_pictures_grow_with_the_screen_and_no_text_is_smaller_than_13_pixels(page: Page) -> None:
    page.click("#add-ten")
    wait_text(page, "h1", "10 consumers joined")
    widths = []
    for width, height in ((1280, 720), (1440, 900), (1920, 1080), (390, 844)):
        resize(page, width, height)
        box = page.locator("#pulsar .pic svg").bounding_box()
        assert box is not None and page.evaluate(SMALL_TEXTS) == [], width
        widths.append(box["width"])
    assert 280 <= widths[0] < widths[1] < widths[2] and widths[2] > 400


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_phone_is_not_wider_than_itself_and_keeps_a_word_whole(
    profile: Profile, site: SupervisedSite, language: str
) -> None:
    context = profile(**PHONE)
    context.add_cookies([{"name": "django_language", "value": language, "url": site.url}])
    page = open_stage(context, site)
    page.tap("#play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    assert page.evaluate("() => document.querySelector('#fresh').getBoundingClientRect().right") <= 390
    page.tap("#pulsar [data-rest] summary")
    hero = page.locator("#pulsar [data-slot=hero]").bounding_box()
    assert hero and hero["height"] < 60  # "Next" has two syllables in Chinese, and one line


CUT = """() => [...document.querySelectorAll('.say, .seg button, .lt, .row .r')].filter((e) => e.checkVisibility()
  && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)).map((e) => e.textContent)"""


def test_when_nobody_is_left_and_when_ten_come_a_projector_shows_the_whole_words(
    profile: Profile, site: SupervisedSite
) -> None:
    page = sized(profile, site, 1280, 720)
    for consumer in ("c1", "c2", "c3"):
        page.click(f'#pulsar [data-consumer="{consumer}"] [data-verb="leave"]')
        expect(page.locator(f'#pulsar [data-consumer="{consumer}"]')).to_have_count(0)
    wait_text(page, "#rabbitmq .say", "the last one, left")
    assert page.evaluate(CUT) == []
    page.click("#add-ten")
    wait_text(page, "#rabbitmq .say", "newcomers take what waits in the queue, in turn")
    assert page.evaluate(CUT) == []
    page.click("#pulsar .seg .more")
    page.click('#pulsar .pop [data-algorithm="failover_document"]')
    wait_text(page, "#pulsar .seg [aria-pressed=true]", "Article failover")
    assert page.evaluate(CUT) == []


def test_a_phone_reaches_speed_clock_timeline_link_and_ten(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(**PHONE), site)
    for there in (".clock", "#timeline", "#add-ten"):
        expect(page.locator(there)).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-speed='4']")).to_be_hidden()
    page.tap("#rare")
    expect(page.locator("#rare")).to_have_attribute("aria-expanded", "true")
    for there in ("[data-speed='4']", "#twins", "#share"):
        expect(page.locator(there)).to_be_in_viewport(ratio=1)
    page.tap("[data-speed='4']")
    page.wait_for_selector("[data-speed='4'][aria-pressed=true]")
    page.tap("#rare")
    expect(page.locator("#share")).to_be_hidden()
    page.tap("#add-ten")
    wait_text(page, "h1", "10 consumers joined")
    page.wait_for_function("() => document.getElementById('timeline').getBoundingClientRect().width > 200")
    right = page.eval_on_selector(
        "#timeline", "svg => Math.max(...[...svg.children].map((e) => e.getBoundingClientRect().right))"
    )
    assert right <= 390
    save(page, "stage-390-many")


# Neighbours in one line that stand nearer to each other than a narrow space: [lane, left text, right text].
TOUCHING = """() => [...document.querySelectorAll('.foot dl')].filter((e) => e.checkVisibility()).flatMap((list) => {
  const boxes = [...list.children].map((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell.lastElementChild);
    return { text: cell.textContent.trim(), rect: range.getBoundingClientRect() };
  });
  const lane = list.closest('.lane').id, isBeside = (one, other) => one.top < other.bottom && other.top < one.bottom;
  const isNear = (left, right) => right.width && isBeside(left, right) && left.right + 3 > right.left;
  return boxes.slice(1).flatMap((box, index) => (isNear(boxes[index].rect, box.rect) ? [[lane, boxes[index].text, box.text]] : []));
})"""
OPEN_REST = "(isOpen) => { for (const one of document.querySelectorAll('[data-rest]')) one.open = isOpen; }"
TOO_WIDE = """() => [...document.querySelectorAll('.bill, .bill dl > div')].filter((e) => e.scrollWidth > e.clientWidth)
  .map((e) => [e.closest('.lane').id, e.textContent])"""
LINES_OF_HEADS = """() => [...document.querySelectorAll('.twin-box .twin th')].map((e) => {
  const range = document.createRange();
  range.selectNodeContents(e);
  return [new Set([...range.getClientRects()].map((rect) => rect.top)).size, e.textContent];
}).filter(([lines]) => lines > 2)"""


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_figures_heads_and_words_of_the_pictures_stand_clear_of_each_other(
    profile: Profile, site: SupervisedSite, language: str
) -> None:
    context = profile()
    context.add_cookies([{"name": "django_language", "value": language, "url": site.url}])
    page = open_stage(context, site)
    page.click("#add")
    page.wait_for_function(
        "() => { const { bill } = window.highwater.view().lanes.tubemq; return bill?.settled && "
        "bill.pause_us > 0; }"
    )
    for width, height in ((1440, 900), (1280, 720), (1920, 1080), (390, 844)):
        resize(page, width, height)
        assert page.evaluate(TOUCHING) == [], width
        page.evaluate(OPEN_REST, True)
        assert (page.evaluate(TOUCHING), page.evaluate(TOO_WIDE)) == ([], []), width
        page.evaluate(OPEN_REST, False)
        if width > 640:
            word = page.eval_on_selector(
                "#kafka .pic [data-term=lag]", "e => e.getBoundingClientRect().right"
            )
            lag = page.eval_on_selector("#kafka .pic rect.lag", "e => e.getBoundingClientRect().left")
            assert word + 2 < lag
        page.keyboard.press("t")
        page.wait_for_function("() => document.body.hasAttribute('data-twins')")
        assert page.evaluate(LINES_OF_HEADS) == [], width
        page.keyboard.press("t")
        page.wait_for_function("() => !document.body.hasAttribute('data-twins')")
