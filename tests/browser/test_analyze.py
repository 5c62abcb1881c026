"""Stories of the Analyze pages, told on one real study: twenty thousand keys through Spark. Waits are for
what is drawn, never for time."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from tests.browser.conftest import save, wait_text
from tests.browser.reach import faults_of
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SPARK_MS = 300_000  # Java, Spark and compiled kernels start, on a cold and busy machine too
START_MS = 1_700_000_000_000
CHARTS = ("share", "heat", "churn", "keys", "lag")


@pytest.fixture
def form(profile: Profile, site: SupervisedSite) -> Page:
    """The form for a new study, ready."""
    page = profile().new_page()
    page.goto(f"{site.url}analyze/")
    page.wait_for_selector("body[data-ready]")
    return page


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Orders of a shop: a few customers buy most, one row has a field too many."""
    path = tmp_path_factory.mktemp("data") / "orders.csv"
    rows = [
        f"2026-05-01T10:{number // 60 % 60:02d}:{number % 60:02d}Z,customer-{(number * number) % 97},{number}"
        for number in range(2_000)
    ]
    rows[500] += ",and,more"
    path.write_text("\n".join(["time,customer_id,amount", *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def finished() -> dict[str, str]:
    """Path of the one study that the later stories look at."""
    return {}


def start(page: Page) -> str:
    """Press the button; the new study's path."""
    page.click("#begin")
    page.wait_for_url(re.compile(r"/analyze/[\w-]{6,}/"))
    return page.url.split("/analyze/")[1].split("/")[0]


def few_strategies(page: Page) -> None:
    page.click("#strategies-none")
    for family in ("pulsar.consistent_hash", "kafka.range", "rabbitmq.queue"):
        page.check(f"[id='pick-{family}']")
    page.fill("[name='pulsar.consistent_hash:points']", "10, 100")


def wait_ranked(page: Page) -> list[str]:
    """Ids of the strategies, the best first, once the result is drawn."""
    page.wait_for_selector("#main[data-ranked]", timeout=SPARK_MS)
    return (page.get_attribute("#main", "data-ranked") or "").split()


def open_finished(
    profile: Profile, site: SupervisedSite, finished: dict[str, str], **options: object
) -> Page:
    if "id" not in finished:
        pytest.fail("test_a_file_becomes_a_ranking, which makes the study, did not come to its end")
    page = profile(**options).new_page()
    page.goto(f"{site.url}analyze/{finished['id']}/")
    wait_ranked(page)
    return page


def test_a_file_becomes_a_ranking(form: Page, orders: Path, finished: dict[str, str]) -> None:
    form.set_input_files("#file", orders)
    expect(form.locator("#uploaded-name")).to_contain_text("orders.csv")
    expect(form.locator("#preview thead")).to_contain_text("customer_id")
    expect(form.locator("[name=column_key]")).to_have_value("customer_id")
    expect(form.locator("#preview tbody tr")).not_to_have_count(0)
    few_strategies(form)
    expect(form.locator("#form-summary")).to_contain_text("4 strategies")
    form.locator("#changes li").nth(9).get_by_role("button").click()
    expect(form.locator("#history-chart")).to_have_attribute(
        "aria-label", re.compile("From 4 to 5 consumers in 9 changes, at least 4, at most 8")
    )
    save(form, "analyze-form")
    finished["at"] = start(form)
    ids = wait_ranked(form)
    finished["id"] = finished["at"]
    assert len(ids) == 4
    expect(form.locator("#headline")).to_contain_text(re.compile("fits? these records best"))
    expect(form.locator(".notes")).to_contain_text("1 record has more fields than there are columns")
    assert form.eval_on_selector_all("#ranking tr", "rows => rows.map((row) => row.dataset.strategy)") == ids
    for name in CHARTS:
        form.locator(f"#chart-{name}").scroll_into_view_if_needed()
        form.wait_for_selector(f"#chart-{name} .plot[data-drawn], #chart-{name}[data-empty]")
    save(form, "analyze-study")


def test_weights_rank_anew_and_stay_in_the_link(
    profile: Profile, site: SupervisedSite, finished: dict[str, str]
) -> None:
    page = open_finished(profile, site, finished)
    for term, presses in (("churn", "Home"), ("pause", "Home"), ("order", "End"), ("skew", "Home")):
        page.focus(f"[name={term}]")
        page.keyboard.press(presses)
    expect(page.locator("[name=order] + output")).to_have_text("100")
    page.wait_for_url(
        re.compile(r"skew=0&churn=0&pause=0&order=100")
    )  # the answer to the last press, not to one on the way to it
    page.wait_for_function(
        "() => document.getElementById('main').dataset.ranked.split(' ').at(-1).startsWith('rabbitmq')"
    )
    order = wait_ranked(page)
    other = page.context.new_page()
    other.goto(page.url)
    assert wait_ranked(other) == order


def test_a_strategy_and_a_step_are_picked_by_keyboard(
    profile: Profile, site: SupervisedSite, finished: dict[str, str]
) -> None:
    page = open_finished(profile, site, finished)
    page.focus("#ranking tr[data-strategy^='kafka'] [data-pick]")
    page.keyboard.press("Enter")
    expect(page.locator("#use-of")).to_contain_text("Kafka Range")
    expect(page.locator("#use code").first).to_contain_text("RangeAssignor")
    before = page.text_content("#share-step")
    page.focus("#step-on")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "before => document.getElementById('share-step').textContent !== before", arg=before
    )
    assert page.text_content("#share-step") == page.text_content("#lag-step") == "c7 joined"


def test_tables_say_what_the_charts_show(
    profile: Profile, site: SupervisedSite, finished: dict[str, str]
) -> None:
    page = open_finished(profile, site, finished)
    page.locator("#headline").click()
    page.keyboard.press("t")
    for name in CHARTS:
        expect(page.locator(f"#chart-{name} .twin-box")).to_be_visible()
    assert faults_of(page) == []
    rows = page.locator("#chart-share .twin tr").count()
    assert rows == 5
    with page.expect_download() as download:
        page.click("#chart-share a[href$='.csv']")
    table = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert {"strategy", "step", "consumer", "records"} <= set(table[0])
    page.keyboard.press("t")
    expect(page.locator("#chart-share .twin-box")).not_to_be_in_viewport()
    assert faults_of(page) == []


def test_the_form_fits_a_phone_in_both_languages(profile: Profile, site: SupervisedSite) -> None:
    page = profile(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
    page.goto(f"{site.url}analyze/")
    page.wait_for_selector("body[data-ready]")
    for words in ("Which strategy serves", "哪种策略"):
        wait_text(page, "h1", words)
        assert page.evaluate("() => document.documentElement.scrollWidth") == 390
        page.click("#language")


def test_phone_dark_and_chinese(profile: Profile, site: SupervisedSite, finished: dict[str, str]) -> None:
    page = open_finished(
        profile, site, finished, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page.click("#theme")
    page.click("#theme")
    page.click("#language")
    wait_text(page, "#headline", "最佳策略")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    shown = page.evaluate("() => document.body.innerText")
    assert not re.search(r"\b(score|share|churn|fits|consumers|Copy|After|joined)\b", shown), shown
    for name in CHARTS:
        page.locator(f"#chart-{name}").scroll_into_view_if_needed()
        page.wait_for_selector(f"#chart-{name} .plot[data-drawn], #chart-{name}[data-empty]")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    save(page, "analyze-study-390")


def test_a_study_is_opened_as_a_lab(profile: Profile, site: SupervisedSite, finished: dict[str, str]) -> None:
    page = open_finished(profile, site, finished)
    page.click("#open")
    page.wait_for_url(re.compile(r"/lab/[\w-]+/"))
    page.wait_for_selector("[data-lane]")
    wait_text(page, "#notice-text", "of the study's")  # what the lab has not


def test_two_studies_are_compared(profile: Profile, site: SupervisedSite, finished: dict[str, str]) -> None:
    page = open_finished(profile, site, finished)
    page.goto(f"{site.url}analyze/compare/?a={finished['id']}&b={finished['id']}")
    page.wait_for_selector("#main[data-compared]")
    expect(page.locator("#same")).to_be_visible()
    assert page.locator("#both tr").count() == 4
    assert faults_of(page) == []
    save(page, "analyze-compare")


def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(form: Page) -> None:
    form.click("#begin")
    expect(form.locator("#drop[aria-invalid=true]")).to_be_visible()
    form.click("text=Generated keys")
    form.fill("[name=keys]", "0")
    form.fill("[name='kafka.range:partitions']", "-3")
    form.fill("[name=name]", "my study")
    form.locator("#changes li").nth(6).locator("input").first.fill("nobody")
    expect(form.locator("#changes li").nth(6).locator(".bad")).to_contain_text("there is no consumer nobody")
    form.click("#begin")
    expect(form.locator("#form-error")).to_be_visible()
    expect(form.locator("[aria-invalid=true]").first).to_be_visible()
    assert form.input_value("[name=name]") == "my study" and form.input_value("[name=keys]") == "0"
    form.fill("[name=keys]", "100")
    form.click("#begin")
    expect(form.locator("[data-family='kafka.range'] .bad")).to_contain_text("whole numbers from 1 to")
    expect(form.locator("[name='kafka.range:partitions']")).to_have_attribute("aria-invalid", "true")


def test_a_lab_with_a_long_name_fits_beside_the_form(profile: Profile, site: SupervisedSite) -> None:
    context = profile()
    page = context.new_page()
    page.goto(f"{site.url}labs/")
    page.fill("#name", "a name as long as a name of a lab can be, with words in the end "[:64])
    page.click("#begin")
    page.wait_for_url("**/lab/*/")
    page.goto(f"{site.url}analyze/")
    page.wait_for_selector("body[data-ready]")
    for width in (1440, 1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), width


def test_a_file_that_is_none_is_refused_and_another_can_be_chosen(form: Page, tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    form.set_input_files("#file", empty)
    expect(form.locator("#preview-error")).to_have_text("empty.csv is empty")
    expect(form.locator("#drop")).to_be_visible()


@pytest.fixture
def broker_logs(site: SupervisedSite) -> Path:
    """A broker's log folder with two topics and a damaged batch, below the one folder that this site opens
    for logs."""
    folder = site.run_dir / "broker-logs" / "kafka"
    for topic, partition in (("orders", 0), ("orders", 1), ("payments", 0)):
        log = PartitionLog.open(
            DiskFolder(folder / f"{topic}-{partition}"), None, now_ms=START_MS, was_closed=True
        )
        log.append(
            encode_batch([Record(number, START_MS + 100 * number, b"k", b"v") for number in range(50)]).data,
            now_ms=START_MS,
        )
        if (topic, partition) == ("orders", 1):
            log.append(encode_batch([Record(0, START_MS + 5_000, b"k", b"v")]).data, now_ms=START_MS)
        log.close(START_MS)
    [segment] = (folder / "orders-1").glob("*.log")
    content = bytearray(segment.read_bytes())
    content[-1] ^= 0xFF
    segment.write_bytes(content)
    return folder


def test_a_log_of_the_server_is_found_and_watched_live(form: Page, broker_logs: Path) -> None:
    form.click("text=On the server")
    form.click("#data [data-entries] >> text=broker-logs/")
    form.click("#data [data-entries] >> text=kafka/")
    expect(form.locator("#data [data-found]")).to_contain_text("2 topics, 3 partitions")
    expect(form.locator("#preview tbody tr")).not_to_have_count(0)
    expect(form.locator("#columns")).to_be_hidden()
    form.click("#watch >> text=A Kafka log")
    form.click("#watch [data-entries] >> text=broker-logs/")
    form.click("#watch [data-entries] >> text=kafka/")
    form.select_option("[name=watch_topic]", "orders")
    form.click("#watch-start")
    form.wait_for_url(re.compile(r"/analyze/[\w-]{6,}/"))
    form.wait_for_function(
        "() => Number(document.getElementById('main').dataset.windows) >= 5", timeout=SPARK_MS
    )
    expect(form.locator("#hw_lag-none")).to_be_visible()
    expect(form.locator("#doing")).to_have_text("Nothing new since the newest window")
    expect(form.locator("#fresh-word")).to_have_text("waiting")
    expect(form.locator("#damaged")).to_have_text(
        "1 batch of the log cannot be read: what it holds is in no window."
    )
    expect(form.locator("#chart-lag")).to_have_count(0)
    assert faults_of(form) == []
    form.route_web_socket("**/ws/**", lambda socket: socket.close(code=4430))
    form.reload()
    expect(form.locator("#notice-text")).to_contain_text("Too many live pages are open")
    form.click("#stop")
    form.wait_for_selector("[data-delete]:not([hidden])", timeout=SPARK_MS)


def test_a_running_study_is_cancelled_can_be_changed_and_deleted(form: Page) -> None:
    form.click("text=Generated keys")
    form.fill("[name=records]", "400000000")
    form.fill("[name=name]", "too much")
    start(form)
    form.wait_for_selector("#running:not([hidden])")
    form.click("#cancel")
    form.wait_for_selector("#main[data-state=cancelled]", timeout=SPARK_MS)
    form.click("#ended .go")
    form.wait_for_selector("body[data-ready]")
    assert form.input_value("[name=name]") == "too much" and form.input_value("[name=records]") == "400000000"
    expect(form.locator("#studies li").first).to_contain_text("cancelled")
    form.click("#studies [data-delete]")
    expect(form.locator("#delete-dialog")).to_contain_text("too much")
    form.click("#delete-yes")
    expect(form.locator("#studies li")).to_have_count(0)
    expect(form.locator("#studies-none")).to_be_visible()
