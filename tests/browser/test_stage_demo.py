"""The first ten seconds of a visitor who does nothing: the demo adds a consumer on its own, once, and says
so."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext

from tests.browser.conftest import open_stage, save, wait_frame, wait_text
from tests.browser.test_stage import rows
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]


def test_a_demo_that_nobody_touches_adds_one_consumer_in_all_tabs_together(
    profile: Profile, site: SupervisedSite
) -> None:
    context = profile()
    page = open_stage(context, site, "")
    wait_text(page, "h1", "press Add consumer")
    other = open_stage(context, site, "")
    assert other.get_attribute("#main", "data-lab") == page.get_attribute("#main", "data-lab")
    for tab in (page, other):
        wait_text(tab, "h1", "You have not pressed anything, so the demo added c4.")
        wait_frame(tab)
        assert rows(tab, "pulsar") == ["c1", "c2", "c3", "c4"]
    save(page, "stage-demo")
    # It was done: a page that opens now has no demo in it any more.
    page.reload()
    assert page.evaluate("() => JSON.parse(document.getElementById('page').textContent).demo") is None


def test_only_ones_own_untouched_demo_presses_by_itself(profile: Profile, site: SupervisedSite) -> None:
    def demo_of(tab) -> object:
        return tab.evaluate("() => highwater.page.demo")

    page = open_stage(profile(), site, "")
    lab = page.get_attribute("#main", "data-lab")
    assert demo_of(page) == {"command_id": "demo:join", "after_ms": 8000}
    page.keyboard.press("t")
    assert demo_of(open_stage(page.context, site, f"lab/{lab}/")) is None  # by its link
    assert demo_of(open_stage(profile(), site, f"lab/{lab}/")) is None  # a visitor who may only look
    assert demo_of(open_stage(profile(), site, "?demo=off")) is None


def test_a_new_visitors_stage_moves_soon_and_is_about_a_lab_of_ones_own(
    profile: Profile, site: SupervisedSite
) -> None:
    """The first open is of the demo that all share; a crawler's fetch of it makes nothing. It moves within
    three seconds (`make bench`: stage); three times that are waited for here."""
    context = profile()
    shared = context.request.get(f"{site.url}?demo=off").text().partition('data-lab="')[2].partition('"')[0]
    assert (
        context.request.get(f"{site.url}?demo=off").text().partition('data-lab="')[2].partition('"')[0]
        == shared
    )
    page = context.new_page()
    page.goto(f"{site.url}?demo=off", wait_until="commit")
    page.set_default_timeout(9_000)
    page.wait_for_function(
        "shared => ![null, shared].includes(document.getElementById('main')?.dataset.lab ?? null)", arg=shared
    )
    wait_frame(page)
    own = page.get_attribute("#main", "data-lab")
    assert own not in (shared, None)
    links = page.eval_on_selector_all(
        "a[href*='/lab/']", "links => links.map((link) => link.getAttribute('href'))"
    )
    assert links and all(f"/lab/{own}/" in link for link in links)
    page.click("#add")
    wait_text(page, "[data-lane=pulsar]", "c4")
    page.reload()
    assert page.get_attribute("#main", "data-lab") == own
