"""A room for ten minutes: a presenter who acts every few seconds, one who follows on a phone, one who looks around. Whether
the memory of server and browsers stays flat.

Run alone: python -m tests.bench.bench_soak; MINUTES=60 for an hour.
"""

import os
import re
import resource
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from tests.bench.bench_stage import _heap_mb
from tests.browser.conftest import ARGUMENTS, executable, open_stage, post
from tests.supervisor.site import SupervisedSite

Figure = tuple[str, float, str, str, str]
MINUTES = float(os.environ.get("MINUTES", "10"))
SETTLING_S, EVERY_MS, PATIENCE_MS = 120.0, 4_000, 60_000
SERVERS = re.compile("web|labs|past|keeper|redis")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="highwater-bench-") as folder, sync_playwright() as playwright:
        site = SupervisedSite(Path(folder))
        try:
            site.wait_started()
            chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            return _measure(chromium, site)
        finally:
            site.stop()


def _measure(chromium: Browser, site: SupervisedSite) -> list[Figure]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en")
    context.set_default_timeout(PATIENCE_MS)
    presenter = open_stage(context, site)
    presenter.click("#room")
    presenter.wait_for_function(
        "() => /^[A-Z2-9]{6}$/.test(document.getElementById('room-code').textContent)"
    )
    code = str(presenter.text_content("#room-code"))
    presenter.keyboard.press("Escape")
    people = {
        "phone that follows": _joined(chromium, site, code, PHONE),
        "laptop that looks around": _joined(chromium, site, code, {}),
    }
    pages = {"presenter": presenter, **people}
    tools = {name: page.context.new_cdp_session(page) for name, page in pages.items()}
    for each in tools.values():
        each.send("Performance.enable")
    people["laptop that looks around"].locator("#add").click()
    acts = _acts(presenter)
    _go_on(presenter, acts, SETTLING_S)
    before = _memory(site, tools)
    _go_on(presenter, acts, MINUTES * 60)
    after = _memory(site, tools)
    note = f"over {MINUTES:g} min of a room of three, an act each {EVERY_MS / 1000:g} s"
    bars = {"server": "<= 12"}
    return [
        (
            f"{name}: memory grown",
            after[name] - value,
            "MB",
            bars.get(name, "<= 3"),
            f"{note}, from {value:.1f} MB",
        )
        for name, value in before.items()
    ]


def _joined(chromium: Browser, site: SupervisedSite, code: str, options: dict[str, object]) -> Page:
    context = chromium.new_context(locale="en", **options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(f"{site.url}rooms/{code}/")
    page.click("#join .go")
    page.wait_for_selector("#main[data-seq]", state="attached")
    return page


def _acts(page: Page) -> Iterator[dict[str, object]]:
    """What a teacher does, over and over: somebody comes, pauses, goes on and leaves. The demo begins with c1 to c3."""
    lab = page.get_attribute("#main", "data-lab")
    for number in count(4):
        name = f"c{number}"
        for order in (
            {"kind": "join", "args": {"count": 1}}, {"kind": "pause", "consumer": name},
            {"kind": "resume", "consumer": name}, {"kind": "leave", "consumer": name},
        ):  # fmt: skip
            yield {"lab": lab, "command_id": f"soak-{number}-{order['kind']}", **order}


def _go_on(page: Page, acts: Iterator[dict[str, object]], seconds: float) -> None:
    for _each in range(max(1, round(seconds * 1000 / EVERY_MS))):
        act = dict(next(acts))
        answer = post(page, f"/api/labs/{act.pop('lab')}/commands/", act)
        assert "errors" not in answer, answer
        page.wait_for_timeout(EVERY_MS)


def _memory(site: SupervisedSite, tools: dict[str, CDPSession]) -> dict[str, float]:
    """MB: of the server's processes together, and of each page after its garbage is collected."""
    page_bytes = resource.getpagesize()
    pids = [pid for name, (pid, _) in site.children().items() if SERVERS.match(name)]
    resident = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids) * page_bytes / 1e6
    return {"server": resident, **{name: _heap_mb(each) for name, each in tools.items()}}


if __name__ == "__main__":
    for figure in run():
        print(figure)
