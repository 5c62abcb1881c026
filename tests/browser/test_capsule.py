"""A run taken away as a capsule, opened from a file by a browser without a network: it plays, and what was recorded is
answered, in both languages."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from dashboard.formats import clock
from tests.browser.conftest import post, save, wait_frame
from tests.browser.test_axe import AXE, FINDINGS
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
MADE_MS = 120_000
LESSON_MS = 30_000
"""Of a way from one frame to the next, which lasts some seconds."""


def taken(page: Page, folder: Path, until: str | None = None) -> Path:
    """The capsule of the page that is shown, made by its menu."""
    page.locator(".take:visible").first.click()
    page.get_by_role("menuitem", name="Capsule: this run").click()
    if until is not None:
        page.fill("#capsule-form [name=until]", until)
    with page.expect_download(timeout=MADE_MS) as given:
        page.click("#capsule-form .go")
    expect(page.locator("#capsule-file")).to_contain_text("Save the capsule")
    file = folder / given.value.suggested_filename
    given.value.save_as(file)
    assert file.stat().st_size < 1_000_000
    return file


def opened(profile: Profile, file: Path, **options: object) -> Page:
    """The file in a browser of its own, to which there is no network."""
    context = profile(offline=True, **options)
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    asked: list[str] = []
    page.goto(file.as_uri())
    expect(page.locator("#player-about")).to_contain_text(re.compile("moments|时刻"))
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "blob"}, asked
    return page


def test_a_run_plays_from_a_stick_with_its_why_tables_events_and_questions(
    profile: Profile, site: SupervisedSite, let_pass: Callable[[Page, float], None], tmp_path: Path
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    small = {"lanes": [{"model": "pulsar"}, {"model": "rabbitmq"}], "workload": {"kind": "uniform", "keys": 20, "rate": 5}}  # fmt: skip
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', small)['id']}/")
    wait_frame(page)
    let_pass(page, 3)
    page.click("#add")
    expect(page.locator("#pulsar .row")).to_have_count(4)
    let_pass(page, 3)
    page.click("#play")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
    file = taken(page, tmp_path)
    ended = page.inner_text("#clock")
    save(page, "capsule-made")

    capsule = opened(profile, file)
    expect(capsule.locator("#clock")).to_have_text("0:00.0")
    expect(capsule.locator("#pulsar .row")).to_have_count(3)
    for gone in ("#add", "nav.menu", "#share", "#room", "#fresh"):
        expect(capsule.locator(gone).first).not_to_be_visible()
    assert capsule.locator('a[href^="/"]:visible').count() == 1, "which page it is"
    save(capsule, "capsule-stage")

    # the question before the change: who will have what
    capsule.keyboard.press("q")
    capsule.click("#predict-form .go")
    expect(capsule.locator("#predict-answers button")).to_have_count(4)
    capsule.click("#predict-mark")
    capsule.click("#marking-show")
    expect(capsule.locator("#marking-told")).to_contain_text(re.compile("will (move|come again)"))
    capsule.click("#marking-end")
    capsule.keyboard.press("q")
    capsule.click("#predict-form .go")
    capsule.locator("#predict-answers button").first.click()
    expect(capsule.locator("#predict-truth")).not_to_be_empty()
    expect(capsule.locator("#predict-make")).not_to_be_visible()
    capsule.keyboard.press("Escape")

    # the change itself, Why, and the table
    capsule.keyboard.press("PageDown")
    expect(capsule.locator("#pulsar .row")).to_have_count(4)
    while (shown := capsule.inner_text("#clock")) != ended:  # the system's own changes, up to the end
        capsule.keyboard.press("PageDown")
        expect(capsule.locator("#clock")).not_to_have_text(shown)
    capsule.keyboard.press("y")
    expect(capsule.locator("#why-says")).not_to_be_empty()
    expect(capsule.locator("#why-list li")).not_to_have_count(0)
    capsule.keyboard.press("Escape")
    capsule.keyboard.press("t")
    expect(capsule.locator("#twin-pulsar")).to_contain_text("c4")
    capsule.keyboard.press("t")

    # an event is found, and leads to its moment
    capsule.keyboard.press("i")
    capsule.fill("#events-form [name=text]", "last connected")
    expect(capsule.locator("#events-list button")).to_have_count(1)
    capsule.locator("#events-list button").click()
    expect(capsule.locator("#pulsar .row")).to_have_count(4)
    capsule.keyboard.press("Escape")

    # it plays to its end, and once more from there
    capsule.click('[data-speed="20"]')
    capsule.click("#play")
    expect(capsule.locator("#clock")).to_have_text(ended)
    expect(capsule.locator("#play")).to_have_attribute("data-say-label", "play")
    capsule.click("#play")
    expect(capsule.locator("#play")).to_have_attribute("data-say-label", "pause")

    # orders and what is not there are refused in a sentence
    capsule.keyboard.press("f")
    expect(capsule.locator("#passport-error, #passport .bad").first).to_contain_text("not in the capsule")
    capsule.keyboard.press("Escape")
    capsule.keyboard.press("a")
    expect(capsule.locator("#notice")).to_contain_text("takes no orders")


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    return box["y"] + box["height"]


def test_a_lesson_goes_frame_by_frame_offline_in_chinese(
    profile: Profile, site: SupervisedSite, tmp_path: Path
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}learn/kafka_cluster_high_watermark/")
    page.click("button[name=scenario]")
    page.wait_for_url("**/kafka/cluster/**")
    expect(page.locator("#frame-place")).to_be_visible()
    file = taken(page, tmp_path)

    capsule = opened(profile, file)
    capsule.click("#language")
    expect(capsule.locator("#player-about")).to_contain_text("胶囊")
    expect(capsule.locator("html")).to_have_attribute("lang", "zh-Hans")
    stops = capsule.evaluate(
        "JSON.parse(document.getElementById('view').textContent).lesson.captions.map((each) => each.stop_us)"
    )
    total = len(stops)
    assert total > 3
    for number, stop_us in enumerate(stops, start=1):
        capsule.click("#next")
        expect(capsule.locator("#clock")).to_have_text(clock(stop_us), timeout=LESSON_MS)
        expect(capsule.locator("#frame-place")).to_have_text(f"{number}/{total}")
        expect(capsule.locator("#play")).to_have_attribute("data-say-label", "play")
    capsule.keyboard.press("y")
    expect(capsule.locator("#why-says")).to_contain_text("Leader")
    capsule.keyboard.press("Escape")
    capsule.click("#back-frame")
    expect(capsule.locator("#frame-place")).to_have_text(f"{total - 1}/{total}")
    capsule.evaluate(AXE)
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        capsule.set_viewport_size({"width": width, "height": height})
        assert capsule.evaluate(FINDINGS) == []
        for above in ("#player-about", ".lab-tabs", ".lab-name"):
            assert bottom(capsule, above) <= bottom(capsule, ".lab-bar") + 1, (above, width)
        save(capsule, f"capsule-lesson-{width}")


def test_what_is_wrong_with_a_part_is_said_at_its_field(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    small = {"lanes": [{"model": "rabbitmq"}], "workload": {"kind": "uniform", "keys": 20, "rate": 5}}
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', small)['id']}/rabbitmq/")
    wait_frame(page)
    page.locator(".take:visible").first.click()
    page.get_by_role("menuitem", name="Capsule: this run").click()
    for text, reason in (
        ("soon", "must be a number of seconds"),
        ("99999", "at most"),
        ("0", "after the beginning"),
    ):
        page.fill("#capsule-form [name=until]", text)
        page.click("#capsule-form .go")
        expect(page.locator("#capsule-form .bad")).to_contain_text(reason)
    expect(page.locator("#capsule-form [name=page] option")).to_have_text(["Stage", "RabbitMQ"])
    save(page, "capsule-refused")
