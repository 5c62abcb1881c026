"""Stories of a lab's settings: a new lab made by them, what is wrong said at its field behind its tab, copies, and a lab
that runs brought to others."""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import post, wait_frame
from tests.supervisor.site import SupervisedSite

Profile = Callable[..., BrowserContext]
SMALL = [{"model": "rabbitmq"}, {"model": "pulsar"}]


def opened(page: Page, url: str) -> Page:
    page.goto(url)
    page.wait_for_selector("[data-checked]")
    return page


@pytest.fixture
def new(profile: Profile, site: SupervisedSite) -> Page:
    context = profile()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    return opened(context.new_page(), f"{site.url}labs/new/")


def scenario(page: Page) -> dict[str, Any]:
    lab = page.get_attribute("#main", "data-lab")
    found: dict[str, Any] = page.evaluate(
        f"fetch('/api/labs/{lab}/journal/').then((answer) => answer.json())"
    )
    asked: dict[str, Any] = found["scenario"]
    return asked


def test_a_lab_is_made_with_what_was_set_and_has_it_on_its_own_page(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    page.click("#new-settings")
    page.wait_for_selector("[data-checked]")
    page.get_by_label("Name", exact=True).fill("mine")
    page.select_option("#kind", "zipf")
    page.get_by_label("Skew", exact=True).fill("1.5")
    for _ in range(3):
        page.locator("[data-remove]").first.click()
    page.click("[data-add-lane=kafka]")
    page.fill("[data-field='lanes.1.id']", "kip-848")
    page.locator(".of-lane:not([hidden]) [data-setting=group_protocol]").select_option("consumer")
    page.locator(".of-lane:not([hidden]) [data-setting=session_timeout_ms]").fill("9 000")
    page.click("#make")
    page.wait_for_url("**/lab/*/")
    wait_frame(page)
    made = scenario(page)
    assert (made["name"], made["workload"]["exponent"]) == ("mine", 1.5)
    assert [lane["id"] for lane in made["lanes"]] == ["rabbitmq", "kip-848"]
    assert (made["lanes"][1]["group_protocol"], made["lanes"][1]["session_timeout_ms"]) == ("consumer", 9_000)
    page.click("#to-settings")
    page.wait_for_selector("[data-checked]")
    page.click("#lane-tab-1")
    expect(page.locator(".of-lane:not([hidden]) [data-setting=session_timeout_ms]")).to_have_value("9000")
    expect(page.locator("#judged")).to_have_text("No change yet.")


def test_what_is_wrong_is_said_at_its_field_behind_its_tab_and_nothing_is_made(new: Page) -> None:
    new.click("#lane-tab-1")
    new.locator(".of-lane:not([hidden]) [data-setting=acks]").select_option("1")
    new.locator(".of-lane:not([hidden]) [data-setting=idempotence]").select_option("true")
    expect(new.locator("#judged")).to_have_text("A setting is wrong: see its field.")
    new.click("#lane-tab-0")
    new.click("#make")
    wrong = new.locator(".of-lane:not([hidden]) .bad")
    expect(wrong).to_have_text("the idempotent producer needs acks=-1")
    assert new.url.endswith("/labs/new/")
    new.click("#language")
    new.locator("[data-setting=seed]").fill("viele")
    expect(new.locator(".field:has([data-setting=seed]) .bad")).to_contain_text("必须")
    new.locator("[data-setting=idempotence]").first.select_option("")
    new.locator("[data-setting=seed]").fill("8")
    expect(new.locator(".bad")).to_have_count(0)


def test_the_copied_texts_make_the_same_lab(new: Page) -> None:
    new.locator("[data-setting=seed]").fill("99")
    texts = {}
    for way in ("toml", "curl", "python"):
        new.click(f"[data-copy={way}]")
        expect(new.locator("#notice")).to_be_visible()
        expect(new.locator("#notice-text")).to_have_text("Copied. It makes exactly this lab.")
        texts[way] = new.evaluate("navigator.clipboard.readText()")
        new.click("#notice-close")
    made = new.evaluate(
        """(text) => fetch("/api/labs/", {method: "POST", body: text, credentials: "omit", headers: {"Content-Type": "application/toml"}})
        .then((answer) => answer.json())""",
        texts["toml"],
    )
    assert made["seed"] == 99
    assert json.dumps("seed") + ": 99" in texts["curl"] and "'seed': 99" in texts["python"]


def test_a_lab_that_runs_takes_what_commands_can_do_and_a_new_one_the_rest(
    profile: Profile, site: SupervisedSite
) -> None:
    page = profile().new_page()
    page.goto(f"{site.url}labs/")
    lab = post(page, "/api/labs/", {"lanes": SMALL, "workload": {"kind": "uniform"}})["id"]
    page.goto(f"{site.url}lab/{lab}/")
    wait_frame(page)
    opened(page, f"{site.url}lab/{lab}/settings/")
    expect(page.locator("#apply")).to_be_disabled()
    page.locator("[data-field='lanes.1.algorithm']").select_option("auto_split")
    page.locator("[data-setting=consumers]").fill("5")
    expect(page.locator("#judged")).to_have_text("2 commands change this lab now.")
    page.click("#apply")
    expect(page.locator("#judged")).to_have_text("No change yet.")
    page.locator("[data-setting=seed]").fill("12")
    expect(page.locator("#judged")).to_have_text("Needs a new lab: seed")
    expect(page.locator("#apply")).to_be_disabled()
    page.click("#make")
    page.wait_for_url(lambda url: "/settings/" not in url and lab not in url)
    wait_frame(page)
    made = scenario(page)
    assert (made["seed"], made["consumers"], made["lanes"][1]["algorithm"]) == (12, 5, "auto_split")


def test_somebody_elses_lab_can_only_be_the_beginning_of_an_own_one(
    profile: Profile, site: SupervisedSite
) -> None:
    owner = profile().new_page()
    owner.goto(f"{site.url}labs/")
    lab = post(owner, "/api/labs/", {"lanes": SMALL})["id"]
    other = opened(profile().new_page(), f"{site.url}lab/{lab}/settings/")
    other.wait_for_timeout(1500)
    other.locator("[data-field='lanes.1.algorithm']").select_option("auto_split")
    expect(other.locator("#judged")).to_contain_text("This lab is not yours")
    expect(other.locator("#apply")).to_be_disabled()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_form_fits_its_window(profile: Profile, site: SupervisedSite, width: int) -> None:
    page = profile(viewport={"width": width, "height": 720}).new_page()
    opened(page, f"{site.url}labs/new/")
    for tab in range(4):
        page.click(f"#lane-tab-{tab}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_an_order_is_copied_as_the_curl_command_that_gives_it_again(
    profile: Profile, site: SupervisedSite
) -> None:
    context = profile()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{site.url}labs/")
    made = post(page, "/api/labs/", {"lanes": SMALL, "workload": {"kind": "uniform"}})
    page.goto(f"{site.url}lab/{made['id']}/")
    wait_frame(page)
    expect(page.locator("#as-curl")).to_be_disabled()
    page.click("#add")
    page.click("#as-curl")
    expect(page.locator("#notice-text")).to_contain_text("Copied.")
    command = page.evaluate("navigator.clipboard.readText()")
    subprocess.run(
        ["sh", "-c", command],
        env={**os.environ, "OWNER_TOKEN": made["owner_token"]},
        capture_output=True,
        check=True,
        timeout=60,
    )
    expect(page.locator("[data-lane=rabbitmq] [data-consumer]")).to_have_count(5)


def test_every_call_of_the_interface_is_read_on_one_page(profile: Profile, site: SupervisedSite) -> None:
    asked: list[str] = []
    context = profile(viewport={"width": 390, "height": 844})
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(f"{site.url}api/")
    page.click("#api-labs-post summary")
    expect(page.locator("#api-labs-post")).to_contain_text("consumer_rate")
    page.click("#language")
    expect(page.locator("h1")).to_have_text("供程序使用的接口")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{site.url}fidelity/#kafka")
    expect(page.locator("#kafka [data-recording='kafka/group/classic']")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert all(url.startswith(site.url) for url in asked)
