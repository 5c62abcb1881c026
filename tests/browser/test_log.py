"""Stories of the log page: a lab's partition as stored on disk, a real segment that somebody opens, the
article's walk."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dashboard.formats import number
from tests.browser.conftest import PATIENCE_MS, open_stage, save, wait_text
from tests.browser.story_clock import let_pass
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
ROLLS_WITHIN_S = 200
STEPS_MAX = 200  # of a look-up
"""In so many seconds of the demo a partition has more records than its segment holds."""


@pytest.fixture(scope="module")
def stage(browser: Browser, site: SupervisedSite) -> Iterator[Page]:
    """The Stage of a lab whose Kafka log has rolled at least once: whoever holds it lets the lab play or
    rest."""
    context = browser.new_context(locale="en")
    context.set_default_timeout(PATIENCE_MS)
    page = open_stage(context, site)
    with context.expect_page() as opened:
        page.click("#to-log", modifiers=["Control"])
    opened.value.wait_for_selector("#folder .seg-box")
    let_roll(opened.value, site)
    opened.value.wait_for_selector("#folder .seg-box:not(.active)")
    opened.value.close()
    yield page
    context.close()


def set_playing(stage: Page, is_playing: bool) -> None:
    if (stage.get_attribute("#fresh", "data-state") == "paused") == is_playing:
        stage.click("#play")
    expect(stage.locator("#fresh")).to_have_attribute(
        "data-state", re.compile("live|behind" if is_playing else "paused")
    )


def open_log(stage: Page, context: BrowserContext) -> Page:
    """The log as a new visitor sees it, with a first look-up on the screen."""
    page = context.new_page()
    page.goto(stage.evaluate("() => document.querySelector('#to-log').href"))
    wait_found(page)
    return page


@pytest.fixture
def log(profile: Profile, stage: Page) -> Page:
    """The log of a lab that rests, so that retention takes nothing away while it is looked at."""
    set_playing(stage, False)
    return open_log(stage, profile())


def wait_found(page: Page) -> None:
    """Wait until a look-up stands at its end."""
    page.wait_for_selector("#steps .tier[data-tier=scan][data-lit] .row-box.chosen")


def folder(page: Page, **query: object) -> dict:
    """The folder as the server has it."""
    api = page.evaluate(
        "() => new URL(JSON.parse(document.getElementById('page').textContent).log.api, location).href"
    )
    with urllib.request.urlopen(
        api + "?" + "&".join(f"{name}={value}" for name, value in query.items()), timeout=10
    ) as response:
        return json.load(response)


def bases(page: Page) -> list[int]:
    return page.eval_on_selector_all(
        "#folder .seg-box", "boxes => boxes.map((box) => Number(box.dataset.offset))"
    )


def let_roll(log: Page, site: SupervisedSite) -> None:
    """Let time pass until the log on this page has one more segment."""
    last = bases(log)[-1]
    for _ in range(0, ROLLS_WITHIN_S, 10):
        let_pass(log, site.run_dir, 10)
        if folder(log)["segments"][-1]["base_offset"] > last:
            return
    raise AssertionError(f"no new segment in {ROLLS_WITHIN_S} s")


def test_the_log_grows_and_rolls_while_it_is_watched(
    profile: Profile, stage: Page, site: SupervisedSite
) -> None:
    set_playing(stage, True)
    log = open_log(stage, profile())
    end = int(log.get_attribute("#main", "data-seq"))
    log.wait_for_function("end => Number(document.getElementById('main').dataset.seq) > end", arg=end)
    last = bases(log)[-1]
    let_roll(log, site)
    log.wait_for_function(
        "last => Number([...document.querySelectorAll('#folder .seg-box')].at(-1).dataset.offset) > last",
        arg=last,
    )
    expect(log.locator("#turning")).to_have_text(
        re.compile("had reached segment.bytes|was older than segment.ms")
    )
    for mark in ("#folder .pole", "#folder .open", "#folder .ticks"):
        assert log.locator(mark).count() > 0, mark
    expect(log.locator("#fresh")).to_have_attribute("data-state", re.compile("live|behind"))
    save(log, "log-light")


def test_the_focus_stays_where_it_is_while_the_log_grows(profile: Profile, stage: Page) -> None:
    set_playing(stage, True)
    log = open_log(stage, profile())
    grown = "end => Number(document.getElementById('main').dataset.seq) > end"
    assert log.locator(".twin-box button").evaluate_all(
        "buttons => buttons.every((button) => button.tabIndex === -1)"
    )
    log.keyboard.press("t")
    log.focus("#folder-twin tr:last-child button")
    held = log.evaluate("() => document.activeElement.dataset.offset")
    for _ in range(2):
        log.wait_for_function(grown, arg=int(log.get_attribute("#main", "data-seq")))
        assert log.evaluate("() => document.activeElement.dataset.offset") == held
    log.keyboard.press("t")
    assert log.evaluate("() => document.activeElement.matches('#folder [role=button]')")
    log.wait_for_function(grown, arg=int(log.get_attribute("#main", "data-seq")))
    assert log.evaluate("() => document.activeElement.matches('#folder [role=button]')")
    log.focus("#back")
    for _ in range(STEPS_MAX):
        if log.get_attribute("#back", "aria-disabled") == "true":
            break
        log.keyboard.press("Enter")
    assert log.evaluate("() => document.activeElement.id") == "back"


def test_a_row_that_retention_takes_gives_its_focus_to_the_next(log: Page) -> None:
    log.keyboard.press("t")
    log.focus("#folder-twin button >> nth=0")
    first = log.evaluate("() => document.activeElement.dataset.offset")
    log.evaluate(
        """async (first) => {
          const { writeTable } = await import('/static/js/base/table.js'), table = document.getElementById('folder-twin');
          const texts = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent));
          const offsets = [...table.tBodies[0].rows].map((row) => row.querySelector('button')?.dataset.offset ?? null);
          writeTable(table, { head: texts[0], rows: texts, offsets: offsets.map((offset) => (offset === first ? null : offset)) });
        }""",
        first,
    )
    assert int(log.evaluate("() => document.activeElement.dataset.offset")) > int(first)


def test_an_offset_is_looked_up_and_stepped_through_by_hand(log: Page) -> None:
    log.fill("#value", str(bases(log)[-1] - 3))
    log.keyboard.press("Enter")
    log.wait_for_url(re.compile(f"offset={log.input_value('#value')}"))
    log.click("#back")
    for _ in range(STEPS_MAX):
        if log.locator("#back").is_disabled():
            break
        log.click("#back")
    assert log.locator("#steps .tier[data-lit]").get_attribute("data-tier") == "segment"
    places = [log.text_content("#place")]
    for _ in range(STEPS_MAX):
        if log.locator("#next").is_disabled():
            break
        log.click("#next")
        places.append(log.text_content("#place"))
    assert len(set(places)) == len(places) == int(re.findall(r"\d+", places[0])[-1])
    wait_found(log)
    offset = int(log.input_value("#value"))
    answer = json.loads(
        log.evaluate(
            """async (offset) => {
              const { log } = JSON.parse(document.getElementById('page').textContent);
              return (await fetch(log.api + 'lookup/?offset=' + offset)).text();
            }""",
            offset,
        )
    )
    scan = answer["steps"][-1]
    assert log.locator("#steps .hop").count() == scan["skipped"]
    assert f"{number(scan['bytes'])} bytes" in (log.text_content("#steps .tier:last-child .step") or "")
    assert f"{number(answer['batch']['bytes'])} bytes" in (log.text_content("#batch-title") or "")
    assert f"offset={offset}" in log.url
    save(log, "log-found")


def test_a_time_is_looked_up_by_either_rule(log: Page) -> None:
    log.click("[data-by=timestamp]")
    log.keyboard.press("Enter")
    log.wait_for_function("() => document.querySelectorAll('#steps .tier').length === 4")
    expect(log.locator("#rule-about")).to_be_hidden()
    log.click("[data-rule=document]")
    wait_text(log, "#steps", "Time index by the article")
    expect(log.locator("#rule-about")).to_be_visible()
    assert "rule=document" in log.url


def test_a_field_is_named_in_bytes_and_list_together(log: Page) -> None:
    log.hover("#fields [data-field='4']")
    assert log.locator("#hex .on").count() == 4
    assert "crc" in (log.text_content("#fields .on") or "") and "CRC-32C ok" in (
        log.text_content("#fields .on") or ""
    )
    log.hover("#hex td >> nth=16")
    wait_text(log, "#fields .on", "magic")
    log.focus("#fields [tabindex='0']")
    log.keyboard.press("Home")
    wait_text(log, "#fields .on", "baseOffset")
    log.keyboard.press("ArrowDown")
    wait_text(log, "#fields .on", "batchLength")
    where = log.text_content("#batch-where")
    log.click("#batch-next")
    log.wait_for_function("old => document.getElementById('batch-where').textContent !== old", arg=where)
    log.click("#batch-previous")
    wait_text(log, "#batch-where", str(where))


def test_the_index_is_as_dense_as_somebody_chooses(log: Page) -> None:
    log.click("#settings-open")
    expect(log.locator("#settings .field:visible")).to_have_count(1)  # the others are the topic's
    log.fill("#index_interval_bytes", "many")
    log.click("#settings [type=submit]")
    wait_text(log, "#index_interval_bytes-error", "whole number")
    log.fill("#index_interval_bytes", "9999999")
    log.click("#settings [type=submit]")
    wait_text(log, "#index_interval_bytes-error", "1\u202f048\u202f576")
    assert log.get_attribute("#index_interval_bytes", "aria-invalid") == "true"
    usual = sum(segment["index_entries"] for segment in folder(log)["segments"])
    log.fill("#index_interval_bytes", "0")
    log.click("#settings [type=submit]")
    log.wait_for_url(re.compile("index_interval_bytes=0"))
    wait_text(log, "#settings-line", "index.interval.bytes 0")
    expect(log.locator("#folder")).to_have_text(
        re.compile(r"4\d index entries")
    )  # one for nearly each record
    dense = sum(segment["index_entries"] for segment in folder(log, index_interval_bytes=0)["segments"])
    assert dense >= 2 * usual - 1 > 0  # the first one is at the segment's beginning in both
    log.click("#settings-reset")
    log.wait_for_function("() => !location.search.includes('index_interval_bytes')")


def test_wrong_input_is_answered_at_the_field(log: Page) -> None:
    asked: list[str] = []
    log.on("request", lambda request: asked.append(request.url) if "lookup/" in request.url else None)
    for text in ("soon", "-1", "9223372036854775808", "99999999999999999999999"):
        log.fill("#value", text)
        log.keyboard.press("Enter")
        wait_text(
            log,
            "#value-error",
            "An offset is a whole number from 0 to 9\u202f223\u202f372\u202f036\u202f854\u202f775\u202f807.",
        )
        assert log.locator("[data-old]").evaluate_all("parts => parts.map((part) => part.id)") == [
            "steps",
            "batch",
        ]
    assert asked == []
    log.fill("#value", "99999999")
    log.keyboard.press("Enter")
    wait_text(log, "#answer", "beyond the log end offset")
    expect(log.locator("#value-error")).to_be_hidden()
    assert log.locator("[data-old]").count() == 0
    log.fill("#value", "soon")
    log.keyboard.press("Enter")
    wait_text(log, "#value-error", "An offset is a whole number")
    expect(log.locator("#answer")).to_be_hidden()  # what was said of the last one is not said of this one


def test_a_tile_of_the_compaction_tells_its_whole_key(log: Page) -> None:
    log.select_option("#topic", "__consumer_offsets")
    log.wait_for_selector("#clean-picture [data-record]")
    log.focus("#clean-picture [tabindex='0']")
    log.keyboard.press("Home")
    last = log.text_content("#clean-key")
    assert last == log.locator("#clean-picture [data-record]").first.get_attribute("aria-label")
    tile = log.locator("#clean-picture [data-record]").nth(2)
    tile.hover()
    assert log.text_content("#clean-key") == tile.get_attribute("aria-label") != last
    assert re.match(
        r"(If it ran now|A round is due): \d+ records before", log.text_content("#clean-words") or ""
    )


def test_checksum_and_times_of_a_batch_are_whole(log: Page) -> None:
    cut = """() => [...document.querySelectorAll('#fields li')].filter((item) => {
      const v = item.querySelector('.v');
      return v && !item.textContent.includes('value') && (v.scrollWidth > v.clientWidth || v.scrollHeight > v.clientHeight + 1);
    }).map((item) => item.textContent)"""
    assert log.locator("#fields li .v").count() > 5
    for width in (1280, 390):
        log.set_viewport_size({"width": width, "height": 844})
        assert log.evaluate(cut) == [], width


def test_what_is_cut_off_says_how_much_lies_below(log: Page) -> None:
    rows = log.locator("#hex tr")
    total = log.locator("#hex td").count()
    assert 0 < int(re.findall(r"\d+", log.text_content("#batch-more") or "")[0]) < total
    rows.last.scroll_into_view_if_needed()
    log.wait_for_function("() => !document.getElementById('batch-more').textContent.includes('below')")
    assert {"key", "valueLength", "value"} <= set(
        log.locator("#fields li:not(.which) span:nth-child(2)").all_text_contents()
    )
    box = log.locator("#fields").bounding_box()
    value = log.locator("#fields li", has_text="valueLength").first.bounding_box()
    assert box and value and value["y"] + value["height"] <= box["y"] + box["height"]


def test_a_window_made_narrow_shows_the_active_end(log: Page) -> None:
    log.set_viewport_size({"width": 390, "height": 844})
    log.wait_for_function(
        """() => {
          const box = document.getElementById('folder').parentElement;
          return box.scrollLeft > 0 && box.scrollLeft + box.clientWidth >= box.scrollWidth - 8;
        }"""
    )
    step = log.locator("#steps .tier[data-tier=index] .step")
    circle, words = step.locator(".no").bounding_box(), step.locator("span").first.bounding_box()
    assert (
        circle and words and words["x"] > circle["x"] + circle["width"] and abs(words["y"] - circle["y"]) < 12
    )


# What the sections of the page leave empty between one another, in one column: the largest gap in pixels.
GAPS = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const parts = ['#folder', '#ask', '#steps', '#clean', '.below details', '#texts', '#turning'].map(box);
  return Math.max(box('#clean').top - box('#steps > :last-child').bottom, ...parts.slice(1).map((part, place) => part.top - parts[place].bottom));
}"""


