""" "Why?" on the pages of one subject: what is chosen, what is pressed, and by key; one panel on all of them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import save, wait_text

WORKED_OUT_MS = 40_000  # a copy of the lab runs in a worker that may just have been started


def says(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.locator("#why-says")).to_contain_text(text, timeout=WORKED_OUT_MS)
    box = page.locator("#why").bounding_box()
    size = page.viewport_size
    assert box and size and box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
    assert box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_each_page_of_a_subject_asks_about_what_is_chosen_there(page: Page) -> None:
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    lab = page.url.rstrip("/")
    page.goto(f"{lab}/kafka/cluster/")
    page.wait_for_selector("#picture [data-broker='2']")
    page.keyboard.press("y")
    says(page, re.compile(r"flights-0: broker \d leads in leader epoch 0; the ISR is"))
    expect(page.locator("#why-sums")).to_contain_text("high watermark")
    page.keyboard.press("Escape")
    page.locator("#picture [data-broker='2']").first.click()
    page.click("button[data-why]")
    says(page, re.compile(r"Broker 2 (leads|follows broker \d in) flights-0"))
    save(page, "why-cluster")
    page.goto(f"{lab}/kafka/groups/")
    page.wait_for_selector("#grid text")
    page.locator("#grid text", has_text=re.compile(r"^55$")).first.click()  # with its title
    says(page, "Partition 5 is read by")
    expect(page.locator("#why-list")).to_contain_text("kafka.assignor.range")
    save(page, "why-group")
    page.goto(f"{lab}/pulsar/")
    page.wait_for_selector("#consumers tr[data-name=c2]")
    page.locator("#consumers tr[data-name=c2] button").first.click()
    page.click("button[data-why]")
    says(page, "c2 is")
    page.keyboard.press("Escape")
    page.locator("#strip text", has_text="mark-delete").first.click()
    says(page, "mark-delete position")
    expect(page.locator("#why-sums")).to_contain_text("backlog")
    page.goto(f"{lab}/tubemq/")
    page.locator("#brokers [role=button]").first.click()
    page.keyboard.press("y")
    says(page, re.compile(r"partition 1:flights:0"))
    expect(page.locator("#why-list")).to_contain_text("tubemq.assignment.modulo")
    save(page, "why-tubemq")
    page.goto(f"{lab}/kafka/log/")
    page.wait_for_selector("button[data-why]:visible")
    page.keyboard.press("y")
    says(page, re.compile(r"Broker \d (leads|follows broker \d in) flights-0|flights-0: broker \d leads"))
    page.goto(f"{lab}/rabbitmq/")
    page.locator('#graph [data-part="queue:flights"]').first.click()
    page.keyboard.press("y")
    says(page, "Queue flights:")
    expect(page.locator("#why-sums")).to_contain_text("acknowledged")
    save(page, "why-rabbitmq")


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_the_panel_fits_small_windows(page: Page, size: tuple[int, int]) -> None:
    page.click("#add")
    wait_text(page, "h1", "c4 joined")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(page.url.rstrip("/") + "/rabbitmq/")
    page.wait_for_selector("#graph [role=button]")
    page.keyboard.press("y")
    says(page, "The lane’s last change.")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    save(page, f"why-rabbitmq-{size[0]}")
