"""A page of another site shows a lab live, and a lesson frame by frame; its readers look, and change nothing."""

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import BrowserContext, FrameLocator, Page, expect

from tests.browser.conftest import post, save, wait_frame
from tests.browser.test_axe import AXE, FINDINGS
from tests.supervisor.site import SupervisedSite

WORKED_OUT_MS = 60_000  # a copy of the lab runs in a worker that may just have been started
Profile = Callable[..., BrowserContext]
LESSON = "kafka_cluster_high_watermark"


class OtherSite:
    """A page of somebody else's, on a host and a port of its own."""

    def __init__(self) -> None:
        self.body = ""
        other = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(
                    f'<!doctype html><title>Somebody\'s notes</title><link rel="icon" href="data:,"><h1>Queues</h1>{other.body}'.encode()
                )

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()


@pytest.fixture
def other() -> Iterator[OtherSite]:
    found = OtherSite()
    yield found
    found.server.shutdown()
    found.server.server_close()


def shown(profile: Profile, other: OtherSite, body: str, **options: object) -> tuple[Page, FrameLocator]:
    other.body = body
    page = profile(**options).new_page()
    page.goto(other.url)
    return page, page.frame_locator("iframe")


def test_a_lab_stands_live_in_a_page_of_another_site(
    profile: Profile, site: SupervisedSite, let_pass: Callable[[Page, float], None], other: OtherSite
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    work = {"kind": "uniform", "keys": 20, "rate": 5}
    small = {"name": "Two brokers", "lanes": [{"model": "pulsar"}, {"model": "rabbitmq"}], "workload": work}
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', small)['id']}/")
    wait_frame(page)
    let_pass(page, 2)
    page.locator(".take:visible").first.click()
    page.get_by_role("menuitem", name="Embed: this page").click()
    page.fill("#embed-form [name=width]", "wide")
    expect(page.locator("#embed-form .bad")).to_contain_text("must be a whole number from 200 to 4")
    expect(page.locator("#embed-copy")).to_be_disabled()
    page.fill("#embed-form [name=width]", "900")
    expect(page.locator("#embed-form .bad")).to_have_count(0)
    code = page.input_value("#embed-code")
    assert 'width="900" height="640"' in code and 'title="Two brokers"' in code
    save(page, "embed-dialog")
    page.keyboard.press("Escape")

    reader, framed = shown(profile, other, code)
    expect(framed.locator("#pulsar .row")).to_have_count(3)
    for gone in ("#add", "nav.menu", "#share", "#room", "[data-verb]"):
        expect(framed.locator(gone).first).not_to_be_visible()
    expect(framed.locator("#story")).not_to_contain_text("Add consumer")
    page.click("#add")
    expect(page.locator("#pulsar .row")).to_have_count(4)
    expect(framed.locator("#pulsar .row")).to_have_count(4)  # live
    assert not reader.context.cookies()
    save(reader, "embed-live")

    # pausing is the reader's own, and so is what is looked at
    expect(framed.locator("#play")).to_have_attribute("data-say-label", "pause")
    framed.locator("#play").click()
    expect(framed.locator("#to-now")).to_be_visible()
    framed.locator("main").click(position={"x": 5, "y": 5})
    clock = framed.locator("#clock")
    for _change in range(8):  # of the system's own, and at last the one that was ordered
        if framed.locator("#pulsar .row").count() == 3:
            break
        then = clock.text_content() or ""
        reader.keyboard.press("PageUp")
        expect(clock).not_to_have_text(then, timeout=WORKED_OUT_MS)
    expect(framed.locator("#pulsar .row")).to_have_count(3)
    expect(page.locator("#play")).to_have_attribute("data-say-label", "pause")
    framed.locator("#to-now").click()
    expect(framed.locator("#pulsar .row")).to_have_count(4)

    # no order gets through, by key neither, and Why is answered
    reader.keyboard.press("a")
    expect(framed.locator("#notice")).to_contain_text("takes no orders")
    expect(page.locator("#pulsar .row")).to_have_count(4)
    reader.keyboard.press("y")
    expect(framed.locator("#why-says")).not_to_be_empty()
    reader.keyboard.press("Escape")

    # another page of the lab opens in the same frame
    framed.locator("#to-rabbitmq").click()
    expect(framed.locator("body.rabbitmq #story-what")).not_to_be_empty()
    expect(framed.locator("#theme")).to_have_attribute("aria-label", re.compile("."))
    inner = next(frame for frame in reader.frames if "/embed/" in frame.url)
    inner.evaluate(AXE)
    assert inner.evaluate(FINDINGS) == []


@pytest.mark.parametrize("width", [960, 390])
def test_a_lesson_goes_frame_by_frame_in_a_page_of_another_site(
    profile: Profile, site: SupervisedSite, other: OtherSite, width: int
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}learn/{LESSON}/")
    page.click(".embedding summary")
    code = page.input_value(".embedding textarea")
    code = re.sub('width="960" height="640"', f'width="{width}" height="800"', code).replace(
        f'{LESSON}/"', f'{LESSON}/?lang=zh-hans&amp;theme=dark"'
    )
    reader, framed = shown(profile, other, code)
    expect(framed.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(framed.locator("html")).to_have_attribute("data-theme", "dark")
    for number in (1, 2, 3):
        expect(framed.locator("#frame-place")).to_have_text(f"{number}/5")
        framed.locator("#next").click()
    expect(framed.locator("#frame-place")).to_have_text("4/5")
    framed.locator("#back-frame").click()
    expect(framed.locator("#frame-place")).to_have_text("3/5")
    save(reader, f"embed-lesson-{width}")
    inner = next(frame for frame in reader.frames if "/embed/" in frame.url)
    inner.evaluate(AXE)
    assert inner.evaluate(FINDINGS) == []


def test_a_lab_that_is_gone_says_so_in_the_frame(
    profile: Profile, site: SupervisedSite, other: OtherSite
) -> None:
    context = profile()
    context.route("**/favicon.ico", lambda route: route.abort())
    other.body = f'<iframe src="{site.url}embed/lab/none/" width="600" height="400"></iframe>'
    page = context.new_page()
    page.goto(other.url)
    expect(page.frame_locator("iframe").locator("h1")).to_have_text("There is nothing to show here")