def test_sections_follow_one_another_without_empty_stretches(log: Page) -> None:
    log.select_option("#topic", "__consumer_offsets")
    log.wait_for_selector("#clean-picture [data-record]")
    for width in (1280, 1440, 1920):
        log.set_viewport_size({"width": width, "height": 900})
        assert log.evaluate(GAPS) <= 48, width


def test_tables_and_keys_do_without_a_mouse(log: Page) -> None:
    log.keyboard.press("t")
    log.wait_for_selector("#folder-twin tbody tr")
    expect(log.locator("#folder")).to_be_hidden()
    assert log.locator("#folder-twin tbody tr").count() >= len(bases(log))
    log.keyboard.press("t")
    expect(log.locator("#folder")).to_be_visible()
    log.focus("#folder [tabindex='0']")
    log.keyboard.press("Home")
    first = log.evaluate("() => document.activeElement.dataset.offset")
    log.keyboard.press("Enter")
    log.wait_for_function("first => document.getElementById('value').value === first", arg=first)
    wait_found(log)
    log.locator("h1").click()
    log.keyboard.press("ArrowLeft")
    expect(log.locator("#next")).to_be_enabled()


def test_a_segment_of_the_lab_s_own_folder_can_be_opened(log: Page, site: SupervisedSite) -> None:
    lab = re.search(r"/lab/([^/]+)/", log.url)[1]
    closed = next(
        segment for segment in folder(log)["segments"] if segment["state"] == "live" and not segment["active"]
    )
    kinds = (".log", ".index", ".timeindex")
    found = (site.run_dir / "labs" / lab).rglob(f"flights-0/{closed['base_offset']:020d}.*")
    one = max((path.parent for path in found), key=lambda path: path.stat().st_mtime)
    files = [path for path in one.glob(f"{closed['base_offset']:020d}.*") if path.suffix in kinds]
    log.click("#open")
    log.set_input_files("#file", [{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"?"}])
    wait_text(log, "#upload-error", "notes.txt")
    expect(log.locator("#upload")).to_be_disabled()
    log.set_input_files("#file", [str(path) for path in files])
    log.click("#upload")
    log.wait_for_url(re.compile(r"/log/"))
    wait_found(log)
    assert bases(log) == [closed["base_offset"]]
    log.fill("#value", str(closed["next_offset"] - 1))
    log.keyboard.press("Enter")
    wait_found(log)
    wait_text(log, "#fields", "CRC-32C ok")
    save(log, "log-opened")


