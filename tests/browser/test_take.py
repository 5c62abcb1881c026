"""What can be taken away from a panel: its picture as SVG and PNG, its tables as CSV, the lab's events."""

import csv
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import open_stage, post, save, wait_frame
from tests.browser.story_clock import let_pass
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SVG = "{http://www.w3.org/2000/svg}"
# A page and the heading of one of its panels that has a picture.
PICTURES = {
    "pulsar/": "Hash ring",
    "kafka/cluster/": "All partitions",
    "kafka/groups/": "Protocol",
    "kafka/log": "The folder, bytes to scale",
    "tubemq/": "Masters and brokers",
    "rabbitmq/": "Exchange graph",
}


@pytest.fixture
def demo(profile: Profile, site: SupervisedSite) -> Page:
    """The Stage of a paused lab of one's own."""
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', {'scenario': 'demo', 'name': 'Tuesday'})['id']}/")
    wait_frame(page)
    let_pass(page, site.run_dir, 4)
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_attribute("data-say-label", "play")
    return page


def opener(page: Page, panel: str) -> Locator:
    """The button of this panel; of a lane, behind "more"."""
    button = page.get_by_role("button", name=f"Take away {panel}", exact=True)
    if not button.is_visible():
        page.locator(f"#{panel.lower()} .rest summary").click()
    return button


def take(page: Page, panel: str, what: str) -> tuple[str, bytes]:
    """(name, bytes) of the file that this item of the panel's menu gives."""
    opener(page, panel).click()
    with page.expect_download() as loaded:
        page.get_by_role("menuitem", name=what).click()
    return loaded.value.suggested_filename, Path(loaded.value.path()).read_bytes()


def stands_alone(picture: bytes) -> list[str]:
    """Its texts. Nothing in it needs the page that it is from."""
    text = picture.decode()
    for part in ("var(", " class=", " style=", "http://127", "data-", "aria-"):
        assert part not in text, part
    root = ET.fromstring(text)
    ids = {each.get("id") for each in root.iter()} - {None}
    for each in root.iter():
        for name, value in each.attrib.items():
            if "url(#" in value:
                assert value.split("url(#")[1].split(")")[0] in ids, value
            elif name == "href" and value.startswith("#"):
                assert value[1:] in ids, value
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def test_a_lanes_picture_table_and_events_are_those_of_the_moment_that_its_names_say(demo: Page) -> None:
    clock = (demo.text_content("#clock") or "").replace(":", "m") + "s"
    name, svg = take(demo, "Kafka", "Picture as SVG")
    assert name == f"Tuesday_Kafka_{clock}.svg"
    texts = stands_alone(svg)
    assert {"c1", "c2", "c3", "Kafka"} <= set(texts)
    about = f"Tuesday · {demo.text_content('#clock')} · seed 7"
    assert texts[-1].startswith(about)
    root = ET.fromstring(svg.decode())

    name, png = take(demo, "Kafka", "Picture as PNG")
    assert name == f"Tuesday_Kafka_{clock}.png" and png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))

    name, table = take(demo, "Kafka", "Table as CSV")
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    assert name == f"Tuesday_Kafka_{clock}.csv"
    assert [int(row["partition"]) for row in rows] == list(range(12))
    shown = demo.evaluate("() => Object.values(window.highwater.view().lanes.kafka.picture.partitions)")
    assert [int(row["LEO"]) for row in rows] == [one["end"] for one in shown]

    name, lines = take(demo, "Kafka", "Events as JSONL")
    assert name == f"Tuesday_{clock}.jsonl"
    events = [json.loads(line) for line in lines.splitlines()]
    at_us = demo.evaluate("() => window.highwater.view().at_us")
    assert events and all(event["at_us"] <= at_us for event in events)
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)
    opener(demo, "Kafka").click()
    save(demo, "take-menu")


def test_a_table_behind_a_fold_and_the_tab_in_front_can_be_taken_too(demo: Page) -> None:
    _name, table = take(demo, "Skew over time", "Table as CSV")
    rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
    seconds = [f"0:{second:02}" for second in range(len(rows), 0, -1)]
    assert (
        len(rows) >= 4
        and [row["virtual time"] for row in rows] == seconds
        and set(rows[0])
        == {
            "virtual time",
            "Pulsar",
            "Kafka",
            "TubeMQ",
            "RabbitMQ",
        }
    )
    demo.goto(f"{demo.url}tubemq/")
    demo.wait_for_selector("#take-more-title")
    demo.click("#tab-first")
    demo.click("#take-more-title")
    with demo.expect_download() as loaded:
        demo.get_by_role("menuitem", name="Table as CSV").click()
    rows = list(csv.reader(io.StringIO(Path(loaded.value.path()).read_bytes().decode("utf-8-sig"))))
    assert [row[0] for row in rows[1:]] and len(rows) >= 4


def test_a_picture_of_each_page_opens_alone_and_looks_like_the_page(
    demo: Page, profile: Profile, tmp_path: Path
) -> None:
    address, viewer = demo.url, profile().new_page()
    for path, panel in PICTURES.items():
        demo.goto(address + path)
        demo.wait_for_selector(".take", state="attached")
        _name, svg = take(demo, panel, "Picture as SVG")
        texts = stands_alone(svg)
        assert any(text.startswith("Tuesday · 0:") for text in texts), path
        (tmp_path / "alone.svg").write_bytes(svg)
        viewer.goto((tmp_path / "alone.svg").as_uri())
        drawn = viewer.evaluate(
            "() => [...document.querySelectorAll('text')].map((one) => one.getBBox().width)"
        )
        assert len(drawn) == len(texts) and max(drawn) > 20, path
        save(viewer, f"take-{path.strip('/').replace('/', '-')}")


def test_a_picture_of_the_past_is_of_then(demo: Page) -> None:
    for _step in range(3):
        before = demo.text_content("#clock")
        demo.keyboard.press("<")
        expect(demo.locator("#clock")).not_to_have_text(before or "")
    expect(demo.locator("#to-now")).to_be_visible()
    expect(demo.locator("#state-hash")).not_to_be_empty()
    then, state = demo.text_content("#clock"), demo.text_content("#state-hash")
    name, svg = take(demo, "Pulsar", "Picture as SVG")
    assert name == f"Tuesday_Pulsar_{(then or '').replace(':', 'm')}s.svg"
    assert stands_alone(svg)[-1] == f"Tuesday · {then} · seed 7 · state {state}"


def test_the_menu_is_worked_by_keys_and_gives_the_focus_back(demo: Page) -> None:
    demo.goto(f"{demo.url}tubemq/")
    button = opener(demo, "Masters and brokers")
    button.focus()
    demo.keyboard.press("Enter")
    items = demo.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    demo.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    demo.keyboard.press("ArrowDown")
    expect(items.first).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    demo.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")


def test_an_opened_log_gives_its_picture_in_chinese_and_dark(profile: Profile, site: SupervisedSite) -> None:
    page = open_stage(profile(color_scheme="dark"), site)
    page.click("#language")
    page.goto(f"{site.url}log/article/")
    page.click("#take-folder-title")
    save(page, "take-menu-zh-dark")
    with page.expect_download() as loaded:
        page.get_by_role("menuitem", name="图：SVG").click()
    svg = Path(loaded.value.path()).read_bytes()
    assert stands_alone(svg) and b"#1B2128" in svg  # the dark theme's panel
    assert "m" not in loaded.value.suggested_filename.rsplit("_", 1)[1].removesuffix(".svg")
