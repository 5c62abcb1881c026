"""A real Chromium on the real processes: one site for all stories, a new browser profile (hence a new visitor
and lab) for each."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.browser import story_clock
from tests.quick_java import QUICK_JAVA
from tests.supervisor.site import SupervisedSite

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
PATIENCE_MS = 30_000
THREE = {"model": "kafka", "brokers": 3, "partitions": 3, "min_insync_replicas": 2, "offsets_partitions": 3}
# each story has labs of its own: when it is over they should not play on beside the next for ten minutes
IDLE_PAUSE_S = "10"


def executable() -> str:
    """The system's own Chromium: one cannot be downloaded everywhere. CHROMIUM names another."""
    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    assert found, "the browser tests need Chromium: see `make browser`"
    return found


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SupervisedSite]:
    run_dir = tmp_path_factory.mktemp("site")
    running = SupervisedSite(
        run_dir,
        HIGHWATER_IDLE_PAUSE_S=IDLE_PAUSE_S,
        HIGHWATER_SHARD_CLOCK="tests.browser.story_clock.clock",
        HIGHWATER_LOG_DIRS=str(run_dir / "broker-logs"),
        **QUICK_JAVA,
    )
    try:
        running.wait_started()
        yield running
    finally:
        running.stop()


@pytest.fixture(
    scope="package"
)  # Playwright's loop must end before an asynchronous test of another folder begins one
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def profile(browser: Browser, site: SupervisedSite) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browser profiles; each is another person. Any error on a console or in a script fails the story
    at its end."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def make(**options: Any) -> BrowserContext:
        context = browser.new_context(
            **{"viewport": {"width": 1440, "height": 900}, "locale": "en", **options}
        )
        context.set_default_timeout(PATIENCE_MS)
        context.on("console", lambda message: errors.append(message.text) if is_fault(message) else None)
        context.on("weberror", lambda error: errors.append(str(error.error)))
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()
    assert errors == []


def is_fault(message: ConsoleMessage) -> bool:
    """Chromium reports a refused or failed request as an error; the stories provoke those on purpose."""
    return (
        message.type == "error"
        and "Failed to load resource" not in message.text
        and "WebSocket" not in message.text
    )


@pytest.fixture
def let_pass(site: SupervisedSite) -> Callable[[Page, float], None]:
    """Let seconds of the lab on a page pass, without waiting for them."""
    return lambda page, seconds: story_clock.let_pass(page, site.run_dir, seconds)


@pytest.fixture
def page(profile: Callable[..., BrowserContext], site: SupervisedSite) -> Page:
    """The Stage as a new visitor sees it, moving."""
    return open_stage(profile(), site)


@pytest.fixture
def cluster(profile: Callable[..., BrowserContext], site: SupervisedSite) -> Page:
    return open_cluster(profile(), site)


def open_stage(context: BrowserContext, site: SupervisedSite, path: str = "?demo=off") -> Page:
    """A page of the Stage that moves. A fresh demo does nothing on its own: a story may take as long as it
    needs."""
    page = context.new_page()
    page.goto(site.url + path)
    wait_frame(page)
    return page


def post(page: Page, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the site answers to whoever has this page open."""
    answer: dict[str, Any] = page.evaluate(
        """async ([path, body]) => {
          const csrf = JSON.parse(document.getElementById("page").textContent).csrf;
          const headers = {"Content-Type": "application/json", "X-CSRFToken": csrf};
          return (await fetch(path, {method: "POST", headers, body: JSON.stringify(body)})).json();
        }""",
        [path, body],
    )
    return answer


def open_cluster(context: BrowserContext, site: SupervisedSite, lane: dict[str, Any] = THREE) -> Page:
    """The page of a lab that was just made, moving, and with records: leaders are elected and the producer
    knows them."""
    page = context.new_page()
    page.goto(f"{site.url}labs/")
    scenario = {"lanes": [lane], "workload": {"kind": "uniform", "keys": 20, "rate": 20}}
    lab = post(page, "/api/labs/", scenario)["id"]
    page.goto(f"{site.url}lab/{lab}/kafka/cluster/")
    wait_frame(page)
    story_clock.let_pass(page, site.run_dir, 4)
    page.wait_for_function("() => Number(document.getElementById('clock').textContent.split(':')[1]) >= 4")
    return page


def drawn_seq(page: Page) -> int:
    return int(page.get_attribute("#main", "data-seq") or -1)


def wait_frame(page: Page, after: int | None = None) -> int:
    """Wait until a frame later than `after` (default: the one on screen) has been drawn; its number.

    The first page of a new site says that the lab is being set up, has no frame and loads itself again: the number that
    the server wrote into the next one is not yet a frame that its script has drawn.
    """
    page.wait_for_selector("#main[data-seq]", state="attached")
    seq = drawn_seq(page) if after is None else after
    page.wait_for_function("seq => Number(document.getElementById('main').dataset.seq) > seq", arg=seq)
    return drawn_seq(page)


def wait_lesson(page: Page) -> None:
    """Wait until the page of a lesson moves. It stops at its frames: a frame later than the one on screen may never come."""
    expect(page.locator("#frames")).to_be_visible()
    expect(page.locator("#fresh")).not_to_have_attribute("data-state", "connecting")


def wait_text(page: Page, selector: str, text: str) -> None:
    page.wait_for_function(
        "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)",
        arg=[selector, text],
    )


def save(page: Page, name: str) -> None:
    """A picture for whoever looks, where SCREENSHOTS names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))