def test_what_the_server_does_not_take_is_said_in_the_dialog(log: Page) -> None:
    log.click("#open")
    log.set_input_files(
        "#file",
        [
            {"name": name, "mimeType": "application/octet-stream", "buffer": b"?"}
            for name in ("a.log", "b.log")
        ],
    )
    log.click("#upload")
    wait_text(log, "#upload-error", "Not opened")
    assert "/lab/" in log.url


def test_the_article_s_walk(profile: Profile, site: SupervisedSite) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}log/article/")
    wait_found(page)
    assert page.input_value("#value") == "6506155"
    wait_text(page, "#steps", "<6506150, 1073707263>")
    assert page.locator("#steps .hop").count() == 5
    page.click("[data-example=timestamp]")
    wait_text(page, "#steps", "<1570793423500, 6506228>")
    page.click("[data-rule=document]")
    wait_text(page, "#steps", "<1570793423503, 6506240>")
    save(page, "log-article")


def test_chinese_and_a_phone(profile: Profile, stage: Page) -> None:
    page = open_log(stage, profile(viewport={"width": 390, "height": 844}, has_touch=True))
    page.click("#language")
    wait_text(page, "#folder-title", "按字节等比")
    wait_text(page, "#steps", "日志段：不大于")
    shown = page.evaluate("() => document.querySelector('main').innerText")
    assert not re.search(
        r"\b(segment|Look up|batch|waits|offsets|Records|skipped|before|kept)\b(?!\.)", shown
    ), shown
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    save(page, "log-zh-390")


def test_the_first_frame_is_whole_without_scripts(log: Page, profile: Profile) -> None:
    page = profile(java_script_enabled=False).new_page()
    page.goto(log.url)
    assert page.text_content("h1")
    assert re.match(r"flights-\d", page.text_content("#title") or "")
    assert "segment" in (page.text_content("#sub") or "")
    assert page.locator("#folder-twin tbody tr").count() >= 1
