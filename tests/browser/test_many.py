"""Stories of labs with 128 and 512 consumers: who is named follows the rule, what is counted adds up, and no cell of 64
partitions is left out."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post, save, wait_frame, wait_text
from tests.browser.test_axe import AXE, FINDINGS
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
KAFKA = {"model": "kafka", "brokers": 9, "partitions": 64, "replication_factor": 3}
CROWDS = {
    128: [
        {"model": "rabbitmq"},
        {"model": "pulsar"},
        KAFKA,
        {"model": "tubemq", "partitions": 64, "brokers": 8},
    ],
    512: [{"model": "rabbitmq"}, {"model": "kafka", "partitions": 64, "brokers": 9}],
}
MOST = """(id) => Object.values(window.highwater.view().lanes[id].consumers)
  .reduce((most, one) => (one.share > most.share ? one : most)).name"""


def opened(
    profile: Profile,
    site: SupervisedSite,
    count: int,
    width: int = 1440,
    height: int = 900,
    lanes: list[dict[str, Any]] | None = None,
) -> Page:
    page = profile(viewport={"width": width, "height": height}).new_page()
    page.goto(f"{site.url}labs/")
    asked: dict[str, Any] = {
        "name": f"{count} consumers", "lanes": lanes or CROWDS[count], "consumers": count,
        "workload": {"kind": "uniform", "keys": 2000, "rate": 200},
    }  # fmt: skip
    page.goto(f"{site.url}lab/{post(page, '/api/labs/', asked)['id']}/")
    wait_frame(page)
    page.wait_for_function(
        "() => Object.values(window.highwater.view().lanes.kafka.consumers).some((one) => one.share)",
        timeout=60_000,
    )
    return page


def counted(page: Page, lane: str) -> tuple[int, dict[str, int]]:
    text = page.locator(f"#{lane} [data-more]").inner_text()
    found = re.fullmatch(r"and (\d+) more: (.*)", text)
    assert found, text
    return int(found[1]), {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", found[2])}


def listed(page: Page, lane: str) -> list[str]:
    return page.eval_on_selector_all(f"#{lane} .row", "rows => rows.map((row) => row.dataset.consumer)")


@pytest.mark.parametrize("count", [128, 512])
def test_three_are_named_by_the_rule_and_the_others_are_counted(
    profile: Profile, site: SupervisedSite, count: int
) -> None:
    page = opened(profile, site, count)
    page.click("#play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    for lane in page.eval_on_selector_all(".lane", "all => all.map((one) => one.id)"):
        names, (others, phases) = listed(page, lane), counted(page, lane)
        assert (len(names), others, sum(phases.values())) == (3, count - 3, count - 3), (lane, phases)
    # Kafka's 64 partitions: so many of all read
    names, (_, phases) = listed(page, "kafka"), counted(page, "kafka")
    assert phases["idle"] in range(count - 64 - 3, count - 64 + 1)
    assert names[0] == f"c{count}", "the last that joined"
    save(page, f"many-{count}")
    # The list of all: searched, grouped, and what is pressed is named first.
    page.click("#kafka [data-more]")
    dialog = page.locator("#roster")
    expect(dialog.locator("[data-pick]")).to_have_count(count)
    heads = dialog.locator("h3").all_inner_texts()
    assert sum(int(head.split()[0]) for head in heads) == count
    page.evaluate(AXE)
    assert page.evaluate(FINDINGS) == []
    save(page, f"many-{count}-list")
    dialog.get_by_label("Find a consumer").fill("c77")
    expect(dialog.locator("[data-pick]")).to_have_count(1)
    dialog.locator("[data-pick=c77]").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#kafka .row").first).to_have_attribute("data-consumer", "c77")
    assert listed(page, "kafka")[1] == f"c{count}"
    others, phases = counted(page, "kafka")
    assert others == sum(phases.values()) == count - 3


@pytest.mark.parametrize("count", [128, 512])
def test_a_crash_is_named_and_every_partition_has_its_cell(
    profile: Profile, site: SupervisedSite, count: int
) -> None:
    page = opened(profile, site, count, 1280, 720)
    most = page.evaluate(MOST, "kafka")
    page.click("#kafka [data-more]")
    page.locator(f"#roster [data-pick={most}]").click()
    row = page.locator(f'#kafka .row[data-consumer="{most}"]')
    row.hover()
    row.locator("[data-verb=crash]").click()
    expect(row).to_have_attribute("data-state", "crashed")
    for lane in page.eval_on_selector_all(".lane", "all => all.map((one) => one.id)"):
        expect(page.locator(f"#{lane} .row").first).to_have_attribute("data-consumer", most)
    cells = page.eval_on_selector_all("#kafka .pic svg rect.cell", "all => all.length")
    assert cells == 64
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280
    bar = page.locator(".trans").bounding_box()
    foot = page.locator("#kafka .foot").bounding_box()
    assert bar and foot and foot["y"] + foot["height"] <= bar["y"]
    save(page, f"many-{count}-1280")


def lifelines(page: Page) -> tuple[list[str], int]:
    """(who has one in the sequence chart, how many share the last one)."""
    texts = page.locator("#sequence text").all_text_contents()
    others = texts.index("others")
    # a leader's has its explanation with it
    found = [re.match(r"★?(c\d+)", text) for text in texts[:others]]
    return [name[1] for name in found if name], int(texts[others + 1])


def test_the_sequence_gives_a_column_to_whom_something_sets_apart_and_one_to_all_others(
    profile: Profile, site: SupervisedSite
) -> None:
    page = opened(profile, site, 128, lanes=[KAFKA])
    page.click("#play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    page.goto(page.url + "kafka/groups/")
    wait_text(page, "#sequence", "others")
    names, others = lifelines(page)
    assert len(names) + others == 128 and 3 <= len(names) <= 12
    listed = page.eval_on_selector_all("#members .who", "all => all.map((one) => one.textContent)")
    assert {name.lstrip("★ ") for name in listed[1:]} <= set(names)
    box = "#sequence >> xpath=.."
    assert page.locator(box).evaluate("box => box.scrollWidth <= box.clientWidth")
    expect(page.locator("#sequence-more")).to_be_hidden()
    expect(page.locator("#sequence-others")).to_contain_text(f"{others} members together")
    # What the others say is one dot a row: its count and the row's own dots are the count in the row's words.
    dot = page.locator("#sequence [data-count]").last
    count = int(dot.get_attribute("data-count") or 0)
    expect(page.locator("#sequence text", has_text=f"×{count}").last).to_be_visible()
    dot.click()
    expect(page.locator("#message-about")).to_contain_text(f"one of {count} drawn here as one")
    page.keyboard.press("Escape")
    # Who is chosen has a column.
    assert "c77" not in names
    page.click("#all-consumers")
    page.locator("#roster [data-pick=c77]").click()
    wait_text(page, "#sequence", "c77")
    names, others = lifelines(page)
    assert "c77" in names and len(names) + others == 128
    page.evaluate(AXE)
    assert page.evaluate(FINDINGS) == []
    save(page, "many-sequence")


def test_pages_of_one_lane_list_three_by_the_same_rule_and_open_the_list_of_all(
    profile: Profile, site: SupervisedSite
) -> None:
    page = opened(profile, site, 128)
    page.click("#play")
    expect(page.locator("#fresh")).to_have_attribute("data-state", "paused")
    lab = page.url
    for path, rows, first in (
        ("pulsar/", "#consumers tr:not(.why)[data-name]", "data-name"),
        ("kafka/groups/", "#members [data-member]:not([data-member='@coordinator'])", "data-member"),
    ):
        page.goto(lab + path)
        expect(page.locator(rows)).to_have_count(3)
        rest = page.locator("#all-consumers")
        found = re.fullmatch(r"and 125 more: (.*)", rest.inner_text())
        assert found and sum(int(number) for number in re.findall(r"\d+", found[1])) == 125
        rest.click()
        dialog = page.locator("#roster")
        expect(dialog.locator("[data-pick]")).to_have_count(128)
        dialog.get_by_label("Find a consumer").fill("c77")
        dialog.locator("[data-pick=c77]").click()
        expect(dialog).to_be_hidden()
        pressed = page.locator(f"{rows.split(' ')[0]} [aria-pressed=true]")
        expect(pressed).to_contain_text("c77")
        expect(page.locator(rows)).to_have_count(3)
        assert page.locator(rows).first.get_attribute(first)
        save(page, f"many-{path.strip('/').replace('/', '-')}")
    # A table of more rows than fit says how many there are, and shows them.
    page.keyboard.press("t")
    table = page.locator("#members-twin")
    expect(table.locator("tbody tr")).to_have_count(60)
    every = page.locator("[data-all-rows=members-twin]")
    expect(every).to_have_text("Show all 128 rows")
    every.click()
    expect(table.locator("tbody tr")).to_have_count(128)
    expect(every).to_have_text("Show the first 60 rows")
