"""The widget of a notebook: the run's own page in a frame of a page that is not ours, and asks nobody for anything."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Route, expect

from mqsite.keeper import ROOT
from tests.browser.conftest import save
from tests.browser.test_axe import AXE, FINDINGS
from tests.dashboard.test_notebook import ran

JUPYTER = "http://jupyter.example/lab/tree/queues.ipynb"
CELL = """async (html) => {
    const { default: widget } = await import("/widget.js");
    const model = { get: (name) => ({ html, title: "Eager rebalance", height: 640 })[name], on() {}, off() {} };
    window.gone = widget.render({ model, el: document.getElementById("cell") });
}"""


def test_a_lesson_plays_in_a_cell(profile: Callable[..., BrowserContext], tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    made = ran("-c", f"import highwater; highwater.lab('kafka_eager_join').show(theme='dark').save({str(file)!r})", folder=tmp_path)  # fmt: skip
    assert made.returncode == 0, made.stderr
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        if route.request.url.endswith("/widget.js"):
            text = (ROOT / "static/js/notebook/widget.js").read_text(encoding="utf-8")
            route.fulfill(body=text, content_type="text/javascript")
        else:
            route.fulfill(
                body='<!doctype html><h1>Queues</h1><div id="cell"></div>', content_type="text/html"
            )

    context = profile()
    context.route("http://jupyter.example/**", answer)
    page = context.new_page()
    page.goto(JUPYTER)
    page.evaluate(CELL, file.read_text(encoding="utf-8"))
    cell = page.frame_locator("#cell iframe")
    expect(cell.locator("#frame-place")).to_have_text("1/5")
    cell.locator("#next").click()
    expect(cell.locator("#clock")).not_to_have_text("0:00.0")
    expect(cell.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("y")
    expect(cell.locator("#why-says")).not_to_be_empty()
    save(page, "notebook-cell")
    inner = page.frames[1]
    inner.evaluate(AXE)
    assert inner.evaluate(FINDINGS) == []
    assert page.url == JUPYTER
    assert {url.rpartition("/")[2] for url in asked} <= {"queues.ipynb", "widget.js", "favicon.ico"}, asked
    page.evaluate("window.gone()")
    expect(page.locator("#cell iframe")).to_have_count(0)
